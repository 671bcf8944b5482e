// A deploy of the older release while pages of both are open; releases.spec.ts has lazy chunks.
import { command } from '../support/command.ts'
import { readPart } from '../support/examples.ts'
import { Rollout } from '../support/rollout.ts'
import { ask, readManifest, serial as test, writeFiles } from '../support/index.ts'
import { Visitors } from '../support/visitors.ts'
import { proxyInFront, varnishInFront } from './in-front.ts'

const [script] = readPart('docs/deploy.md').take('Rolling back', 'bash')

const VISITS = 20

/** What is done before the replicas of release 1 start again. No page needs another replica, whatever is in front. */
const WAYS = {
  'nginx, with one public for all releases, and release 1 precompiled again': {
    isShared: true,
    front: proxyInFront,
    prepare: async (rollout: Rollout) => void (await rollout.build(1))
  },
  'Varnish, with a public for each release, and the files of release 2 brought to release 1': {
    isShared: false,
    front: varnishInFront,
    prepare: async (rollout: Rollout) => {
      const { root } = rollout.options(1)
      writeFiles(root, { 'rollback.sh': script?.text ?? '' })
      await command('sh', ['rollback.sh', rollout.options(2).public], { cwd: root })
    }
  },
  'nginx, with a public for each release, and release 1 built again over release 2': {
    isShared: false,
    front: proxyInFront,
    prepare: async (rollout: Rollout) => void (await rollout.build(1, 2))
  }
} as const

for (const [what, { isShared, front, prepare }] of Object.entries(WAYS)) {
  test(`no open page lacks a file after a rollback behind ${what}`, async t => {
    const rollout = await Rollout.make(t, { isShared })
    const targets = new Set<string>()
    const release = async (release: number, before?: number) => {
      await rollout.build(release, before)
      const { assets } = readManifest(isShared ? rollout.home : rollout.options(release).root)
      for (const { target } of Object.values(assets)) targets.add(target)
    }
    await release(1)
    await rollout.replaceAll(1)
    const visitors = new Visitors(await front(t, ...rollout.ports))
    await visitors.during(async () => {
      await visitors.more(VISITS)
      await release(2, 1)
      await visitors.deploy(rollout, 2, VISITS)
      await prepare(rollout)
      await visitors.deploy(rollout, 1, VISITS)
    })
    visitors.arePleased(t)
    t.is(visitors.cut, 0)
    // Nobody has to ask another replica: each has the files of both releases.
    for (const port of rollout.ports) {
      for (const target of targets) t.is((await ask(port, target)).status, 200, target)
    }
  })
}
