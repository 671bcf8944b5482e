// WebSockets through nginx, above all those by which Vite in the process applies edits.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http'
import { join } from 'node:path'
import { test, type ExecutionContext } from '../support/test.ts'
import Koa from 'koa'
import { createServer as createVite } from 'vite'
import { koaAssets } from '../../lib/koa-assets.ts'
import { makeBundlerProject } from '../support/bundler-project.ts'
import { makeProject, open } from '../support/site.ts'
import { until } from '../support/until.ts'
import { launch } from './chromium.ts'
import { nginxInFront } from './in-front.ts'
import { atRoot, shows } from './page.ts'

const KINDS = ['proxy', 'files'] as const

/** The port of nginx in front of a server. */
async function inFront(t: ExecutionContext, kind: (typeof KINDS)[number], server: Server) {
  const port = await open(t, server)
  return nginxInFront(t, kind === 'files' ? makeProject(t) : undefined, port)
}

/** Asks for another protocol; the status of the answer. */
async function upgrade(port: number, protocol: string): Promise<number | undefined> {
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: protocol }
  const asked = request({ port, host: '127.0.0.1', path: '/socket', headers }).end()
  const [{ statusCode }] = (await Promise.race([
    once(asked, 'response'),
    once(asked, 'upgrade')
  ])) as [{ statusCode?: number }]
  asked.destroy()
  return statusCode
}

for (const kind of KINDS) {
  test(`nginx passes the upgrade to a WebSocket on, and to nothing else (${kind})`, async t => {
    const seen: IncomingHttpHeaders[] = []
    const server = createServer((_, res) => res.end('page'))
    server.on('upgrade', ({ headers }, socket) => {
      seen.push(headers)
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
      )
    })
    const port = await inFront(t, kind, server)
    t.is(await upgrade(port, 'websocket'), 101)
    t.is(await upgrade(port, 'WebSocket'), 101)
    t.is(await upgrade(port, 'h2c'), 200)
    t.deepEqual(
      seen.map(({ connection, upgrade: to }) => [connection, to]),
      [
        ['upgrade', 'websocket'],
        ['upgrade', 'websocket']
      ]
    )
  })

  test(`Vite in the process applies an edit to a page that was opened behind nginx (${kind})`, async t => {
    const { root, remove } = makeBundlerProject({
      'src/main.js': "import './main.css'\nglobalThis.runs = (globalThis.runs ?? 0) + 1",
      'src/main.css': 'body { color: rgb(1, 2, 3) }'
    })
    t.teardown(remove)
    const server = createServer()
    const dev = await createVite({
      ...{ root, base: '/static/', configFile: false, logLevel: 'error', publicDir: false },
      server: { middlewareMode: true, ws: { server } }
    })
    t.teardown(() => dev.close())
    const app = new Koa()
    const mounts = { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json', dev } }
    app.use(
      koaAssets({ root, env: 'development', serve: true, apps: false, public: false, mounts })
    )
    app.use(atRoot(({ assets }) => assets.entry('src/main.js')))
    server.on('request', app.callback())
    const page = await launch(t).open(`http://127.0.0.1:${await inFront(t, kind, server)}/`)
    const isConnected = () =>
      Promise.resolve(page.remarks.some(text => text.includes('connected.')))
    await until(isConnected, 'Vite has its WebSocket')
    const color = 'getComputedStyle(document.body).color'
    await shows(page, color, 'rgb(1, 2, 3)')
    writeFileSync(join(root, 'src/main.css'), 'body { color: rgb(3, 2, 1) }')
    await shows(page, color, 'rgb(3, 2, 1)')
    t.is(await page.evaluate('runs'), 1, 'it was not loaded again')
    t.deepEqual(page.complaints, [])
  })
}
