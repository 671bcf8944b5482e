// Vite's dev server: found by its announcement, or given to koaAssets; and pages without a build.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import test, { type ExecutionContext } from 'ava'
import { build, createServer, type InlineConfig } from 'vite'
import type { MountOptions } from '../../../lib/assets/settings/mount-options.ts'
import { AssetError } from '../../../lib/errors.ts'
import { freshAssets } from '../../../lib/vite.ts'
import { listen } from '../../support/front.ts'
import { makeBundlerProject, PAGES, pagesOf, summary } from '../../support/bundler-project.ts'
import { makeSite, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'

const MANIFEST = { dir: 'dist', manifest: 'dist/.vite/manifest.json' }
const MAIN = ['src/main.ts', 'src/print.css']

function project(t: ExecutionContext, files = {}) {
  const { root, remove } = makeBundlerProject({ ...PAGES, ...files })
  t.teardown(remove)
  const config = (more: InlineConfig = {}): InlineConfig => ({
    root,
    configFile: false,
    logLevel: 'silent',
    cacheDir: join(root, '.vite'),
    plugins: [freshAssets({ mount: '/admin', input: MAIN })],
    ...more
  })
  return { root, config }
}

/** A dev server on a port of its own. */
async function serve(t: ExecutionContext, config: InlineConfig) {
  const server = await createServer({ ...config, server: { port: 0, host: '127.0.0.1' } })
  await server.listen()
  t.teardown(() => server.close())
  return { server, origin: new URL(server.resolvedUrls?.local[0] ?? '').origin }
}

const inDevelopment = (root: string, more = {}) =>
  pagesOf({ root, env: 'development', mounts: { '/admin': { ...MANIFEST, ...more } } })

test.serial(
  'BND-09 tags lead to the dev server of the plugin while it runs, then to the build, else one sentence says what to do',
  async t => {
    const { root, config } = project(t)
    const page = inDevelopment(root)
    const missing = {
      instanceOf: AssetError,
      code: 'manifest-missing',
      message:
        /^the mount \/admin has neither a build nor a dev server: there is no .*dist\/\.vite\/manifest\.json, and Vite is not running/
    }
    const none = await page()
    const error = t.throws(() => none.entry('src/main.ts'), missing)
    t.true(error instanceof AssetError && error.expose, 'Koa shows it in the page')
    const { server, origin } = await serve(t, config())
    t.deepEqual(summary((await page()).entry(...MAIN)), [
      `stylesheet ${origin}/admin/src/print.css`,
      `module ${origin}/admin/@vite/client`,
      `module ${origin}/admin/src/main.ts`
    ])
    const image = await fetch(`${origin}/admin/src/logo.svg?import&no-inline`)
    t.true(
      (await image.text()).includes(`${origin}/admin/src/logo.svg`),
      'pages have another origin'
    )

    await build(config())
    const meanwhile = (await page()).entry('src/main.ts')
    t.regex(meanwhile, /@vite\/client/, 'a build meanwhile changes nothing')
    t.true(existsSync(join(root, 'dist/.vite/dev-server.json')))
    rmSync(join(root, 'dist/.vite/dev-server.json'))
    t.regex((await page()).entry('src/main.ts'), /@vite\/client/, 'as a build does at its start')
    await server.close()
    t.regex((await page()).entry('src/main.ts'), /"\/admin\/assets\/main-/)
    t.false(existsSync(join(root, 'dist/.vite/dev-server.json')))
  }
)

test('BND-09 an announcement that was left behind is not trusted', async t => {
  const { root } = project(t)
  const port = await listen(t, async (_, res) => void res.end('{"token":"other","changed":{}}'))
  const page = inDevelopment(root)
  const announced = { base: '/admin/', inputs: ['src/main.ts'], token: 'mine' }
  const gone = 'http://127.0.0.1:1'
  for (const origin of [
    `http://127.0.0.1:${port}`,
    gone,
    'nowhere',
    'http://',
    'file:///a',
    undefined
  ]) {
    writeFiles(root, { 'dist/.vite/dev-server.json': JSON.stringify({ ...announced, origin }) })
    const { entry } = await page()
    t.throws(() => entry('src/main.ts'), { code: 'manifest-missing' }, origin)
  }
  for (const text of ['{"base":', '[]', '{}', '{"inputs":7}']) {
    writeFiles(root, { 'dist/.vite/dev-server.json': text })
    const { entry } = await page()
    t.throws(() => entry('src/main.ts'), { code: 'manifest-missing' }, text)
  }
})

test.serial(
  'BND-09 if two dev servers run, the newer one counts, even when the other ends',
  async t => {
    const { root, config } = project(t)
    const page = inDevelopment(root)
    const [older, newer] = [await serve(t, config()), await serve(t, config())]
    const leadTo = async (origin: string) =>
      t.true((await page()).entry('src/main.ts').includes(`${origin}/admin/src/main.ts`))
    await leadTo(newer.origin)
    await older.server.close()
    await leadTo(newer.origin)
  }
)

test.serial(
  'BND-10 a name that is not an input is an error in development, with the nearest name',
  async t => {
    const { root, config } = project(t)
    await serve(t, config())
    const { entry } = await inDevelopment(root)()
    t.throws(() => entry('src/mian.ts'), {
      instanceOf: AssetError,
      code: 'asset-unknown',
      message: "'src/mian.ts' is not an entry of Vite's dev server; did you mean 'src/main.ts'?"
    })
  }
)

test.serial(
  'BND-10 with two mounts the right one is found for an entry without naming it',
  async t => {
    const { root, config } = project(t)
    await build(
      config({
        build: { outDir: 'shop' },
        plugins: [freshAssets({ mount: '/shop', input: 'src/other.ts' })]
      })
    )
    const { origin } = await serve(t, config())
    const mounts = {
      '/admin': MANIFEST,
      '/shop': { dir: 'shop', manifest: 'shop/.vite/manifest.json' }
    }
    const { entry } = await pagesOf({ root, env: 'development', mounts })()
    t.true(entry('src/main.ts').includes(`${origin}/admin/src/main.ts`))
    t.regex(entry('src/other.ts'), /"\/shop\/assets\/other-/)
  }
)

test.serial("BND-09 React's refresh needs no option: the entry has the preamble", async t => {
  const app = 'export const App = () => <p>Hello</p>'
  const main =
    "import { createRoot } from 'react-dom/client'\nimport { App } from './app.tsx'\ncreateRoot(document.body).render(<App />)"
  const { root, config } = project(t, { 'src/main.tsx': main, 'src/app.tsx': app })
  const plugins = [react(), freshAssets({ mount: '/admin', input: 'src/main.tsx' })]
  const { origin } = await serve(t, config({ plugins }))
  const tags = (await inDevelopment(root)()).entry('src/main.tsx')
  t.false(
    tags.includes('injectIntoGlobalHook'),
    'no inline script, so a policy needs no nonce for it'
  )
  const code = await (await fetch(`${origin}/admin/src/main.tsx`)).text()
  t.regex(code, /^[^\n]*?\bimport "\/admin\/@id\/__x00__virtual:koa-fresh-assets\/preamble"/)
  const preamble = await fetch(`${origin}/admin/@id/__x00__virtual:koa-fresh-assets/preamble`)
  t.true((await preamble.text()).includes('injectIntoGlobalHook(window)'))
})

/** In the process of the application, whose route is an API below the mount's path. */
async function inProcess(t: ExecutionContext, more: Partial<MountOptions> = {}, files = {}) {
  const { root, config } = project(t, files)
  const dev = await createServer(config({ server: { middlewareMode: true, ws: false } }))
  t.teardown(() => dev.close())
  const site = await makeSite(
    t,
    {},
    {
      root,
      mounts: { '/admin': { ...MANIFEST, dev, ...more } },
      routes(ctx) {
        if (ctx.path === '/admin/api') ctx.body = 'the API'
        if (ctx.path === '/page') ctx.body = ctx.assets.entry(...MAIN)
      }
    }
  )
  return { ...site, dev }
}

test('BND-09 a dev server in this process gets what is below the mount and no route answers', async t => {
  const { ask } = await inProcess(t)
  const tags = ['/admin/src/print.css', '/admin/@vite/client', '/admin/src/main.ts']
  const page = await ask('/page')
  for (const path of tags) {
    t.true(page.text.includes(`"${path}"`))
    const { status, headers, text } = await ask(path, { headers: { accept: 'text/css,*/*' } })
    t.is(status, 200, path)
    t.true(text.length > 0)
    t.is(headers['content-type'], path.endsWith('.css') ? 'text/css' : 'text/javascript')
  }
  t.is((await ask('/admin/api')).text, 'the API')
  t.is((await ask('/src/main.ts')).status, 404, 'without the base')
})

test("BND-09 a file that is missing is a 404 in development too, never Vite's page", async t => {
  const { ask } = await inProcess(t, {}, { 'index.html': '<p>page</p>' })
  for (const accept of ['*/*', 'text/html,*/*;q=0.1', undefined]) {
    for (const path of ['/admin/missing.js', '/admin/logo.png?a/', '/admin/.env', '/admin/x'])
      t.is((await ask(path, { headers: accept ? { accept } : {} })).status, 404, path)
    t.true((await ask('/admin/', { headers: accept ? { accept } : {} })).text.includes('page'))
  }
})

test('BND-09 middleware in front may set a cookie after Vite has responded', async t => {
  const { ask, app, errors } = await inProcess(t)
  app.middleware.unshift(async (ctx, next) => {
    await next()
    ctx.cookies.set('session', 'renewed')
    ctx.set('X-After', 'yes')
  })
  t.is((await ask('/admin/src/main.ts')).status, 200)
  t.deepEqual(errors, [])
})

test('BND-09 an entry that was edited has the URL under which its modules import it again', async t => {
  const { ask, root, dev } = await inProcess(t)
  await ask('/admin/src/main.ts')
  const { moduleGraph } = dev.environments.client
  const main = await moduleGraph.getModuleByUrl('/src/main.ts')
  writeFiles(root, { 'src/main.ts': 'console.log(1)' })
  await until(() => (main?.lastHMRTimestamp ?? 0) > 0, 'Vite sees the edit')
  const { text } = await ask('/page')
  t.true(text.includes(`"/admin/src/main.ts?t=${main?.lastHMRTimestamp}"`))
})

test("BND-09 the file of fallback is Vite's own page in development", async t => {
  const html =
    '<!doctype html><title>Shop</title><script type="module" src="/src/main.ts"></script>'
  const { ask } = await inProcess(t, { fallback: 'index.html' }, { 'index.html': html })
  const accept = { headers: { accept: 'text/html' } }
  const { status, text, headers } = await ask('/admin/orders/7', accept)
  t.is(status, 200)
  t.regex(
    text,
    /src="\/admin\/@vite\/client"[^]*<title>Shop<\/title>[^]*src="\/admin\/src\/main\.ts/
  )
  t.is(headers['cache-control'], 'no-cache')
  t.is((await ask('/admin/api', accept)).text, 'the API')
})

test('BND-09 a dev server with a base other than that of the mount is an error at start', async t => {
  const { root, config } = project(t)
  const dev = await createServer(config({ server: { middlewareMode: true, ws: false } }))
  t.teardown(() => dev.close())
  t.throws(() => pagesOf({ root, env: 'development', mounts: { '/shop': { ...MANIFEST, dev } } }), {
    instanceOf: TypeError,
    message: "dev must be a dev server with the base '/shop/', got '/admin/' (mounts./shop.dev)"
  })
  t.notThrows(() => pagesOf({ root, env: 'test', mounts: { '/shop': { ...MANIFEST, dev } } }))
})

test('BND-15 in the environment test an application starts without a build, and tags have the source names', async t => {
  const { root } = project(t)
  const page = await pagesOf({ root, env: 'test', mounts: { '/admin': MANIFEST } })()
  t.deepEqual(summary(page.entry(...MAIN)), [
    'stylesheet /admin/src/print.css',
    'module /admin/src/main.ts'
  ])
})

for (const [what, options, origin] of [
  ['in a test without a build', { env: 'test' }, ''],
  [
    "with the dev server's origin",
    { env: 'development', dev: 'http://localhost:5173' },
    'http://localhost:5173'
  ]
] as const) {
  test(`BND-12 BND-15 ctx.preload takes an entry ${what} too`, async t => {
    const { env, ...more } = { dev: undefined, ...options }
    const { root } = project(t)
    const site = await makeSite(
      t,
      {},
      {
        root,
        env,
        mounts: { '/admin': { ...MANIFEST, ...more } },
        routes(ctx) {
          ctx.preload('src/main.ts')
          ctx.body = ''
        }
      }
    )
    const { status, headers } = await site.ask('/')
    t.is(status, 200)
    t.true(String(headers.link).includes(`<${origin}/admin/src/main.ts>; rel=modulepreload`))
  })
}

test('BND-09 a build copies nothing of what koaAssets publishes, unless publicDir is set', async t => {
  const { root, config } = project(t, { 'public/assets.json': '{}', 'static/robots.txt': '' })
  const has = (file: string) => existsSync(join(root, 'dist', file))
  await build(config())
  t.deepEqual([has('.vite/manifest.json'), has('assets.json')], [true, false])
  await build(config({ publicDir: 'static' }))
  t.deepEqual([has('robots.txt'), has('assets.json')], [true, false])
})

test('the plugin says what is wrong with its options', t => {
  for (const [options, message] of [
    [{}, "mount must be a URL path such as '/admin', got undefined"],
    [
      { mount: '/a', input: [] },
      'input must be the path of a script or a stylesheet, or a list of them, got []'
    ],
    [{ mount: '/a', input: 'a.ts', moun: '' }, "unknown option 'moun': did you mean 'mount'?"]
  ] as const) {
    t.throws(() => Reflect.apply(freshAssets, null, [options]), { instanceOf: TypeError, message })
  }
})
