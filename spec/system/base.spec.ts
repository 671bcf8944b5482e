// An application below a path that nginx cuts off, as docs/deploy.md says, in a browser.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import Koa from 'koa'
import { build, createServer, type InlineConfig } from 'vite'
import { freshAssets } from '../../lib/extras/vite/plugin.ts'
import { koaAssets, precompile, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { readPart } from '../support/examples.ts'
import { ask, makeProject, open, test, until, type ExecutionContext } from '../support/index.ts'
import { launch, type Page } from './chromium.ts'
import { runNginx } from './in-front.ts'
import { atRoot, shows, styleOf, textOf } from './page.ts'

const [location, rewriting] = readPart('docs/deploy.md').take('Below a path', 'nginx')

const MAPS = `map $http_upgrade $upgrade { ~*^websocket$ websocket; }
map $upgrade $connection_upgrade { websocket upgrade; }`

const IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'

const FILES = {
  'apps/web/assets/stylesheets/app.css': `@import 'more.css';
    h1 { color: rgb(1, 2, 3); background: url(leaf.svg) }`,
  'apps/web/assets/stylesheets/more.css': 'p { background: url(/assets/leaf.svg) }',
  'apps/web/assets/images/leaf.svg': IMAGE,
  'apps/web/assets/javascripts/app.js': `import { name } from './name.js'
    const { at } = await import('./later.js')
    document.querySelector('h1').textContent = name + at`,
  'apps/web/assets/javascripts/name.js': "export const name = 'own '",
  'apps/web/assets/javascripts/later.js': "export const at = 'later'",
  'docs/guide/index.html': '<!doctype html><title>Guide</title><link rel="icon" href="data:,">',
  'front/src/main.js': `import './main.css'
    import image from './tree.svg?no-inline'
    const show = async () => {
      const { text } = await import('./text.js')
      document.querySelector('#root').innerHTML = '<img src="' + image + '">' + text
    }
    show()
    import.meta.hot?.accept()`,
  'front/src/main.css': '#root { color: rgb(4, 5, 6) }',
  'front/src/text.js': "export const text = 'built'",
  'front/src/tree.svg': IMAGE
}

const MOUNT = { dir: 'front/dist', manifest: 'front/dist/.vite/manifest.json' }

const view = atRoot(({ assets: { live, stylesheet, importMap, javascript, entry } }) => {
  const own = javascript('app', { type: 'module' })
  return `${live()} ${stylesheet('app')} ${importMap()}
    <h1></h1><p></p><div id="root"></div>
    ${own} ${entry('src/main.js')}`
})

/** A part of a configuration of nginx, and what it serves besides the application. */
type Front = (app: number) => {
  readonly name: 'proxy' | 'files'
  readonly text: string
  readonly files?: string
}

const proxying: Front = app => ({
  name: 'proxy',
  text: `${MAPS}
    server { listen 127.0.0.1:8080;
      ${String(location?.text).replaceAll('127.0.0.1:3000', `127.0.0.1:${app}`)}
    }`
})

/** The port of an application behind nginx, and the URLs that arrive at it. */
async function serve(
  t: ExecutionContext,
  options: KoaAssetsOptions,
  { server = createHttpServer(), routes = view, front = proxying } = {}
) {
  const koa = new Koa()
  const arrived: string[] = []
  koa.use((ctx, next) => {
    arrived.push(ctx.url)
    return next()
  })
  koa.use(koaAssets(options)).use(routes)
  const app = await open(t, server.on('request', koa.callback()))
  const { name, text, files } = front(app)
  const from = makeProject(t, { 'nginx/brotli.conf': '', [`nginx/${name}.conf`]: text })
  const site = { name, app: [app, app, app], ...(files && { public: files }) } as const
  return { arrived, port: await runNginx(t, site, from) }
}

function configOf(root: string): InlineConfig {
  return {
    configFile: false,
    root: join(root, 'front'),
    cacheDir: join(root, '.vite'),
    logLevel: 'error',
    plugins: [freshAssets({ mount: '/static', base: '/shop', input: 'src/main.js' })]
  }
}

function optionsOf(root: string): KoaAssetsOptions {
  return {
    root,
    serve: true,
    base: '/shop',
    bundle: false,
    mounts: { '/static': MOUNT, '/docs': { dir: 'docs', index: 'index.html' } }
  }
}

test('behind a proxy that cuts off base, a page finds all that it loads in production', async t => {
  const root = makeProject(t, FILES)
  await build(configOf(root))
  const options = { ...optionsOf(root), env: 'production' }
  await precompile(options)
  const { arrived, port } = await serve(t, options)
  const page = await launch(t).open(`http://localhost:${port}/shop/`)
  await showsAll(page, 'built')
  const urls = [...page.answers.keys()].map(url => new URL(url).pathname)
  t.true(urls.length >= 10, String(urls))
  t.true(urls.every(url => url.startsWith('/shop/')))
  t.deepEqual([...new Set(page.answers.values())], [200])
  t.false(arrived.some(url => url.startsWith('/shop')))
  t.deepEqual(page.complaints, [])

  const guide = await ask(port, '/shop/docs/guide')
  t.is(guide.headers['location'], '/shop/docs/guide/')
  t.is((await ask(port, '/shop/docs/guide/')).status, 200)
})

test('below base nginx sends every asset from public without asking the application', async t => {
  const root = makeProject(t, FILES)
  chmodSync(root, 0o755)
  const options = { root, base: '/shop', bundle: false, env: 'production', serve: false }
  await precompile(options)
  const routes = atRoot(
    ({ assets }) => assets.stylesheet('app') + assets.javascript('app', { type: 'module' })
  )
  const file = readFileSync('demo/deploy/nginx/files.conf', 'utf8')
  const text = file.replace(/\}\s*$/, `${rewriting?.text}}`)
  const front: Front = () => ({ name: 'files', text, files: join(root, 'public') })
  const { arrived, port } = await serve(t, options, { routes, front })
  const { text: page } = await ask(port, '/shop/?a=1')
  const found = page.matchAll(/(?:href|src)="(\/shop\/assets\/[^"]+)"/g)
  const urls = Array.from(found, ([, url = '']) => url)
  t.true(urls.length >= 3, page)
  for (const url of urls) {
    const { status, headers } = await ask(port, url)
    t.is(status, 200, url)
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable', url)
  }
  t.is((await ask(port, '/shop/assets/.hidden.js')).status, 404)
  t.deepEqual(arrived, ['/?a=1'])
})

test('in development the live channel, the inspector and the modules of Vite are found behind base', async t => {
  const root = makeProject(t, FILES)
  const server = createHttpServer()
  const dev = await createServer({
    ...configOf(root),
    server: { middlewareMode: true, ws: { server } }
  })
  t.teardown(() => dev.close())
  const options = optionsOf(root)
  const mounts = { ...options.mounts, '/static': { ...MOUNT, dev } }
  const { arrived, port } = await serve(t, { ...options, env: 'development', mounts }, { server })
  const browser = launch(t)
  const page = await browser.open(`http://localhost:${port}/shop/`)
  await showsAll(page, 'built')
  await page.evaluate('globalThis.isSame = true')
  await until(() => arrived.some(url => url.startsWith('/assets/-/live?')), 'the page is connected')

  const more = join(root, 'apps/web/assets/stylesheets/app.css')
  writeFileSync(more, `${FILES['apps/web/assets/stylesheets/app.css']} h1 { margin: 7px }`)
  await shows(page, styleOf('h1', 'marginTop'), '7px')
  writeFileSync(join(root, 'front/src/main.css'), '#root { color: rgb(7, 8, 9) }')
  await shows(page, styleOf('#root'), 'rgb(7, 8, 9)')
  writeFileSync(join(root, 'front/src/text.js'), "export const text = 'edited'")
  await showsAll(page, 'edited')
  t.true(await page.evaluate('isSame'))

  for (const [url, status] of [...page.answers].filter(([url]) => !url.startsWith('ws:'))) {
    t.regex(url, /:\d+\/shop\//)
    t.true([200, 304].includes(status), `${url} ${status}`)
  }
  t.deepEqual(page.complaints, [])

  const inspected = `http://localhost:${port}/shop/assets/-/asset?path=/assets/app.css`
  const inspector = await browser.open(inspected)
  const link = 'document.querySelector(\'a[href$="app.css"][href^="/"]\').pathname'
  t.is(await inspector.evaluate(link), '/shop/assets/app.css')
  t.deepEqual([...new Set(inspector.answers.values())], [200])
  t.deepEqual(inspector.complaints, [])
})

async function showsAll(page: Page, text: string): Promise<void> {
  await shows(page, textOf('#root'), text)
  await shows(page, textOf('h1'), 'own later')
  await shows(page, "document.querySelector('#root img').naturalWidth", 8)
}
