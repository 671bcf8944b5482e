// The law of the house: an extra is a folder and its lines in the tables, and the core does not need it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from '../support/test.ts'

const run = promisify(execFile)

test('lib needs no extra, and no shortcut to the socket', async t => {
  const { stdout } = await run(process.execPath, ['.ci/without.js'], { maxBuffer: 64 * 2 ** 20 })
  t.regex(stdout, /^✔ without (?:.*, )?vite, /m)
  t.regex(stdout, /^✔ without (?:.*, )?socket$/m)
  t.notRegex(stdout, /^✘/m)
})
