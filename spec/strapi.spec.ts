// The admin panel and the uploads of Strapi, a content management system, rebuilt.
import Router from '@koa/router'
import react from '@vitejs/plugin-react'
import test, { type ExecutionContext } from 'ava'
import type { Middleware } from 'koa'
import { build } from 'vite'
import { koaHttpCache } from '../lib/koa-http-cache.ts'
import { makeBundlerProject } from './support/bundler-project.ts'
import { makeSite, type Files, type Site } from './support/site.ts'

const VIDEO = Buffer.alloc(2 * 1024 * 1024, 'film')
const FILES: Files = {
  'admin/index.html':
    '<!doctype html><div id="strapi"></div><script type="module" src="./main.tsx"></script>',
  'admin/main.tsx':
    "import { createRoot } from 'react-dom/client'\nimport './main.css'\n" +
    "import('./pages/users.tsx')\ncreateRoot(document.querySelector('#strapi')!).render(<p>admin</p>)",
  'admin/main.css': 'p { color: red }',
  'admin/pages/users.tsx': 'export const users = () => <p>users</p>',
  'admin/public/favicon.png': 'icon',
  'uploads/film.mp4': VIDEO,
  'uploads/photo.jpg': 'a photo',
  'uploads/.gitkeep': '',
  'database.sqlite': 'secret'
}

const { root, remove } = makeBundlerProject(FILES)
test.after.always(remove)

test.before(async () => {
  await build({
    root: `${root}/admin`,
    base: '/admin/',
    configFile: false,
    logLevel: 'error',
    plugins: [react()],
    build: { outDir: '../build/admin', emptyOutDir: true, manifest: true }
  })
})

const router = new Router()
router.get('/admin/init', ctx => void (ctx.body = { data: { hasAdmin: true } }))
router.post('/admin/login', ctx => void (ctx.body = { token: 'x' }))
router.get('/admin/users/me', ctx => ctx.throw(401))
router.get('/api/articles/:id', ctx => {
  ctx.status = 404
  ctx.body = { error: 'no such article' }
})
router.get('/uploads/:file', async ctx => {
  ctx.cacheControl('public', { maxAge: '7 days' })
  await ctx.sendFile(ctx.params['file'] ?? '', { root: 'uploads' })
})

const cache = koaHttpCache()
const route = router.routes() as Middleware
const routes: Middleware = (ctx, next) => cache(ctx, () => route(ctx, next))

function makeStrapi(t: ExecutionContext): Promise<Site> {
  const admin = {
    dir: 'build/admin',
    manifest: 'build/admin/.vite/manifest.json',
    index: 'index.html',
    fallback: 'index.html'
  }
  const options = { root, env: 'production', fingerprint: false, mounts: { '/admin': admin } }
  return makeSite(t, {}, { ...options, routes })
}

const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' }
const SHELL = /^<!doctype html>[^]*<div id="strapi">/

test('the panel’s shell is revalidated, at its own URL and for every deep link', async t => {
  const strapi = await makeStrapi(t)
  for (const path of [
    ...['/admin/', '/admin/settings/users', '/admin/content-manager/article/23?tab=1'],
    ...['/admin/auth/login', '/admin/auth/login/', '/admin/index.html']
  ]) {
    const { status, text, headers } = await strapi.ask(path, { headers: NAVIGATION })
    t.deepEqual([path, status, headers['cache-control']], [path, 200, 'no-cache'])
    t.regex(text, SHELL)
    const again = await strapi.ask(path, {
      headers: { ...NAVIGATION, 'if-none-match': headers.etag }
    })
    t.deepEqual([again.status, again.text], [304, ''])
  }
  const { status, headers } = await strapi.ask('/admin?x=1', { headers: NAVIGATION })
  t.deepEqual([status, headers.location], [301, '/admin/?x=1'])
  t.deepEqual(strapi.errors, [])
})

test('everything that the shell and its scripts load is immutable', async t => {
  const strapi = await makeStrapi(t)
  const shell = await strapi.ask('/admin/')
  const urls = Array.from(shell.text.matchAll(/(?:src|href)="([^"]+)"/g), ([, url = '']) => url)
  t.deepEqual(
    urls.map(url => url.replace(/-[\w-]{8}\./, '.')),
    ['/admin/assets/index.js', '/admin/assets/index.css']
  )
  const script = await strapi.ask(urls[0] ?? '')
  const [lazy = ''] = /users-[\w-]{8}\.js/.exec(script.text) ?? []
  for (const url of [...urls, `/admin/assets/${lazy}`]) {
    const { status, headers } = await strapi.ask(url)
    t.deepEqual(
      [url, status, headers['cache-control']],
      [url, 200, 'public, max-age=31536000, immutable']
    )
  }
  const icon = await strapi.ask('/admin/favicon.png')
  t.deepEqual(
    [icon.text, icon.headers['cache-control']],
    ['icon', 'public, max-age=0, must-revalidate']
  )
})

test('a missing script or image of the panel is a 404 that nobody keeps, and never the shell', async t => {
  const strapi = await makeStrapi(t)
  for (const path of [
    'missing.js',
    'assets/index-0123abcd.js',
    'logo.png',
    '.vite/manifest.json'
  ]) {
    for (const headers of [{}, NAVIGATION]) {
      const { status, text, headers: fields } = await strapi.ask(`/admin/${path}`, { headers })
      t.deepEqual([path, status, fields['cache-control']], [path, 404, 'no-store'])
      t.notRegex(text, SHELL)
    }
  }
})

test('the panel’s own API answers beside it', async t => {
  const strapi = await makeStrapi(t)
  t.is(
    (await strapi.ask('/admin/init', { headers: NAVIGATION })).text,
    '{"data":{"hasAdmin":true}}'
  )
  t.is((await strapi.ask('/admin/login', { method: 'POST' })).text, '{"token":"x"}')
  t.is((await strapi.ask('/admin/users/me', { headers: NAVIGATION })).status, 401)
  for (const question of [{}, { method: 'POST' }, { headers: { accept: 'application/json' } }]) {
    const { status, text } = await strapi.ask('/admin/none', question)
    t.deepEqual([status, text], [404, 'Not Found'])
  }
  const article = await strapi.ask('/api/articles/1', { headers: NAVIGATION })
  t.deepEqual([article.status, article.text], [404, '{"error":"no such article"}'])
  t.is((await strapi.ask('/elsewhere', { headers: NAVIGATION })).status, 404)
})

test('a film is sent by the route in the ranges that players ask for', async t => {
  const strapi = await makeStrapi(t)
  const whole = await strapi.ask('/uploads/film.mp4')
  t.true(whole.bytes.equals(VIDEO))
  const { etag, 'cache-control': cacheControl, 'content-type': type } = whole.headers
  t.deepEqual([cacheControl, type], ['public, max-age=604800', 'video/mp4'])
  const last = VIDEO.length - 1
  for (const [range, from, to] of [
    ['bytes=0-', 0, last],
    ['bytes=0-1', 0, 1],
    ['bytes=1000000-1999999', 1_000_000, 1_999_999],
    ['bytes=-500', last - 499, last]
  ] as const) {
    for (const headers of [{ range }, { range, 'if-range': etag }]) {
      const part = await strapi.ask('/uploads/film.mp4', { headers })
      t.deepEqual(
        [part.status, part.headers['content-range']],
        [206, `bytes ${from}-${to}/${VIDEO.length}`]
      )
      t.true(part.bytes.equals(VIDEO.subarray(from, to + 1)))
    }
  }
  const beyond = await strapi.ask('/uploads/film.mp4', { headers: { range: 'bytes=9999999-' } })
  t.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${VIDEO.length}`])
  const again = await strapi.ask('/uploads/film.mp4', { headers: { 'if-none-match': etag } })
  t.deepEqual([again.status, again.headers['cache-control']], [304, 'public, max-age=604800'])
})

test('uploads that do not exist, and files beside the uploads, are not served', async t => {
  const strapi = await makeStrapi(t)
  for (const file of [
    ...['none.jpg', '..%2fdatabase.sqlite', '.gitkeep', '%2e%2e%2fdatabase.sqlite', 'photo.jpg%00'],
    ...['..%5cdatabase.sqlite', '%2fetc%2fpasswd', 'C:%5cx']
  ]) {
    const { status, text, headers } = await strapi.ask(`/uploads/${file}`)
    t.deepEqual([file, status, text], [file, 404, 'Not Found'])
    t.not(headers['cache-control'], 'public, max-age=604800')
  }
  t.is((await strapi.ask('/uploads/photo.jpg')).text, 'a photo')
})
