// A site on a file system that reports nothing: every watch succeeds, and no event ever comes.
import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

fs.watch = (() => Object.assign(new EventEmitter(), { close() {} })) as unknown as typeof fs.watch
syncBuiltinESMExports()
await import('./site-process.ts')
