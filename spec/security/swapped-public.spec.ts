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

/** Points a link to the one and the other, as long as others ask. */
async function swapping(at: string, targets: readonly string[], asking: Promise<unknown>) {
  const race = { isOver: false }
  const stop = () => (race.isOver = true)
  asking.then(stop, stop)
  for (let round = 0; !race.isOver; round++) {
    symlinkSync(targets[round % targets.length] ?? '', `${at}.new`)
    renameSync(`${at}.new`, at)
    await new Promise(resolve => setImmediate(resolve))
  }
  await asking
}

/** Asks until the link was seen in both places, which the scheduler decides, and as often as was asked for. */
async function askAll(t: ExecutionContext, { port }: Front, paths: readonly string[]) {
  const seen = { good: 0, none: 0 }
  for (let batch = 0; batch < cases(10, 50) || seen.good === 0 || seen.none === 0; batch++) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => ask(port, 'GET', paths[at % paths.length] ?? ''))
    )
    for (const { status, text } of answers) {
      t.false(text.includes(BAD), 'a byte of the outside')
      if (status === 200) seen.good++
      else seen.none++
    }
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
      await swapping(at, targets, askAll(t, front, [`${mounted}/${name}-link.txt`]))
    }
    t.deepEqual(front.errors, [])
  })

  test(`S52 a folder that is swapped for a link while it is read serves nothing from outside${where}, in ${env}`, async t => {
    const inside = makeProject(t, filesBelow('public/real/', GOOD))
    const outside = makeProject(t, filesBelow('', BAD))
    const front = await makeFront(t, { root: inside, ...options })
    const asking = askAll(t, front, [`${mounted}/folder/small.txt`, `${mounted}/folder/big.txt`])
    await swapping(join(inside, 'public/folder'), ['real', outside], asking)
    t.deepEqual(front.errors, [])
  })

  test(`S52 public itself, swapped for a link while it is read, serves nothing from outside${where}, in ${env}`, async t => {
    const inside = makeProject(t, { ...filesBelow('real/', GOOD), ...filesBelow('next/', GOOD) })
    const outside = makeProject(t, filesBelow('', BAD))
    symlinkSync('real', join(inside, 'public'))
    mkdirSync(join(outside, 'assets'))
    const front = await makeFront(t, { root: inside, ...options })
    t.is((await ask(front.port, 'GET', `${mounted}/small.txt`)).status, 200)
    const asking = askAll(t, front, [`${mounted}/small.txt`, `${mounted}/big.txt`])
    await swapping(join(inside, 'public'), ['real', 'next', outside], asking)
    t.deepEqual(front.errors, [])
  })
}
