// The option dev: a mount whose files a dev server has; and the origins of Vite's dev server.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import type { ServerOptions } from 'vite'
import { freePort } from '../../../demo/deploy/stack.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { settle } from '../../../lib/runtime/settings/settings.ts'
import { BUILD } from '../../../lib/extras/vite/options.ts'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { inputsOf } from '../../../lib/extras/vite/vite-server.ts'
import { ESBUILD, makeProject, makeSite, pagesOf, test, TWO_BUILDS } from '../../support/index.ts'
import { viteMount, type ExecutionContext } from '../../support/index.ts'
import { startVite } from '../../support/vite-server.ts'

test('while `dev` is in force the manifest is not read; `dev: condition && url` may mean none', t => {
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

const VITE = viteMount()
const plugins = [freshAssets({ mount: '/static', input: 'src/main.js' })]
const serve = (t: ExecutionContext, root: string, server: ServerOptions = {}) =>
  startVite(t, root, { plugins, server })

const inDevelopment = (root: string, mounts: KoaAssetsOptions['mounts'] = { '/static': VITE }) =>
  pagesOf({ root, env: 'development', mounts })

test('devOrigins has the http and ws origins of Vite, on whatever port, and none in production', async t => {
  const root = makeProject(t, TWO_BUILDS)
  const pages = inDevelopment(root)
  const devOrigins = async () => (await pages()).devOrigins
  t.deepEqual(await devOrigins(), [], 'it does not run')
  const first = await serve(t, root)
  t.deepEqual(await devOrigins(), [first.origin, first.origin.replace('http', 'ws')])
  const second = await serve(t, root)
  t.not(second.origin, first.origin)
  t.deepEqual(await devOrigins(), [second.origin, second.origin.replace('http', 'ws')])
  for (const options of [{ mounts: { '/static': VITE } }, { env: 'development' }])
    t.deepEqual((await pagesOf({ root, ...options })()).devOrigins, [])
})

for (const [what, config, expected] of [
  ['ws.clientPort', { ws: { clientPort: 443, protocol: 'wss' } }, ['wss://127.0.0.1:443']],
  ['ws.host', { ws: { host: 'hmr.localhost' } }, ['ws://hmr.localhost:<port>']],
  ['hmr.clientPort, as before Vite 8', { hmr: { clientPort: 8443 } }, ['ws://127.0.0.1:8443']],
  ['ws: false', { ws: false as const }, []]
] as const) {
  test(`devOrigins follows Vite's own options: ${what}`, async t => {
    const root = makeProject(t, TWO_BUILDS)
    const { origin } = await serve(t, root, config)
    const { devOrigins } = await inDevelopment(root)()
    const sockets = expected.map(each => each.replace('<port>', new URL(origin).port))
    t.deepEqual(devOrigins, [origin, ...sockets])
  })
}

for (const [what, ws, expected] of [
  ['a port of its own', (port: number) => ({ port }), ['localhost', '127.0.0.1']],
  ["the application's server", () => ({ server: createHttpServer() }), []],
  ['none', () => false as const, []]
] as const) {
  test(`devOrigins of Vite in the process has what 'self' does not allow, if its socket is ${what}`, async t => {
    const root = makeProject(t, TWO_BUILDS)
    const port = await freePort()
    const { server: dev } = await serve(t, root, { middlewareMode: true, ws: ws(port) })
    const { devOrigins } = await inDevelopment(root, { '/static': { ...VITE, dev } })()
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

test('what somebody writes into an announcement adds nothing to a policy but the origin', async t => {
  const root = makeProject(t, TWO_BUILDS)
  const { origin } = await serve(t, root)
  const file = join(root, 'dist/.vite/dev-server.json')
  const announced = JSON.parse(readFileSync(file, 'utf8')) as object
  const sockets = ['ws://localhost:1; script-src *', "'unsafe-inline'"]
  writeFileSync(file, JSON.stringify({ ...announced, sockets }))
  t.deepEqual((await inDevelopment(root)()).devOrigins, [origin, origin.replace('http', 'ws')])
})

test('with dev as an origin, devOrigins has it, and a page with dev: true needs none', async t => {
  const root = makeProject(t, TWO_BUILDS)
  for (const [dev, expected] of [
    ['http://localhost:5173/', ['http://localhost:5173', 'ws://localhost:5173']],
    ['https://dev.localhost', ['https://dev.localhost', 'wss://dev.localhost']],
    [true, []]
  ] as const) {
    const mounts = { '/static': { ...VITE, dev }, '/other': { ...ESBUILD, dev } }
    t.deepEqual((await inDevelopment(root, mounts)()).devOrigins, [...expected])
  }
})
