// The static serving of Outline, a wiki, rebuilt: its URLs, its build by Vite, its images.
import { createHook } from 'node:async_hooks'
import { rmSync } from 'node:fs'
import Router from '@koa/router'
import react from '@vitejs/plugin-react'
import test from 'ava'
import type { Middleware } from 'koa'
import type { ExecutionContext } from 'ava'
import { build } from 'vite'
import type { KoaAssetsOptions } from '../lib/assets/settings/options.ts'
import { makeBundlerProject, sha384, summary, unhashed } from './support/bundler-project.ts'
import { makeSite, writeFiles, type Files, type Site } from './support/site.ts'
import { until } from './support/until.ts'

const FILES: Files = {
  'app/index.tsx':
    "import { createRoot } from 'react-dom/client'\nimport './styles.css'\n" +
    "import logo from './logo.svg'\nimport { t } from './i18n.ts'\n" +
    "const open = () => import('./scenes/Document.tsx')\n" +
    'createRoot(document.body).render(<img src={logo} title={t("logo")} onClick={open} />)',
  'app/shared.tsx':
    "import './shared.css'\nimport { t } from './i18n.ts'\ndocument.title = t('a shared document')",
  'app/i18n.ts': "import './i18n.css'\nexport const t = (key: string) => key + navigator.language",
  'app/scenes/Document.tsx':
    "import './document.css'\nexport const Document = () => <p>document</p>",
  'app/styles.css': 'body { color: #111 }',
  'app/shared.css': 'body { color: #222 }',
  'app/i18n.css': '[lang=ar] { direction: rtl }',
  'app/scenes/document.css': 'p { color: #333 }',
  'app/logo.svg': `<svg xmlns="http://www.w3.org/2000/svg">${'<g/>'.repeat(2000)}</svg>`,
  // What Vite copies as it is.
  'assets/sw.js': 'self.skipWaiting()',
  'assets/manifest.webmanifest': '{ "name": "Outline" }',
  'assets/offline.html': '<title>offline</title>',
  'assets/fonts/Inter-Regular.woff2': 'a font',
  'server/images/avatar.png': 'an avatar'
}

const { root, remove } = makeBundlerProject(FILES)
test.after.always(remove)

const NAMES = ['app/index.tsx', 'app/shared.tsx']

async function buildApp(emptyOutDir = true): Promise<void> {
  await build({
    root,
    base: '/static/',
    publicDir: 'assets',
    configFile: false,
    logLevel: 'error',
    plugins: [react()],
    build: {
      outDir: 'build/app',
      emptyOutDir,
      manifest: true,
      assetsInlineLimit: 0,
      rollupOptions: { input: NAMES.map(name => `${root}/${name}`) }
    }
  })
}

test.before(() => buildApp())

const OPTIONS: KoaAssetsOptions = {
  root,
  env: 'production',
  fingerprint: false,
  integrity: 'sha384',
  mounts: {
    '/static': {
      dir: 'build/app',
      manifest: 'build/app/.vite/manifest.json',
      headers: { 'Service-Worker-Allowed': '/', 'Access-Control-Allow-Origin': '*' }
    },
    '/images': { dir: 'server/images', cacheControl: `public, max-age=${7 * 24 * 60 * 60}` }
  }
}

const router = new Router()
router.get('/api/config', ctx => void (ctx.body = { name: 'Outline' }))
router.get(/^\/(?!static\/|images\/|api\/).*/, ctx => {
  const name = ctx.path.startsWith('/s/') ? 'app/shared.tsx' : 'app/index.tsx'
  ctx.type = 'html'
  ctx.set('Cache-Control', 'no-cache')
  ctx.body = `<!doctype html>\n${ctx.assets.entry(name, { nonce: 'r4nd0m' })}`
})

const routes = router.routes() as Middleware

function makeOutline(t: ExecutionContext, options: KoaAssetsOptions = {}): Promise<Site> {
  return makeSite(t, {}, { ...OPTIONS, ...options, routes })
}

const YEAR = 'public, max-age=31536000, immutable'
const REVALIDATED = 'public, max-age=0, must-revalidate'

function urlsIn(html: string): string[] {
  return Array.from(html.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g), ([, url = '']) => url)
}

test.serial(
  'a page has the stylesheets of all imports, its module and its preloads, with integrity and nonce',
  async t => {
    const outline = await makeOutline(t)
    const { text } = await outline.ask('/doc/welcome-23')
    const tags = text.split('\n').slice(1)
    t.deepEqual(unhashed(summary(tags.join('\n'))), [
      'stylesheet /static/assets/i18n.css',
      'stylesheet /static/assets/index.css',
      'module /static/assets/index.js',
      'modulepreload /static/assets/i18n.js'
    ])
    for (const tag of tags) {
      t.true(tag.includes(' nonce="r4nd0m"'), tag)
      t.is(tag.match(/ crossorigin=/g)?.length, 1, tag)
      const [url = ''] = urlsIn(tag)
      t.true(tag.includes(`integrity="${sha384(`${root}/build/app${url.slice(7)}`)}"`), tag)
    }
    t.false(text.includes('Document'), 'a dynamic import is loaded when it is needed')
  }
)

test.serial(
  'what a page and its scripts load is immutable, hashed images and dynamic imports too',
  async t => {
    const outline = await makeOutline(t)
    const seen = new Set<string>()
    const load = async (url: string): Promise<void> => {
      if (seen.has(url)) return
      seen.add(url)
      const { status, headers, text } = await outline.ask(url)
      t.deepEqual([url, status, headers['cache-control']], [url, 200, YEAR])
      t.is(headers['access-control-allow-origin'], '*')
      const found = text.matchAll(
        /["'`(](?:\.\/|\/static\/)?(?:assets\/)?([\w.-]+-[\w-]{8}\.(?:js|css|svg))/g
      )
      await Promise.all(Array.from(found, ([, name]) => load(`/static/assets/${name}`)))
    }
    for (const page of ['/', '/s/shared']) {
      for (const url of urlsIn((await outline.ask(page)).text)) await load(url)
    }
    for (const part of ['Document-', 'logo-', 'i18n-']) {
      t.true(
        [...seen].some(url => url.includes(`/${part}`)),
        `${part} is among ${[...seen].join(' ')}`
      )
    }
  }
)

test.serial('the service worker, the web app manifest and pages are revalidated', async t => {
  const outline = await makeOutline(t)
  for (const [path, type] of [
    ['/static/sw.js', 'text/javascript; charset=utf-8'],
    ['/static/manifest.webmanifest', 'application/manifest+json'],
    ['/static/offline.html', 'text/html; charset=utf-8'],
    ['/static/fonts/Inter-Regular.woff2', 'font/woff2']
  ] as const) {
    const { status, headers } = await outline.ask(path)
    t.deepEqual(
      [path, status, headers['cache-control'], headers['content-type']],
      [path, 200, REVALIDATED, type]
    )
    t.is(headers['service-worker-allowed'], '/')
    const again = await outline.ask(path, { headers: { 'if-none-match': headers.etag } })
    t.deepEqual([again.status, again.headers['cache-control']], [304, REVALIDATED])
  }
})

test.serial('images are cached for seven days', async t => {
  const outline = await makeOutline(t)
  const { status, headers } = await outline.ask('/images/avatar.png')
  t.deepEqual([status, headers['cache-control']], [200, 'public, max-age=604800'])
  t.is(headers['service-worker-allowed'], undefined)
})

test.serial('what is missing is never cached, and the manifest is not served', async t => {
  const outline = await makeOutline(t)
  for (const path of [
    ...['/static/assets/index-0a1b2c3d.js', '/images/none.png', '/static/.vite/manifest.json'],
    ...['/static/', '/images/', '/static/assets', '/static/../package.json', '/static/assets/']
  ]) {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await outline.ask(path, { method })
      t.is(status, 404, path)
      if (!path.includes('..')) t.is(headers['cache-control'], 'no-store', path)
    }
  }
  t.is((await outline.ask('/api/config')).text, '{"name":"Outline"}')
})

let calls = 0
createHook({
  init(_, type) {
    if (type.startsWith('FSREQ') || type.startsWith('FILEHANDLE')) calls++
  }
}).enable()

test.serial('a page and its assets from memory cost no read of the disk', async t => {
  const outline = await makeOutline(t, { revalidate: 3600 })
  const [url = ''] = urlsIn((await outline.ask('/')).text)
  // Each request for an image looks whether it was overwritten.
  const paths = ['/', '/doc/x', '/s/shared', url, '/api/config']
  for (const path of paths) {
    await until(async () => {
      await outline.ask(path)
      calls = 0
      t.is((await outline.ask(path)).status, 200)
      return calls === 0
    }, `${path} costs nothing`)
  }
  await outline.ask('/static/sw.js')
  t.true(calls > 0, 'the counter counts')
})

test.serial(
  'a new build is in the pages once it is complete, and old pages keep their files',
  async t => {
    const outline = await makeOutline(t, { revalidate: 0 })
    const before = urlsIn((await outline.ask('/')).text)
    writeFiles(root, { 'app/styles.css': 'body { color: #444 }' })
    await buildApp(false)
    let after: string[] = []
    await until(async () => {
      after = urlsIn((await outline.ask('/')).text)
      return after.some(url => !before.includes(url))
    }, 'the new tags')
    for (const url of [...before, ...after]) {
      const { status, headers } = await outline.ask(url)
      t.is(status, 200)
      if (after.includes(url)) t.is(headers['cache-control'], YEAR)
    }
    rmSync(`${root}/build/app/.vite/manifest.json`)
    t.deepEqual(urlsIn((await outline.ask('/')).text), after, 'and stay while there is no manifest')
    t.deepEqual(outline.errors, [])
  }
)
