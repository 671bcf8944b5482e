// Deploys of three replicas, one after another, while visitors open pages and fetch their assets.
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clean } from '../../lib/koa-assets.ts'
import { runBuilt } from '../publishing/cli/run.ts'
import { Rollout } from '../support/rollout.ts'
import { isPublic, makeProject, placed } from '../support/index.ts'
import { serial as test, targetOf, type ExecutionContext } from '../support/index.ts'
import { isAble } from '../support/deltas.ts'
import { Visitors } from '../support/visitors.ts'
import { nginxInFront, proxyInFront, varnishInFront } from './in-front.ts'

type Front = (t: ExecutionContext, rollout: Rollout) => Promise<number>

const nginx: Front = (t, { ports }) => proxyInFront(t, ...ports)
const files: Front = (t, { home, ports }) => nginxInFront(t, home, ...ports)
const varnish: Front = (t, { ports }) => varnishInFront(t, ...ports)

const KINDS = [
  { which: 'that share public', where: 'behind nginx', isShared: true, front: nginx },
  { which: 'that share public', where: 'behind nginx with it', isShared: true, front: files },
  { which: 'that share nothing', where: 'behind Varnish', isShared: false, front: varnish }
] as const

const RELEASES = 3
const VISITS = 20

for (const { which, where, isShared, front } of KINDS) {
  test(`every page finds its assets while replicas ${which} are replaced, ${where}`, async t => {
    const rollout = await Rollout.make(t, { isShared })
    await rollout.build(1)
    await rollout.replaceAll(1)
    const visitors = new Visitors(await front(t, rollout))
    await visitors.during(async () => {
      await visitors.more(VISITS)
      for (let release = 2; release <= RELEASES; release++) {
        const { kept } = await deploy(rollout, visitors, release)
        // All but base.css have changed.
        t.is(kept, 6)
        const { removed } = await clean(rollout.options(release), { keep: 2, age: 0 })
        t.is(removed.length > 0, release > 2)
        await visitors.more(VISITS)
      }
    })
    await rollout.stopAll()
    t.is(visitors.cut, 0)
    visitors.arePleased(t)
    t.is(visitors.seen.has('deltas'), isAble && front !== files)
    for (let release = 2; release <= RELEASES; release++) {
      for (const what of mustBeSeen(release, { isShared, front }))
        t.true(visitors.seen.has(what), what)
      const { missing = 0, errors } = rollout.reports.get(release - 1) ?? {}
      t.is(missing > 0, !isShared, 'old replicas were asked for files that they do not have')
      t.deepEqual(errors, [])
    }
  })
}

async function deploy(rollout: Rollout, visitors: Visitors, release: number) {
  const report = await rollout.build(release, release - 1)
  await visitors.more(VISITS)
  await visitors.deploy(rollout, release, VISITS)
  // Only pages of this release and the last are open when the files of others are removed.
  await visitors.close(release - 1)
  return report
}

function mustBeSeen(
  release: number,
  { isShared, front }: Pick<(typeof KINDS)[number], 'isShared' | 'front'>
) {
  const before = release - 1
  const pages = [
    `pages of release ${before} with assets of release ${before}`,
    `pages of release ${release} with assets of release ${release}`,
    // A replica takes over the manifest of the next release.
    ...(isShared ? [`pages of release ${before} with assets of release ${release}`] : [])
  ]
  if (front === files) return pages
  return [
    ...pages,
    `assets of release ${before} from a replica of release ${release}`,
    ...(isShared ? [`assets of release ${release} from a replica of release ${before}`] : [])
  ]
}

test('a container image has the files of its release and of the last one', async t => {
  const dockerfile = readFileSync('demo/deploy/Dockerfile', 'utf8')
  const commands = Array.from(
    dockerfile.matchAll(/npx koa-fresh-assets ([^\\\n]+)/g),
    ([, words = '']) => words
  )
  t.is(commands.length, 3)
  const releases = [1, 2, 3].map(release =>
    makeProject(t, placed({ 'app.js': `release(${release})`, [`only-${release}.js`]: 'only()' }))
  )
  for (const [at, root] of releases.entries()) {
    const last = releases[at - 1]
    if (last) {
      for (const name of ['assets', 'assets.json']) {
        cpSync(join(last, 'public', name), join(root, 'public', name), { recursive: true })
      }
    }
    for (const command of commands) {
      const { status, stderr } = await runBuilt(root, command)
      t.is(status, 0, stderr)
    }
  }
  const [first = '', second = '', third = ''] = releases
  const has = (root: string, name: string) => isPublic(third, targetOf(root, `/assets/${name}`))
  t.false(has(first, 'app.js'))
  t.true(has(second, 'app.js'))
  t.true(has(second, 'only-2.js'))
  t.true(has(third, 'app.js'))
})
