// One directory in place of koa-static: MOV-02.
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import test from 'ava'
import Koa, { type Middleware } from 'koa'
import mount from 'koa-mount'
import type { KoaAssetsOptions } from '../lib/assets/settings/options.ts'
import { koaAssets, koaFiles } from '../lib/index.ts'
import { ask } from './support/ask.ts'
import { withDigest } from './support/digest.ts'
import { makeProject, open, type Files, makeSite } from './support/site.ts'
import { warningsAbout } from './support/warnings.ts'
import { ENVIRONMENTS as SERVING } from './support/ways.ts'

const SCRIPT = 'export const words = "the same words again"\n'.repeat(100)
const FILES: Files = {
  'package.json': '{}',
  'apps/web/assets/app.css': 'a{}',
  'public/robots.txt': 'robots',
  'dist/index.html': 'home',
  'dist/app.js': SCRIPT,
  'dist/app.js.br': brotliCompressSync(SCRIPT),
  'dist/docs/index.html': 'docs',
  'dist/.env': 'secret'
}

async function site(t: Parameters<typeof open>[0], ...stack: Middleware[]) {
  const app = new Koa()
  for (const each of stack) app.use(each)
  const port = await open(t, createServer(app.callback()))
  return (path: string, headers = {}) => ask(port, path, { headers })
}

for (const env of ['development', 'production']) {
  test.serial(
    `MOV-02 koaFiles(dir) has what koa-static has, and what it lacks, in ${env}`,
    async t => {
      const root = makeProject(t, FILES)
      const { NODE_ENV } = process.env
      process.env['NODE_ENV'] = env
      t.teardown(() => (process.env['NODE_ENV'] = NODE_ENV))
      const ours = await site(t, koaFiles(join(root, 'dist')))
      const below = await site(t, mount('/static', koaFiles('dist', { root })))
      // The answers of koa-static, with which spec/system/moving.spec.ts compares.
      for (const [path, status, text] of [
        ['/', 200, 'home'],
        ['/app.js', 200, SCRIPT],
        ['/docs/', 200, 'docs'],
        ['/missing.js', 404, 'Not Found'],
        ['/missing', 404, 'Not Found'],
        ['/.env', 404, 'Not Found'],
        ['/robots.txt', 404, 'Not Found']
      ] as const) {
        const found = await ours(path)
        t.deepEqual([path, found.status, found.text], [path, status, text])
        t.deepEqual([path, (await below(`/static${path}`)).text], [path, text])
      }
      for (const path of ['/assets/app.css', '/assets/-/', '/package.json']) {
        t.is((await ours(path)).status, 404, path)
      }
      const { headers } = await ours('/app.js')
      t.is((await ours('/app.js', { 'if-none-match': headers.etag })).status, 304)
      t.is((await ours('/app.js', { range: 'bytes=0-3' })).text, 'expo')
      const br = await ours('/app.js', { 'accept-encoding': 'br' })
      t.is(br.headers['content-encoding'], 'br')
    }
  )
}

test('MOV-02 the options are those of a mount, with `at` for its URL path', async t => {
  const root = makeProject(t, FILES)
  const read = await site(
    t,
    koaFiles('dist', {
      root,
      at: '/static',
      index: false,
      cacheControl: 'public, max-age=60',
      exclude: 'docs/**',
      fallback: 'index.html'
    })
  )
  t.is((await read('/static/app.js')).headers['cache-control'], 'public, max-age=60')
  for (const path of ['/static/docs/', '/static/docs/index.html', '/app.js', '/static/']) {
    t.is((await read(path)).status, 404, path)
  }
  t.is((await read('/static/orders/7', { accept: 'text/html' })).text, 'home')
})

test('MOV-02 beside koaAssets, in front or behind, a page has the names of that', async t => {
  const root = makeProject(t, FILES)
  const assets = koaAssets({ root, env: 'development', serve: true })
  const files = koaFiles('dist', { root })
  const page: Middleware = ctx => {
    ctx.body = ctx.assets.stylesheet('app')
  }
  for (const stack of [
    [assets, files],
    [files, assets]
  ]) {
    const read = await site(t, ...stack, page)
    t.is((await read('/app.js')).text, SCRIPT)
    t.is((await read('/assets/app.css')).text, 'a{}')
    t.regex((await read('/page')).text, /href="\/assets\/app\.css"/)
  }
})

test('MOV-02 a wrong argument is an error at start that names it', t => {
  const root = makeProject(t, FILES)
  const start = (dir: unknown, options?: object) => () => koaFiles(dir as string, options)
  for (const [call, message] of [
    [start(undefined), 'dir must be a string, got undefined'],
    [
      start('dist', { maxage: 60 }),
      "unknown option 'maxage': write cacheControl: 'public, max-age=<seconds>'"
    ],
    [start('dist', { hidden: true }), "unknown option 'hidden': dotfiles are never served"],
    [start('dist', { toString: 1 }), /^unknown option 'toString': known options: .*cacheControl/],
    [
      start('dist', { cacheControl: 60 }),
      "cacheControl must be directives, such as 'public, max-age=3600', or a function of the path, got 60"
    ],
    [start('dist', { at: 'static' }), "at must be a URL path such as '/static', got 'static'"],
    [start('.', { root }), /which is the project's root.*: mount a directory of its own$/]
  ] as const) {
    t.throws(call, { message })
  }
})

// A project without assets of its own: `apps: false`, and `public: false` where only mounts are served. PRV-02.

const BARE_FILES: Files = {
  '/package.json': '{}',
  '/assets/crate.txt': 'not an asset of a page',
  '/apps/web/assets/app.css': 'a{}',
  '/dist/app.js': 'app',
  '/dist/.vite/manifest.json':
    '{"main.js":{"file":"main-B1a2C3d4.js","isEntry":true,"name":"main"}}',
  '/dist/main-B1a2C3d4.js': 'main()',
  '/public/robots.txt': 'robots',
  '/public/assets/old.css': 'old'
}
const BUNDLE = { dir: 'dist', manifest: 'dist/.vite/manifest.json' }
const MOUNTS: KoaAssetsOptions['mounts'] = { '/assets': 'assets', '/static': BUNDLE }

for (const env of ['development', 'production']) {
  test(`a folder assets/ that is something else is mounted with apps: false, in ${env}`, async t => {
    const site = await makeSite(t, BARE_FILES, { env, apps: false, mounts: MOUNTS })
    t.is((await site.ask('/assets/crate.txt')).text, 'not an asset of a page')
    t.is((await site.ask('/static/app.js')).text, 'app')
    t.is((await site.ask('/robots.txt')).text, 'robots')
    for (const path of ['/assets/app.css', '/assets/app.css.scss', '/app.css']) {
      t.is((await site.ask(path)).status, 404, path)
    }
    t.deepEqual(site.errors, [])
    t.deepEqual(warningsAbout(site.root), [])
    t.false(existsSync(site.at('/public/assets.json')))
  })
}

for (const [where, options] of SERVING) {
  test(`PRV-02 with public: false nothing but the mounts is served, ${where}`, async t => {
    const only = { apps: false, public: false, mounts: MOUNTS } as const
    const site = await makeSite(t, BARE_FILES, { ...options, ...only })
    for (let times = 0; times < 2; times++) {
      t.is((await site.ask('/assets/crate.txt')).text, 'not an asset of a page')
      for (const path of ['/robots.txt', '/assets/old.css', '/crate.txt', '/', '/package.json']) {
        for (const method of ['GET', 'OPTIONS']) {
          const { status, headers } = await site.ask(path, { method })
          t.deepEqual([path, method, status, headers.allow], [path, method, 404, undefined])
        }
      }
    }
    t.deepEqual(site.errors, [])
  })
}

test('PRV-02 public: false needs apps: false, as assets are published in public', t => {
  const root = makeProject(t, BARE_FILES)
  for (const apps of [undefined, { web: {} }]) {
    t.throws(() => koaAssets({ root, apps, public: false }), {
      instanceOf: TypeError,
      message: 'public must be a directory unless apps is false, got false'
    })
  }
})

test('pages have the entries of bundles and one version; a name of an asset is an error that says why', async t => {
  const site = await makeSite(t, BARE_FILES, {
    env: 'production',
    apps: false,
    public: false,
    mounts: MOUNTS,
    routes: async ctx => {
      if (ctx.path === '/file') return ctx.sendFile('robots.txt', { root: 'public' })
      const { assets } = ctx
      const thrown = t.throws(() => assets.stylesheet('app'), { code: 'asset-unknown' })
      t.regex(
        thrown?.message ?? '',
        /^'app\.css' is not an asset: this project has none of its own/
      )
      t.throws(() => assets.app('web'), { message: "unknown app 'web': the apps are: none" })
      t.is(assets.path('https://cdn.example/a.css'), 'https://cdn.example/a.css')
      t.is(assets.importMap(), '')
      ctx.body = `${assets.entry('main.js')} ${assets.version}`
      return undefined
    }
  })
  const { text } = await site.ask('/page')
  t.regex(
    text,
    withDigest(/<script src="\/static\/main-B1a2C3d4\.js" type="module" .*<\/script> DIGEST$/)
  )
  t.is((await site.ask('/file')).text, 'robots')
  t.deepEqual(site.errors, [])
})
