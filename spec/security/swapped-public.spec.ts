// Links that are swapped between inside and outside while they are read: S52.
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { makeFront, type Front } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { makeProject, type Files } from '../support/site.ts'
import { cases } from '../support/soak.ts'
import { PLACES } from './places.ts'
import { SECRET } from './stronghold.ts'

const SMALL = 1000
const BIG = 200_000

/** A file for memory and one that is streamed. */
function filesBelow(folder: string, text: string): Files {
  return {
    [`${folder}small.txt`]: text.repeat(SMALL / text.length),
    [`${folder}big.txt`]: text.repeat(BIG / text.length)
  }
}

const GOOD = 'good'.padEnd(20, '.')
const BAD = SECRET.slice(0, 20).padEnd(20, '!')

/** Points a link to one after the other as long as others ask; then to the first, then to the last. */
async function swapping(
  t: ExecutionContext,
  { port }: Front,
  at: string,
  targets: readonly string[],
  paths: readonly string[]
): Promise<void> {
  const pointTo = (target = '') => {
    symlinkSync(target, `${at}.new`)
    renameSync(`${at}.new`, at)
  }
  const race = { isOver: false }
  const stop = () => (race.isOver = true)
  const asking = askAll(t, port, paths)
  asking.then(stop, stop)
  for (let round = 0; !race.isOver; round++) {
    pointTo(targets[round % targets.length])
    await new Promise(resolve => setImmediate(resolve))
  }
  await asking
  for (const [target, status] of [
    [targets[0], 200],
    [targets.at(-1), 404]
  ] as const) {
    pointTo(target)
    for (const path of paths) t.is((await ask(port, 'GET', path)).status, status, target)
  }
}

async function askAll(t: ExecutionContext, port: number, paths: readonly string[]): Promise<void> {
  for (let batch = 0; batch < cases(5, 50); batch++) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => ask(port, 'GET', paths[at % paths.length] ?? ''))
    )
    for (const { text } of answers) t.false(text.includes(BAD), 'a byte of the outside')
  }
}

// Nothing is held, so that every request looks, opens and judges.
const ALWAYS_LOOK = { memory: { maxBytes: 1, maxFileBytes: 100_000 }, revalidate: 0 }

const runs = PLACES.flatMap(place =>
  (['production', 'development'] as const).map(env => ({ ...place, env }))
)

for (const { where, at: mounted, env, options: placed } of runs) {
  const compile = env === 'development'
  const options = { ...ALWAYS_LOOK, env, compile, fingerprint: false, ...placed }

  test(`S52 a link to a file that is swapped while it is read serves nothing from outside${where}, in ${env}`, async t => {
    const outside = makeProject(t, filesBelow('', BAD))
    const inside = makeProject(t, filesBelow('public/', GOOD))
    const front = await makeFront(t, { root: inside, ...options })
    for (const name of ['small', 'big']) {
      const at = join(inside, `public/${name}-link.txt`)
      const targets = [`${name}.txt`, join(outside, `${name}.txt`)]
      await swapping(t, front, at, targets, [`${mounted}/${name}-link.txt`])
    }
    t.deepEqual(front.errors, [])
  })

  test(`S52 a folder that is swapped for a link while it is read serves nothing from outside${where}, in ${env}`, async t => {
    const inside = makeProject(t, filesBelow('public/real/', GOOD))
    const outside = makeProject(t, filesBelow('', BAD))
    const front = await makeFront(t, { root: inside, ...options })
    const paths = ['small', 'big'].map(name => `${mounted}/folder/${name}.txt`)
    await swapping(t, front, join(inside, 'public/folder'), ['real', outside], paths)
    t.deepEqual(front.errors, [])
  })

  test(`S52 public itself, swapped for a link while it is read, serves nothing from outside${where}, in ${env}`, async t => {
    const inside = makeProject(t, { ...filesBelow('real/', GOOD), ...filesBelow('next/', GOOD) })
    const outside = makeProject(t, filesBelow('', BAD))
    symlinkSync('real', join(inside, 'public'))
    mkdirSync(join(outside, 'assets'))
    const front = await makeFront(t, { root: inside, ...options })
    t.is((await ask(front.port, 'GET', `${mounted}/small.txt`)).status, 200)
    const paths = [`${mounted}/small.txt`, `${mounted}/big.txt`]
    await swapping(t, front, join(inside, 'public'), ['real', 'next', outside], paths)
    t.deepEqual(front.errors, [])
  })
}
