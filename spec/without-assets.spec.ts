// A project without assets of its own: `apps: false`, and `public: false` where only mounts are served.
import type { KoaAssetsOptions } from '../lib/runtime/settings/options.ts'
import { koaAssets } from '../lib/index.ts'
import { makeProject, makeSite, test, viteBuild, viteMount } from './support/index.ts'
import { warningsAbout, withDigest, type Files } from './support/index.ts'
import { ENVIRONMENTS as SERVING } from './support/ways.ts'

const BARE_FILES: Files = {
  '/package.json': '{}',
  '/assets/crate.txt': 'not an asset of a page',
  '/apps/web/assets/app.css': 'a{}',
  '/dist/app.js': 'app',
  ...viteBuild('/dist', { 'main.js': 'main-B1a2C3d4.js' }),
  '/public/robots.txt': 'robots',
  '/public/assets/old.css': 'old'
}
const MOUNTS: KoaAssetsOptions['mounts'] = { '/assets': 'assets', '/static': viteMount() }

for (const [where, options] of SERVING) {
  test(`with public: false nothing but the mounts is served, ${where}`, async t => {
    const only = { apps: false, public: false, mounts: MOUNTS } as const
    const site = await makeSite(t, BARE_FILES, { ...options, ...only })
    for (let times = 0; times < 2; times++) {
      t.is((await site.ask('/assets/crate.txt')).text, 'not an asset of a page')
      t.is((await site.ask('/static/app.js')).text, 'app')
      const others = ['/robots.txt', '/assets/old.css', '/crate.txt', '/', '/package.json']
      for (const path of [...others, '/assets/app.css', '/app.css'])
        for (const method of ['GET', 'OPTIONS']) {
          const { status, headers } = await site.ask(path, { method })
          t.deepEqual([path, method, status, headers.allow], [path, method, 404, undefined])
        }
    }
    t.deepEqual(site.errors, [])
    t.deepEqual(warningsAbout(site.root), [])
  })
}

test('public: false needs apps: false, as assets are published in public', t => {
  const root = makeProject(t, BARE_FILES)
  for (const apps of [undefined, { web: {} }]) {
    const message = 'public must be a directory unless apps is false, got false'
    t.throws(() => koaAssets({ root, apps, public: false }), { instanceOf: TypeError, message })
  }
})

test('with apps: false pages can refer to entries of bundles, but to no asset', async t => {
  const site = await makeSite(t, BARE_FILES, {
    env: 'production',
    apps: false,
    public: false,
    mounts: MOUNTS,
    routes: async ctx => {
      if (ctx.path === '/file') return ctx.sendFile('robots.txt', { root: 'public' })
      const { assets } = ctx
      const message = /^'app\.css' is not an asset: this project has none of its own/
      t.throws(() => assets.stylesheet('app'), { code: 'asset-unknown', message })
      t.throws(() => assets.app('web'), { message: "unknown app 'web': the apps are: none" })
      t.is(assets.path('https://cdn.example/a.css'), 'https://cdn.example/a.css')
      t.is(assets.importMap(), '')
      ctx.body = `${assets.entry('main.js')} ${assets.version}`
      return undefined
    }
  })
  const tag = /<script src="\/static\/main-B1a2C3d4\.js" type="module" .*<\/script> DIGEST$/
  t.regex((await site.ask('/page')).text, withDigest(tag))
  t.is((await site.ask('/file')).text, 'robots')
  t.deepEqual(site.errors, [])
})
