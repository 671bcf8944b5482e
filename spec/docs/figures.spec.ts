// The figures of README and docs/bench.md are those of the last whole run of the bench, bench/results.md.
import { readFileSync } from 'node:fs'
import { test } from '../support/test.ts'

const readme = readFileSync('README.md', 'utf8')
const results = readFileSync('bench/results.md', 'utf8')

/** What each contestant did in each case, and how many times as fast we were. */
const ROWS = new Map<string, { readonly result: string; readonly ratio: number }>()
let current = ''
for (const line of results.split('\n').filter(text => text.startsWith('| '))) {
  const [title, contestant = '', result = '', ratio] = line.split(' | ')
  current = title?.slice(2).trim() || current
  const key = `${current}: ${contestant}`
  if (!ROWS.has(key)) ROWS.set(key, { result, ratio: Number(ratio) })
}

function rowOf(title: string, contestant: string) {
  const row = ROWS.get(`${title}: ${contestant}`)
  if (!row) throw new Error(`bench/results.md has no ${contestant} in '${title}'`)
  return row
}

test('README claims no more speed for files from memory than was measured', t => {
  const words: Readonly<Record<string, number>> = { 'three quarters': 0.75, nine: 9 }
  const sentence =
    /sends a 4 KiB file from memory more than (\w+) times as fast as koa-static, and more than ([\w ]+) as fast as nginx/
  const [, times = '', part = ''] = sentence.exec(readme) ?? []
  const ratioTo = (contestant: string) => rowOf('4 KiB, 200', contestant).ratio
  t.true(ratioTo('koa-static') > (words[times] ?? Infinity), times)
  t.true(ratioTo('nginx') > (words[part] ?? Infinity), part)
})

/** The contestants by the first cell of their row in README. */
const BUILDS: ReadonlyArray<readonly [start: string, contestant: string]> = [
  ['`bundle: true`', 'koa-fresh-assets, bundle: true'],
  ["`bundle: 'packages'`", 'koa-fresh-assets'],
  ['`bundle: false`', 'koa-fresh-assets, bundle: false'],
  ['Vite, in a mount', 'Vite, in a mount'],
  ['Vite, koa-static', 'Vite, koa-static, koa-etag'],
  ["Remix's assets", "Remix's assets, koa-static, koa-etag"]
]
const VISITS = [
  'visit, the first',
  'visit, the second',
  'visit, after a deploy',
  'visit, after a deploy, without dictionaries'
]

test('README gives the measured cost of a visit for each kind of build', t => {
  for (const [start, contestant] of BUILDS) {
    const line = readme.split('\n').find(text => text.startsWith(`| ${start}`)) ?? ''
    const [, ...cells] = line.slice(2, -2).split(' | ')
    const [first = '', ...others] = VISITS.map(title => rowOf(title, contestant).result)
    const short = others.map(result => result.replace(/ requests?, (.*), [\d.]+ s$/, ', $1'))
    t.deepEqual(cells, [first, ...short], contestant)
  }
})
