// Deploys of three replicas, one after another, while visitors open pages and fetch their assets.
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clean } from '../../lib/koa-assets.ts'
import { runBuilt } from '../publishing/cli/run.ts'
import { command } from '../support/command.ts'
import { isAble } from '../support/deltas.ts'
import { readPart } from '../support/examples.ts'
import { Rollout } from '../support/rollout.ts'
import { ask, isPublic, makeProject, placed, readManifest } from '../support/index.ts'
import { serial as test, targetOf } from '../support/index.ts'
import { Visitors } from '../support/visitors.ts'
import { proxyInFront, varnishInFront } from './in-front.ts'

const [script] = readPart('docs/deploy.md').take('Rolling back', 'bash')

const RELEASES = 3
const VISITS = 20

/** How replicas are deployed, and what is done before those of an older release start again. */
const KINDS = {
  'that share public behind nginx': {
    isShared: true,
    front: proxyInFront,
    goBack: async (rollout: Rollout, release: number) => void (await rollout.build(release))
  },
  'that share nothing behind Varnish': {
    isShared: false,
    front: varnishInFront,
    goBack: async (rollout: Rollout, release: number) => {
      const newer = rollout.options(release + 1).public
      const line = script?.text.replace('/srv/app/releases/42/public', newer) ?? ''
      await command('sh', ['-ec', line], { cwd: rollout.options(release).root })
    }
  }
} as const

for (const [which, { isShared, front, goBack }] of Object.entries(KINDS)) {
  test(`pages find their assets while replicas ${which} deploy and roll back`, async t => {
    const rollout = await Rollout.make(t, { isShared })
    const targets = new Set<string>()
    const build = async (release: number, before?: number) => {
      const report = await rollout.build(release, before)
      const { assets } = readManifest(isShared ? rollout.home : rollout.options(release).root)
      if (release >= RELEASES - 1)
        for (const { target } of Object.values(assets)) targets.add(target)
      return report
    }
    await build(1)
    await rollout.replaceAll(1)
    const visitors = new Visitors(await front(t, ...rollout.ports))
    await visitors.during(async () => {
      await visitors.more(VISITS)
      for (let release = 2; release <= RELEASES; release++) {
        const { kept } = await build(release, release - 1)
        // All but base.css have changed.
        t.is(kept, 10)
        await visitors.more(VISITS)
        await visitors.deploy(rollout, release, VISITS)
        // Only pages of this release and the last are open when the files of others are removed.
        await visitors.close(release - 1)
        const { removed } = await clean(rollout.options(release), { keep: 2, age: 0 })
        t.is(removed.length > 0, release > 2)
        await visitors.more(VISITS)
      }
      await goBack(rollout, RELEASES - 1)
      await visitors.deploy(rollout, RELEASES - 1, VISITS)
    })
    // After that each replica has the files of both releases.
    for (const port of rollout.ports)
      for (const target of targets) t.is((await ask(port, target)).status, 200, target)
    t.true([...targets].some(target => target.includes('/joined/part-')))
    await rollout.stopAll()
    t.is(visitors.cut, 0)
    visitors.checkVisits(t)
    t.is(visitors.seen.has('deltas'), isAble)
    for (let release = 2; release <= RELEASES; release++) {
      for (const what of mustBeSeen(release, isShared)) t.true(visitors.seen.has(what), what)
      const { missing = 0, errors } = rollout.reports.get(release - 1) ?? {}
      t.is(missing > 0, !isShared, 'old replicas were asked for files that they do not have')
      t.deepEqual(errors, [])
    }
  })
}

function mustBeSeen(release: number, isShared: boolean): readonly string[] {
  const before = release - 1
  return [
    `pages of release ${before} with assets of release ${before}`,
    `pages of release ${release} with assets of release ${release}`,
    `assets of release ${before} from a replica of release ${release}`,
    // A replica takes over the manifest of the next release.
    ...(isShared
      ? [
          `pages of release ${before} with assets of release ${release}`,
          `assets of release ${release} from a replica of release ${before}`
        ]
      : [])
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
