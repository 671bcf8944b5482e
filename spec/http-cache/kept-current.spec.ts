import test from 'ava'

import { keepCurrent, refreshAll, stopRefreshing } from '../../lib/http-cache/kept-current.ts'

test('values are refreshed until they are final, and their number is bounded', async t => {
  t.is(refreshAll(), undefined)
  const refreshed: number[] = []
  const refreshes = Array.from({ length: 1000 }, (_, at) => async () => void refreshed.push(at))
  for (const refresh of refreshes) keepCurrent(refresh)
  t.throws(() => keepCurrent(async () => undefined), {
    message: /call it once, where koaHttpCache/
  })
  await refreshAll()
  t.is(refreshed.length, 1000)
  for (const refresh of refreshes) stopRefreshing(refresh)
  t.is(refreshAll(), undefined)
})
