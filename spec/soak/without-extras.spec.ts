// The law of the house: an extra is a folder and its lines in the tables, and the core does not need it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from '../support/test.ts'

const run = promisify(execFile)

test('without each extra lib type-checks, without all of them it builds and the core passes its specs, and without the exit to the socket responses pass theirs', async t => {
  const { stdout } = await run(process.execPath, ['.ci/without.js'], { maxBuffer: 64 * 2 ** 20 })
  t.regex(stdout, /^✔ without vite, /m)
  t.regex(stdout, /^✔ without socket$/m)
  t.notRegex(stdout, /^✘/m)
})
