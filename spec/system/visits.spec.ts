// What the visitors of a shop with seven packages load, in Chromium: the bench's shop, held loosely.
import { command } from '../support/command.ts'
import { test } from '../support/test.ts'
import { canMakeDeltas } from '../../lib/extras/deltas/delta-format.ts'

const CELLS = /^\|[^|]*\| koa-fresh-assets \| (\d+) requests?, ([\d.]+) (k?B),/gm

test('joined modules cost a visitor what a bundle costs, and after a deploy what has changed', async t => {
  // Its bytes are those of the best level of brotli.
  const { NODE_OPTIONS: _, ...env } = process.env
  const node = (...words: string[]) => command(process.execPath, words, { env })
  await node('.ci/install.js', 'bench')
  const { stdout: table } = await node(
    '--import=tsx',
    'bench/run.ts',
    '--only',
    'visit',
    '--rounds',
    '1',
    '--against',
    'nobody'
  )
  const [first, next, second, deployed, without, ...others] = Array.from(
    table.matchAll(CELLS),
    ([, requests, size, unit]) => ({
      requests: Number(requests),
      bytes: Number(size) * (unit === 'B' ? 1 : 1000)
    })
  )
  t.deepEqual(others, [])
  const isAtMost = (visit: typeof first, requests: number, bytes: number) =>
    t.true(visit && visit.requests <= requests && visit.bytes <= bytes, JSON.stringify(visit))
  isAtMost(first, 16, 190_000)
  isAtMost(next, 6, 50_000)
  isAtMost(second, 1, 300)
  isAtMost(deployed, 4, (await canMakeDeltas()) ? 5000 : 30_000)
  isAtMost(without, 4, 30_000)
})
