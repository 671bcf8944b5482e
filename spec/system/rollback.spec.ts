// A deploy of the older release, while pages of both are open.
import { execFile } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { build } from 'vite'
import { keep } from '../../lib/index.ts'
import { ask } from '../support/ask.ts'
import { makeBundlerProject } from '../support/bundler-project.ts'
import { readPage } from '../support/examples.ts'
import { readManifest } from '../support/fingerprinted.ts'
import { Rollout } from '../support/rollout.ts'
import { makeSite, writeFiles } from '../support/site.ts'
import { Visitors } from '../support/visitors.ts'
import { launch } from './chromium.ts'
import { nginxInFront, varnishInFront } from './in-front.ts'

const [script] = readPage('docs/deploy.md').take('Rolling back', 'sh')

const VISITS = 40

const FRONTS = {
  nginx: (t: ExecutionContext, ports: Rollout['ports']) => nginxInFront(t, undefined, ...ports),
  Varnish: (t: ExecutionContext, ports: Rollout['ports']) => varnishInFront(t, ...ports)
}

const precompile = async (rollout: Rollout) => void (await rollout.build(1))

/** What is done before the replicas of release 1 start again. */
const WAYS = {
  'one public for all releases, and release 1 precompiled again': {
    isShared: true,
    prepare: precompile
  },
  'a public for each release, and the files of release 2 brought to release 1': {
    isShared: false,
    prepare: async (rollout: Rollout) => {
      const { root } = rollout.options(1)
      writeFiles(root, { 'rollback.sh': script?.text ?? '' })
      const words = ['rollback.sh', rollout.options(2).public]
      await promisify(execFile)('sh', words, { cwd: root })
    }
  },
  'a public for each release, and release 1 built again over release 2': {
    isShared: false,
    prepare: async (rollout: Rollout) => void (await rollout.build(1, 2))
  }
} as const

for (const [name, front] of Object.entries(FRONTS)) {
  for (const [what, { isShared, prepare }] of Object.entries(WAYS)) {
    test.serial(
      `REC-06 no open page lacks a file after a rollback behind ${name}, with ${what}`,
      async t => {
        t.timeout(180_000)
        const rollout = await Rollout.make(t, { isShared })
        const targets = new Set<string>()
        const release = async (release: number, before?: number) => {
          await rollout.build(release, before)
          const { assets } = readManifest(isShared ? rollout.home : rollout.options(release).root)
          for (const { target } of Object.values(assets)) targets.add(target)
        }
        await release(1)
        await rollout.replaceAll(1)
        const visitors = new Visitors(await front(t, rollout.ports))
        const replaceAll = async (release: number) => {
          for (const [at, port] of rollout.ports.entries()) {
            await rollout.replace(at, release)
            await visitors.meet(port)
            await visitors.more(VISITS)
          }
        }
        await visitors.during(async () => {
          await visitors.more(VISITS)
          await release(2, 1)
          await replaceAll(2)
          await prepare(rollout)
          await replaceAll(1)
        })
        visitors.arePleased(t)
        t.is(visitors.cut, 0)
        // Nobody has to ask another replica: each has the files of both releases.
        for (const port of rollout.ports) {
          for (const target of targets) t.is((await ask(port, target)).status, 200, target)
        }
      }
    )
  }
}

test('REC-06 pages of both builds load their lazy chunks after keep <newer> <older>', async t => {
  const { root, remove } = makeBundlerProject({})
  t.teardown(remove)
  const release = async (number: number): Promise<string> => {
    const outDir = `builds/${number}`
    writeFiles(root, {
      'src/main.js': `globalThis.release = ${number}\nglobalThis.loadMore = () => import('./lazy.js')`,
      'src/lazy.js': `import './lazy.css'\ndocument.title = 'lazy ${number}'`,
      'src/lazy.css': `:root { --release: ${number} }`
    })
    await build({
      ...{ root, base: '/static/', configFile: false, logLevel: 'error' },
      build: { outDir, manifest: true, rollupOptions: { input: 'src/main.js' } }
    })
    return join(root, outDir)
  }
  const switchTo = (number: number) => {
    rmSync(join(root, 'dist'), { force: true })
    symlinkSync(`builds/${number}`, join(root, 'dist'))
  }
  const [older, newer] = [await release(1), await release(2)]
  switchTo(1)
  const site = await makeSite(
    t,
    {},
    {
      ...{ root, env: 'production', revalidate: 0 },
      mounts: { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } },
      routes: ctx => {
        if (ctx.path !== '/') return
        ctx.type = 'html'
        ctx.body = `<!doctype html><title>page</title><link rel="icon" href="data:,">${ctx.assets.entry('src/main.js')}`
      }
    }
  )
  const port = await nginxInFront(t, undefined, site.port, site.port, site.port)
  const browser = launch(t)
  const open = () => browser.open(`http://127.0.0.1:${port}/`)
  const pages = [await open()]
  await keep(older, newer)
  switchTo(2)
  pages.push(await open())
  await keep(newer, older)
  switchTo(1)
  pages.push(await open())
  for (const [at, page] of pages.entries()) {
    const number = [1, 2, 1][at]
    t.is(await page.evaluate('release'), number)
    await page.evaluate('loadMore().then(() => undefined)')
    t.is(await page.evaluate('document.title'), `lazy ${number}`)
    t.deepEqual(page.complaints, [])
  }
})
