// What Varnish with demo/deploy/varnish keeps from the application, and whether an edit is seen at once.
//
//   npm run bench:cache
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import Koa from 'koa'
import { koaAssets, koaHttpCache, precompile } from 'koa-fresh-assets'
import { freePort, startVarnish } from '../demo/deploy/stack.ts'

const REQUESTS = 100_000
const ASSETS = 50
const PAGES = 10
const EDITS = 1000
const CONNECTIONS = 16

const root = mkdtempSync(join(tmpdir(), 'bench-cache-'))
const source = join(root, 'assets/javascripts')
mkdirSync(source, { recursive: true })
for (let at = 0; at < ASSETS; at++)
  writeFileSync(join(source, `${at}.js`), `/* ${at} */`.repeat(500))
const options = { root, env: 'production', serve: true }
await precompile(options)

/** What a page takes to be rendered, in ms. */
let work = 0
let reached = 0
const revisions = Array.from({ length: PAGES }, () => 0)

const app = new Koa()
app.use((ctx, next) => {
  if (ctx.path !== '/health') reached++
  return next()
})
app.use(koaAssets(options))
app.use(koaHttpCache())
app.use(async ctx => {
  const at = Number(ctx.path.slice('/pages/'.length))
  if (ctx.path === '/health') ctx.body = 'ok'
  else if (ctx.path === '/urls') {
    ctx.body = Array.from({ length: ASSETS }, (_, name) => ctx.assets.path(`${name}.js`))
  } else if (ctx.method === 'POST') {
    ctx.body = String((revisions[at] = (revisions[at] ?? 0) + 1))
    ctx.invalidateCacheGroups(`page-${at}`)
  } else {
    ctx.cacheControl('public', { maxAge: '10m' })
    ctx.cacheGroups(`page-${at}`, 'pages')
    const revision = String(revisions[at])
    await sleep(work)
    ctx.body = revision
  }
})
const answer = app.callback()
const server = createServer((req, res) => void answer(req, res)).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const varnish = await startVarnish(
  resolve('demo/deploy'),
  { home: join(root, 'varnish'), port: await freePort() },
  [port, port, port]
)
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS + 1 })

try {
  const pages = revisions.map((_, at) => `/pages/${at}`)
  const urls = [...(JSON.parse(await ask('/urls')) as string[]), ...pages]
  reached = 0
  await measureOffload(urls)
  for (const each of [0, 5, 20]) await measureEdits(each, pages)
} finally {
  agent.destroy()
  await varnish.stop()
  server.close()
  server.closeAllConnections()
  rmSync(root, { recursive: true })
}

async function measureOffload(urls: readonly string[]): Promise<void> {
  let sent = 0
  const start = performance.now()
  await atOnce(async () => {
    while (sent < REQUESTS) await ask(urls[(sent++ * 7919) % urls.length] ?? '')
  })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const share = ((100 * reached) / sent).toFixed(3)
  console.log(
    `offload: ${sent} requests over ${ASSETS} assets and ${PAGES} pages in ${seconds} s, ` +
      `${reached} reached the application (${share} %)`
  )
}

/** Readers compare each page with the last edit of it whose response had arrived before they asked. */
async function measureEdits(rendering: number, pages: readonly string[]): Promise<void> {
  work = rendering
  const confirmed = [...revisions]
  const progress = { edits: 0 }
  let reads = 0
  let stale = 0
  const before = reached
  const reading = atOnce(async () => {
    while (progress.edits < EDITS) {
      const at = Math.floor(Math.random() * PAGES)
      const least = confirmed[at] ?? 0
      if (Number(await ask(pages[at] ?? '')) < least) stale++
      reads++
    }
  })
  for (; progress.edits < EDITS; progress.edits++) {
    const at = progress.edits % PAGES
    confirmed[at] = Number(await ask(pages[at] ?? '', 'POST'))
  }
  await reading
  console.log(
    `edits: ${EDITS}, pages that take ${rendering} ms: ${reads} reads, ` +
      `${reached - before - EDITS} renderings, ${stale} stale`
  )
}

async function atOnce(run: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, run))
}

/** @throws for any status but 200 */
async function ask(path: string, method = 'GET'): Promise<string> {
  const sent = request({ host: '127.0.0.1', port: varnish.port, path, method, agent }).end()
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
  const body = await text(response)
  if (response.statusCode === 200) return body
  throw new Error(`${method} ${path}: ${response.statusCode}`)
}
