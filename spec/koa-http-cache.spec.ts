// ctx.fresh: validators, preconditions, and the halt.
import { Readable } from 'node:stream'
import { test } from './support/test.ts'
import Koa from 'koa'
import mount from 'koa-mount'
import { Halt, koaHttpCache, type FreshOptions, type FreshValidators } from '../lib/index.ts'
import { open, openRoute } from './support/cached-site.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const HTTP_DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'
const HAS_X = { 'if-none-match': '"x"' }
const EXPECTS_Y = { 'if-match': '"y"' }

/** A route that asks for a state, and responds with a page. */
const pageOf =
  (state: FreshValidators = 'x'): Koa.Middleware =>
  async ctx => {
    await ctx.fresh(state)
    ctx.body = 'page'
  }

const forgetting: Koa.Middleware = ctx => {
  // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
  ctx.fresh('x')
  ctx.body = 'stored'
  if (ctx.path === '/throws') throw new Error('database')
}

test('a GET makes no use of a date in the future or before 1990', async t => {
  const dates = [Date.now() + 60_000, 1000, Date.UTC(1985, 9, 26, 8, 15), Date.UTC(1990, 0) - 1]
  for (const updatedAt of dates.map(date => new Date(date))) {
    const future = updatedAt > new Date()
    for (const given of [updatedAt, { etag: 'x', lastModified: updatedAt }]) {
      const site = await openRoute(t, pageOf(given), { ifModifiedSince: 'before' })
      const { headers } = await site.get()
      t.is(headers['last-modified'], undefined)
      for (const since of [updatedAt.toUTCString(), ...(future ? [] : [HTTP_DATE])])
        t.is((await site.get({ 'if-modified-since': since })).status, 200, since)
      t.is((await site.get({ 'if-match': '*' })).status, 200, 'there is one')
      t.is((await site.get({ 'if-none-match': '*' })).status, 304)
      for (const since of [HTTP_DATE, updatedAt.toUTCString()])
        t.is((await site.get({ 'if-unmodified-since': since })).status, 200, since)
      const date = future ? HTTP_DATE : new Date(updatedAt.getTime() - 1000).toUTCString()
      const edit = await site.ask('PUT', { 'if-unmodified-since': date })
      t.deepEqual([edit.status, edit.headers['last-modified']], [412, undefined], 'nothing is lost')
    }
  }
})

test('a PUT that succeeds has no validator of the previous state', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh({ etag: 'x', lastModified: DATE })
    ctx.body = 'stored'
    if (ctx.path === '/own') ctx.etag = 'new'
  })
  for (const method of ['PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS'])
    for (const condition of [{ 'if-match': '"x"' }, { 'if-unmodified-since': HTTP_DATE }]) {
      const { status, headers } = await site.ask(method, condition)
      t.deepEqual([status, headers.etag, headers['last-modified']], [200, undefined, undefined])
    }
  t.is((await site.ask('PUT', { 'if-match': '"x"' }, '/own')).headers.etag, '"new"')
  const refused = await site.ask('PUT', EXPECTS_Y)
  t.deepEqual([refused.status, refused.body], [412, 'Precondition Failed'])
  t.deepEqual([refused.headers.etag, refused.headers['last-modified']], ['"x"', HTTP_DATE])
})

test('a 412 changes nothing in any cache, whatever was written for the 200', async t => {
  const targeted = ['CDN-Cache-Control', 'Surrogate-Control']
  const site = await openRoute(t, async ctx => {
    ctx.expires(900, 'public')
    for (const target of targeted) ctx.cacheControl({ target, maxAge: 60 })
    ctx.set({ 'Layer-Cache-Control': 'max-age=5', 'X-DNS-Prefetch-Control': 'off' })
    if (ctx.method === 'POST') ctx.invalidateCacheGroups('books')
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  const { status, headers, body } = await site.get(EXPECTS_Y)
  t.deepEqual([status, body], [412, 'Precondition Failed'])
  t.deepEqual([headers['cache-control'], headers['x-dns-prefetch-control']], ['no-store', 'off'])
  for (const name of ['Expires', 'Layer-Cache-Control', ...targeted])
    t.is(headers[name.toLowerCase()], undefined, name)
  t.is((await site.get()).headers['surrogate-control'], 'max-age=60')
  const edit = await site.ask('POST', EXPECTS_Y)
  t.deepEqual([edit.status, edit.headers['cache-group-invalidation']], [412, undefined])
})

test('a 304 is sent even if middleware catches its Halt, to respond 500 or throw another error', async t => {
  const app = new Koa().use(koaHttpCache())
  app.use((ctx, next) =>
    next().catch((error: unknown) => {
      t.true(error instanceof Halt)
      if (ctx.path === '/wraps') throw new Error('wrapped', { cause: error })
      ctx.status = 500
      ctx.body = { error: String(error) }
    })
  )
  const site = await open(t, app.use(pageOf()))
  for (const path of ['/wraps', '/responds']) {
    const { status, headers, body } = await site.get(HAS_X, path)
    t.deepEqual([status, body], [304, ''])
    t.deepEqual([headers['content-type'], headers['content-length']], [undefined, undefined])
  }
  t.deepEqual(site.errors, [])
})

test('a route is halted with a 304 or 412 even if it forgets to await ctx.fresh', async t => {
  const app = new Koa().use(koaHttpCache()).use(mount('/notes', forgetting))
  let stored = 0
  app.use(async (ctx, next) => {
    await forgetting(ctx, next)
    stored++
  })
  const site = await open(t, app)
  const { status, headers, body } = await site.get(HAS_X)
  t.deepEqual([status, headers.etag, body, stored], [304, '"x"', '', 0])
  t.is(headers['content-type'], undefined)
  t.is((await site.get()).status, 200)
  t.is((await site.ask('PUT', { 'if-match': '"x"' })).status, 200)
  t.is(stored, 2)
  for (const path of ['/', '/notes/7', '/throws'])
    t.is((await site.ask('PUT', EXPECTS_Y, path)).status, 412)
  t.deepEqual([stored, site.errors], [2, []])
})

test('a route that catches what ctx.fresh throws is still halted, without an error in the log', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.body = 'page'
    t.throws(() => ctx.fresh('"'), { instanceOf: TypeError })
    const message = /did you mean 'halt'/
    t.throws(() => ctx.fresh('x', { hallt: false } as never), { instanceOf: TypeError, message })
    try {
      await ctx.fresh('x')
    } catch (error) {
      t.true(error instanceof Halt)
    }
  })
  const { status, body } = await site.get()
  t.deepEqual([status, body], [200, 'page'])
  t.is((await site.ask('PUT', EXPECTS_Y)).status, 412)
  t.deepEqual(site.errors, [])
})

test('a 304 closes the stream that was set as the body, also a web stream', async t => {
  const stream = new Readable({ read: () => undefined })
  let cancelled = 0
  const site = await openRoute(t, async ctx => {
    const web = new ReadableStream({ cancel: () => void cancelled++ })
    ctx.body = { '/web': web, '/response': new Response(web) }[ctx.path] ?? stream
    await ctx.fresh('x')
  })
  for (const path of ['/', '/web', '/response']) {
    const { status, headers, body } = await site.get(HAS_X, path)
    t.deepEqual([status, headers['content-type'], body], [304, undefined, ''], path)
  }
  t.true(stream.destroyed)
  t.is(cancelled, 2)
  t.deepEqual(site.errors, [])
})

test('a 304 or 412 leaves out the headers about content that were set for a 200', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.expires(900, 'public')
    ctx.cookies.set('seen', 'yes')
    ctx.vary('Accept-Language')
    ctx.set({
      'Content-Type': 'text/html',
      'Content-Language': 'en',
      'Content-Encoding': 'gzip',
      'Content-Range': 'bytes 0-1/2',
      'Content-Digest': 'sha-256=:x:',
      'Repr-Digest': 'sha-256=:x:',
      'Content-Location': '/page.en',
      'X-Other': 'kept'
    })
    ctx.length = 7
    await ctx.fresh({ etag: 'x', lastModified: DATE })
  })
  const { status, headers } = await site.get(HAS_X)
  const { date, expires, connection, 'keep-alive': _, ...others } = headers
  t.true(status === 304 && Boolean(date && expires && connection))
  t.deepEqual(others, {
    'cache-control': 'public, max-age=900',
    'content-location': '/page.en',
    etag: '"x"',
    'last-modified': HTTP_DATE,
    'set-cookie': ['seen=yes; path=/; httponly'],
    vary: 'Accept-Language',
    'x-other': 'kept'
  })
  const failed = await site.get(EXPECTS_Y)
  t.deepEqual([failed.status, failed.headers['content-type']], [412, 'text/plain; charset=utf-8'])
  for (const name of ['language', 'encoding', 'range', 'digest'])
    t.is(failed.headers[`content-${name}`], undefined, name)
  t.is(failed.headers['repr-digest'], undefined)
})

const DECIDES: FreshOptions = { halt: false }

test('a route that returns after { halt: false } gets the 304 or 412', async t => {
  const seen: unknown[] = []
  const site = await openRoute(t, async ctx => {
    ctx.cacheControl('private', { maxAge: 60 })
    const decided = await ctx.fresh({ etag: 'x' }, DECIDES)
    seen.push(decided)
    if (!decided) ctx.body = 'page'
  })
  const first = await site.get()
  t.deepEqual([first.status, first.body], [200, 'page'])
  for (const method of ['GET', 'HEAD', 'QUERY']) {
    const { status, headers, body } = await site.ask(method, HAS_X)
    const { etag, 'cache-control': value } = headers
    t.deepEqual([status, body, etag, value], [304, '', '"x"', 'private, max-age=60'], method)
  }
  t.is((await site.ask('PUT', { 'if-match': '"x"' })).body, 'page')
  const { status, body, headers } = await site.ask('PUT', EXPECTS_Y)
  t.deepEqual([status, body], [412, 'Precondition Failed'])
  t.is(headers['cache-control'], 'no-store')
  t.deepEqual([seen, site.errors], [[false, 304, 304, 304, false, 412], []])
})

test('a route that responds after { halt: false } sends its own response', async t => {
  const site = await openRoute(t, async ctx => {
    if (!(await ctx.fresh('x', DECIDES))) return
    if (ctx.path === '/body') ctx.body = 'own'
    else if (ctx.path === '/status') ctx.status = 404
    else if (ctx.path === '/empty') ctx.body = null
    else if (ctx.path === '/throws') ctx.throw(410)
    else await ctx.fresh('y')
  })
  const expected = { '/body': 200, '/status': 404, '/empty': 204, '/throws': 410, '/asks-on': 404 }
  for (const [path, status] of Object.entries(expected))
    t.is((await site.get(HAS_X, path)).status, status, path)
  t.is((await site.get(HAS_X, '/body')).body, 'own')
  t.is((await site.get({}, '/body')).status, 404)
})

test('of several calls of ctx.fresh the first match counts', async t => {
  const site = await openRoute(t, async ctx => {
    t.is(await ctx.fresh('first', { halt: false }), false)
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('second')
    t.is(await ctx.fresh('third', { halt: false }), 304)
    await ctx.fresh('third')
    t.fail('the route was not halted')
  })
  const { status, headers } = await site.get({ 'if-none-match': '"second", "third"' })
  t.deepEqual([status, headers.etag], [304, '"second"'])
})

test('of several calls of ctx.fresh with { halt: false } the first match is offered', async t => {
  const site = await openRoute(t, async ctx => {
    const statuses = [await ctx.fresh('a', DECIDES), await ctx.fresh('b', DECIDES)]
    if (!statuses.some(Boolean)) ctx.body = 'page'
  })
  for (const [etag, expected] of [
    ['"a"', 304],
    ['"b"', 304],
    ['"c"', 200]
  ] as const)
    t.is((await site.get({ 'if-none-match': etag })).status, expected, etag)
})

test('of several calls of ctx.fresh the last one names the validators that are sent', async t => {
  const [first, second] = [
    { etag: 'a', lastModified: DATE },
    { etag: 'b', lastModified: '2021-01-01T00:00Z' }
  ]
  const states = [first, second, { etag: 'a' }, { lastModified: DATE }, null]
  const calls = states.flatMap(one => states.map(other => [one, other] as const))
  const site = await openRoute(t, async ctx => {
    for (const state of calls[Number(ctx.query['at'])] ?? []) await ctx.fresh(state)
    ctx.body = 'page'
  })
  for (const [at, [, last]] of calls.entries()) {
    const { headers } = await site.get({}, `/?at=${at}`)
    const { etag, lastModified } = { ...last } as { etag?: string; lastModified?: string | Date }
    const date = lastModified && new Date(lastModified).toUTCString()
    t.deepEqual([headers.etag, headers['last-modified']], [etag && `"${etag}"`, date], `${at}`)
  }
})

test('of two koaHttpCache the inner one responds, with its own options', async t => {
  const app = new Koa().use(koaHttpCache({ version: () => 'outer', cacheControl: 'no-cache' }))
  app.use(async (ctx, next) => {
    await next()
    ctx.body = 'somebody wraps the page'
  })
  app.use(koaHttpCache({ version: () => 'inner', cacheControl: { maxAge: 5 } }))
  const site = await open(t, app.use(pageOf()))
  const first = await site.get()
  t.is(first.status, 200)
  t.is(first.headers['cache-control'], 'max-age=5')
  const second = await site.get({ 'if-none-match': first.headers.etag ?? '' })
  t.deepEqual([second.status, second.body], [304, ''])
  t.is(second.headers.etag, first.headers.etag)
  t.is(second.headers['cache-control'], 'max-age=5')
})

test('outside koaHttpCache ctx.fresh is Koa’s boolean', async t => {
  const app = new Koa()
  app.use(async (ctx, next) => {
    await next()
    ctx.set('X-Fresh', String(ctx.fresh))
  })
  app.use(koaHttpCache()).use(async ctx => {
    t.deepEqual([typeof ctx.fresh, typeof ctx.request.fresh], ['function', 'boolean'])
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  const site = await open(t, app)
  t.is((await site.get()).headers['x-fresh'], 'false')
  t.is((await site.get(HAS_X)).headers['x-fresh'], 'true')
  const outside = new Koa().use(ctx => {
    ctx.body = `${typeof ctx.fresh} ${typeof ctx.cacheControl}`
  })
  t.is((await (await open(t, outside)).get()).body, 'boolean undefined')
})

test('a route with ctx.respond = false is left alone, unless ctx.fresh halts it', async t => {
  const route: Koa.Middleware = async ctx => {
    ctx.respond = false
    if (ctx.path === '/later') return void setImmediate(() => ctx.res.writeHead(202).end('own'))
    if (ctx.path === '/begun') ctx.res.writeHead(202)
    return ctx.res.end((await ctx.fresh('x')) ? 'fresh' : 'own')
  }
  const site = await openRoute(t, route, { cacheControl: 'public', autoEtag: true })
  for (const path of ['/later', '/begun']) {
    const { status, headers, body } = await site.get(HAS_X, path)
    t.deepEqual([status, body, headers['cache-control']], [202, 'own', undefined], path)
  }
  t.is((await site.get(HAS_X)).status, 304)
})
