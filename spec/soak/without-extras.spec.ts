// The law of the house: an extra is a folder and its lines in the tables, and the core does not need it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from '../support/test.ts'

const run = promisify(execFile)

test('the package works without its extras and without its direct writes to sockets', async t => {
  const { stdout } = await run(process.execPath, ['.ci/without.js'], { maxBuffer: 64 * 2 ** 20 })
  t.regex(stdout, /^✔ without (?:.*, )?vite, /m)
  t.regex(stdout, /^✔ without (?:.*, )?socket$/m)
  t.notRegex(stdout, /^✘/m)
})
