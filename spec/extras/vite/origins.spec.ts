// The origins of Vite's dev server.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import { test, type ExecutionContext } from '../../support/test.ts'
import type { ServerOptions } from 'vite'
import { freePort } from '../../../demo/deploy/stack.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { ESBUILD, pagesOf, TWO_BUILDS, viteMount } from '../../support/bundler-project.ts'
import { makeProject } from '../../support/site.ts'
import { startVite } from '../../support/vite-server.ts'

const VITE = viteMount()
const plugins = [freshAssets({ mount: '/static', input: 'src/main.js' })]
const serve = (t: ExecutionContext, root: string, server: ServerOptions = {}) =>
  startVite(t, root, { plugins, server })

const inDevelopment = (root: string, mounts: KoaAssetsOptions['mounts'] = { '/static': VITE }) =>
  pagesOf({ root, env: 'development', mounts })

test('devOrigins has the http and ws origins of Vite, on the first page after it took another port, and none in production', async t => {
  const root = makeProject(t, TWO_BUILDS)
  const pages = inDevelopment(root)
  const devOrigins = async () => (await pages()).devOrigins
  t.deepEqual(await devOrigins(), [], 'it does not run')
  const first = await serve(t, root)
  t.deepEqual(await devOrigins(), [first.origin, first.origin.replace('http', 'ws')])
  const second = await serve(t, root)
  t.not(second.origin, first.origin)
  t.deepEqual(await devOrigins(), [second.origin, second.origin.replace('http', 'ws')])
  const { devOrigins: built } = await pagesOf({ root, mounts: { '/static': VITE } })()
  t.deepEqual(built, [])
  const { devOrigins: none } = await pagesOf({ root, env: 'development' })()
  t.deepEqual(none, [])
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
  test(`devOrigins of Vite in the process has what 'self' does not allow: its WebSocket is at ${what}`, async t => {
    const root = makeProject(t, TWO_BUILDS)
    const port = await freePort()
    const { server: dev } = await serve(t, root, { middlewareMode: true, ws: ws(port) })
    const { devOrigins } = await inDevelopment(root, { '/static': { ...VITE, dev } })()
    t.deepEqual(
      devOrigins,
      expected.map(host => `ws://${host}:${port}`)
    )
  })
}

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
