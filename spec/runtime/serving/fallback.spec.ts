import type { Middleware } from 'koa'
import { koaHttpCache } from '../../../lib/koa-http-cache.ts'
import type { MountOptions } from '../../../lib/runtime/settings/options.ts'
import { ENVIRONMENTS } from '../../support/ways.ts'
import { makeSite, test, words, type Files } from '../../support/index.ts'

const SHELL = '<!doctype html><title>shell</title>'
const FILES: Files = {
  '/dist/index.html': SHELL,
  '/dist/app.js': 'app',
  '/dist/about.html': 'about'
}
const ADMIN = { mounts: { '/admin': { dir: 'dist', fallback: 'index.html' } } }
const ROOT = { mounts: { '/': { dir: 'dist', fallback: 'index.html' } } }

const OLDER_BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const NAVIGATION = { ...OLDER_BROWSER, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const FETCH = { ...OLDER_BROWSER, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

for (const [where, options] of ENVIRONMENTS) {
  test(`a navigation that would be a 404 gets the fallback, ${where}`, async t => {
    const site = await makeSite(t, FILES, { ...options, ...ADMIN })
    const paths = words(`/ /users/23 /users/ /page.html /users?q=1 /a%20b /v1.2/users /missing.html
      /types/api::article.article /types/api%3A%3Aarticle.article /@user@host.tld
      /profile/a%40b.com /docs/v1.2 /firms/Acme%20Inc. /x.HTM /a.b`)
    for (const path of ['/admin', ...paths.map(path => `/admin${path}`)]) {
      for (const headers of [NAVIGATION, OLDER_BROWSER]) {
        const { status, text, headers: fields } = await site.ask(path, { headers })
        t.deepEqual([path, status, text], [path, 200, SHELL])
        t.is(fields['cache-control'], 'no-cache')
        t.is(fields['content-type'], 'text/html; charset=utf-8')
        // The others differ in whether it is sent at all.
        if (path !== '/admin/users/23') continue
        const conditional = { ...headers, 'if-none-match': fields.etag }
        const again = await site.ask(path, { headers: conditional })
        t.deepEqual([again.status, again.text], [304, ''])
        t.is(again.headers['cache-control'], 'no-cache')
        const head = await site.ask(path, { method: 'HEAD', headers })
        t.deepEqual([head.status, head.headers.etag, head.text], [200, fields.etag, ''])
      }
    }
    t.is((await site.ask('/admin/about.html', { headers: NAVIGATION })).text, 'about')
    t.deepEqual(site.errors, [])
  })

  test(`only navigations to pages get the fallback, ${where}`, async t => {
    for (const [at, mounts] of [
      ['/admin', ADMIN],
      ['', ROOT]
    ] as const) {
      const site = await makeSite(t, FILES, { ...options, ...mounts })
      const files = ['missing.js', 'assets/missing.css', 'missing.PNG', 'main.js.map', 'a.woff2']
      for (const path of [...files, 'film.mp4', 'build.zip', 'feed.xml', 'robots.txt']) {
        const { status, text, headers } = await site.ask(`${at}/${path}`, { headers: NAVIGATION })
        t.deepEqual([path, status, headers['cache-control']], [path, 404, 'no-store'])
        t.not(text, SHELL)
      }
      for (const headers of [{}, FETCH]) {
        const answer = await site.ask(`${at}/users/23`, { headers })
        const stored = at === '' ? undefined : 'no-store'
        t.deepEqual([answer.status, answer.headers['cache-control']], [404, stored])
      }
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const question = { method, headers: NAVIGATION }
        const { status, headers } = await site.ask(`${at}/users/23`, question)
        t.deepEqual([method, status, headers.allow], [method, 404, undefined])
      }
      // A path that is not canonical, and a file with a slash at its end.
      const odd = words(
        String.raw`/js/missing.js/ //users /users// /.env /a/../b /%61 /a%2fb /a\b /con /%zz`
      )
      for (const path of at === '' ? odd : [])
        t.is((await site.ask(path, { headers: NAVIGATION })).status, 404, path)
      t.deepEqual(site.errors, [])
    }
  })
}

for (const [what, except] of [
  ['a RegExp', /^\/(?:api|größe)\//g],
  ['a function of the decoded path', (path: string) => /^\/(?:api|größe)\//.test(path)]
] as const) {
  test(`a path that the fallback excepts by ${what} remains a 404`, async t => {
    const mounts = { '/': { dir: 'dist', fallback: { file: 'index.html', except } } }
    const site = await makeSite(t, FILES, { mounts })
    const ask = (path: string) => site.ask(path, { headers: NAVIGATION })
    for (const path of ['/api/orders', '/api/orders', '/api/', '/gr%C3%B6%C3%9Fe/x'])
      t.is((await ask(path)).status, 404, path)
    for (const path of ['/apis', '/', '/orders/api']) t.is((await ask(path)).text, SHELL, path)
    t.is((await ask('/orders')).headers['cache-control'], 'no-cache')
    t.is((await ask('/index.html')).headers['cache-control'], 'no-cache')
    t.deepEqual(site.errors, [])
  })
}

test('only a function as `headers` gives the fallback a lifetime', async t => {
  for (const [more, expected, project] of [
    [{ immutable: true }, 'no-cache'],
    [{ immutable: /./ }, 'no-cache'],
    [{ immutable: () => true }, 'no-cache'],
    [{ cacheControl: 'public, max-age=604800' }, 'no-cache'],
    [{ cacheControl: (path: string) => `max-age=${path.length}` }, 'no-cache'],
    [{ headers: { 'cache-control': 'max-age=60' } }, 'no-cache'],
    [{}, 'no-cache', { headers: { 'Cache-Control': 'max-age=60' } }],
    [{ headers: () => ({ 'Cache-Control': 'private, no-cache' }) }, 'private, no-cache'],
    [{ cacheControl: 'private, no-store' }, 'private, no-store'],
    [{ cacheControl: () => 'no-store' }, 'no-store'],
    [{ headers: { 'Cache-Control': 'no-store' } }, 'no-store'],
    [{}, 'No-Store', { headers: { 'Cache-Control': 'No-Store' } }],
    [{}, 'max-age=60', { headers: () => ({ 'Cache-Control': 'max-age=60' }) }]
  ] as const) {
    const site = await makeSite(t, FILES, {
      ...{ env: 'production', fingerprint: false, ...project },
      mounts: { '/admin': { dir: 'dist', fallback: 'index.html', index: 'index.html', ...more } }
    })
    for (const path of ['/admin/deep/link', '/admin/index.html', '/admin/']) {
      const { status, headers } = await site.ask(path, { headers: NAVIGATION })
      t.deepEqual([path, status, headers['cache-control']], [path, 200, expected])
    }
  }
})

test('neither headers for CDNs nor another mount of its directory gives the fallback a lifetime', async t => {
  const headers = {
    'CDN-Cache-Control': 'max-age=600',
    'Surrogate-Control': 'max-age=600',
    'X-Robots-Tag': 'noindex'
  }
  const site = await makeSite(t, FILES, {
    env: 'production',
    fingerprint: false,
    mounts: {
      '/': { dir: 'dist', cacheControl: 'max-age=604800' },
      '/admin': { dir: 'dist', fallback: 'index.html', headers }
    }
  })
  const shell = await site.ask('/admin/deep/link', { headers: NAVIGATION })
  t.is(shell.text, SHELL)
  t.is(shell.headers['cdn-cache-control'], undefined)
  t.is(shell.headers['surrogate-control'], undefined)
  t.is(shell.headers['x-robots-tag'], 'noindex')
  const other = await site.ask('/admin/app.js')
  t.is(other.headers['cdn-cache-control'], 'max-age=600')
  t.is((await site.ask('/index.html')).headers['cache-control'], 'no-cache')
  t.is((await site.ask('/app.js')).headers['cache-control'], 'max-age=604800')
})

test('the fallback replaces a 404 without a body, and the headers that describe it', async t => {
  const cache = koaHttpCache({ trace: true })
  const routes: Middleware = (ctx, next) =>
    cache(ctx, async () => {
      await next()
      await ctx.fresh('item')
      ctx.set({ 'Content-Type': 'application/json', 'X-Trace': 'kept' })
      if (ctx.path === '/admin/mine') Object.assign(ctx, { status: 404, body: 'my own 404' })
    })
  const site = await makeSite(t, FILES, { ...ADMIN, routes })
  const mine = await site.ask('/admin/mine', { headers: NAVIGATION })
  t.deepEqual([mine.status, mine.text], [404, 'my own 404'])
  t.regex(String(mine.headers['x-http-cache']), /^404: /)
  const { status, text, headers } = await site.ask('/admin/x', { headers: NAVIGATION })
  t.deepEqual([status, text, headers['x-http-cache']], [200, SHELL, undefined])
  t.is(headers['content-type'], 'text/html; charset=utf-8')
  t.not(headers.etag, '"item"')
  t.is(headers['x-trace'], 'kept')
})

test('a default of koaHttpCache gives the fallback no lifetime, even if a route chose the 404', async t => {
  const cache = koaHttpCache({ cacheControl: 'private, max-age=60' })
  const routes: Middleware = (ctx, next) =>
    cache(ctx, async () => {
      await next()
      if (ctx.path === '/admin/own') ctx.set('Cache-Control', 'private, no-store')
      ctx.status = 404
    })
  const site = await makeSite(t, FILES, { ...ADMIN, routes })
  const lifetimeAt = async (path: string) =>
    (await site.ask(path, { headers: NAVIGATION })).headers['cache-control']
  t.is(await lifetimeAt('/admin/x'), 'no-cache')
  t.is(await lifetimeAt('/admin/own'), 'private, no-store')
  t.is(await lifetimeAt('/elsewhere'), 'no-store')
})

test('nothing is added to a response that is sent later, with ctx.respond = false', async t => {
  const routes: Middleware = ctx => void (ctx.respond = false)
  const front: Middleware = async (ctx, next) => {
    await next()
    ctx.res.statusCode = 200
    ctx.res.end('later')
  }
  const site = await makeSite(t, FILES, { ...ADMIN, front, routes })
  for (const [path, method] of [
    ['/admin/x', 'GET'],
    ['/admin/app.js', 'POST']
  ] as const) {
    const { status, text, headers } = await site.ask(path, { method, headers: NAVIGATION })
    t.deepEqual([status, text], [200, 'later'])
    t.deepEqual([headers['cache-control'], headers.allow], [undefined, undefined])
  }
  t.deepEqual(site.errors, [])
})

test('a fallback may be a function, called only for navigations to pages', async t => {
  let calls = 0
  const fallback: MountOptions['fallback'] = async ctx => {
    calls++
    if (ctx.path.endsWith('/nothing')) return undefined
    if (ctx.path.endsWith('/broken')) throw new Error('of the application')
    return `<p>${ctx.path}</p>${ctx.assets.javascript('main')}`
  }
  const routes: Middleware = ctx => {
    if (ctx.path === '/admin/api') ctx.body = 'the API'
  }
  const mounts = { '/admin': { dir: 'dist', fallback } }
  const site = await makeSite(t, {}, { env: 'test', mounts, routes })
  const ask = (path: string) => site.ask(path, { headers: NAVIGATION })
  const page = await ask('/admin/orders/7')
  t.is(page.status, 200)
  t.is(page.headers['content-type'], 'text/html; charset=utf-8')
  t.is(page.headers['cache-control'], 'no-cache')
  t.regex(page.text, /^<p>\/admin\/orders\/7<\/p><script src="\/assets\/main\.js"/)
  t.is((await site.ask('/admin/orders/7', { method: 'HEAD', headers: NAVIGATION })).status, 200)
  t.is(calls, 2)
  t.is((await ask('/admin/api')).text, 'the API')
  for (const [path, question] of [
    ['/elsewhere', { headers: NAVIGATION }],
    ['/admin/assets/chunk-B1a2C3d4.js', { headers: NAVIGATION }],
    ['/admin/orders/7', { headers: FETCH }],
    ['/admin/orders/7', { method: 'POST', headers: NAVIGATION }]
  ] as const) {
    t.is((await site.ask(path, question)).status, 404, path)
  }
  t.is(calls, 2)
  t.is((await ask('/admin/nothing')).status, 404)
  t.deepEqual([(await ask('/admin/broken')).status, site.errors.length], [500, 1])
  t.is(site.errors[0]?.message, 'of the application')
})
