import test from 'ava'
import { oneAtATime } from '../lib/concurrency.ts'

function makeWork() {
  const runs: Array<PromiseWithResolvers> = []
  const ask = oneAtATime(() => {
    const run = withResolvers()
    runs.push(run)
    return run.promise
  })
  return { runs, ask }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

function withResolvers(): PromiseWithResolvers {
  let resolve = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('who asks while it runs gets the next run, all together', async t => {
  const { runs, ask } = makeWork()
  const first = ask()
  const [second, third] = [ask(), ask()]
  t.is(second, third)
  t.not(first, second)
  t.is(runs.length, 1)
  runs[0]?.resolve()
  await first
  await turn()
  t.is(runs.length, 2)
  const fourth = ask()
  t.not(fourth, second, 'it runs already')
  runs[1]?.resolve()
  await Promise.all([second, third])
  await turn()
  runs[2]?.resolve()
  await fourth
  t.is(runs.length, 3)
})

test('who asks when nothing runs gets a run of its own', async t => {
  const { runs, ask } = makeWork()
  for (const at of [0, 1, 2]) {
    const asked = ask()
    t.is(runs.length, at + 1)
    runs[at]?.resolve()
    await asked
  }
})

test('a run that fails fails for those who wait for it, and the next one runs', async t => {
  const { runs, ask } = makeWork()
  const [first, second] = [ask(), ask()]
  runs[0]?.reject(new Error('no luck'))
  await t.throwsAsync(first, { message: 'no luck' })
  await turn()
  runs[1]?.resolve()
  await t.notThrowsAsync(second)
  const third = ask()
  runs[2]?.resolve()
  await t.notThrowsAsync(third)
})

test('whoever asks between two runs starts no third one beside them', async t => {
  const { runs, ask } = makeWork()
  const asked = [ask(), ask()]
  runs[0]?.resolve()
  // One question in every turn of the promises until the next run has begun.
  for (let at = 0; at < 20; at++) {
    await Promise.resolve()
    asked.push(ask())
    t.true(runs.length <= 2)
  }
  runs[1]?.resolve()
  await turn()
  t.is(runs.length, 3)
  runs[2]?.resolve()
  await Promise.all(asked)
})
