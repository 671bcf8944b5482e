// What ctx.cacheControl, ctx.expires, the defaults and the cache groups (RFC 9875) write.
import { createReadStream } from 'node:fs'
import { inDevelopment, test, type ExecutionContext } from './support/index.ts'
import Koa from 'koa'
import { type HttpCacheOptions, koaHttpCache } from '../lib/index.ts'
import { KOAS, open, openRoute } from './support/cached-site.ts'

type Route = (ctx: Koa.Context) => unknown

/** A site of one page, whose route runs this first. */
const pageOf = (t: ExecutionContext, options: HttpCacheOptions, route: Route) =>
  openRoute(t, ctx => ((ctx.body = 'page'), route(ctx)), options)

test('a call that is rejected leaves the headers as they were', async t => {
  const unsafe = { extension: { x: 'a\r\nb: c' } }
  const many = Array.from({ length: 32 }, (_, at) => `${at}`)
  const groups = [['a\r\nX: y'], ['ä'], ['x'.repeat(33)], many]
  const site = await pageOf(t, { groups: { header: 'xkey' } }, ctx => {
    ctx.cacheControl('no-cache')
    ctx.cacheGroups('books')
    ctx.invalidateCacheGroups('books')
    const rejects = (call: () => void) => t.throws(call, { instanceOf: TypeError })
    for (const wrong of [{ weird: 1 }, { minFresh: 1 }, { maxAge: -1 }, unsafe]) {
      rejects(() => ctx.cacheControl('public', wrong))
      rejects(() => ctx.expires(60, 'public', wrong))
    }
    for (const wrong of groups) rejects(() => ctx.invalidateCacheGroups('fine', ...wrong))
    for (const wrong of [...groups, ['my books'], ['a,b']])
      rejects(() => ctx.cacheGroups('fine', ...wrong))
    ctx.cacheGroups('shelf')
  })
  const { headers } = await site.ask('POST')
  t.deepEqual([headers['cache-control'], headers.expires], ['no-cache', undefined])
  t.is(headers['cache-groups'], '"books", "shelf"')
  t.is(headers['xkey'], 'books shelf')
  t.is(headers['cache-group-invalidation'], '"books"')
})

/** As koa-cache-control: writes the directives that were assigned to its property, else its default. */
const assigned: Koa.Middleware = async (ctx, next) => {
  await next()
  const directives = (Reflect.get(ctx, 'cacheControl') ?? { 'no-cache': 1, 'max-age': 0 }) as object
  const text = Object.entries(directives).map(([name, value]) => `${name}=${value}`)
  if (text.length > 0) ctx.set('Cache-Control', text.join(', '))
}

test('middleware in front keeps its ctx.cacheControl and ctx.expires beside those of routes', async t => {
  const pages: Readonly<Record<string, Route>> = {
    '/says': ctx => ctx.cacheControl('private', { maxAge: 5 }),
    '/expires': ctx => ctx.expires(5),
    '/assigns': ctx => void Object.assign(ctx, { cacheControl: { 'no-store': true } })
  }
  const own: Koa.Middleware = (ctx, next) => {
    t.is(Reflect.get(ctx, 'cacheControl') as unknown, undefined)
    if (ctx.path === '/before') Object.assign(ctx, { cacheControl: { 'max-age': 60 } })
    ctx.expires(ctx.path as never)
    return next()
  }
  const app = new Koa().use(assigned).use(own)
  const given: unknown[] = []
  Reflect.set(app.context, 'expires', (value: unknown) => void given.push(value))
  app.use(koaHttpCache({ cacheControl: 'public, max-age=600' })).use(ctx => {
    t.is(typeof ctx.cacheControl, 'function')
    ctx.body = 'page'
    return pages[ctx.path]?.(ctx)
  })
  const site = await open(t, app)
  for (const [path, expected] of [
    ['/', 'no-cache=1, max-age=0'],
    ['/before', 'max-age=60'],
    ['/says', 'private, max-age=5'],
    ['/expires', 'max-age=5']
  ] as const)
    t.is((await site.get({}, path)).headers['cache-control'], expected, path)
  t.deepEqual(site.errors, [])
  t.deepEqual(given, ['/', '/before', '/says', '/expires'])
  t.is((await site.get({}, '/assigns')).status, 500)
  t.regex(String(site.errors[0]), /call ctx\.cacheControl\(\{ 'no-store': true \}\) instead/)
})

test('a default is applied to GET and HEAD, with a status that caches may store', async t => {
  const stored = [200, 203, 204, 206, 300, 301, 304, 308]
  const redirects = [302, 303, 307]
  const others = [201, 202, ...redirects, 400, 401, 403, 404, 405, 410, 412, 414, 500, 501, 503]
  const site = await pageOf(t, { cacheControl: ['public', { maxAge: 60 }], expires: 30 }, ctx => {
    if (ctx.query['throw']) ctx.throw(Number(ctx.query['throw']))
    ctx.status = Number(ctx.query['status'] ?? 200)
  })
  const isApplied = async (method: string, query = '') => {
    const { headers, status } = await site.ask(method, {}, `/?${query}`)
    const { 'cache-control': value, expires } = headers
    if (expires !== undefined) t.is(value, 'public, max-age=60')
    else if (redirects.includes(status)) t.is(value, 'private, no-cache')
    else t.is(value, status >= 400 && status !== 412 ? 'no-store' : undefined)
    return expires !== undefined
  }
  for (const status of [...stored, ...others])
    t.is(await isApplied('GET', `status=${status}`), stored.includes(status), `${status}`)
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])
    t.is(await isApplied(method), method === 'GET' || method === 'HEAD', method)
  for (const status of [400, 404, 410, 500, 501]) t.false(await isApplied('GET', `throw=${status}`))
})

test('a default overwrites no header of the route, not even a targeted one', async t => {
  const date = 'Wed, 01 Jan 2020 00:00:00 GMT'
  const say: Route = ctx => {
    if (ctx.path === '/spoken') ctx.cacheControl('private')
    if (ctx.path === '/dated') ctx.set('Expires', date)
    if (ctx.path === '/edge') ctx.cacheControl({ target: 'CDN', maxAge: 5 })
    if (ctx.path === '/gone') Object.assign(ctx, { status: 410 }).set('Cache-Control', 'max-age=5')
  }
  const site = await pageOf(t, { cacheControl: 'public', expires: 60 }, say)
  const spoken = (await site.get({}, '/spoken')).headers
  t.deepEqual([spoken['cache-control'], spoken.expires], ['private', undefined])
  const dated = (await site.get({}, '/dated')).headers
  t.deepEqual([dated['cache-control'], dated.expires], [undefined, date])
  t.is((await site.get({}, '/gone')).headers['cache-control'], 'max-age=5')
  const targeted = await pageOf(t, { cacheControl: { target: 'CDN', maxAge: 600 } }, say)
  t.is((await targeted.get({}, '/edge')).headers['cdn-cache-control'], 'max-age=5')
  t.is((await targeted.get()).headers['cdn-cache-control'], 'max-age=600')
})

test('a default for one visitor is private, without directives for shared caches', async t => {
  for (const [options, expected] of [
    [{ cacheControl: ['public', { maxAge: 60, sMaxage: 600 }] }, 'private, no-cache'],
    [{ cacheControl: 'public, immutable, stale-if-error=9', expires: 60 }, 'private, no-cache'],
    [{ cacheControl: 'no-transform', expires: '1m' }, 'private, no-cache, no-transform'],
    [{ cacheControl: { target: 'CDN', maxAge: 600 } }, 'private, no-cache'],
    [{ cacheControl: 'no-store' }, 'no-store']
  ] as const) {
    const site = await pageOf(t, options, ctx => {
      if (ctx.path === '/cookie') ctx.cookies.set('seen', 'yes')
      return ctx.fresh('x')
    })
    for (const match of [{}, { 'if-none-match': '"x"' }]) {
      for (const { headers } of [
        await site.get(match, '/cookie'),
        await site.ask('HEAD', { ...match, authorization: 'Bearer x' }),
        await site.get({ ...match, AUTHORIZATION: '' })
      ]) {
        t.is(headers['cache-control'], expected)
        t.deepEqual([headers.expires, headers['cdn-cache-control']], [undefined, undefined])
      }
    }
  }
})

test('a default with shared cookies stays public, but not for Authorization', async t => {
  const site = await pageOf(t, { cacheControl: ['public', { cookies: 'shared' }] }, ctx => {
    if (ctx.path === '/read') ctx.cookies.get('theme')
    if (ctx.path === '/set') ctx.cookies.set('seen', 'yes')
    if (ctx.path === '/own') ctx.cacheControl('public')
  })
  const authorized = { authorization: 'Bearer x' }
  for (const path of ['/read', '/set']) {
    const value = async (headers = {}) => (await site.get(headers, path)).headers['cache-control']
    t.is(await value({ cookie: 'theme=dark' }), 'public')
    t.is(await value(authorized), 'private, no-cache')
  }
  t.is((await site.get(authorized, '/own')).headers['cache-control'], 'public', 'the route may')
})

const written: Route = ctx => {
  void ctx.fresh({ etag: 'x', lastModified: new Date(0) })
  ctx.expires(900, 'public')
  ctx.cacheControl({ target: 'CDN', maxAge: 600 })
  if (ctx.method === 'POST') ctx.invalidateCacheGroups('books')
  ctx.set('X-Other', 'kept')
}
const render: Koa.Middleware = (ctx, next) =>
  next().catch((error: Error & { status?: number }) => {
    ctx.status = Math.max(error.status ?? 500, 400)
    ctx.body = 'sorry'
  })
const frozen = Object.freeze(Object.assign(new Error('frozen'), { status: 503 }))
const FAILURES: Readonly<Record<string, Route>> = {
  'that the route responds': ctx => void (ctx.status = 500),
  'that is a conflict': ctx => void (ctx.status = 409),
  'that is not found': ctx => void (ctx.status = 404),
  'that the route throws as a 404': ctx => ctx.throw(404),
  'that is thrown with fields, which Koa keeps': ctx => ctx.throw(422, { headers: { a: 'b' } }),
  'that is thrown': ctx => ctx.throw(503, 'busy', { expose: false }),
  'that is thrown without being an error': () => {
    // oxlint-disable-next-line typescript/only-throw-error -- people do
    throw 'database'
  },
  'that is thrown frozen': () => {
    throw frozen
  }
}
test('a failed response changes nothing in any cache, wherever it is rendered', async t => {
  for (const [kind, fail] of Object.entries(FAILURES)) {
    // Koa itself writes on the error, so that a frozen one never becomes a response of its.
    const places = kind.includes('frozen') ? [] : ['nowhere']
    for (const place of [...places, 'in front', 'further in']) {
      const app = new Koa()
      if (place === 'in front') app.use(render)
      app.use(koaHttpCache({ cacheControl: 'public', expires: 60 }))
      if (place === 'further in') app.use(render)
      app.use(ctx => {
        void written(ctx)
        fail(ctx)
      })
      const site = await open(t, app)
      // What is not an error cannot carry a field for Koa, which drops every other one.
      const isUntold = place === 'nowhere' && kind.includes('without being')
      const koaDrops = place === 'nowhere' && /thrown|throws/.test(kind)
      for (const method of ['GET', 'POST']) {
        const { status, headers } = await site.ask(method)
        const what = `${method} ${kind} ${place}`
        t.true(status >= 400, what)
        t.is(headers['cache-control'], isUntold ? undefined : 'no-store', what)
        for (const name of ['expires', 'cdn-cache-control', 'etag', 'last-modified'])
          t.is(headers[name], undefined, what)
        t.is(headers['cache-group-invalidation'], undefined, what)
        t.is(headers['x-other'], koaDrops ? undefined : 'kept')
      }
    }
  }
})

const LATE: Readonly<Record<string, Route>> = {
  'a body that is not JSON': ctx => (ctx.body = { id: 1n }),
  'a body that throws a 404': ctx => (ctx.body = { toJSON: () => ctx.throw(404) }),
  'a version that throws': () => undefined,
  'an error with the status of a redirect': () => {
    throw Object.assign(new Error('moved'), { status: 302 })
  },
  'a boolean that is a function': ctx => void (Boolean(ctx.fresh) && (ctx.status = 304))
}
test('an error of a route or of what finishes its response changes nothing in any cache', async t => {
  for (const [kind, route] of Object.entries(LATE))
    for (const defaults of [{}, { cacheControl: 'public' }])
      for (const isWritten of [true, false]) {
        if (!isWritten && !defaults.cacheControl) continue
        const version = (ctx: Koa.Context) => (kind.includes('version') ? ctx.throw(503) : '1')
        const app = new Koa().use(render)
        const make = () => koaHttpCache({ autoEtag: true, version, ...defaults })
        app.use(isWritten ? inDevelopment(make) : make()).use(ctx => {
          ctx.body = 'page'
          ctx.etag = 'x'
          if (isWritten) ctx.expires(900, 'public')
          if (!kind.includes('version')) ctx.remove('ETag')
          return route(ctx)
        })
        const site = await open(t, app)
        const { status, headers } = await site.get({
          'if-modified-since': new Date(0).toUTCString()
        })
        t.deepEqual([status >= 400, headers['cache-control']], [true, 'no-store'], kind)
        t.is(headers.expires, undefined, kind)
      }
})

test('with a default, a 404 without a route is not cached, unless middleware in front responds', async t => {
  // As koa-static does with `defer`, whose files have a lifetime if nobody wrote one.
  const deferred: Koa.Middleware = async (ctx, next) => {
    await next()
    if (ctx.path === '/lifetime') ctx.set('Cache-Control', 'public, max-age=5')
    if (ctx.body != null || ctx.path !== '/file') return
    ctx.body = 'file'
    if (!ctx.response.get('Cache-Control')) ctx.set('Cache-Control', 'max-age=60')
  }
  const expected = {
    '/none': [404, 'no-store'],
    '/file': [200, 'max-age=60'],
    '/lifetime': [404, 'public, max-age=5'],
    '/page': [200, 'public']
  }
  for (const [name, KoaOf] of KOAS)
    for (const depth of [1, 2]) {
      const app = new KoaOf().use(deferred)
      for (let each = 0; each < depth; each++) app.use(koaHttpCache({ cacheControl: 'public' }))
      const site = await open(
        t,
        app.use(ctx => void (ctx.path === '/page' && (ctx.body = 'page')))
      )
      for (const method of ['GET', 'HEAD'])
        for (const [path, answer] of Object.entries(expected)) {
          const { status, headers } = await site.ask(method, {}, path)
          t.deepEqual([status, headers['cache-control']], answer, `${name} ${method} ${path}`)
        }
    }
  const plain = await open(t, new Koa().use(koaHttpCache()))
  t.is((await plain.get()).headers['cache-control'], undefined)
})

test('a stream that fails before its first byte is stored by no cache', async t => {
  for (const [name, KoaOf] of KOAS)
    for (const cacheControl of ['public', undefined]) {
      const app = new KoaOf().use(koaHttpCache({ cacheControl })).use(koaHttpCache())
      app.use(ctx => {
        if (cacheControl === undefined) ctx.expires(900, 'public')
        ctx.body = createReadStream('/none/of/that')
      })
      // Koa 3 closes the connection.
      const answer = await (await open(t, app)).get().catch(() => undefined)
      const { status, headers } = answer ?? {}
      t.deepEqual(
        [status, headers?.['cache-control'], headers?.expires],
        name === 'Koa 2' ? [404, 'no-store', undefined] : [undefined, undefined, undefined]
      )
    }
})

test('a Cache-Control that a route writes for its failed response is kept', async t => {
  const own = 'public, max-age=5'
  const site = await pageOf(t, {}, ctx => {
    if (ctx.path === '/unwritten') throw new Error('database')
    if (ctx.path !== '/alone') written(ctx)
    if (ctx.path === '/thrown') ctx.throw(503, 'busy', { headers: { 'cache-control': own } })
    ctx.status = ctx.path === '/alone' ? 404 : 500
    if (ctx.path === '/') ctx.cacheControl('public', { maxAge: 5 })
    else ctx.set('Cache-Control', own)
  })
  for (const path of ['/', '/by-hand', '/thrown', '/alone', '/unwritten']) {
    const { headers } = await site.get({}, path)
    t.is(headers['cache-control'], path === '/unwritten' ? undefined : own, path)
    t.deepEqual([headers.expires, headers['cdn-cache-control']], [undefined, undefined], path)
  }
})

test('a 200 and a 304 name each cache group of several calls once', async t => {
  const app = new Koa().use(koaHttpCache({ groups: { header: 'xkey' } }))
  app.use((ctx, next) => {
    ctx.cacheGroups('site', 'books')
    return next()
  })
  app.use(koaHttpCache()).use(async ctx => {
    ctx.cacheGroups()
    if (ctx.path === '/book') ctx.cacheGroups('books', 'book-7', 'book-7')
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  const site = await open(t, app)
  for (const conditions of [{}, { 'if-none-match': '"x"' }]) {
    const { headers } = await site.get(conditions, '/book')
    t.is(headers['cache-groups'], '"site", "books", "book-7"')
    t.is(headers['xkey'], 'site books book-7')
    t.is((await site.get(conditions)).headers['cache-groups'], '"site", "books"')
  }
})

test('only unsafe methods can invalidate cache groups', async t => {
  const site = await pageOf(t, {}, ctx => {
    ctx.invalidateCacheGroups('book-7')
    ctx.invalidateCacheGroups('books', 'book-7')
    if (ctx.path === '/redirects') ctx.redirect('/books/7')
  })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    for (const path of ['/', '/redirects']) {
      const { headers } = await site.ask(method, {}, path)
      t.is(headers['cache-group-invalidation'], '"book-7", "books"', method)
    }
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE']) {
    const { status, headers } = await site.ask(method)
    t.deepEqual([status, headers['cache-group-invalidation']], [500, undefined])
    const message = new RegExp(`^ctx.invalidateCacheGroups was called for a ${method} request: `)
    t.regex(site.errors.at(-1)?.message ?? '', message)
  }
})
