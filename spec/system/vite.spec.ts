// The demo's Vite page in a browser, as it is built; how edits are shown is in bundlers.spec.ts.
import test, { type ExecutionContext } from 'ava'
import { randomBytes } from 'node:crypto'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { join, resolve } from 'node:path'
import Koa from 'koa'
import { createServer, type InlineConfig } from 'vite'
import { koaAssets } from '../../lib/koa-assets.ts'
import { makeProject, open } from '../support/site.ts'
import { until } from '../support/until.ts'
import { launch, type Page } from './chromium.ts'
import { buildWithVite } from './installed.ts'
import { atRoot, shows, styleOf, visit, type View } from './page.ts'

const URL_PATH = '/vite-app'
const MOUNT = { dir: 'vite/dist', manifest: 'vite/dist/.vite/manifest.json' }
const OPEN = "document.querySelectorAll('#garden button')[1].click()"
const TREES = "document.querySelectorAll('.trees img').length"
const GROUND = styleOf('.garden', 'borderBottomColor')
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

const build = (root: string) =>
  buildWithVite(root, join(root, 'vite'), '--config', resolve('demo/vite/vite.config.ts'))

/** A page with a policy that allows no script or style without its nonce. */
const view: View = ctx => {
  const nonce = randomBytes(16).toString('base64')
  ctx.set(
    'Content-Security-Policy',
    `default-src 'none'; img-src 'self' data:; connect-src 'self'; script-src 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'`
  )
  return `<meta property="csp-nonce" nonce="${nonce}">
    ${ctx.assets.entry('src/main.tsx', { nonce })}
    <div id="garden"></div>`
}

test('BND-02 a built page is fetched once, with integrity, and without a message in the console', async t => {
  const { root } = copyApp(t)
  await build(root)
  const { page, paths, url } = await visit(t, {
    view,
    root,
    env: 'production',
    mounts: { [URL_PATH]: MOUNT }
  })
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
  await page.follow(`${url}?again`)
  await showAll(t, page)
  t.deepEqual(paths, ['/'])
  t.deepEqual(page.complaints, [])
  t.deepEqual(page.remarks, [])
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
  app.use(atRoot(view))
  t.teardown(() => dev.close())
  return { dev, port: await open(t, server.on('request', app.callback())) }
}

/** Shows an image, and what is imported dynamically with its stylesheet. */
async function showAll(t: ExecutionContext, page: Page): Promise<void> {
  await shows(page, TREES, 1)
  t.is(await page.evaluate("document.querySelector('.trees img').decode()"), undefined)
  await page.evaluate(OPEN)
  await shows(page, ALMANAC, 'Plant more before you build a canoe.')
  t.is(await page.evaluate(GROUND), 'rgb(124, 194, 66)')
}
