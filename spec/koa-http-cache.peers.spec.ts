// Interoperation with common middleware, upstream and downstream.
import { Readable } from 'node:stream'

import etag from '@koa/etag'
import test from 'ava'
import Koa from 'koa'
import conditional from 'koa-conditional-get'

import { koaHttpCache } from '../lib/index.ts'
import { KOAS, open, type Headers } from './support/cached-site.ts'
import { inDevelopment } from './support/environment.ts'
import { cases } from './support/soak.ts'
import { warningsAbout } from './support/warnings.ts'

const PAGE = 'a page that is long enough to be worth compressing. '.repeat(100)

async function page(ctx: Koa.Context): Promise<void> {
  ctx.expires(900, 'public')
  await ctx.fresh('x')
  ctx.body = PAGE
}

const DATE = new Date('2020-01-01T00:00:00.789Z')

/** What a route may do; every other spec of koaHttpCache asks Koa 3 alone. */
const ROUTES: Readonly<Record<string, (ctx: Koa.Context) => unknown>> = {
  '/page': page,
  '/nothing': () => undefined,
  '/date': ctx => ctx.fresh({ lastModified: DATE }),
  '/both': async ctx => {
    ctx.cacheGroups('books')
    await ctx.fresh({ etag: 'x', lastModified: DATE })
    ctx.body = { page: true }
  },
  '/decides': async ctx => {
    if (!(await ctx.fresh('x', { halt: false }))) ctx.body = 'page'
  },
  '/own-status': async ctx => {
    if (await ctx.fresh('x', { halt: false })) ctx.status = 404
  },
  '/forgotten': ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('x')
    ctx.body = 'stored'
  },
  '/content': ctx => void (ctx.body = ctx.path),
  '/stream': async ctx => {
    ctx.body = Readable.from(['page'])
    await ctx.fresh('x')
  },
  '/json': ctx => void (ctx.body = { page: true }),
  '/empty': ctx => void (ctx.body = null),
  '/described': async ctx => {
    ctx.set({ 'Content-Type': 'text/html', 'Content-Language': 'en', 'Content-Location': '/en' })
    ctx.set('Content-Security-Policy', "script-src 'nonce-4f'")
    await ctx.fresh('x')
  },
  '/cookie-set': ctx => {
    ctx.cookies.set('seen', 'yes')
    ctx.body = 'page'
  },
  '/cookie-read': ctx => void (ctx.body = ctx.cookies.get('user') ?? 'nobody'),
  '/changed': ctx => {
    ctx.invalidateCacheGroups('books')
    ctx.status = 204
  },
  '/failed': ctx => {
    ctx.expires(900, 'public')
    ctx.status = 503
  },
  '/thrown': ctx => {
    ctx.cacheControl('public')
    ctx.throw(503, 'busy', { headers: { 'x-kept': 'yes' } })
  },
  '/wrong': ctx => ctx.fresh('"'),
  '/boolean': ctx => void (ctx.status = (ctx.fresh as unknown) ? 304 : 200),
  '/by-itself': async ctx => {
    ctx.respond = false
    await ctx.fresh('x')
    ctx.res.writeHead(202).end('own')
  }
}
const REQUESTS: readonly Headers[] = [
  {},
  { 'if-none-match': '"x"' },
  { 'if-none-match': '*' },
  { 'if-match': '"y"' },
  { 'if-modified-since': 'Wed, 01 Jan 2020 00:00:00 GMT' },
  { 'if-unmodified-since': 'Tue, 31 Dec 2019 00:00:00 GMT' },
  { authorization: 'Bearer x', cookie: 'user=alice' }
]

test('Koa 2 responds to every request as Koa 3 does, and reports the same errors', async t => {
  const sites = await Promise.all(
    KOAS.map(([, AnyKoa]) => {
      const app = new AnyKoa()
      app.use(async (ctx, next) => {
        await next()
        ctx.set('X-Fresh', String(ctx.fresh))
      })
      app.use(
        koaHttpCache({
          cacheControl: 'public, max-age=60',
          autoEtag: true,
          version: () => '1',
          trace: true
        })
      )
      app.use(koaHttpCache({ expires: 60, autoEtag: true, trace: true }))
      app.use(ctx => ROUTES[ctx.path]?.(ctx))
      return open(t, app)
    })
  )
  for (const path of Object.keys(ROUTES)) {
    for (const method of ['GET', 'HEAD', 'PUT', 'QUERY']) {
      const isPage = ['GET', 'HEAD'].includes(method)
      for (const headers of REQUESTS.slice(isPage ? 0 : cases(4, 0))) {
        const [one, other] = await Promise.all(
          sites.map(async site => {
            const answer = await site.ask(method, headers, path)
            const { date: _, expires, ...sent } = answer.headers
            return { ...answer, headers: { ...sent, expires: typeof expires } }
          })
        )
        t.deepEqual(one, other, `${method} ${path} ${JSON.stringify(headers)}`)
      }
    }
  }
  const [said, saidByOther] = sites.map(({ errors }) => errors.map(({ message }) => message))
  t.deepEqual(said, saidByOther)
  t.true((said?.length ?? 0) > 0)
})

test('HLT-11 koa-conditional-get and @koa/etag work upstream', async t => {
  const app = new Koa()
  app.use(conditional())
  app.use(etag())
  app.use(koaHttpCache())
  app.use(async ctx => {
    if (ctx.path === '/fresh') await ctx.fresh('x')
    ctx.body = PAGE
  })
  const site = await open(t, app)
  const first = await site.get()
  t.is(first.status, 200)
  t.is(first.body, PAGE)
  const again = await site.get({ 'if-none-match': first.headers.etag ?? '' })
  t.is(again.status, 304)
  t.is(again.headers.etag, first.headers.etag)
  t.is((await site.get({ 'if-none-match': '"y"' })).status, 200)
  t.is((await site.get({}, '/fresh')).headers.etag, '"x"')
  t.is((await site.get({ 'if-none-match': '"x"' }, '/fresh')).status, 304)
  t.is((await site.ask('PUT', { 'if-match': '"y"' }, '/fresh')).status, 412)
  t.deepEqual(site.errors, [])
})

test('HLT-11 koa-conditional-get downstream is a 500 with advice, unless the validator matches', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use(conditional())
  app.use(ctx => {
    if (ctx.path === '/own') ctx.set('ETag', '"x"')
    if (ctx.path !== '/asks') ctx.body = PAGE
    return ctx.path === '/asks' ? page(ctx) : undefined
  })
  const site = await open(t, app)
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

test('HLT-11 a route that takes ctx.fresh for a boolean is told what to write', async t => {
  const app = new Koa()
  app.use(inDevelopment(() => koaHttpCache()))
  app.use(ctx => {
    ctx.status = 200
    ctx.etag = 'x'
    if (ctx.path === '/if' && Boolean(ctx.fresh)) ctx.status = 304
    else if (ctx.path === '/own' && ctx.request.fresh) ctx.status = 304
    else ctx.body = PAGE
  })
  const site = await open(t, app)
  t.is((await site.get({}, '/if')).status, 500)
  t.is((await site.get({ 'if-none-match': '"x"' }, '/if')).status, 304)
  t.is((await site.get({}, '/own')).status, 200)
  t.is((await site.get({ 'if-none-match': '"x"' }, '/own')).status, 304)
  t.regex(
    site.errors[0]?.message ?? '',
    /write await ctx\.fresh\(…\) in a route, or read ctx\.request\.fresh/
  )
  t.is(site.errors.length, 1)
  const negated = new Koa()
  negated.use(inDevelopment(() => koaHttpCache()))
  negated.use(ctx => {
    ctx.etag = 'x'
    if (!ctx.fresh) ctx.body = PAGE
  })
  const other = await open(t, negated)
  t.is((await other.get({}, '/negated')).status, 404)
  t.deepEqual(warningsAbout('GET /negated'), [
    'koa-fresh-assets: GET /negated read ctx.fresh as a boolean and has no body: it is a function, so never false; ' +
      'write await ctx.fresh(…) in a route, or read ctx.request.fresh'
  ])
})

const dated: Koa.Middleware = async ctx => {
  if (ctx.path.startsWith('/dated')) await ctx.fresh(DATE)
  if (ctx.path.startsWith('/decides')) await ctx.fresh('x', { halt: false })
  ctx.body = PAGE
}

for (const [where, stack, expected] of [
  ['behind', (cache: Koa.Middleware) => [cache, etag()], { '/page': 1, '/dated': 1 }],
  ['in front', (cache: Koa.Middleware) => [etag(), cache], { '/page': 1, '/dated': 1 }],
  [
    'in front with koa-conditional-get',
    (cache: Koa.Middleware) => [conditional(), etag(), cache],
    { '/page': 0, '/dated': 0 }
  ],
  ['missing', (cache: Koa.Middleware) => [cache], { '/page': 0, '/dated': 0, '/decides': 0 }]
] as const) {
  test(`HLT-11 an @koa/etag ${where} whose tags never bring a 304 is reported once, any other is not`, async t => {
    for (const [start, count] of Object.entries(expected)) {
      const app = new Koa()
      for (const middleware of stack(inDevelopment(() => koaHttpCache())))
        app.use(middleware as Koa.Middleware)
      const path = `${start}/${where.replaceAll(' ', '-')}`
      const site = await open(t, app.use(dated))
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

test('FRS-01 a 304 carries no policy with a nonce, any other stays', async t => {
  const names = ['content-security-policy', 'content-security-policy-report-only'] as const
  for (const [policy, stays] of [
    ["script-src 'self'", true],
    ["default-src 'self'; script-src 'self' 'NONCE-4f'", false],
    [["script-src 'self'", "script-src 'nonce-4f'"], false]
  ] as const) {
    const app = new Koa()
    app.use(koaHttpCache())
    app.use(async ctx => {
      for (const name of names) ctx.set(name, policy as string)
      if (ctx.path === '/by-itself') ctx.status = 304
      else await ctx.fresh('x')
      ctx.body = PAGE
    })
    const site = await open(t, app)
    const sent = String(policy).replace(',', ', ')
    for (const path of ['/', '/by-itself']) {
      const { status, headers } = await site.get({ 'if-none-match': '"x"' }, path)
      t.is(status, 304, path)
      for (const name of names) t.is(headers[name], stays ? sent : undefined, path)
    }
    for (const name of names) t.is((await site.get()).headers[name], sent)
  }
})
