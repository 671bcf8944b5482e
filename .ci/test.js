// npm test: the builds, then the specs with their coverage, and beside them the checks, one after the other,
// which are told at the end. npm run check: the same without the specs.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

const BUILDS = ['build', 'build:spec']
const CHECKS = ['types', 'lint', 'format:check']

// Run without npm, which takes a quarter of a second each time; it has put the programs in PATH already.
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))

/** Resolves to what the script wrote, and whether it passed. */
function run(script, stdio = ['ignore', 'pipe', 'pipe']) {
  const child = spawn(scripts[script], { stdio, shell: true })
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

function tell(results) {
  for (const { script, output, isPassed } of results) {
    console.log(`${isPassed ? '✔' : '✘'} npm run ${script}`)
    if (!isPassed) console.log(output)
  }
  return results.every(({ isPassed }) => isPassed)
}

async function main() {
  if (!tell(await Promise.all(BUILDS.map(script => run(script))))) return false
  const isWhole = process.argv[2] === undefined
  const [checks, specs] = await Promise.all([
    check(),
    isWhole ? run('coverage', 'inherit') : undefined
  ])
  return tell(checks) && specs?.isPassed !== false
}

process.exitCode = (await main()) ? 0 : 1
