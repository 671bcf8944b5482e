// A process by itself: setTimeout and process.cpuUsage are replaced.
import { mock } from 'node:test'
import { makeSite, test, until } from '../../support/index.ts'
import { openTold } from './tab.ts'

test('an open page lets the server look every 2 to 10 s, for 2 % of a core', async t => {
  const site = await makeSite(t, { 'app.css': 'a{}' })
  const { setTimeout: set } = globalThis
  /** What a look takes, in milliseconds of the processor, and the pauses that follow each. */
  let cost = 0
  const pauses: number[] = []
  const ends: (() => void)[] = []
  const pausing = (end: () => void, milliseconds: number) => {
    if (milliseconds < 2000) return set(end, milliseconds)
    pauses.push(milliseconds)
    ends.push(end)
    return set(() => undefined)
  }
  const used = (before?: object) => ({ user: before ? cost * 1000 : 0, system: 0 })
  const mocked = [
    mock.method(globalThis, 'setTimeout', pausing),
    mock.method(process, 'cpuUsage', used)
  ]
  t.teardown(() => mocked.forEach(each => each.mock.restore()))

  await openTold(t, site.port, 'use=/assets/app.css')
  const steps = [
    [0, 2000],
    [60, 3000],
    [1000, 10_000]
  ] as const
  for (const [milliseconds, pause] of steps) {
    cost = milliseconds
    const isPaused = () => {
      ends.shift()?.()
      return pauses.includes(pause)
    }
    await until(isPaused, `a pause of ${pause} ms`)
  }
  t.deepEqual([...new Set(pauses)], [2000, 3000, 10_000])
})
