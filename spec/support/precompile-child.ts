// Precompiles in a process of its own, which a spec may kill or put under a limit.
// Arguments: the project's root, and perhaps a moment at which it sends itself a signal:
// `write 3 SIGKILL`, or `commit 2 SIGINT` for the second file that a plain name is given.
// Exit status 1 and the message on stderr when it fails.
import fs from 'node:fs'
import { precompile, type Progress } from '../../lib/koa-assets.ts'
import { withDigest } from './digest.ts'
import { AS_WRITTEN } from './as-written.ts'

const [root = '', stage = '', count = '', signal = ''] = process.argv.slice(2)
let reached = 0

function reach(what: Progress['stage'] | 'commit'): void {
  if (what === stage && ++reached === Number(count)) process.kill(process.pid, signal)
}

const { rename } = fs
const counted = (from: string, to: string, done: fs.NoParamCallback) => {
  if (!withDigest(/-DIGEST\.\w+$|-DIGEST\.\w+\.(?:br|gz|zst)$/).test(to)) reach('commit')
  rename(from, to, done)
}
Object.assign(fs, { rename: counted })

const onProgress = (progress: Progress) => reach(progress.stage)
precompile({ root, ...AS_WRITTEN }, { warn: console.error, onProgress }).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
