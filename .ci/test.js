// npm test: the specs with their coverage, and beside them the checks, one after the other, which are told at
// the end. npm run check: the checks alone. Both need what `npm run build` and `npm run build:spec` write.
import { spawn } from 'node:child_process'

const CHECKS = ['types', 'lint', 'format:check', 'pack:check']

/** Resolves to what the script wrote, and whether it passed. */
function run(script, stdio = ['ignore', 'pipe', 'pipe']) {
  const child = spawn('npm', ['run', '--silent', script], {
    stdio,
    shell: process.platform === 'win32'
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', text => (output += text))
  return new Promise(resolve => {
    child.once('close', status => resolve({ script, output, isPassed: status === 0 }))
  })
}

async function check() {
  const results = []
  for (const script of CHECKS) results.push(await run(script))
  return results
}

const isWhole = process.argv[2] === undefined
const [checks, specs] = await Promise.all([
  check(),
  isWhole ? run('coverage', 'inherit') : undefined
])
for (const { script, output, isPassed } of checks) {
  console.log(`${isPassed ? '✔' : '✘'} npm run ${script}`)
  if (!isPassed) console.log(output)
}
process.exitCode = [...checks, ...(specs ? [specs] : [])].every(({ isPassed }) => isPassed) ? 0 : 1
