import test from 'ava'
import type { BuildResult } from '../../../lib/assets/building/build.ts'
import type { Drafted } from '../../../lib/assets/building/finish-build.ts'
import { LiveDrafts } from '../../../lib/assets/publishing/live-drafts.ts'
import { AssetError } from '../../../lib/errors.ts'

const drafted = (): Drafted => ({
  draft: { content: Buffer.of(), inputs: [], mtimeNs: 0n, isSettled: true },
  sums: undefined
})

test('drafts that are all the same are finished once, until one differs', async t => {
  const drafts = new LiveDrafts(() => 1)
  let count = 0
  const finish = async (): Promise<BuildResult> => {
    count++
    return { assets: new Map(), problems: [] }
  }
  const [a, b] = [drafted(), drafted()]
  const first = await drafts.finishOnce(new Map(Object.entries({ a, b })), finish)
  t.is(await drafts.finishOnce(new Map(Object.entries({ a, b })), finish), first)
  t.is(count, 1)
  await drafts.finishOnce(new Map(Object.entries({ a, b: drafted() })), finish)
  await drafts.finishOnce(new Map(Object.entries({ a })), finish)
  t.is(count, 3)
})

test('drafts whose references have a problem are looked at again', async t => {
  const drafts = new LiveDrafts(() => 1)
  const all = new Map(Object.entries({ a: drafted() }))
  const problems = [{ path: '/assets/a', error: new AssetError('reference-missing', '') }]
  let count = 0
  const finish = async () => ({ assets: new Map(), problems: ++count < 3 ? problems : [] })
  for (let turn = 0; turn < 5; turn++) await drafts.finishOnce(all, finish)
  t.is(count, 3)
})
