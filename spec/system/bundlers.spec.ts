// Front ends of every kind in a browser: while they are edited, and as they are built.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Koa, { type Context } from 'koa'
import { createServer, type ViteDevServer } from 'vite'
import { koaAssets, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { end, startProgram } from '../support/processes.ts'
import { makeProject, open, serial as test, until } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { launch, type Page } from './chromium.ts'
import { FRONT_ENDS, PAGES, STATE, type FrontEnd, type Render } from './front-ends.ts'
import { buildWithVite, linkPackages, runInProject, VITE } from './installed.ts'

class Project {
  readonly root: string
  readonly given: FrontEnd
  readonly #t: ExecutionContext

  constructor(t: ExecutionContext, given: FrontEnd) {
    this.#t = t
    this.given = given
    this.root = makeProject(t, { 'package.json': '{ "type": "module" }', ...given.files })
    linkPackages(this.root)
  }

  /** The command that a developer runs beside the application; resolves to what ends it. */
  async watch(): Promise<() => Promise<void>> {
    const env = { ...process.env, NODE_ENV: 'development' }
    const words = [VITE, '--logLevel', 'error']
    const child = startProgram(this.#t, words, { cwd: this.root, env, stdio: 'inherit' })
    const file = join(this.root, 'dist/.vite/dev-server.json')
    const isWhole = () => existsSync(file) && /\}\s*$/.test(readFileSync(file, 'utf8'))
    await until(isWhole, 'Vite has announced itself')
    return () => end(child, 'SIGTERM')
  }

  async build(cdn: string): Promise<void> {
    await runInProject(this.root, [VITE, 'build', '--logLevel', 'error'], { CDN: cdn })
    if (this.given.isRendered)
      await buildWithVite(this.root, '--ssr', 'src/server.jsx', '--outDir', 'server')
  }

  edit(edits: FrontEnd['edits']): void {
    for (const [file, before, after] of edits) {
      const path = join(this.root, file)
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(before, after))
    }
  }

  /** Vite in this process, for the WebSocket of the application's server. */
  async vite(server: Server): Promise<ViteDevServer> {
    const { root } = this
    const config = { root, configFile: join(root, 'vite.config.js'), logLevel: 'error' } as const
    const dev = await createServer({ ...config, server: { middlewareMode: true, ws: { server } } })
    this.#t.teardown(() => dev.close())
    return dev
  }

  async serve(
    env: 'development' | 'production',
    more: KoaAssetsOptions = {},
    prepare?: (ctx: Context) => void
  ) {
    const { isRendered, page } = this.given
    const { root } = this
    const server = createHttpServer()
    const dev = isRendered && env === 'development' ? await this.vite(server) : undefined
    const app = new Koa()
    const paths: string[] = []
    app.use((ctx, next) => {
      paths.push(ctx.path)
      return next()
    })
    const mounts = { '/admin': { dir: 'dist', manifest: 'dist/.vite/manifest.json', dev } }
    app.use(koaAssets({ root, env, serve: true, apps: false, ...more, mounts }))
    app.use(async ctx => {
      if (ctx.path !== '/') return
      const render = isRendered ? await this.#render(dev) : undefined
      ctx.type = 'html'
      prepare?.(ctx)
      ctx.body = await page(ctx, render)
    })
    const listener = app.callback()
    const origin = await listen(this.#t, server.on('request', listener))
    return { origin, listener, paths }
  }

  async #render(dev: ViteDevServer | undefined): Promise<Render> {
    const built = pathToFileURL(join(this.root, 'server/server.js')).href
    const module: unknown = await (dev ? dev.ssrLoadModule('/src/server.jsx') : import(built))
    return (module as { render: Render }).render
  }
}

async function listen(t: ExecutionContext, server: Server): Promise<string> {
  return `http://127.0.0.1:${await open(t, server)}`
}

async function shows(page: Page, expected: string): Promise<void> {
  let last: unknown
  try {
    await until(async () => {
      last = await page.evaluate<unknown>(STATE).catch((error: unknown) => error)
      return last === expected
    }, expected)
  } catch (error) {
    throw new Error(`it shows ${String(last)}; ${page.complaints.join('\n')}`, { cause: error })
  }
}

for (const [name, given] of Object.entries(FRONT_ENDS)) {
  test(`edits and builds of ${name} show without console errors`, async t => {
    const project = new Project(t, given)
    await edit(t, project, given)
    await visit(t, project, given)
  })
}

async function edit(t: ExecutionContext, project: Project, given: FrontEnd): Promise<void> {
  const { isRendered, edited, edits } = given
  const [before, after] = given.shows
  const end = isRendered ? undefined : await project.watch()
  const { origin } = await project.serve('development')
  const page = await launch(t).open(origin)
  await shows(page, before)
  await page.evaluate('globalThis.isSamePage = true')
  project.edit(edits)
  await shows(page, after)
  t.is(await page.evaluate('globalThis.isSamePage === true'), edited === 'in place')
  await page.follow(`${origin}/?reloaded`)
  await shows(page, after)
  t.deepEqual(page.complaints, [])
  await end?.()
}

async function visit(t: ExecutionContext, project: Project, given: FrontEnd): Promise<void> {
  const { isRendered } = given
  const cdn = createHttpServer()
  const host = await listen(t, cdn)
  await project.build(host)
  const built = await project.serve('production', isRendered ? { host } : {})
  cdn.on('request', built.listener)
  const page = await launch(t).open(built.origin)
  await shows(page, given.shows[1])
  const files = [...page.answers].filter(([url]) => /\.(?:js|css)$/.test(url))
  t.true(files.length > 1)
  for (const [url, status] of files)
    t.true(status === 200 && (!isRendered || url.startsWith(host)), `${url} ${status}`)
  t.deepEqual(page.complaints, [])
}

test('a page uses what ctx.preload fetches, from its origin or a CDN, without a second request', async t => {
  const project = new Project(t, PAGES)
  await project.build('')
  for (const isOnCdn of [false, true]) {
    const cdn = createHttpServer()
    const host = await listen(t, cdn)
    const prepare = (ctx: Context) => {
      ctx.preload('src/home.js', 'src/cart.jsx')
      // What is not used is told: nothing else is.
      ctx.append('Link', '</unused.css>; rel=preload; as=style')
    }
    const served = await project.serve('production', isOnCdn ? { host } : {}, prepare)
    const { origin, listener, paths } = served
    cdn.on('request', listener)
    const page = await launch(t).open(origin)
    await shows(page, PAGES.shows[0])
    await until(() => unused(page).length > 0, 'Chromium tells what was not used')
    t.is(unused(page).length, 1)
    t.true(unused(page)[0]?.includes('/unused.css'))
    t.deepEqual(paths.toSorted(), [...new Set(paths)].toSorted())
    t.true(paths.some(path => path.endsWith('.css')) && paths.some(path => path.includes('shared')))
  }
})

const unused = ({ remarks }: Page) => remarks.filter(text => /preloaded .*not used/.test(text))
