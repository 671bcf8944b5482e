// What shared caches are told of a response whose route said nothing.
import { test } from '../../support/test.ts'
import Koa, { type Context, type Middleware } from 'koa'
import { koaHttpCache } from '../../../lib/koa-http-cache.ts'
import { open } from '../../support/cached-site.ts'

const PUBLIC = { cacheControl: 'public, max-age=60', trace: true } as const

const page: Middleware = async ctx => {
  await ctx.fresh('x')
  ctx.body = 'page'
}

test('a default stays public beside a Content-Security-Policy without a nonce', async t => {
  for (const policy of ["'self'", "'sha256-nonce'", 'nonce-4f.example']) {
    const app = new Koa().use((ctx, next) => {
      ctx.set('Content-Security-Policy', `script-src ${policy}`)
      return next()
    })
    const { headers } = await (await open(t, app.use(koaHttpCache(PUBLIC)).use(page))).get()
    t.is(headers['cache-control'], 'public, max-age=60', policy)
  }
})

test('with a default, caches may not give others the response to a request with credentials', async t => {
  for (const [options, vary, personal] of [
    [{}, 'Authorization', ['authorization']],
    [
      { credentials: ['X-API-Key', 'Cookie'] },
      'Authorization, X-API-Key, Cookie',
      ['authorization', 'x-api-key', 'cookie']
    ],
    [{ credentials: false }, undefined, ['authorization']]
  ] as const) {
    const site = await open(t, new Koa().use(koaHttpCache({ ...PUBLIC, ...options })).use(page))
    for (const match of [{}, { 'if-none-match': '"x"' }]) {
      for (const name of ['authorization', 'x-api-key', 'cookie', 'x-other']) {
        const { headers } = await site.get({ ...match, [name]: '' })
        const isPersonal = personal.some(each => each === name)
        t.is(headers['cache-control'], isPersonal ? 'private, no-cache' : 'public, max-age=60')
        t.is(headers.vary, vary)
      }
    }
  }
})

const ALL = 'Accept, Accept-Charset, Accept-Encoding, Accept-Language'

const NEGOTIATED: Readonly<
  Record<string, readonly [(ctx: Context) => unknown, string | undefined]>
> = {
  '/type': [ctx => ctx.accepts('html', 'json'), 'Accept'],
  '/language': [ctx => ctx.acceptsLanguages('en', 'de'), 'Accept-Language'],
  '/all-languages': [ctx => ctx.request.acceptsLanguages(), 'Accept-Language'],
  '/coding': [ctx => ctx.acceptsEncodings('br', 'identity'), 'Accept-Encoding'],
  '/charset': [ctx => ctx.acceptsCharsets('utf-8'), 'Accept-Charset'],
  '/both': [
    ctx => [ctx.acceptsLanguages('en'), ctx.accepts('html'), ctx.acceptsLanguages('de')],
    'Accept-Language, Accept'
  ],
  '/said': [ctx => (ctx.vary('accept-language'), ctx.acceptsLanguages()), 'accept-language'],
  '/more': [ctx => (ctx.vary('Origin'), ctx.acceptsLanguages()), 'Origin, Accept-Language'],
  '/star': [ctx => (ctx.set('Vary', '*'), ctx.acceptsLanguages()), '*'],
  // Where the route speaks for itself, Vary is left to it.
  '/private': [ctx => (ctx.set('Cache-Control', 'private'), ctx.acceptsLanguages()), undefined],
  '/direct': [ctx => ctx.request.accept.languages('en'), ALL],
  '/none': [() => undefined, undefined]
}

for (const place of ['behind', 'in front']) {
  test(`with a default, Vary names the headers by which middleware ${place} negotiates`, async t => {
    const negotiate: Middleware = (ctx, next) => {
      NEGOTIATED[ctx.path]?.[0](ctx)
      return next()
    }
    const app = new Koa()
    if (place === 'in front') app.use(negotiate)
    app.use(koaHttpCache({ cacheControl: 'max-age=60', credentials: false }))
    if (place === 'behind') app.use(negotiate)
    const site = await open(t, app.use(page))
    // Koa's methods are watched from the first request on, in which it is not known what was asked in front.
    const { headers } = await site.get({}, '/language')
    t.is(headers.vary, place === 'behind' ? 'Accept-Language' : ALL)
    for (const [path, [, vary]] of Object.entries(NEGOTIATED)) {
      for (const match of [{}, { 'if-none-match': '"x"' }]) {
        const { status, headers } = await site.get({ 'accept-language': 'de', ...match }, path)
        t.is(status, 'if-none-match' in match ? 304 : 200)
        t.is(headers.vary, vary, `${path} ${status}`)
      }
    }
  })
}

/** Each reads a cookie when Koa writes its body, which is JSON. */
const LATE_READERS: Readonly<Record<string, (app: Koa) => Koa>> = {
  'a getter': app =>
    app.use(koaHttpCache(PUBLIC)).use(ctx => {
      ctx.body = {
        get name() {
          return ctx.cookies.get('name')
        }
      }
    }),
  ...Object.fromEntries(
    [200, 203].map(status => [
      `toJSON of a ${status} with autoEtag`,
      (app: Koa) =>
        app.use(koaHttpCache({ ...PUBLIC, autoEtag: true })).use(ctx => {
          ctx.body = { toJSON: () => [ctx.cookies.get('name')] }
          ctx.status = status
        })
    ])
  ),
  'a body that has changed since its ETag was made': app => {
    app.use(koaHttpCache(PUBLIC)).use(async (ctx, next) => {
      await next()
      Object.assign(ctx.body as object, { toJSON: () => [ctx.cookies.get('name')] })
    })
    return app.use(koaHttpCache({ autoEtag: true })).use(ctx => void (ctx.body = {}))
  }
}

test('JSON makes a default private only if it reads a cookie while it is written', async t => {
  for (const [what, build] of Object.entries(LATE_READERS)) {
    const { headers, body } = await (await open(t, build(new Koa()))).get({ cookie: 'name=Ann' })
    t.regex(body, /Ann/, what)
    t.is(headers['cache-control'], 'private, no-cache', what)
  }
  const app = new Koa().use(koaHttpCache(PUBLIC)).use(ctx => void (ctx.body = { all: [1, 'two'] }))
  t.is((await (await open(t, app)).get()).headers['cache-control'], 'public, max-age=60')
})

test('a default is private for a body that only middleware in front can make JSON of', async t => {
  const app = new Koa().use(async (ctx, next) => {
    await next()
    const { body } = ctx as { body: unknown }
    ctx.body = JSON.stringify(body, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value
    )
  })
  app.use(koaHttpCache(PUBLIC)).use(ctx => void (ctx.body = { id: 1n }))
  const { status, headers, body } = await (await open(t, app)).get()
  t.deepEqual([status, body], [200, '{"id":"1"}'])
  t.is(headers['cache-control'], 'private, no-cache')
})
