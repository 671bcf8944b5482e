import etag from '@koa/etag'
import Router from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import conditional from 'koa-conditional-get'
import { type HttpCacheOptions, koaHttpCache } from '../../../lib/koa-http-cache.ts'
import { open, reports } from '../../support/cached-site.ts'
import { inDevelopment, test, warningsAbout, type ExecutionContext } from '../../support/index.ts'

const CACHE = 'cache-control'
const NONCE = "default-src 'self'; script-src 'NONCE-4f' 'strict-dynamic'"
const DATE = 'Wed, 01 May 2024 10:00:00 GMT'
const HAS_V1 = { 'if-none-match': '"v1"' }

type Route = (ctx: Context) => unknown

/** A koaHttpCache that is made in development, between other middleware. */
function siteOf(
  t: ExecutionContext,
  behind: readonly Middleware[],
  { front = [], ...options }: HttpCacheOptions & { readonly front?: readonly Middleware[] } = {}
) {
  const app = new Koa()
  for (const each of [...front, inDevelopment(() => koaHttpCache(options)), ...behind])
    app.use(each)
  return open(t, app)
}

/** The routes of a router, which respond with a page unless they do so themselves. */
function routed(routes: Readonly<Record<string, Route>>): Middleware {
  const router = new Router()
  for (const [path, route] of Object.entries(routes))
    router.get(path, ctx => {
      ctx.body = 'page'
      return route(ctx) as Promise<void>
    })
  return router.routes() as unknown as Middleware
}

const tagged: Middleware = ctx => {
  ctx.etag = 'v1'
  ctx.body = { page: true }
}

test('a caching problem is reported once for each route, or once for its kind without a router', async t => {
  const setsCookie: Route = ctx => {
    ctx.cacheControl('public')
    ctx.cookies.set('seen', 'yes')
  }
  const site = await siteOf(t, [routed({ '/books/:id': setsCookie, '/films/:id': setsCookie })])
  const films = /: GET \/films\/1 responds with .* sets a cookie/
  for (const path of ['/books/1', '/books/2', '/films/1', '/films/2']) await site.get({}, path)
  t.is(warningsAbout('GET /books/').length, 1)
  const [said, ...others] = warningsAbout('GET /films/')
  t.regex(said ?? '', films)
  t.deepEqual(others, [])

  const page: Middleware = ctx => {
    ctx.body = 'page'
    setsCookie(ctx)
    if (ctx.path === '/plain/2') ctx.set('Content-Security-Policy', NONCE)
  }
  const plain = await siteOf(t, [page])
  for (const path of ['/plain/1', '/plain/2', '/plain/3']) await plain.get({}, path)
  const [cookie = '', nonce = '', ...more] = warningsAbout('GET /plain/')
  t.regex(cookie, /\/plain\/1 responds .* and sets a/)
  t.regex(nonce, /\/plain\/2 responds .* and a nonce/)
  t.deepEqual(more, [])
})

test('a route with an ETag that nothing compares with the request is reported once', async t => {
  const site = await siteOf(t, [tagged])
  await site.get({}, '/uncompared/first')
  await site.get({ 'if-none-match': '"v2"' }, '/uncompared/first')
  t.deepEqual(warningsAbout('/uncompared'), [], 'nothing was missed yet')
  await site.get(HAS_V1, '/uncompared/page')
  await site.get(HAS_V1, '/uncompared/page')
  await site.get(HAS_V1, '/uncompared/other')
  const [said, ...more] = warningsAbout('/uncompared')
  t.deepEqual(more, [])
  const missed = 'has an ETag .* which could have been a 304: .*autoEtag: true.*ctx\\.fresh'
  t.regex(said ?? '', new RegExp(`: GET /uncompared/page ${missed}`))
})

test('validators are not reported in production, or if koa-conditional-get in front compares them', async t => {
  const site = await siteOf(t, [tagged], { front: [conditional()] })
  t.is((await site.get(HAS_V1, '/upstream')).status, 304)
  const dated: Middleware = ctx => {
    ctx.lastModified = new Date(DATE)
    ctx.body = 'page'
  }
  const versioned = await siteOf(t, [dated], { version: () => '1' })
  t.is((await versioned.get({ 'if-modified-since': DATE }, '/upstream/dated')).status, 200)
  const other = await open(t, new Koa().use(koaHttpCache()).use(tagged))
  t.is((await other.get(HAS_V1, '/upstream/production')).status, 200)
  t.deepEqual(warningsAbout('/upstream'), [])
})

const dated: Middleware = async ctx => {
  if (ctx.path.startsWith('/dated')) await ctx.fresh(new Date(DATE))
  if (ctx.path.startsWith('/decides')) await ctx.fresh('x', { halt: false })
  ctx.body = 'page'
}

const none: readonly Middleware[] = []
const tags = etag() as Middleware
for (const [where, front, behind, count] of [
  ['behind', none, [tags], 1],
  ['in front', [tags], none, 1],
  ['in front with koa-conditional-get', [conditional(), tags], none, 0],
  ['missing', none, none, 0]
] as const) {
  test(`with @koa/etag ${where}, ${count === 1 ? 'tags that bring no 304 are reported once' : 'nothing is reported'}`, async t => {
    for (const start of ['/page', '/dated', ...(where === 'missing' ? ['/decides'] : [])]) {
      const path = `${start}/${where.replaceAll(' ', '-')}`
      const site = await siteOf(t, [...behind, dated], { front })
      const { headers } = await site.get({}, path)
      const match = { 'if-none-match': headers.etag ?? '"x"' }
      for (let visit = 0; visit < 2; visit++) {
        const { status } = await site.get(match, path)
        t.is(status, where.endsWith('get') ? 304 : 200)
      }
      const said = warningsAbout(`${path} `)
      t.is(said.length, count, path)
      if (count > 0) t.regex(said[0] ?? '', start === '/page' ? /autoEtag/ : /such as koa-etag/)
    }
  })
}

test('koa-conditional-get downstream is a 500 with advice, unless the validator matches', async t => {
  const page: Middleware = async ctx => {
    if (ctx.path === '/own') ctx.set('ETag', '"x"')
    if (ctx.path === '/asks') await ctx.fresh('x')
    ctx.body = 'page'
  }
  const site = await siteOf(t, [conditional(), page])
  for (const path of ['/', '/own', '/asks']) {
    for (const headers of [{}, { 'if-none-match': '"y"' }]) {
      const { status, body } = await site.get(headers, path)
      t.deepEqual([status, body], [500, 'Internal Server Error'], path)
    }
    const match = await site.get({ 'if-none-match': '"x"' }, path)
    t.is(match.status, path === '/' ? 500 : 304, path)
  }
  t.is((await site.ask('POST')).status, 500)
  const advice = /register it .*koa-conditional-get.* before koaHttpCache/
  for (const { message } of site.errors) t.regex(message, advice)
})

test('where a route reads ctx.fresh as a boolean, an error or a warning says what to write', async t => {
  const site = await siteOf(t, [
    ctx => {
      ctx.status = 200
      ctx.etag = 'x'
      if (ctx.path === '/if' && Boolean(ctx.fresh)) ctx.status = 304
      else if (ctx.path === '/own' && ctx.request.fresh) ctx.status = 304
      else ctx.body = 'page'
    }
  ])
  t.is((await site.get({}, '/if')).status, 500)
  t.is((await site.get({ 'if-none-match': '"x"' }, '/if')).status, 304)
  t.is((await site.get({}, '/own')).status, 200)
  t.is((await site.get({ 'if-none-match': '"x"' }, '/own')).status, 304)
  const advice = /write await ctx\.fresh\(…\) in a route, or read ctx\.request\.fresh/
  t.regex(site.errors[0]?.message ?? '', advice)
  t.is(site.errors.length, 1)
  const negating: Middleware = ctx => {
    ctx.etag = 'x'
    if (!ctx.fresh) ctx.body = 'page'
  }
  const negated = await siteOf(t, [negating])
  t.is((await negated.get({}, '/negated')).status, 404)
  const told =
    'koa-fresh-assets: GET /negated read ctx.fresh as a boolean and has no body: it is a function, so never false; write await ctx.fresh(…) in a route, or read ctx.request.fresh'
  t.deepEqual(warningsAbout('GET /negated'), [told])
})

const SURROGATE = 'Surrogate-Control'
const MINUTE = { maxAge: 60 }
/** What a page with a cookie says, the field in which it is sent, and how it is written there. */
const SAYS: ReadonlyArray<readonly [Route, field: string, value?: string]> = [
  [ctx => ctx.cacheControl('public', { maxAge: 60 }), CACHE, 'public, max-age=60'],
  [ctx => ctx.set('Cache-Control', 's-maxage=60'), CACHE, 's-maxage=60'],
  [ctx => ctx.cacheControl(MINUTE), CACHE, 'max-age=60'],
  [ctx => ctx.cacheControl({ target: 'CDN', ...MINUTE }), 'cdn-cache-control', 'max-age=60'],
  [ctx => ctx.cacheControl({ target: SURROGATE, ...MINUTE }), 'surrogate-control', 'max-age=60']
]
/** The same where everybody gets the cookie, or no cache stores the page. */
const SAYS_WELL: typeof SAYS = [
  [ctx => ctx.cacheControl('public', { cookies: 'shared' }), CACHE, 'public'],
  [ctx => ctx.expires(5, 'public', { cookies: 'shared' }), CACHE, 'public, max-age=5'],
  [ctx => ctx.cacheControl('private'), CACHE, 'private'],
  [ctx => ctx.cacheControl('no-cache', MINUTE), CACHE, 'no-cache, max-age=60'],
  [ctx => ctx.cacheControl({ target: 'CDN' }, 'private'), 'cdn-cache-control', 'private'],
  [() => undefined, CACHE]
]

test('a public page that reads or sets a cookie is sent as written, with one warning', async t => {
  const pages = [...SAYS, ...SAYS_WELL]
  const uses: Readonly<Record<string, Route>> = {
    sets: ctx => ctx.cookies.set('seen', 'yes'),
    read: ctx => ctx.cookies.get('user')
  }
  const routes = Object.entries(uses).flatMap(([does, use]) =>
    pages.map(([says], at) => [`/${does}/${at}`, (ctx: Context) => [use(ctx), says(ctx)]] as const)
  )
  const fields: Route = ctx => {
    ctx.cookies.set('seen', 'yes')
    ctx.cacheControl('public', { privateFields: ['Set-Cookie'] })
  }
  const varied: Route = ctx => {
    ctx.cookies.get('user')
    ctx.vary('Cookie')
    ctx.cacheControl('public', MINUTE)
  }
  const more = { '/sets/fields': fields, '/read/varied': varied }
  const site = await siteOf(t, [routed({ ...Object.fromEntries(routes), ...more })])
  for (const does of Object.keys(uses))
    for (const [at, [, field, value]] of pages.entries()) {
      const message = new RegExp(`responds with ${field}: .* ${does} a cookie.*cookies: 'shared'`)
      const isReported = at < SAYS.length
      await reports(t, site, `/${does}/${at}`, [field, value], isReported ? message : undefined)
    }
  await reports(t, site, '/sets/fields', [CACHE, 'public, private="Set-Cookie"'])
  await reports(t, site, '/read/varied', [CACHE, 'public, max-age=60'])
})

test('a public response to a request with credentials is sent as written, with one warning', async t => {
  const shared: Route = ctx => ctx.cacheControl('public', MINUTE)
  const routes: Readonly<Record<string, Route>> = {
    '/asked/:id': shared,
    '/asked-edge': ctx => ctx.cacheControl({ target: 'CDN', ...MINUTE }),
    '/asked-private': ctx => ctx.cacheControl('private', MINUTE),
    '/asked-varied': ctx => [ctx.vary('Accept, authorization, x-api-key'), shared(ctx)],
    '/asked-default': () => undefined
  }
  const options = { cacheControl: 'public, max-age=60', credentials: ['X-API-Key'] }
  const site = await siteOf(t, [routed(routes)], options)
  const ask = async (path: string, name = 'authorization') =>
    (await site.get({ [name]: 'Basic YTpi' }, path)).headers[CACHE]
  await site.get({}, '/asked/nobody')
  t.deepEqual(warningsAbout('/asked'), [])
  t.is(await ask('/asked/1'), 'public, max-age=60')
  await ask('/asked/2', 'x-api-key')
  for (const kind of ['edge', 'private', 'varied', 'default']) await ask(`/asked-${kind}`)
  const [said, ...more] = warningsAbout('/asked')
  t.regex(said ?? '', /GET \/asked\/1 .*: public, .* with Authorization, .*other visitors: use 'pr/)
  t.deepEqual(more, [])
})

test('a route that calls ctx.fresh with two states is reported once', async t => {
  const calls =
    (...states: readonly string[]): Route =>
    async ctx => {
      for (const state of states) await ctx.fresh(state)
    }
  const routes = { '/two': calls('author-1', 'book-1'), '/one': calls('book-1', 'book-1') }
  const site = await siteOf(t, [routed(routes)])
  for (const _ of [1, 2]) for (const path of Object.keys(routes)) await site.get({}, path)
  const [told = '', ...others] = warningsAbout('/two')
  t.regex(told, /two states.* name both in one call/)
  t.deepEqual([others, warningsAbout('/one')], [[], []])
})

test('two types or languages of a page that have one ETag are reported once', async t => {
  const negotiated =
    (tag: (type: unknown, language: unknown) => unknown): Route =>
    async ctx => {
      const type = ctx.accepts('html', 'json') || ''
      const language = ctx.acceptsLanguages('en', 'de') || ''
      ctx.vary('Accept, Accept-Language')
      await ctx.fresh({ etag: tag(type, language) as object })
      ctx.set('Content-Language', language)
      ctx.body = type === 'json' ? { language } : language
    }
  const routes = {
    '/same': negotiated(() => [1]),
    '/typed': negotiated(type => [1, type]),
    '/right': negotiated((type, language) => [1, type, language])
  }
  const site = await siteOf(t, [routed(routes)])
  for (const path of Object.keys(routes))
    for (const accept of ['text/html', 'application/json'])
      for (const language of ['en', 'de'])
        for (const _ of [1, 2]) await site.get({ accept, 'accept-language': language }, path)
  const [same = '', ...others] = warningsAbout('/same')
  t.regex(same, /the ETag "\w+" for text\/.* en and for text\/.* de, .*etag: \[id, type\]/)
  t.is(warningsAbout('/typed').length, 1)
  t.deepEqual([others, warningsAbout('/right')], [[], []])
})

test('a nonce or a cookie that middleware in front adds after koaHttpCache is reported once', async t => {
  const adds: Readonly<Record<string, Route>> = {
    '/late/nonce': ctx => ctx.set('Content-Security-Policy', NONCE),
    '/late/cookie': ctx => ctx.cookies.set('seen', 'yes'),
    '/late/read': ctx => ctx.cookies.get('user')
  }
  const adding: Middleware = async (ctx, next) => {
    await next()
    adds[ctx.path]?.(ctx)
  }
  const page: Middleware = async ctx => {
    await ctx.fresh('x')
    ctx.body = 'page'
  }
  const site = await siteOf(t, [page], { front: [adding], cacheControl: 'public, max-age=60' })
  const field = [CACHE, 'public, max-age=60'] as const
  await reports(t, site, '/late/nonce', field, /a nonce in/)
  await reports(t, site, '/late/cookie', field, /sets a cookie/)
  // The page does not depend on it.
  await reports(t, site, '/late/read', field)
})

test('a public page that negotiates without its Vary is sent as written, with one warning', async t => {
  const asksLanguage: Route = ctx => ctx.acceptsLanguages('en')
  const [one, two] = [
    /add ctx\.vary\('Accept-Language'\)$/,
    /add ctx\.vary\(\['Accept', 'Accept-La/
  ]
  const pages: Readonly<
    Record<string, readonly [Route, vary?: string | undefined, advice?: RegExp]>
  > = {
    '/negotiated/language': [asksLanguage, undefined, one],
    '/negotiated/two': [ctx => [ctx.accepts('html'), asksLanguage(ctx)], undefined, two],
    '/quiet/said': [ctx => [ctx.vary('Accept-Language'), asksLanguage(ctx)], 'Accept-Language'],
    '/quiet/star': [ctx => [ctx.set('Vary', '*'), asksLanguage(ctx)], '*'],
    '/quiet/redirect': [ctx => ctx.redirect('/')],
    '/quiet/private': [ctx => [asksLanguage(ctx), ctx.cacheControl('private')]],
    '/quiet/file': [ctx => [ctx.set('Accept-Ranges', 'bytes'), asksLanguage(ctx)]],
    '/quiet/none': [() => undefined]
  }
  const routes = Object.entries(pages).map(([path, [say]]) => {
    return [path, (ctx: Context) => [ctx.cacheControl('public', MINUTE), say(ctx)]] as const
  })
  const site = await siteOf(t, [routed(Object.fromEntries(routes))])
  for (const [path, [, vary, advice]] of Object.entries(pages))
    await reports(t, site, path, ['vary', vary], advice)
})
