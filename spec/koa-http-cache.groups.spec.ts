// ctx.cacheGroups and ctx.invalidateCacheGroups (RFC 9875).
import test from 'ava'
import Koa from 'koa'

import { koaHttpCache } from '../lib/koa-http-cache.ts'
import { open, openRoute } from './support/cached-site.ts'

test('GRP-01 the groups of several calls are joined, once each', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use((ctx, next) => {
    ctx.cacheGroups('site', 'books')
    return next()
  })
  app.use(koaHttpCache())
  app.use(ctx => {
    ctx.cacheGroups()
    if (ctx.path === '/book') ctx.cacheGroups('books', 'book-7', 'book-7')
    ctx.body = 'page'
  })
  const site = await open(t, app)
  const { headers } = await site.get({}, '/book')
  t.is(headers['cache-groups'], '"site", "books", "book-7"')
  t.is((await site.get()).headers['cache-groups'], '"site", "books"')
})

test('GRP-01 a response without groups has no field of them', async t => {
  const site = await openRoute(t, ctx => {
    ctx.cacheGroups()
    if (ctx.method === 'POST') ctx.invalidateCacheGroups()
    ctx.body = 'page'
  })
  for (const method of ['GET', 'POST']) {
    const { status, headers } = await site.ask(method)
    t.is(status, 200)
    t.is(headers['cache-groups'], undefined)
    t.is(headers['cache-group-invalidation'], undefined)
  }
})

test('GRP-02 the response to a change invalidates groups', async t => {
  const site = await openRoute(t, ctx => {
    ctx.invalidateCacheGroups('book-7')
    ctx.invalidateCacheGroups('books', 'book-7')
    if (ctx.path === '/redirects') ctx.redirect('/books/7')
    else ctx.body = 'saved'
  })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const path of ['/', '/redirects']) {
      const { headers } = await site.ask(method, {}, path)
      t.is(headers['cache-group-invalidation'], '"book-7", "books"', method)
    }
  }
})

test('GRP-02 a safe method cannot invalidate groups', async t => {
  const site = await openRoute(t, ctx => {
    ctx.invalidateCacheGroups('books')
  })
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE']) {
    const { status, headers } = await site.ask(method)
    t.is(status, 500)
    t.is(headers['cache-group-invalidation'], undefined)
    t.regex(
      site.errors.at(-1)?.message ?? '',
      new RegExp(`^ctx.invalidateCacheGroups was called for a ${method} request: `)
    )
  }
})

test('GRP-03 S45 groups that are rejected leave the fields as they were', async t => {
  const wrongs = [
    ['a\r\nX: y'],
    ['ä'],
    ['x'.repeat(33)],
    Array.from({ length: 32 }, (_, at) => `${at}`)
  ]
  const site = await openRoute(
    t,
    ctx => {
      ctx.cacheGroups('books')
      ctx.invalidateCacheGroups('books')
      for (const wrong of [...wrongs, ['my books'], ['a,b']]) {
        t.throws(() => ctx.cacheGroups('fine', ...wrong), { instanceOf: TypeError })
      }
      for (const wrong of wrongs) {
        t.throws(() => ctx.invalidateCacheGroups('fine', ...wrong), { instanceOf: TypeError })
      }
      ctx.cacheGroups('shelf')
      ctx.body = 'page'
    },
    { groups: { header: 'xkey' } }
  )
  const { headers } = await site.ask('POST')
  t.is(headers['cache-groups'], '"books", "shelf"')
  t.is(headers['xkey'], 'books shelf')
  t.is(headers['cache-group-invalidation'], '"books"')
})

for (const [header, expected] of [
  ['Surrogate-Key', 'books book-7'],
  ['Cache-Tag', 'books,book-7']
] as const) {
  test(`GRP-04 ${header} has the groups as well`, async t => {
    const site = await openRoute(
      t,
      async ctx => {
        ctx.cacheGroups('books')
        ctx.cacheGroups('book-7')
        await ctx.fresh('x')
        ctx.body = 'page'
      },
      { groups: { header } }
    )
    for (const conditions of [{}, { 'if-none-match': '"x"' }]) {
      const { headers } = await site.get(conditions)
      t.is(headers[header.toLowerCase()], expected)
      t.is(headers['cache-groups'], '"books", "book-7"')
    }
  })
}

test('GRP-05 a 304 keeps the groups', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.cacheGroups('books')
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  const { status, headers } = await site.get({ 'if-none-match': '"x"' })
  t.is(status, 304)
  t.is(headers['cache-groups'], '"books"')
})

for (const place of ['nowhere', 'in front']) {
  test(`GRP-05 a request that failed invalidates nothing, rendered ${place}`, async t => {
    const app = new Koa()
    app.silent = true
    if (place === 'in front') {
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          ctx.status = (error as { status?: number }).status ?? 500
          ctx.body = 'sorry'
        }
      })
    }
    app.use(koaHttpCache())
    app.use(async ctx => {
      ctx.invalidateCacheGroups('books')
      await ctx.fresh('x')
      if (ctx.path === '/thrown') throw new Error('database')
      // Koa keeps these fields of an error.
      if (ctx.path === '/invalid') ctx.throw(422, { headers: { 'x-kept': 'yes' } })
      ctx.body = 'saved'
      if (ctx.path === '/conflict') ctx.status = 409
      if (ctx.path === '/busy') ctx.status = 503
    })
    const site = await open(t, app)
    const conditions = { 'if-match': '"y"' }
    const failures = {
      '/thrown': await site.ask('POST', {}, '/thrown'),
      '/invalid': await site.ask('POST', {}, '/invalid'),
      '/conflict': await site.ask('POST', {}, '/conflict'),
      '/busy': await site.ask('POST', {}, '/busy'),
      '/outdated': await site.ask('POST', conditions)
    }
    t.deepEqual(
      Object.values(failures).map(({ status }) => status),
      [500, 422, 409, 503, 412]
    )
    for (const [what, { headers }] of Object.entries(failures)) {
      t.is(headers['cache-group-invalidation'], undefined, what)
    }
    const saved = await site.ask('POST')
    t.is(saved.headers['cache-group-invalidation'], '"books"')
  })
}
