// Compares this package with others, all in one run.
//   npm run bench -- [--only 304] [--against sirv] [--rounds 5] [--seconds 2]
// `--only` takes the cases whose title contains it, `--against` the contestants whose name does. With
// BENCH_BEFORE=<folder of another checkout that has been built>, that one takes part in those of serving and of start.
// A run of all cases writes results.md and chart.svg.
import { parseArgs } from 'node:util'
import { cases as httpCache } from './cases/http-cache.ts'
import { cases as many } from './cases/many.ts'
import { cases as precompile } from './cases/precompile.ts'
import { cases as serving, CONTROL } from './cases/serving.ts'
import { cases as sharedCache } from './cases/shared-cache.ts'
import { cases as start } from './cases/start.ts'
import { cases as visit } from './cases/visit.ts'
import type { Row } from './measure.ts'
import { tableOf, writeReport, type Result } from './report.ts'
import { buildServer, removeServer } from './servers.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    against: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' }
  }
})
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  against: values.against
}
const all = [...serving, ...httpCache, ...many, ...precompile, ...sharedCache, ...start, ...visit]
const chosen = all.filter(({ title }) => title.includes(values.only))
if (chosen.length === 0) {
  throw new Error(`no case contains '${values.only}':\n${all.map(({ title }) => title).join('\n')}`)
}
const results: Result[] = []

function checkControl(rows: readonly Row[]): void {
  const ratio = rows.at(-1)?.ratio ?? NaN
  if (Math.abs(ratio - 1) <= 0.05) return
  throw new Error(`${CONTROL} took ${ratio.toFixed(2)} times as long: the machine is too busy`)
}

buildServer()
try {
  for (const one of chosen) {
    const result = { case: one, rows: await one.measure(options) }
    console.log(tableOf([result]))
    if (one.title === CONTROL) checkControl(result.rows)
    results.push(result)
  }
} finally {
  removeServer()
}
if (!values.only && !values.against) writeReport(results, options)
