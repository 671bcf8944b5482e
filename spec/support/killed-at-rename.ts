// A process that is killed when it has written a file, before it gives it its name.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

Object.assign(fs, { rename: () => process.kill(process.pid, 'SIGKILL') })
syncBuiltinESMExports()
