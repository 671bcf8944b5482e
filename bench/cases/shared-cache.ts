// What Varnish with demo/deploy/varnish keeps from the application, and whether an edit is seen at once.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import Koa from 'koa'
import { koaAssets, koaHttpCache, precompile } from '../../dist/index.js'
import { freePort, startVarnish } from '../../demo/deploy/stack.ts'
import { whole, type Case, type Row } from '../measure.ts'

const REQUESTS = 100_000
const ASSETS = 50
const PAGES = 10
const EDITS = 1000
const CONNECTIONS = 16
const CONTESTANT = 'koa-fresh-assets behind Varnish'

export const cases: readonly Case[] = [
  {
    title: `${whole(REQUESTS)} requests over ${ASSETS} assets and ${PAGES} pages`,
    measure: () => behindVarnish(measureOffload)
  },
  ...[0, 5, 20].map(rendering => ({
    title: `${whole(EDITS)} edits, while pages are read that take ${rendering} ms`,
    measure: () => behindVarnish(site => measureEdits(site, rendering))
  }))
]

/** The application, and what has happened in it. */
interface Site {
  /** @throws for any status but 200 */
  readonly ask: (path: string, method?: string) => Promise<string>
  readonly pages: readonly string[]
  /** Milliseconds that a page takes to be rendered. */
  rendering: number
  /** Requests that came through Varnish. */
  reached: number
}

async function behindVarnish(measure: (site: Site) => Promise<Row>): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'bench-cache-'))
  const source = join(root, 'assets/javascripts')
  mkdirSync(source, { recursive: true })
  for (let at = 0; at < ASSETS; at++)
    writeFileSync(join(source, `${at}.js`), `/* ${at} */`.repeat(500))
  const options = { root, env: 'production', serve: true }
  await precompile(options)
  const state = { rendering: 0, reached: 0 }
  const answer = applicationOf(options, state).callback()
  const server = createServer((req, res) => void answer(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const home = { home: join(root, 'varnish'), port: await freePort() }
  const varnish = await startVarnish(resolve('demo/deploy'), home, [port, port, port])
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS + 1 })
  const ask = async (path: string, method = 'GET') => {
    const sent = request({ host: '127.0.0.1', port: varnish.port, path, method, agent }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const body = await text(response)
    if (response.statusCode === 200) return body
    throw new Error(`${method} ${path}: ${response.statusCode}`)
  }
  try {
    const pages = Array.from({ length: PAGES }, (_, at) => `/pages/${at}`)
    return [await measure(Object.assign(state, { ask, pages }))]
  } finally {
    agent.destroy()
    await varnish.stop()
    server.close()
    server.closeAllConnections()
    rmSync(root, { recursive: true })
  }
}

function applicationOf(
  options: Parameters<typeof koaAssets>[0],
  state: Pick<Site, 'rendering' | 'reached'>
): Koa {
  const revisions = Array.from({ length: PAGES }, () => 0)
  const app = new Koa()
  app.use((ctx, next) => {
    if (ctx.path !== '/health') state.reached++
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
      await sleep(state.rendering)
      ctx.body = revision
    }
  })
  return app
}

async function measureOffload(site: Site): Promise<Row> {
  const urls = [...(JSON.parse(await site.ask('/urls')) as string[]), ...site.pages]
  site.reached = 0
  let sent = 0
  await atOnce(async () => {
    while (sent < REQUESTS) await site.ask(urls[(sent++ * 7919) % urls.length] ?? '')
  })
  const share = ((100 * site.reached) / sent).toFixed(3)
  return { contestant: CONTESTANT, result: `${site.reached} reached Node (${share} %)` }
}

/** Readers compare each page with the last edit of it whose response had arrived before they asked. */
async function measureEdits(site: Site, rendering: number): Promise<Row> {
  site.rendering = rendering
  const confirmed = site.pages.map(() => 0)
  const progress = { edits: 0 }
  let reads = 0
  let stale = 0
  const reading = atOnce(async () => {
    while (progress.edits < EDITS) {
      const at = Math.floor(Math.random() * PAGES)
      const least = confirmed[at] ?? 0
      if (Number(await site.ask(site.pages[at] ?? '')) < least) stale++
      reads++
    }
  })
  for (; progress.edits < EDITS; progress.edits++) {
    const at = progress.edits % PAGES
    confirmed[at] = Number(await site.ask(site.pages[at] ?? '', 'POST'))
  }
  await reading
  return { contestant: CONTESTANT, result: `${stale} stale of ${whole(reads)} reads` }
}

async function atOnce(run: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, run))
}
