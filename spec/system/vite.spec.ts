// The demo's Vite page in a browser: as it is built, and while it is edited.
import test, { type ExecutionContext } from 'ava'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import Koa, { type Middleware } from 'koa'
import { promisify } from 'node:util'
import { createServer, type InlineConfig } from 'vite'
import { koaAssets } from '../../lib/koa-assets.ts'
import { freePort } from '../../demo/deploy/stack.ts'
import { makeProject, makeSite } from '../support/site.ts'
import { until } from '../support/until.ts'
import { launch, type Page } from './chromium.ts'

const URL_PATH = '/vite-app'
const PLANT = "document.querySelectorAll('#garden button')[0].click()"
const OPEN = "document.querySelectorAll('#garden button')[1].click()"
const TREES = "document.querySelectorAll('.trees img').length"
const GROUND = "getComputedStyle(document.querySelector('.garden')).borderBottomColor"
const ALMANAC = "document.querySelector('.almanac')?.textContent"

/** A copy of the demo's application, to be edited, with the demo's configuration. */
function copyApp(t: ExecutionContext) {
  const root = makeProject(t)
  cpSync('demo/vite/src', join(root, 'vite/src'), { recursive: true })
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'), 'dir')
  const config: InlineConfig = {
    configFile: resolve('demo/vite/vite.config.ts'),
    root: join(root, 'vite'),
    cacheDir: join(root, '.vite'),
    logLevel: 'error'
  }
  return { root, config }
}

/** As the command does it, where NODE_ENV is not what AVA sets. */
function build(root: string) {
  const vite = [resolve('node_modules/vite/bin/vite.js'), 'build', join(root, 'vite')]
  const config = ['--config', resolve('demo/vite/vite.config.ts'), '--logLevel', 'error']
  return promisify(execFile)(process.execPath, [...vite, ...config], {
    env: { ...process.env, NODE_ENV: 'production' }
  })
}

/** A page with a policy that allows no script or style without its nonce. */
function pageWith({ images = '', connections = '' } = {}): Middleware {
  return (ctx, next) => {
    if (ctx.path !== '/') return next()
    const nonce = randomBytes(16).toString('base64')
    ctx.set(
      'Content-Security-Policy',
      `default-src 'none'; img-src 'self' data: ${images}; connect-src 'self' ${connections};
       script-src 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'`.replaceAll(/\s+/g, ' ')
    )
    ctx.type = 'html'
    ctx.body = `<!doctype html><title>Vite</title><link rel="icon" href="data:,">
      <meta property="csp-nonce" nonce="${nonce}">
      ${ctx.assets.entry('src/main.tsx', { nonce })}
      <div id="garden"></div>`
    return undefined
  }
}

test('BND-02 a built page is fetched once, with integrity, and without a message in the console', async t => {
  const { root } = copyApp(t)
  await build(root)
  const paths: string[] = []
  const site = await makeSite(
    t,
    {},
    {
      root,
      env: 'production',
      mounts: { [URL_PATH]: { dir: 'vite/dist', manifest: 'vite/dist/.vite/manifest.json' } },
      front: (ctx, next) => {
        paths.push(ctx.path)
        return next()
      },
      routes: pageWith()
    }
  )
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  await showAll(t, page)
  t.is(
    await page.evaluate(
      "document.querySelectorAll('script[src]:not([integrity]), link[rel=stylesheet]:not([integrity]):not([href*=almanac])').length"
    ),
    0
  )
  t.is(await page.evaluate("document.querySelectorAll('script[src][integrity]').length"), 1)
  const hashed = paths.filter(path => path.startsWith(`${URL_PATH}/`))
  const kinds = hashed.map(path => path.replace(/-[\w-]{8}\./, '-<hash>.'))
  t.deepEqual(
    kinds.toSorted((a, b) => (a < b ? -1 : 1)),
    [
      '/vite-app/assets/almanac-<hash>.css',
      '/vite-app/assets/almanac-<hash>.js',
      '/vite-app/assets/leaf-<hash>.svg',
      '/vite-app/assets/main-<hash>.css',
      '/vite-app/assets/main-<hash>.js'
    ]
  )

  paths.length = 0
  await page.follow(`http://127.0.0.1:${site.port}/?again`)
  await showAll(t, page)
  t.deepEqual(paths, ['/'])
  t.deepEqual(page.complaints, [])
  t.deepEqual(page.remarks, [])
})

const MOUNT = { dir: 'vite/dist', manifest: 'vite/dist/.vite/manifest.json' }

test('BND-06 BND-09 an edit is swapped in while Vite is in the process', async t => {
  const { root, config } = copyApp(t)
  const { port } = await serveWithVite(t, root, config)
  const page = await launch(t).open(`http://127.0.0.1:${port}/`)
  await edit(t, page, join(root, 'vite/src'))
})

test("BND-06 BND-09 an edit is swapped in from Vite's own server, which is found by its plugin", async t => {
  const { root, config } = copyApp(t)
  const server = await createServer({
    ...config,
    server: { host: '127.0.0.1', port: await freePort() }
  })
  t.teardown(() => server.close())
  await server.listen()
  const origin = new URL(server.resolvedUrls?.local[0] ?? '').origin
  const site = await makeSite(
    t,
    {},
    {
      root,
      mounts: { [URL_PATH]: MOUNT },
      routes: pageWith({ images: origin, connections: origin.replace('http', 'ws') })
    }
  )
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  await edit(t, page, join(root, 'vite/src'))
})

test('BND-09 an entry with components and lazy() mounts once after it was edited', async t => {
  const { root, config } = copyApp(t)
  const main = join(root, 'vite/src/main.tsx')
  const text = `import { lazy } from 'react'
    import { createRoot } from 'react-dom/client'
    const Almanac = lazy(() => import('./almanac.tsx'))
    export function App() { return <div id="app">before <Almanac /></div> }
    globalThis.mounts = (globalThis.mounts ?? 0) + 1
    createRoot(document.querySelector('#garden')!).render(<App />)`
  writeFileSync(main, text)
  const { port, dev } = await serveWithVite(t, root, config)
  const page = await launch(t).open(`http://127.0.0.1:${port}/`)
  await shows(page, "document.querySelector('#app')?.textContent.slice(0, 6)", 'before')
  t.is(await page.evaluate('mounts'), 1)
  writeFileSync(main, text.replace('before', 'edited'))
  await until(
    () =>
      (dev.environments.client.moduleGraph.urlToModuleMap.get('/src/main.tsx')?.lastHMRTimestamp ??
        0) > 0,
    'Vite sees the edit'
  )
  await page.follow(`http://127.0.0.1:${port}/?again`)
  await shows(page, "document.querySelector('#app')?.textContent.slice(0, 6)", 'edited')
  t.is(await page.evaluate('mounts'), 1)
  t.deepEqual(page.complaints, [])
})

/** An application that has Vite in its process. */
async function serveWithVite(t: ExecutionContext, root: string, config: InlineConfig) {
  const server = createHttpServer()
  const dev = await createServer({ ...config, server: { middlewareMode: true, ws: { server } } })
  const app = new Koa()
  app.use(
    koaAssets({ root, env: 'development', serve: true, mounts: { [URL_PATH]: { ...MOUNT, dev } } })
  )
  app.use(pageWith())
  server.on('request', app.callback())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    await dev.close()
    server.close()
    server.closeAllConnections()
  })
  return { dev, port: (server.address() as AddressInfo).port }
}

/** Shows an image, and what is imported dynamically with its stylesheet. */
async function showAll(t: ExecutionContext, page: Page): Promise<void> {
  await shows(page, TREES, 1)
  t.is(await page.evaluate("document.querySelector('.trees img').decode()"), undefined)
  await page.evaluate(OPEN)
  await shows(page, ALMANAC, 'Plant more before you build a canoe.')
  t.is(await page.evaluate(GROUND), 'rgb(124, 194, 66)')
}

/** Edits a stylesheet and a component: the page is the same one, with its state. */
async function edit(t: ExecutionContext, page: Page, sources: string): Promise<void> {
  await showAll(t, page)
  await page.evaluate(`globalThis.isSamePage = true; ${PLANT}`)
  await shows(page, TREES, 2)
  replace(join(sources, 'garden.css'), '#7cc242', 'rgb(1, 2, 3)')
  await shows(page, GROUND, 'rgb(1, 2, 3)')
  replace(join(sources, 'garden.tsx'), 'A koa garden', 'An acacia garden')
  await shows(page, "document.querySelector('h2').textContent", 'An acacia garden')
  t.is(await page.evaluate(TREES), 2)
  t.true(await page.evaluate('globalThis.isSamePage'))
  t.deepEqual(page.complaints, [])
}

function replace(file: string, before: string, after: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(before, after))
}

function shows(page: Page, expression: string, expected: unknown): Promise<void> {
  return until(
    async () => (await page.evaluate(expression)) === expected,
    `${expression} is ${String(expected)}`
  )
}
