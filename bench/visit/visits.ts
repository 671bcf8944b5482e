// What the visitors of a shop pay for: requests, bytes and the time until a page has loaded, in Chromium.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import Koa from 'koa'
import { launch, type Chromium, type Page } from '../../spec/system/chromium.ts'
import type { Contestant } from './contestants.ts'
import { pageOf, type Tags } from './pages.ts'

/** Below the packages of the bench, which the sources import. */
const WORK = join(import.meta.dirname, '../node_modules/.visit')

/** A slow network of 3G. */
const NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: 1.6e6 / 8,
  uploadThroughput: 0.75e6 / 8
}

export interface Visit {
  readonly requests: number
  /** Of the responses, with their headers, as the server wrote them to its sockets. */
  readonly bytes: number
  /** Until the event `load`, in milliseconds. */
  readonly load: number
}

export type Visits = Readonly<Record<'first' | 'next' | 'second' | 'deployed' | 'without', Visit>>

/** Both builds of a shop, the second one over the first. */
export interface Built {
  readonly contestant: Contestant
  readonly before: string
  readonly after: string
  /** CPU time of the first build, in seconds. */
  readonly cpu: number
}

export function build(contestant: Contestant): Built {
  const folder = join(WORK, contestant.name.replaceAll(/\W+/g, '-'))
  rmSync(folder, { recursive: true, force: true })
  const [before, after] = [join(folder, 'before'), join(folder, 'after')]
  mkdirSync(folder, { recursive: true })
  cpSync(join(import.meta.dirname, 'shop'), before, { recursive: true })
  contestant.configure?.(before)
  const cpu = run(contestant.build, before)
  cpSync(before, after, { recursive: true, preserveTimestamps: true })
  edit(after)
  run(contestant.again ?? contestant.build, after)
  return { contestant, before, after, cpu }
}

export function removeBuilds(): void {
  rmSync(WORK, { recursive: true, force: true })
}

/** A rule of the stylesheet, and a line of a module that others import. */
function edit(root: string): void {
  const assets = join(root, 'apps/web/assets')
  replace(join(assets, 'stylesheets/_shop.scss'), 'font-weight: 700', 'font-weight: 600')
  replace(join(assets, 'javascripts/shop/cart.js'), 'Your cart is empty', 'Nothing in your cart')
}

function replace(file: string, old: string, text: string): void {
  const source = readFileSync(file, 'utf8')
  if (!source.includes(old)) throw new Error(`${file} does not contain '${old}'`)
  writeFileSync(file, source.replace(old, text))
}

/** The CPU time of a shell script and all that it starts, in seconds. */
function run(script: string, cwd: string): number {
  const env = { ...process.env, NODE_ENV: 'production' }
  const out = execFileSync('sh', ['-c', `${script} && times`], { cwd, env, encoding: 'utf8' })
  const [user = 0, system = 0] = Array.from(
    out
      .trim()
      .split('\n')
      .at(-1)
      ?.matchAll(/(\d+)m([\d.]+)s/g) ?? [],
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds)
  )
  return user + system
}

/** All visits of one new visitor, and the last one of another one whose browser has no dictionaries. */
export async function visitsOf({ contestant, before, after }: Built): Promise<Visits> {
  const walk = async (flags: readonly string[]) => {
    await using site = await open(contestant)
    const browser = site.browser(flags)
    site.deploy(before)
    const first = await site.visit(browser, '/')
    const next = await site.visit(browser, '/shops')
    const second = await site.visit(browser, '/')
    site.deploy(after)
    return { first, next, second, deployed: await site.visit(browser, '/') }
  }
  const visits = await walk([])
  const { deployed } = await walk(['--disable-features=CompressionDictionaryTransport'])
  return { ...visits, without: deployed }
}

/** The sizes of what the helpers write into the head of a page: as text, and in brotli. */
export async function tagsOf({ contestant, before }: Built): Promise<readonly [number, number]> {
  let head = ''
  const app = applicationOf(contestant, before, tags => {
    head = tags.head(['app', 'product'])
  })
  const server = createServer(app.callback())
  const origin = await listen(server)
  await (await fetch(origin)).text()
  server.close()
  return [Buffer.byteLength(head), brotliCompressSync(head).length]
}

function applicationOf(
  { middleware, tags }: Contestant,
  root: string,
  look?: (tags: Tags) => void
): Koa {
  const app = new Koa({ env: 'production' })
  app.silent = true
  for (const each of middleware(root)) app.use(each)
  app.use(async ctx => {
    const written = await tags(ctx, root)
    look?.(written)
    const page = pageOf(ctx.path, written)
    if (page === undefined) return
    ctx.set('Cache-Control', 'no-cache')
    ctx.type = 'html'
    ctx.body = page
  })
  return app
}

/** One origin, at which what is served changes with a deploy. */
async function open(contestant: Contestant) {
  const sockets = new Set<Socket>()
  const teardowns: (() => unknown)[] = []
  let [requests, handle] = [0, new Koa().callback()]
  const server = createServer((req, res) => {
    requests++
    void handle(req, res)
  }).on('connection', socket => sockets.add(socket))
  const origin = await listen(server)
  const sent = () => Array.from(sockets).reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)

  /** Until nothing was sent for a while, in which the page had nothing to do: it may go on after its `load`. */
  async function quiet(page: Page): Promise<void> {
    for (let before = -1; before !== sent(); await wait(500)) {
      before = sent()
      await page.evaluate('new Promise(done => requestIdleCallback(() => done()))')
    }
  }

  return {
    browser: (flags: readonly string[]) => {
      const teardown = (work: () => unknown) => void teardowns.push(work)
      return launch({ teardown }, flags)
    },
    deploy(root: string) {
      handle = applicationOf(contestant, root).callback()
    },
    async visit(browser: Chromium, path: string): Promise<Visit> {
      const page = await browser.open('about:blank')
      await page.command('Network.emulateNetworkConditions', NETWORK)
      const [requestsBefore, bytesBefore] = [requests, sent()]
      await page.follow(origin + path)
      const load = await page.evaluate<number>(
        "performance.getEntriesByType('navigation')[0].loadEventStart"
      )
      await quiet(page)
      const [complaint] = page.complaints
      if (complaint !== undefined) throw new Error(`${contestant.name}, ${path}: ${complaint}`)
      await page.command('Page.close')
      return { requests: requests - requestsBefore, bytes: sent() - bytesBefore, load }
    },
    async [Symbol.asyncDispose]() {
      for (const teardown of teardowns) await teardown()
      server.closeAllConnections()
      server.close()
    }
  }
}

function listen(server: Server): Promise<string> {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    })
  })
}
