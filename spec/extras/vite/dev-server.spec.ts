// The option dev: Vite's dev server, found by its announcement, or given to koaAssets, and its origins.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import react from '@vitejs/plugin-react'
import type { Middleware } from 'koa'
import { build, createLogger, resolveConfig, type InlineConfig, type ServerOptions } from 'vite'
import { freePort } from '../../../demo/deploy/stack.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { settle } from '../../../lib/runtime/settings/settings.ts'
import { BUILD } from '../../../lib/extras/vite/options.ts'
import { inputsOf } from '../../../lib/extras/vite/vite-server.ts'
import { attribute, ESBUILD, listen, makeBundlerProject, makeProject } from '../../support/index.ts'
import { makeSite, PAGES, pagesOf, summary, test, TWO_BUILDS } from '../../support/index.ts'
import { viteMount, warningsAbout, type ExecutionContext } from '../../support/index.ts'
import type { MountOptions } from '../../../lib/runtime/settings/options.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { startVite } from '../../support/vite-server.ts'

const MANIFEST = viteMount()
const ANNOUNCED = 'dist/.vite/dev-server.json'
const MAIN = ['src/main.ts', 'src/print.css']

function project(t: ExecutionContext, files = {}) {
  const { root, remove } = makeBundlerProject({ ...PAGES, ...files })
  t.teardown(remove)
  const plugins = [freshAssets({ mount: '/admin', input: [...MAIN, 'index.html'] })]
  const config: InlineConfig = { root, configFile: false, logLevel: 'silent', plugins }
  const serve = (more: InlineConfig = {}) => startVite(t, root, { plugins, ...more })
  return { root, config, serve }
}

const inDevelopment = (root: string, more: Partial<MountOptions> = {}) =>
  pagesOf({ root, env: 'development', mounts: { '/admin': { ...MANIFEST, ...more } } })

test.serial('tags lead to the dev server of the plugin while it runs, then to a build', async t => {
  const { root, config, serve } = project(t, {
    'index.html': '',
    'public/assets.json': '{}',
    'shop/a.js': '',
    'shop/meta.json': '{ "shop.ts": { "file": "a.js", "isEntry": true } }'
  })
  const page = inDevelopment(root)
  const none = await page()
  const error = t.throws(() => none.entry('src/main.ts'), { code: 'manifest-missing' })
  t.regex(
    error?.message ?? '',
    /^the mount \/admin has neither a build nor a dev server: there is no .*dist[\\/]\.vite[\\/]manifest\.json, and Vite is not running/
  )
  t.true(error instanceof AssetError && error.expose, 'Koa shows it in the page')
  const older = await serve()
  const { server, origin } = await serve()
  await older.server.close()
  const { entry } = await page()
  const message = "'src/mian.ts' is not an entry of Vite's dev server; did you mean 'src/main.ts'?"
  t.throws(() => entry('src/mian.ts'), { code: 'asset-unknown', message })
  t.throws(() => entry('index.html'), { code: 'asset-unknown' })
  t.deepEqual(summary(entry(...MAIN)), [
    `stylesheet ${origin}/admin/src/print.css`,
    `module ${origin}/admin/@vite/client`,
    `module ${origin}/admin/src/main.ts`
  ])
  // Pages have another origin.
  const image = await (await fetch(`${origin}/admin/src/logo.svg?import&no-inline`)).text()
  t.true(image.includes(`${origin}/admin/src/logo.svg`))
  const mounts = { '/admin': MANIFEST, '/shop': { dir: 'shop', manifest: 'shop/meta.json' } }
  const both = await pagesOf({ root, env: 'development', mounts })()
  t.true(both.entry('src/main.ts').includes(origin))
  t.deepEqual(summary(both.entry('shop.ts')), ['module /shop/a.js'])

  await build(config)
  t.true(existsSync(join(root, ANNOUNCED)), 'a build that emptied dist has written it again')
  t.false(existsSync(join(root, 'dist/assets.json')), 'what koaAssets publishes is not copied')
  const meanwhile = (await page()).entry('src/main.ts')
  t.regex(meanwhile, /@vite\/client/, 'a build meanwhile changes nothing')
  rmSync(join(root, ANNOUNCED))
  t.regex((await page()).entry('src/main.ts'), /@vite\/client/, 'as a build does at its start')
  t.true(existsSync(join(root, ANNOUNCED)), 'it is there again for the next process')
  await server.close()
  t.regex((await page()).entry('src/main.ts'), /"\/admin\/assets\/main-/)
  t.false(existsSync(join(root, ANNOUNCED)))
  const stopped = `Vite's dev server has stopped: pages have the last build`
  t.true(warningsAbout(stopped).length > 0)
})

test('where the plugin cannot write into dist, Vite prints the option to set and where pages are', async t => {
  const { root } = project(t, { dist: 'a file' })
  const plugins = [freshAssets({ mount: '/admin', input: MAIN })]
  const logger = createLogger()
  const printed: string[] = []
  const print = (text: string) => void printed.push(text)
  const customLogger = { ...logger, info: print, warnOnce: print }
  const { server, origin } = await startVite(t, root, { plugins, customLogger })
  server.printUrls()
  const [warning = '', ...urls] = printed
  t.regex(warning, /^koa-fresh-assets: (?:EEXIST|ENOTDIR)\b.*\bdist\b/)
  t.true(warning.endsWith(`: set dev: '${origin}' for the mount of koaAssets`), warning)
  t.is(urls.at(-1), '  ➜  Pages:   those of your own server, as Vite has none here')
})

const STALE = { base: '/admin/', token: 'mine' }

/** What listens where an announcement leads. */
async function originOf(t: ExecutionContext, respond: (res: Writable) => unknown) {
  const port = await listen(t, async (_, res) => void respond(res))
  return `http://127.0.0.1:${port}`
}

for (const [what, base, answer, told] of [
  [
    'the plugin of another release',
    '/admin/',
    '{"token":"mine","inputs":"a.ts"}',
    'Vite at ORIGIN has the plugin of another release of koa-fresh-assets: restart it'
  ],
  [
    'another base',
    '/elsewhere/',
    '{"token":"mine"}',
    "Vite's dev server has the base '/elsewhere/': it must be the mount's URL path, '/admin/'"
  ]
] as const) {
  test(`a warning says what to do about a dev server with ${what}, which is not used`, async t => {
    const origin = await originOf(t, res => res.end(answer))
    const root = makeProject(t, { [ANNOUNCED]: JSON.stringify({ ...STALE, origin, base }) })
    const { entry } = await inDevelopment(root)()
    t.throws(() => entry('a.ts'), { code: 'manifest-missing' })
    const warning = `koa-fresh-assets: ${told.replace('ORIGIN', origin)}`
    t.deepEqual(warningsAbout(told.slice(-40)), [warning])
  })
}

test('a dev server with an IPv6 address as its host announces an origin that is a URL', async t => {
  const { root, config } = project(t)
  const { configureServer } = freshAssets({ mount: '/admin', input: MAIN })
  const resolved = await resolveConfig({ ...config, server: { host: '::1' } }, 'serve')
  // The host is taken from the options: not every machine has IPv6.
  const httpServer = createServer()
  t.teardown(() => httpServer.close())
  const server = { config: resolved, httpServer, middlewares: { use() {} }, printUrls() {} }
  await (configureServer as (given: object) => unknown)(server)
  await once(httpServer.listen(0, '127.0.0.1'), 'listening')
  const { port } = httpServer.address() as AddressInfo
  const { origin } = JSON.parse(readFileSync(join(root, ANNOUNCED), 'utf8')) as { origin: string }
  t.is(origin, `http://[::1]:${port}`)
})

test('an announcement is ignored unless it is a file that describes a running dev server', async t => {
  const live = { ...STALE, origin: await originOf(t, res => res.end('{"token":"mine"}')) }
  const other = await originOf(t, res => res.end('{"token":"other","inputs":["src/main.ts"]}'))
  const left = [other, 'http://127.0.0.1:1', 'http://a b', 'file:///a'].map(origin => ({ origin }))
  const wrong = [{ origin: 5 }, { origin: [live.origin] }, { base: 5 }, { token: {} }]
  const texts = [...left, ...wrong].map(each => JSON.stringify({ ...live, ...each }))
  const all = [...texts, '{"base":', '[]', '{}']
  const kinds: Record<string, (file: string) => void> = {
    ...Object.fromEntries(all.map(text => [text, file => writeFileSync(file, text)])),
    'a FIFO': file => execFileSync('mkfifo', [file]),
    'a folder': file => mkdirSync(file)
  }
  for (const [what, make] of Object.entries(kinds)) {
    const root = makeProject(t, { 'dist/.vite/a': '' })
    make(join(root, ANNOUNCED))
    const { entry } = await inDevelopment(root)()
    t.throws(() => entry('src/main.ts'), { code: 'manifest-missing' }, what)
  }
  const root = makeProject(t, { [ANNOUNCED]: JSON.stringify(live) })
  t.regex((await inDevelopment(root)()).entry('src/main.ts'), /@vite\/client/, 'as it should be')
})

function* gigabyte() {
  const piece = Buffer.alloc(1024 * 1024, ' ')
  for (let at = 0; at < 1024; at++) yield piece
}

test('pages ask the address of an old announcement only once, even if it never ends its response', async t => {
  const programs: Record<string, (res: Writable) => unknown> = {
    'never responds': () => undefined,
    'never ends its response'(res) {
      const timer = setInterval(() => res.write(' '), 500)
      res.on('close', () => clearInterval(timer))
    },
    'sends 1 GB': res => Readable.from(gigabyte()).pipe(res)
  }
  const checkGivenUp = async ([what, respond]: [string, (res: Writable) => unknown]) => {
    let requests = 0
    const origin = await originOf(t, res => {
      requests++
      respond(res)
    })
    const root = makeProject(t, { [ANNOUNCED]: JSON.stringify({ ...STALE, origin }) })
    const page = inDevelopment(root)
    for (const { entry } of [...(await Promise.all([page(), page()])), await page()])
      t.throws(() => entry('src/main.ts'), { code: 'manifest-missing' }, what)
    t.is(requests, 1, what)
    t.is(warningsAbout(origin).length, 1, what)
  }
  await Promise.all(Object.entries(programs).map(checkGivenUp))
})

test.serial("React's refresh needs no option: the entry has the preamble", async t => {
  const { root, serve } = project(t, {
    'src/main.tsx': "import { App } from './app.tsx'\nconsole.log(<App />)",
    'src/app.tsx': 'export const App = () => <p>Hello</p>'
  })
  const plugins = [react(), freshAssets({ mount: '/admin', input: 'src/main.tsx' })]
  const { origin } = await serve({ plugins })
  const tags = (await inDevelopment(root)()).entry('src/main.tsx')
  // Without an inline script a policy needs no nonce for it.
  t.notRegex(tags, /injectIntoGlobalHook/)
  const code = await (await fetch(`${origin}/admin/src/main.tsx`)).text()
  t.regex(code, /^[^\n]*?\bimport "\/admin\/@id\/__x00__virtual:koa-fresh-assets\/preamble"/)
  const preamble = await fetch(`${origin}/admin/@id/__x00__virtual:koa-fresh-assets/preamble`)
  t.true((await preamble.text()).includes('injectIntoGlobalHook(window)'))
})

test('with an origin as dev, the tags of the client and the entries need no manifest', async t => {
  const root = makeProject(t)
  const origin = 'http://localhost:5173'
  const pages = inDevelopment(root, { dir: 'not/built', dev: `${origin}/` })
  const [page, other] = [await pages(), await pages()]
  const options = { reactRefresh: true, nonce: 'n' }
  const tags = page.entry('src/main.tsx', 'src/print.css', '/src/other.ts', options)
  t.deepEqual(summary(tags), [
    `stylesheet ${origin}/admin/src/print.css`,
    'module <inline>',
    `module ${origin}/admin/@vite/client`,
    `module ${origin}/admin/src/main.tsx`,
    `module ${origin}/admin/src/other.ts`
  ])
  for (const tag of tags.split('\n')) {
    t.is(attribute('nonce', tag), 'n')
    t.notRegex(tag, /integrity|crossorigin/)
  }
  t.is(page.entry('src/main.tsx', { reactRefresh: true }), '', 'each is written once in a page')
  t.deepEqual(summary(other.entry('src/main.tsx')), [
    `module ${origin}/admin/@vite/client`,
    `module ${origin}/admin/src/main.tsx`
  ])
  t.is(other.entry('src/main-legacy.tsx'), '', 'a legacy entry exists only in builds')
  t.throws(() => other.entry('index.html'), { instanceOf: TypeError, message: /'index\.html'$/ })
  const own = await inDevelopment(root, { dev: true })()
  t.is(summary(own.entry('src/main.tsx')).at(-1), 'module /admin/src/main.tsx')
  const mounts = { '/admin': { ...MANIFEST, dev: true } }
  t.throws(() => pagesOf({ root, mounts }), { instanceOf: AssetError }, 'in production')
})

/** In the process of the application, whose route is an API below the mount's path. */
async function inProcess(t: ExecutionContext, more: Partial<MountOptions> = {}, files = {}) {
  const { root, serve } = project(t, files)
  const { server: dev } = await serve({ server: { middlewareMode: true, ws: false } })
  const mounts = { '/admin': { ...MANIFEST, dev, ...more } }
  const routes: Middleware = ctx => {
    if (ctx.path === '/admin/api') ctx.body = 'the API'
    if (ctx.path === '/page') ctx.body = ctx.assets.entry(...MAIN)
  }
  return { ...(await makeSite(t, {}, { root, mounts, routes })), dev, mounts }
}

test('a dev server in the process gets the requests below the mount that no route answers', async t => {
  const { ask, app, errors } = await inProcess(t, {}, { 'index.html': '<p>page</p>' })
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
  for (const accept of ['*/*', 'text/html,*/*;q=0.1', undefined]) {
    const headers = accept ? { accept } : {}
    for (const path of ['/admin/missing.js', '/admin/logo.png?a/', '/admin/.env', '/admin/x'])
      t.is((await ask(path, { headers })).status, 404, `${path}: never Vite's page`)
    t.true((await ask('/admin/', { headers })).text.includes('page'))
  }
  app.middleware.unshift(async (ctx, next) => {
    await next()
    ctx.cookies.set('session', 'renewed')
  })
  t.is((await ask('/admin/src/main.ts')).status, 200)
  t.deepEqual(errors, [], 'a cookie may be set after Vite has responded')
})

test("a dev server in the process with the mount's base renders the page of fallback", async t => {
  const html = '<title>Shop</title><script type="module" src="/src/main.ts"></script>'
  const page = { 'index.html': `<!doctype html>${html}` }
  const { ask, root, mounts } = await inProcess(t, { fallback: 'index.html' }, page)
  const accept = { headers: { accept: 'text/html' } }
  const { status, text, headers } = await ask('/admin/orders/7', accept)
  t.is(status, 200)
  t.regex(text, /"\/admin\/@vite\/client"[^]*<title>Shop<\/title>[^]*"\/admin\/src\/main\.ts/)
  t.is(headers['cache-control'], 'no-cache')
  t.is((await ask('/admin/api', accept)).text, 'the API')
  const elsewhere = { root, mounts: { '/shop': mounts['/admin'] } }
  const message =
    "dev must be a dev server with the base '/shop/', as freshAssets({ mount: '/shop' }) sets it, got '/admin/' (mounts./shop.dev)"
  const expected = { instanceOf: TypeError, message }
  t.throws(() => pagesOf({ ...elsewhere, env: 'development' }), expected)
  t.notThrows(() => pagesOf({ ...elsewhere, env: 'test' }))
})

test('in development the manifest of a mount is read unless dev is true or a URL', t => {
  const root = makeProject(t, { 'dist/m.json': '{}' })
  for (const [dev, settled, isRead = false] of [
    [true, true],
    ['http://localhost:5173/', 'http://localhost:5173'],
    [false, undefined, true],
    ['', undefined, true],
    [undefined, undefined, true]
  ] as const) {
    const mounts = { '/x': { dir: isRead ? 'dist' : 'none', manifest: 'dist/m.json', dev } }
    const [mount] = settle({ root, env: 'development', mounts }, {}).mounts
    t.is(mount?.dev, settled)
    t.is(mount?.manifest, isRead ? join(root, 'dist/m.json') : undefined)
    const inProduction = () => settle({ root, env: 'production', mounts }, {})
    if (!isRead) t.throws(inProduction, { code: 'mount-unusable' })
  }
})

test('a wrong dev is an error at start, with what it must be', t => {
  for (const dev of ['localhost:5173', 'http://localhost:5173/base', 'http://localhost:99999']) {
    const options = { mounts: { '/a': { dir: '.', dev } } }
    const message = `dev must be ${BUILD.dev.expected}, got '${dev}' (mounts./a.dev)`
    t.throws(() => settleProject(options, {}), { instanceOf: TypeError, message })
  }
})

test('a mount serves nothing while dev is in force', async t => {
  const files = { '/build/logo.png': 'png', '/public/static/logo.png': 'hidden by the mount' }
  const mounts = { '/static': { dir: 'build', dev: true } }
  const routes: Middleware = ctx => void (ctx.body = 'the dev server')
  const { ask } = await makeSite(t, files, { mounts, routes })
  t.is((await ask('/static/logo.png')).text, 'hidden by the mount')
  t.is((await ask('/static/js/deep/a.js')).text, 'the dev server')
})

/** A project with builds of two bundlers, and Vite's dev server of one. */
const built = (t: ExecutionContext) => {
  const root = makeProject(t, TWO_BUILDS)
  const plugins = [freshAssets({ mount: '/admin', input: 'src/main.js' })]
  const serve = (server: ServerOptions = {}) => startVite(t, root, { plugins, server })
  return { root, serve }
}

test('in development devOrigins has the http and ws origins of Vite while it runs', async t => {
  const { root, serve } = built(t)
  const pages = inDevelopment(root)
  const devOrigins = async () => (await pages()).devOrigins
  t.deepEqual(await devOrigins(), [], 'it does not run')
  const first = await serve()
  t.deepEqual(await devOrigins(), [first.origin, first.origin.replace('http', 'ws')])
  const second = await serve()
  t.not(second.origin, first.origin)
  t.deepEqual(await devOrigins(), [second.origin, second.origin.replace('http', 'ws')])
  for (const options of [{ mounts: { '/admin': MANIFEST } }, { env: 'development' }])
    t.deepEqual((await pagesOf({ root, ...options })()).devOrigins, [])
})

for (const [what, config, expected] of [
  ['ws.clientPort', { ws: { clientPort: 443, protocol: 'wss' } }, ['wss://127.0.0.1:443']],
  ['ws.host', { ws: { host: 'hmr.localhost' } }, ['ws://hmr.localhost:<port>']],
  ['hmr.clientPort, as before Vite 8', { hmr: { clientPort: 8443 } }, ['ws://127.0.0.1:8443']],
  ['ws: false', { ws: false as const }, []]
] as const) {
  test(`devOrigins follows Vite's own options: ${what}`, async t => {
    const { root, serve } = built(t)
    const { origin } = await serve(config)
    const { devOrigins } = await inDevelopment(root)()
    const sockets = expected.map(each => each.replace('<port>', new URL(origin).port))
    t.deepEqual(devOrigins, [origin, ...sockets])
  })
}

for (const [what, ws, expected] of [
  ['on another port', (port: number) => ({ port }), ['localhost', '127.0.0.1']],
  ["on the app's server", () => ({ server: createServer() }), []],
  ['off', () => false as const, []]
] as const) {
  test(`devOrigins has what 'self' does not allow Vite in the process, with its socket ${what}`, async t => {
    const { root, serve } = built(t)
    const port = await freePort()
    const { server: dev } = await serve({ middlewareMode: true, ws: ws(port) })
    const { devOrigins } = await inDevelopment(root, { dev })()
    const origins = expected.map(host => `ws://${host}:${port}`)
    t.deepEqual(devOrigins, origins)
  })
}

test('the entries of Vite 6 and 7 are those of rollupOptions, but for HTML', t => {
  const build = { rollupOptions: { input: ['src/main.ts', 'index.html'] } }
  t.deepEqual(inputsOf({ root: import.meta.dirname, base: '/', plugins: [], build }), [
    'src/main.ts'
  ])
})

test('a text that is not an origin never gets from an announcement into devOrigins', async t => {
  const { root, serve } = built(t)
  const { origin } = await serve()
  const file = join(root, ANNOUNCED)
  const announced = JSON.parse(readFileSync(file, 'utf8')) as object
  const sockets = ['ws://localhost:1; script-src *', "'unsafe-inline'"]
  writeFileSync(file, JSON.stringify({ ...announced, sockets }))
  t.deepEqual((await inDevelopment(root)()).devOrigins, [origin, origin.replace('http', 'ws')])
})

test('devOrigins has an origin and its WebSocket only for a dev that is a URL', async t => {
  const { root } = built(t)
  for (const [dev, expected] of [
    ['http://localhost:5173/', ['http://localhost:5173', 'ws://localhost:5173']],
    ['https://dev.localhost', ['https://dev.localhost', 'wss://dev.localhost']],
    [true, []]
  ] as const) {
    const mounts = { '/admin': { ...MANIFEST, dev }, '/other': { ...ESBUILD, dev } }
    const page = await pagesOf({ root, env: 'development', mounts })()
    t.deepEqual(page.devOrigins, [...expected])
  }
})
