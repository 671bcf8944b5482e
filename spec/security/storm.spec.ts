// Everybody asks at once for what takes long to make: S41.
import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { makeFront } from '../support/front.ts'
import { drive } from '../support/in-process.ts'
import { exchange, readAnswer, request } from '../support/raw.ts'
import { makeProject, writeFiles } from '../support/site.ts'
import { until } from '../support/until.ts'

const SOURCE = 'apps/web/assets/stylesheets/slow.css.slow'
const CROWD = 200

/** A site whose compiler waits until it is let go, and that tells how many requests have come. */
async function makeSlowSite(t: ExecutionContext, env: string) {
  const root = makeProject(t, { [SOURCE]: 'one' })
  const state = { compiles: 0, arrived: 0, go: () => {}, gate: Promise.resolve() }
  const close = () => {
    state.gate = new Promise(resolve => (state.go = resolve))
  }
  const slow = {
    extensions: '.slow',
    target: '.css',
    async compile({ code }: { code: string }) {
      state.compiles++
      await state.gate
      if (code === 'broken') throw new Error('it is broken')
      return { code: `${code} compiled` }
    }
  }
  const front = await makeFront(t, {
    root,
    env,
    compile: true,
    fingerprint: false,
    compilers: [slow],
    inFront: [
      (_, next) => {
        state.arrived++
        return next()
      }
    ]
  })
  return { ...front, state, close }
}

/** Sends the request and leaves once `arrived` has passed. */
function askAndLeave(port: number): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(request('GET', '/assets/slow.css')))
  socket.on('error', () => undefined)
  return socket
}

for (const whoLeaves of ['the first', 'one in the middle', 'the last']) {
  test(`S41 200 at once, and ${whoLeaves} of them leaves: one compile, 199 good answers`, async t => {
    const { port, state, close, errors } = await makeSlowSite(t, 'development')
    close()
    const before =
      { 'the first': 0, 'one in the middle': 100, 'the last': CROWD - 1 }[whoLeaves] ?? 0
    const crowd = (count: number) =>
      Array.from({ length: count }, () => exchange(port, request('GET', '/assets/slow.css')))
    const early = crowd(before)
    await until(() => state.arrived === before, 'the requests have come')
    const leaving = askAndLeave(port)
    await until(() => state.arrived === before + 1, 'the requests have come')
    const late = crowd(CROWD - 1 - before)
    await until(() => state.arrived === CROWD, 'the requests have come')
    const left = new Promise(resolve => leaving.once('close', resolve))
    leaving.destroy()
    await left
    state.go()
    const answers = (await Promise.all([...early, ...late])).map(readAnswer)
    t.is(answers.length, CROWD - 1)
    for (const answer of answers) {
      t.is(answer.status, 200)
      t.is(answer.text, 'one compiled')
    }
    t.is(state.compiles, 1)
    t.deepEqual(errors, [])
  })
}

test('S41 an edit while it compiles: who asks later gets the later bytes, after one more compile', async t => {
  const { root, port, state, close } = await makeSlowSite(t, 'development')
  close()
  const early = Array.from({ length: 20 }, () => exchange(port, request('GET', '/assets/slow.css')))
  await until(() => state.compiles === 1 && state.arrived === 20, 'the requests have come')
  writeFiles(root, { [SOURCE]: 'two' })
  const late = Array.from({ length: 20 }, () => exchange(port, request('GET', '/assets/slow.css')))
  await until(() => state.arrived === 40, 'the requests have come')
  state.go()
  for (const bytes of await Promise.all(late)) t.is(readAnswer(bytes).text, 'two compiled')
  for (const bytes of await Promise.all(early))
    t.regex(readAnswer(bytes).text, /^(one|two) compiled$/)
  t.is(state.compiles, 2)
})

test('S41 a storm on a broken source: all are told, and it is not compiled for each', async t => {
  const { root, port, state, close, errors } = await makeSlowSite(t, 'production')
  writeFiles(root, { [SOURCE]: 'broken' })
  close()
  const crowd = Array.from({ length: CROWD }, () =>
    exchange(port, request('GET', '/assets/slow.css'))
  )
  await until(() => state.arrived === CROWD, 'the requests have come')
  state.go()
  for (const bytes of await Promise.all(crowd)) {
    const answer = readAnswer(bytes)
    t.is(answer.status, 500)
    t.is(answer.text, 'Internal Server Error')
  }
  t.true(state.compiles <= 2, `${state.compiles} compiles`)
  t.is(errors.length, CROWD)
  writeFiles(root, { [SOURCE]: 'mended' })
  const mended = await exchange(port, request('GET', '/assets/slow.css'))
  t.is(readAnswer(mended).text, 'mended compiled')
})

test('S41 a stream of requests over each of 60 edits: one compile for each edit', async t => {
  const { root, app, state } = await makeSlowSite(t, 'development')
  for (let edit = 1; edit <= 60; edit++) {
    writeFiles(root, { [SOURCE]: `edit ${edit}` })
    const asked: Promise<Set<number>>[] = []
    // Some come before the compile, some in its midst, some in the very moment in which it ends.
    for (let count = 0; count < 30; count++) {
      asked.push(drive(app, ['/assets/slow.css']))
      await new Promise(resolve => setImmediate(resolve))
    }
    for (const statuses of await Promise.all(asked)) t.deepEqual([...statuses], [200])
    t.is(state.compiles, edit)
  }
})
