// Deploys of three replicas while processes are killed and the machine has too much to do.
import { clean } from '../../lib/koa-assets.ts'
import { startProgram } from '../support/processes.ts'
import { Rollout } from '../support/rollout.ts'
import { cases, serial as test, type ExecutionContext } from '../support/index.ts'
import { Visitors } from '../support/visitors.ts'
import { proxyInFront, varnishInFront } from './in-front.ts'

const DEPLOYS = cases(1, 10)
/** In .ci/run the other lane keeps the processors busy. */
const BUSY = cases(0, 8)
const LIMIT = 590_000 // ms
/** Between two steps of a deploy; kills are between one and as many apart. */
const VISITS = 15

const FRONTS = { 'default.vcl': varnishInFront, 'proxy.conf': proxyInFront }

/** Processes that want a whole processor each, until the spec is over. */
function makeBusy(t: ExecutionContext, count: number): void {
  const program = `const end = Date.now() + ${LIMIT}; while (Date.now() < end);`
  for (let number = 0; number < count; number++)
    startProgram(t, ['-e', program], { stdio: 'ignore' })
}

/** Kills one replica after another, each after some visits; the number of kills. */
async function killDuring(
  work: Promise<void>,
  { visitors, kill }: { visitors: Visitors; kill: () => Promise<void> }
): Promise<number> {
  const state = { isOver: false }
  const over = work.finally(() => (state.isOver = true))
  let kills = 0
  for (; !state.isOver; kills++) {
    await Promise.race([over, visitors.more(1 + Math.floor(Math.random() * VISITS))])
    await kill()
  }
  await over
  return kills
}

for (const [name, front] of Object.entries(FRONTS)) {
  test(`no request fails while busy replicas are deployed and killed behind ${name}`, async t => {
    // An old process that starts after the precompile would not find a name that the new release has dropped.
    const rollout = await Rollout.make(t, { isShared: true, hasOwnNames: false })
    await rollout.build(1)
    await rollout.replaceAll(1)
    const visitors = new Visitors(await front(t, ...rollout.ports))
    makeBusy(t, BUSY)
    let current = 1
    const deploys = async () => {
      for (let release = 2; release <= DEPLOYS + 1; release++) {
        await rollout.build(release, release - 1)
        current = release
        await visitors.more(VISITS)
        for (const at of rollout.ports.keys()) {
          await rollout.replace(at, release)
          await visitors.more(VISITS)
        }
        await visitors.close(release - 1)
        await clean(rollout.options(release), { keep: 2, age: 0 })
      }
    }
    const kill = () => rollout.crash(Math.floor(Math.random() * rollout.ports.length), current)
    let kills = 0
    await visitors.during(async () => {
      kills = await killDuring(deploys(), { visitors, kill })
    })
    await rollout.stopAll()
    const { visits, requests, cut } = visitors
    t.log(`${DEPLOYS} deploys, ${kills} kills, ${visits} visits, ${requests} requests, ${cut} cut`)
    for (const [release, { errors }] of rollout.reports) t.deepEqual(errors, [], `${release}`)
    visitors.checkVisits(t)
    t.true(kills >= DEPLOYS)
  })
}
