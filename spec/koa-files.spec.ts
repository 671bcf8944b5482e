// One directory in place of koa-static.
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import Koa, { type Middleware } from 'koa'
import compose from 'koa-compose'
import mount from 'koa-mount'
import { koaAssets, koaFiles } from '../lib/index.ts'
import { KOAS } from './support/cached-site.ts'
import { ask, listen, makeProject, test, within } from './support/index.ts'
import type { ExecutionContext, Files } from './support/index.ts'

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

async function siteOf(t: ExecutionContext, AnyKoa: typeof Koa, ...stack: Middleware[]) {
  const port = await listen(t, new AnyKoa().use(compose(stack)).callback())
  return (path: string, headers = {}) => ask(port, path, { headers })
}

const site = (t: ExecutionContext, ...stack: Middleware[]) => siteOf(t, Koa, ...stack)

for (const env of ['development', 'production']) {
  test(`koaFiles(dir) serves as koa-static does, with 304s, ranges and compressed files, in ${env}`, async t => {
    const root = makeProject(t, FILES)
    const [here, mounted] = within(env, () => [
      koaFiles(join(root, 'dist')),
      koaFiles('dist', { root })
    ])
    const [ours, below] = [await site(t, here), await site(t, mount('/static', mounted))]
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
    for (const path of ['/assets/app.css', '/assets/-/', '/package.json'])
      t.is((await ours(path)).status, 404, path)
    const { headers } = await ours('/app.js')
    t.is((await ours('/app.js', { 'if-none-match': headers.etag })).status, 304)
    t.is((await ours('/app.js', { range: 'bytes=0-3' })).text, 'expo')
    const br = await ours('/app.js', { 'accept-encoding': 'br' })
    t.is(br.headers['content-encoding'], 'br')
  })
}

test('the options of koaFiles are those of a mount, with `at` for its URL path', async t => {
  const root = makeProject(t, FILES)
  const caching = { cacheControl: 'public, max-age=60', exclude: 'docs/**' }
  const options = { ...caching, index: false, fallback: 'index.html' } as const
  const read = await site(t, koaFiles('dist', { ...options, root, at: '/static' }))
  t.is((await read('/static/app.js')).headers['cache-control'], 'public, max-age=60')
  for (const path of ['/static/docs/', '/static/docs/index.html', '/app.js', '/static/'])
    t.is((await read(path)).status, 404, path)
  t.is((await read('/static/orders/7', { accept: 'text/html' })).text, 'home')
})

for (const [version, AnyKoa] of KOAS) {
  test(`pages keep their helpers with koaFiles in front of koaAssets or behind it, ${version}`, async t => {
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
      const read = await siteOf(t, AnyKoa, ...stack, page)
      t.is((await read('/app.js')).text, SCRIPT)
      t.is((await read('/assets/app.css')).text, 'a{}')
      t.regex((await read('/page')).text, /href="\/assets\/app\.css"/)
    }
  })
}

test('a wrong argument of koaFiles is an error at start that names it', t => {
  const root = makeProject(t, FILES)
  for (const [dir, options, message] of [
    [undefined, {}, 'dir must be a non-empty string without NUL, got undefined'],
    [
      'dist',
      { maxage: 60 },
      "unknown option 'maxage': write cacheControl: 'public, max-age=<seconds>'"
    ],
    ['dist', { hidden: true }, "unknown option 'hidden': dotfiles are never served"],
    ['dist', { toString: 1 }, /^unknown option 'toString': known options: .*cacheControl/],
    ['dist', { cacheControl: 60 }, /^cacheControl must be directives, such as .*, got 60$/],
    ['dist', { at: 'static' }, "at must be a URL path such as '/static', got 'static'"],
    ['.', { root }, /which is the project's root.*, so it needs a directory of its own$/]
  ] as readonly [unknown, object, string | RegExp][]) {
    t.throws(() => koaFiles(dir as string, options), { message })
  }
})
