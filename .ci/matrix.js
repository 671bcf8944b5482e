// Runs npm test on each supported release line of Node, with binaries from the npm registry.
// Versions may be given: npm run lane matrix -- 22 24
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const LINES = ['20', '22', '24', '26']

const given = process.argv.slice(2)
const rows = (given.length > 0 ? given : LINES).map(line => {
  const directory = mkdtempSync(join(tmpdir(), `node-${line}-`))
  try {
    return runOn(line, directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
console.log(rows.map(row => row.join('  ')).join('\n'))
process.exitCode = rows.every(([, , isPassed]) => isPassed === 'passed') ? 0 : 1

function runOn(line, directory) {
  // Some specs start a process as an ordinary user.
  chmodSync(directory, 0o755)
  const install = ['install', '--prefix', directory, '--no-save', '--no-audit', '--no-fund']
  const installed = run('npm', [...install, `node@${line}`], process.env)
  if (installed.status !== 0) return [`node ${line}`, 'not installed:', installed.stderr.trim()]
  const bin = join(directory, 'node_modules', 'node', 'bin')
  const env = { ...process.env, PATH: bin + delimiter + process.env.PATH }
  const version = run('node', ['--version'], env).stdout.trim()
  const { status, stdout, stderr } = run('npm', ['test'], env)
  const count = /^\s*(\d+) tests? passed/m.exec(stdout)?.[1] ?? '0'
  if (status !== 0) console.log(stdout, stderr)
  return [version, `${count} specs`, status === 0 ? 'passed' : 'failed']
}

function run(command, args, env) {
  return spawnSync(command, args, { env, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 })
}
