// What the visitors of a shop with seven packages load, in Chromium: the bench's shop, held loosely.
import { command } from '../support/command.ts'
import { test } from '../support/test.ts'
import { canMakeDeltas } from '../../lib/extras/deltas/delta-format.ts'

/** The first contestant is what one gets without an option. */
const WALK = `import { contestants } from './bench/visit/contestants.ts'
  import { build, removeBuilds, visitsOf } from './bench/visit/visits.ts'
  try { console.log(JSON.stringify(await visitsOf(build(contestants[0])))) } finally { removeBuilds() }`

type Visit = Readonly<Record<'requests' | 'bytes', number>>

test('joined modules cost a visitor what a bundle costs, and after a deploy what has changed', async t => {
  // Its bytes are those of the best level of brotli.
  const { NODE_OPTIONS: _, ...env } = process.env
  const node = (...words: string[]) => command(process.execPath, words, { env })
  await node('.ci/install.js', 'bench')
  const { stdout } = await node('--import=tsx', '--input-type=module', '--eval', WALK)
  const { first, next, second, deployed, without } = JSON.parse(stdout) as Record<string, Visit>
  const isAtMost = (visit: Visit | undefined, requests: number, bytes: number) =>
    t.true(visit && visit.requests <= requests && visit.bytes <= bytes, JSON.stringify(visit))
  isAtMost(first, 16, 190_000)
  isAtMost(next, 6, 50_000)
  isAtMost(second, 1, 300)
  isAtMost(deployed, 4, (await canMakeDeltas()) ? 5000 : 30_000)
  isAtMost(without, 4, 30_000)
})
