import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'

import test from 'ava'
import Koa from 'koa'
import mount from 'koa-mount'

import { Halt, koaHttpCache } from '../lib/index.ts'
import { open, openRoute } from './support/cached-site.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const HTTP_DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'

test('HLT-01 downstream middleware does not run after a halt', async t => {
  const app = new Koa()
  let entered = 0
  app.use(koaHttpCache())
  app.use(async (ctx, next) => {
    await ctx.fresh('x')
    await next()
  })
  app.use(ctx => {
    entered++
    ctx.body = 'page'
  })
  const site = await open(t, app)
  t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)
  t.is(entered, 0)
  t.is((await site.get()).status, 200)
  t.is(entered, 1)
})

test('HLT-02 finally runs', async t => {
  let closed = 0
  const site = await openRoute(t, async ctx => {
    try {
      await ctx.fresh('x')
      ctx.body = 'page'
    } finally {
      closed++
    }
  })
  t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)
  t.is(closed, 1)
})

test('HLT-03 a middleware that catches the halt and responds 500 does not lose it', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      t.true(error instanceof Halt)
      ctx.status = 500
      ctx.body = { error: String(error) }
    }
  })
  app.use(async ctx => {
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  const site = await open(t, app)
  const { status, headers, body } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 304)
  t.is(headers['content-type'], undefined)
  t.is(headers['content-length'], undefined)
  t.is(body, '')
  t.deepEqual(site.errors, [])
})

test('HLT-03 a halt that was wrapped in another error is still a halt', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use(async (_, next) => {
    try {
      await next()
    } catch (error) {
      throw new Error('wrapped', { cause: error })
    }
  })
  app.use(ctx => ctx.fresh('x'))
  const site = await open(t, app)
  t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)
  t.deepEqual(site.errors, [])
})

test('an error after the halt is reported, and the response stays', async t => {
  const site = await openRoute(t, async ctx => {
    try {
      await ctx.fresh('x')
    } finally {
      // oxlint-disable-next-line no-unsafe-finally -- a cleanup that fails
      throw new Error('cleanup')
    }
  })
  t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)
  t.deepEqual(
    site.errors.map(error => error.message),
    ['cleanup']
  )
})

test('HLT-04 a forgotten await does not lose the halt', async t => {
  const site = await openRoute(t, ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('x')
    ctx.set('ETag', '"set by the route that went on"')
    ctx.body = { page: true }
  })
  const { status, headers, body } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 304)
  t.is(headers.etag, '"x"')
  t.is(headers['content-type'], undefined)
  t.is(body, '')
  t.is((await site.get()).status, 200)
  t.deepEqual(site.errors, [])
})

test('each request has a Halt of its own, which middleware may modify', async t => {
  const app = new Koa()
  const halts: Halt[] = []
  app.use(koaHttpCache())
  app.use(async (ctx, next) => {
    await next().catch((error: Halt & { headers?: object; seen?: boolean }) => {
      halts.push(error)
      t.is(error.message, ctx.method === 'GET' ? 'Not Modified' : 'Precondition Failed')
      t.is(error.seen, undefined)
      t.is(error.headers, undefined)
      error.seen = true
      error.message += ` at ${ctx.path}`
      // As @koa/cors does.
      throw Object.assign(error, { headers: { 'X-From': ctx.path } })
    })
  })
  app.use(ctx => ctx.fresh(ctx.path === '/late' ? Promise.resolve('x') : 'x'))
  const site = await open(t, app)
  for (const path of ['/one', '/two', '/late', '/late']) {
    t.is((await site.get({ 'if-none-match': '"x"' }, path)).status, 304)
    t.is((await site.ask('PUT', { 'if-match': '"y"' }, path)).status, 412)
  }
  t.is(new Set(halts).size, 8)
  t.deepEqual(site.errors, [])
})

test('the asynchronous context is kept across ctx.fresh', async t => {
  const storage = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const site = await openRoute(t, ctx =>
    storage.run(ctx.get('x-from'), async () => {
      try {
        await ctx.fresh('x')
        ctx.body = 'page'
      } finally {
        seen.push(storage.getStore())
      }
    })
  )
  await site.get({ 'x-from': 'one' })
  await site.get({ 'x-from': 'two', 'if-none-match': '"x"' })
  t.deepEqual(seen, ['one', 'two'])
})

for (const late of [false, true]) {
  test(`HLT-04 a forgotten await before work is an error${late ? ', also if it was late' : ''}`, async t => {
    let stored = 0
    const site = await openRoute(t, ctx => {
      // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
      ctx.fresh(late ? new Promise(resolve => setImmediate(resolve, 'x')) : 'x')
      stored++
      ctx.body = 'stored'
      if (ctx.path === '/throws') throw new Error('database')
    })
    t.is((await site.ask('PUT', { 'if-match': '"x"' })).status, 200)
    t.is((await site.get({ 'if-match': '"y"' })).status, 412)
    t.deepEqual(site.errors, [])
    t.is((await site.ask('PUT', { 'if-match': '"y"' }, '/note')).status, 412)
    t.is(stored, 3)
    t.is(site.errors.length, 1)
    t.regex(site.errors[0]?.message ?? '', /^PUT \/note: ctx\.fresh was called without await.*412/)
    if (late) return
    t.is((await site.ask('DELETE', { 'if-match': '"y"' }, '/throws')).status, 412)
    t.deepEqual(
      site.errors.slice(1).map(({ message }) => message.replace(/:.*/, '')),
      ['database', 'DELETE /throws']
    )
  })
}

test('HLT-04 the error names the requested path, without its query', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  const route: Koa.Middleware = ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('x')
  }
  app.use(mount('/notes', route))
  const site = await open(t, app)
  t.is((await site.ask('PUT', { 'if-match': '"y"' }, '/notes/7?token=secret')).status, 412)
  t.regex(site.errors[0]?.message ?? '', /^PUT \/notes\/7: /)
})

test('HLT-04 a halt that was awaited and swallowed is not a forgotten await', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh('x').catch(() => undefined)
    ctx.body = 'stored'
  })
  t.is((await site.ask('PUT', { 'if-match': '"y"' })).status, 412)
  t.deepEqual(site.errors, [])
})

test('HLT-04 a forgotten await of late validators does not lose the halt', async t => {
  const site = await openRoute(t, ctx => {
    const late = new Promise<string>(resolve => setImmediate(resolve, 'x'))
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh(late)
    ctx.body = 'page'
  })
  const first = await site.get()
  t.is(first.status, 200)
  t.is(first.headers.etag, '"x"')
  t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)
})

test('HLT-04 a forgotten await does not hide an error', async t => {
  for (const wrong of [() => Promise.reject(new Error('database')), () => '"']) {
    const site = await openRoute(t, ctx => {
      // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
      ctx.fresh(wrong())
      ctx.body = 'page'
    })
    t.is((await site.get()).status, 500)
    t.is(site.errors.length, 1)
  }
})

test('an error that the route caught itself stays caught', async t => {
  const site = await openRoute(t, async ctx => {
    const state = Promise.reject(new Error('database'))
    ctx.body = await ctx.fresh(state).catch((error: Error) => error.message)
    await ctx.fresh('"').then(undefined, () => undefined)
    await t.throwsAsync(
      ctx.fresh('"').finally(() => undefined),
      { instanceOf: TypeError }
    )
  })
  const { status, body } = await site.get()
  t.is(status, 200)
  t.is(body, 'database')
})

test('HLT-05 a stream that was set as the body is destroyed', async t => {
  const stream = new Readable({ read: () => undefined })
  const site = await openRoute(t, async ctx => {
    ctx.body = stream
    await ctx.fresh('x')
  })
  const { status, headers } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 304)
  t.is(headers['content-type'], undefined)
  t.true(stream.destroyed)
  t.deepEqual(site.errors, [])
})

test('HLT-06 fields about content are removed, others kept', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.expires(900, 'public')
    ctx.cookies.set('seen', 'yes')
    ctx.vary('Accept-Language')
    ctx.set({
      'Content-Type': 'text/html',
      'Content-Language': 'en',
      'Content-Encoding': 'gzip',
      'Content-Range': 'bytes 0-1/2',
      'Content-Location': '/page.en',
      'X-Other': 'kept'
    })
    ctx.length = 7
    await ctx.fresh({ etag: 'x', lastModified: DATE })
  })
  const { status, headers } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 304)
  const { date, expires, connection, 'keep-alive': _, ...others } = headers
  t.truthy(date)
  t.truthy(expires)
  t.truthy(connection)
  t.deepEqual(others, {
    'cache-control': 'public, max-age=900',
    'content-location': '/page.en',
    etag: '"x"',
    'last-modified': HTTP_DATE,
    'set-cookie': ['seen=yes; path=/; httponly'],
    vary: 'Accept-Language',
    'x-other': 'kept'
  })
})

test('HLT-07 with halt: false the route decides', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.body = String(await ctx.fresh('x', { halt: false }))
  })
  t.is((await site.get()).body, 'false')
  const match = await site.get({ 'if-none-match': '"x"' })
  t.is(match.status, 200)
  t.is(match.body, '304')
  t.is((await site.ask('PUT', { 'if-match': '"y"' })).body, '412')
  t.is((await site.ask('PUT', { 'if-match': '"x"' })).body, 'false')
  t.deepEqual(site.errors, [])
})

const untouched: Record<string, (ctx: Koa.Context) => unknown> = {
  'a value': ctx => ctx.fresh('x', { halt: false }),
  'a promise': ctx => ctx.fresh(Promise.resolve('x'), { halt: false })
}
for (const [kind, ask] of Object.entries(untouched)) {
  test(`FRS-02 a route that returns after { halt: false } gets the 304 or 412, with ${kind}`, async t => {
    const site = await openRoute(t, async ctx => {
      ctx.cacheControl('private', { maxAge: 60 })
      if (await ask(ctx)) return
      ctx.body = 'page'
    })
    const first = await site.get()
    t.deepEqual([first.status, first.body], [200, 'page'])
    for (const method of ['GET', 'HEAD', 'QUERY']) {
      const { status, headers, body } = await site.ask(method, { 'if-none-match': '"x"' })
      t.deepEqual([status, body], [304, ''], method)
      t.is(headers.etag, '"x"')
      t.is(headers['cache-control'], 'private, max-age=60')
    }
    t.is((await site.ask('PUT', { 'if-match': '"x"' })).body, 'page')
    const failed = await site.ask('PUT', { 'if-match': '"y"' })
    t.deepEqual([failed.status, failed.body], [412, 'Precondition Failed'])
    t.is(failed.headers['cache-control'], 'no-store')
    t.deepEqual(site.errors, [])
  })
}

test('FRS-02 a route that responds after { halt: false } has its own response', async t => {
  const site = await openRoute(t, async ctx => {
    if (await ctx.fresh('x', { halt: false })) {
      if (ctx.path === '/body') ctx.body = 'own'
      else if (ctx.path === '/status') ctx.status = 404
      else if (ctx.path === '/empty') ctx.body = null
      else if (ctx.path === '/throws') ctx.throw(410)
      else await ctx.fresh('y')
    }
  })
  const expected = {
    '/body': 200,
    '/status': 404,
    '/empty': 204,
    '/throws': 410,
    '/asks-on': 404
  }
  for (const [path, status] of Object.entries(expected)) {
    t.is((await site.get({ 'if-none-match': '"x"' }, path)).status, status, path)
  }
  t.is((await site.get({ 'if-none-match': '"x"' }, '/body')).body, 'own')
  t.is((await site.get({}, '/body')).status, 404)
})

test('HLT-08 an error of the route is left to Koa', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh('x')
    ctx.throw(418, 'short and stout', { headers: { 'X-Pot': 'tea' } })
  })
  const { status, headers, body } = await site.get()
  t.is(status, 418)
  t.is(body, 'short and stout')
  t.is(headers['x-pot'], 'tea')
  t.is(headers.etag, undefined)
  t.is(site.errors.length, 1)
})

test('HLT-10 the ctx.fresh of another copy of the library is kept', async t => {
  const app = new Koa()
  Object.defineProperty(app.context, 'fresh', {
    get: () => 'from the other copy',
    configurable: true
  })
  app.use(async (ctx, next) => {
    await next()
    ctx.set('X-Fresh', String(ctx.fresh))
  })
  app.use(koaHttpCache())
  app.use(ctx => ctx.fresh('x'))
  const site = await open(t, app)
  const { status, headers } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 304)
  t.is(headers['x-fresh'], 'from the other copy')
})

test('HLT-09 of two calls the first match counts', async t => {
  const site = await openRoute(t, async ctx => {
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh('first')
    t.is(await ctx.fresh('second', { halt: false }), 304)
    await ctx.fresh('second')
    t.fail('the route was not halted')
  })
  const { status, headers } = await site.get({ 'if-none-match': '"first", "second"' })
  t.is(status, 304)
  t.is(headers.etag, '"first"')
})

test('HLT-09 a call that did not match may be followed by another', async t => {
  const site = await openRoute(t, async ctx => {
    t.false(await ctx.fresh('first'))
    await ctx.fresh('second')
    ctx.body = 'page'
  })
  const { status, headers } = await site.get({ 'if-none-match': '"second"' })
  t.is(status, 304)
  t.is(headers.etag, '"second"')
})

test('HLT-09 nested: the inner one responds, with its own options', async t => {
  const app = new Koa()
  app.use(koaHttpCache({ version: () => 'outer', cacheControl: 'no-cache' }))
  app.use(async (ctx, next) => {
    await next()
    ctx.body = 'somebody wraps the page'
  })
  app.use(koaHttpCache({ version: () => 'inner', cacheControl: { maxAge: 5 } }))
  app.use(async ctx => {
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  const site = await open(t, app)
  const first = await site.get()
  t.is(first.status, 200)
  t.is(first.headers['cache-control'], 'max-age=5')
  const second = await site.get({ 'if-none-match': first.headers.etag ?? '' })
  t.is(second.status, 304)
  t.is(second.headers.etag, first.headers.etag)
  t.is(second.headers['cache-control'], 'max-age=5')
  t.is(second.body, '')
})

test('HLT-10 outside of koaHttpCache ctx.fresh is Koa’s boolean', async t => {
  const app = new Koa()
  app.use(async (ctx, next) => {
    await next()
    ctx.set('X-Fresh', String(ctx.fresh))
  })
  app.use(koaHttpCache())
  app.use(ctx => {
    t.is(typeof ctx.fresh, 'function')
    t.is(typeof ctx.request.fresh, 'boolean')
    ctx.set('ETag', '"x"')
    ctx.body = 'page'
  })
  const site = await open(t, app)
  t.is((await site.get()).headers['x-fresh'], 'false')
  t.is((await site.get({ 'if-none-match': '"x"' })).headers['x-fresh'], 'true')

  // Given to the application once, not with every request.
  const given = Object.getOwnPropertyDescriptor(app.context, 'fresh')
  await site.get()
  t.deepEqual(Object.getOwnPropertyDescriptor(app.context, 'fresh'), given)

  const without = await open(
    t,
    new Koa().use(ctx => {
      ctx.body = `${typeof ctx.fresh} ${typeof ctx.cacheControl}`
    })
  )
  t.is((await without.get()).body, 'boolean undefined')
})

// Routes that bypass Koa

test('a route that responds by itself is left alone', async t => {
  const site = await openRoute(
    t,
    ctx => {
      ctx.respond = false
      // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
      if (ctx.path === '/asks') ctx.fresh('x')
      ctx.res.writeHead(202, { 'X-Own': 'yes' })
      setImmediate(() => ctx.res.end('own'))
    },
    { cacheControl: 'public', autoEtag: true }
  )
  for (const path of ['/', '/asks']) {
    const { status, headers, body } = await site.get({ 'if-none-match': '"x"' }, path)
    t.is(status, 202)
    t.is(body, 'own')
    t.is(headers['x-own'], 'yes')
    t.is(headers['cache-control'], undefined)
  }
})

test('a result after the request has left koaHttpCache changes nothing', async t => {
  const site = await openRoute(t, ctx => {
    ctx.respond = false
    const late = new Promise<string>(resolve => setImmediate(resolve, 'x'))
    // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
    ctx.fresh(late)
    void late.then(() => setImmediate(() => ctx.res.writeHead(202).end('own')))
  })
  const { status, headers, body } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 202)
  t.is(headers.etag, undefined)
  t.is(body, 'own')
})

test('koaHttpCache responds for a halted route that had set ctx.respond to false', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.respond = false
    await ctx.fresh('x')
    ctx.res.end('own')
  })
  t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)
})

test('ctx.fresh is false after the headers were sent', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.respond = false
    ctx.res.writeHead(200)
    ctx.res.end(String(await ctx.fresh('x')))
  })
  const { status, body } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 200)
  t.is(body, 'false')
})
