// npm test: the builds, the types, and the quick specs. npm run check: also lint, format, and the floor of coverage.
// npm run test:all: like npm run check, with the slow specs, and those that `npm run lane soak` adds to their files.
// The checks run beside the specs, and are reported at the end.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

const BUILDS = ['build', 'build:spec']
const AVA = 'ava --config spec'

const kind = process.argv[2] ?? 'quick'
// Scripts run without npm, which takes a quarter of a second each time; it has already added the programs to PATH.
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const commands = { ...scripts, format: 'oxfmt --check' }

/** Resolves to what the command wrote, and whether it passed. */
function run(name, line = commands[name], stdio = ['ignore', 'pipe', 'pipe']) {
  // Such a small share of the lane soak adds its specs and one more variant of each, but no more cases.
  const env = { ...process.env, ...(kind === 'all' && { ALL: '1', SOAK: '0.0001' }) }
  const child = spawn(line, { stdio, shell: true, env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', text => (output += text))
  return new Promise(resolve => {
    child.once('close', status => resolve({ name, output, isPassed: status === 0 }))
  })
}

async function inTurn(names) {
  const results = []
  for (const name of names) results.push(await run(name))
  return results
}

function tell(results) {
  for (const { name, output, isPassed } of results) {
    console.log(`${isPassed ? '✔' : '✘'} ${name}`)
    if (!isPassed) console.log(output)
  }
  return results.every(({ isPassed }) => isPassed)
}

async function main() {
  if (!tell(await Promise.all(BUILDS.map(name => run(name))))) return false
  const isQuick = kind === 'quick'
  const specs = isQuick
    ? `${AVA}/ava.config.js`
    : `${AVA}/coverage.config.js && node .ci/report-coverage.js`
  const checks = inTurn(isQuick ? ['types'] : ['types', 'lint', 'format'])
  const { isPassed } = await run('specs', specs, 'inherit')
  return tell(await checks) && isPassed
}

process.exitCode = (await main()) ? 0 : 1
