import test from 'ava'

import { Halt } from '../lib/index.ts'
import { openRoute } from './support/cached-site.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const HTTP_DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'
const EARLIER = 'Tue, 31 Dec 2019 00:00:00 GMT'
const LATER = 'Thu, 02 Jan 2020 00:00:00 GMT'
const FUTURE = 'Fri, 01 Jan 2100 00:00:00 GMT'

// ctx.fresh with an ETag

test('ETG-01 ETG-02 ETG-03 an ETag is set, and a request that has it is halted', async t => {
  let ran = 0
  const site = await openRoute(t, async ctx => {
    await ctx.fresh('identifier')
    ran++
    ctx.body = 'page'
  })
  const first = await site.get()
  t.is(first.status, 200)
  t.is(first.headers.etag, '"identifier"')
  t.is(first.body, 'page')
  const second = await site.get({ 'if-none-match': '"identifier"' })
  t.is(second.status, 304)
  t.is(second.headers.etag, '"identifier"')
  t.is(second.body, '')
  t.is(ran, 1)
  const third = await site.get({ 'if-none-match': '"another"' })
  t.is(third.status, 200)
  t.is(third.headers.etag, '"identifier"')
  t.is(ran, 2)
})

test('ETG-04 lists, weak tags, * and tags without quotes are understood', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh('a,b')
    ctx.body = 'page'
  })
  for (const list of ['"a,b"', '"x", "a,b"', 'W/"a,b"', '*']) {
    t.is((await site.get({ 'if-none-match': list })).status, 304, list)
  }
  t.is((await site.get({ 'if-none-match': '"a", "b"' })).status, 200)
})

test('ETG-05 an identifier with quotes is used as it is', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh(ctx.query.tag as string)
    ctx.body = 'page'
  })
  const { headers } = await site.get({}, '/?tag=W%2F%22x%22')
  t.is(headers.etag, 'W/"x"')
  t.is((await site.get({}, '/?tag=%22x%22')).headers.etag, '"x"')
})

test('ETG-06 S45 what a field cannot contain is rejected, and no field changes', async t => {
  const site = await openRoute(t, async ctx => {
    for (const wrong of [
      'a"\r\nX: y',
      'a"b',
      '',
      'ä',
      Number.NaN,
      undefined,
      {},
      { etag: Number.NaN },
      { tag: 'x' }
    ]) {
      const error = await t.throwsAsync(ctx.fresh(wrong as never), { instanceOf: TypeError })
      t.false(error instanceof Halt)
    }
    for (const wrong of [new Date(Number.NaN), { etag: 'x', lastModified: '01.01.2020' }]) {
      await t.throwsAsync(ctx.fresh(wrong as never), { instanceOf: TypeError })
    }
    await t.throwsAsync(ctx.fresh('x', { hallt: false } as never), {
      instanceOf: TypeError,
      message: /did you mean 'halt'/
    })
    ctx.body = 'page'
  })
  const { status, headers } = await site.get({ 'if-none-match': '*' })
  t.is(status, 200)
  t.is(headers.etag, undefined)
  t.is(headers['last-modified'], undefined)
  t.is(headers.x, undefined)
})

test('ETG-07 a list or an object is digested', async t => {
  const states = [
    { id: 1, tags: ['a', 'b'] },
    { tags: ['a', 'b'], id: 1 },
    { id: 1, tags: ['b', 'a'] }
  ]
  const site = await openRoute(t, async ctx => {
    await ctx.fresh({ etag: states[Number(ctx.query.state)] })
    ctx.body = 'page'
  })
  const tags = []
  for (const state of [0, 1, 2]) tags.push((await site.get({}, `/?state=${state}`)).headers.etag)
  t.regex(tags[0] ?? '', /^"[0-9a-f]{32}"$/)
  t.is(tags[1], tags[0])
  t.not(tags[2], tags[0])
})

// ctx.fresh with a Last-Modified

test('MOD-01 MOD-02 MOD-04 a Last-Modified in whole seconds is set and compared', async t => {
  let ran = 0
  const site = await openRoute(t, async ctx => {
    await ctx.fresh(DATE)
    ran++
    ctx.body = 'page'
  })
  const first = await site.get()
  t.is(first.status, 200)
  t.is(first.headers['last-modified'], HTTP_DATE)
  t.is(first.headers.etag, undefined)
  const second = await site.get({ 'if-modified-since': HTTP_DATE })
  t.is(second.status, 304)
  t.is(second.headers['last-modified'], HTTP_DATE)
  t.is(second.body, '')
  t.is(ran, 1)
})

test('FRS-03 what a database gives is taken: numbers, ISO 8601, null', async t => {
  const states = {
    '/number': 7,
    '/text': { etag: 7, lastModified: DATE.toISOString() },
    '/milliseconds': { etag: 7, last_modified: DATE.getTime() },
    '/unknown': { lastModified: null }
  }
  const site = await openRoute(
    t,
    async ctx => {
      await ctx.fresh(states[ctx.path as keyof typeof states])
      ctx.body = 'page'
    },
    { autoEtag: true }
  )
  for (const path of ['/number', '/text', '/milliseconds']) {
    const { headers } = await site.get({}, path)
    t.is(headers.etag, '"7"', path)
    t.is(headers['last-modified'], path === '/number' ? undefined : HTTP_DATE)
    t.is((await site.get({ 'if-none-match': '"7"' }, path)).status, 304)
  }
  const condition = { 'if-none-match': '"7"', 'if-modified-since': HTTP_DATE }
  const unknown = await site.get(condition, '/unknown')
  t.is(unknown.status, 200)
  t.is(unknown.headers['last-modified'], undefined)
  t.regex(unknown.headers.etag ?? '', /^W\//, 'autoEtag may still know')
})

test('MOD-03 another date, or none, is a 200; with `before` a later one is a 304', async t => {
  for (const ifModifiedSince of ['exact', 'before'] as const) {
    const site = await openRoute(
      t,
      async ctx => {
        await ctx.fresh(DATE)
        ctx.body = 'page'
      },
      { ifModifiedSince }
    )
    for (const since of [EARLIER, FUTURE, '', ' ', 'yesterday', '2030']) {
      t.is((await site.get({ 'if-modified-since': since })).status, 200, since)
    }
    const later = await site.get({ 'if-modified-since': LATER })
    t.is(later.status, ifModifiedSince === 'exact' ? 200 : 304)
  }
})

test('MOD-05 the obsolete date formats are parsed as well', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh(DATE)
    ctx.body = 'page'
  })
  for (const since of ['Wednesday, 01-Jan-20 00:00:00 GMT', 'Wed Jan  1 00:00:00 2020']) {
    t.is((await site.get({ 'if-modified-since': since })).status, 304, since)
  }
})

// Preconditions

test('PRE-01 the ETag takes precedence over the date, both ways', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh({ etag: 'x', lastModified: DATE })
    ctx.body = 'page'
  })
  const older = { 'if-none-match': '"x"', 'if-modified-since': EARLIER }
  t.is((await site.get(older)).status, 304)
  const other = { 'if-none-match': '"y"', 'if-modified-since': HTTP_DATE }
  t.is((await site.get(other)).status, 200)
})

test('PRE-02 If-Match lets an up-to-date PUT go on and halts another', async t => {
  let stored = 0
  const site = await openRoute(t, async ctx => {
    await ctx.fresh('x')
    stored++
    ctx.body = 'stored'
  })
  t.is((await site.ask('PUT', { 'if-match': '"x"' })).status, 200)
  t.is((await site.ask('PUT', { 'if-match': '*' })).status, 200)
  t.is(stored, 2)
  const lost = await site.ask('PUT', { 'if-match': '"y"' })
  t.is(lost.status, 412)
  t.is(lost.body, 'Precondition Failed')
  t.is(lost.headers.etag, '"x"')
  t.is(stored, 2)
})

test('PRE-03 PUT with If-None-Match: * creates a resource that does not exist yet', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh(ctx.path === '/there' ? 'x' : null)
    ctx.status = 201
  })
  t.is((await site.ask('PUT', { 'if-none-match': '*' }, '/there')).status, 412)
  t.is((await site.ask('PUT', { 'if-none-match': '*' }, '/new')).status, 201)
  t.is((await site.ask('PUT', { 'if-match': '*' }, '/new')).status, 412)
})

test('PRE-04 POST with a matching If-None-Match is 412, never 304', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  t.is((await site.ask('POST', { 'if-none-match': '"x"' })).status, 412)
})

test('PRE-04a a PUT that proceeds has no validator of the state before', async t => {
  const site = await openRoute(t, async ctx => {
    if (ctx.path === '/decides') await ctx.fresh({ etag: 'x', lastModified: DATE }, { halt: false })
    else await ctx.fresh({ etag: 'x', lastModified: DATE })
    ctx.body = 'stored'
    if (ctx.path === '/own') ctx.etag = 'new'
  })
  for (const method of ['PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS']) {
    for (const headers of [{}, { 'if-match': '"x"' }, { 'if-unmodified-since': HTTP_DATE }]) {
      const answer = await site.ask(method, headers)
      t.is(answer.status, 200)
      t.is(answer.headers.etag, undefined, method)
      t.is(answer.headers['last-modified'], undefined, method)
    }
  }
  t.is((await site.ask('PUT', { 'if-match': '"x"' }, '/own')).headers.etag, '"new"')
  t.is((await site.ask('PUT', { 'if-match': '"y"' }, '/decides')).headers.etag, undefined)
  const refused = await site.ask('PUT', { 'if-match': '"y"' })
  t.is(refused.status, 412)
  t.is(refused.headers.etag, '"x"')
  t.is(refused.headers['last-modified'], HTTP_DATE)
})

test('PRE-04b a QUERY is safe: 304, with the validators of the state', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh({ etag: 'x', lastModified: DATE })
    ctx.body = 'found'
  })
  const first = await site.ask('QUERY')
  t.is(first.headers.etag, '"x"')
  t.is(first.headers['last-modified'], HTTP_DATE)
  t.is((await site.ask('QUERY', { 'if-none-match': '"x"' })).status, 304)
  t.is((await site.ask('QUERY', { 'if-modified-since': HTTP_DATE })).status, 304)
  t.is((await site.ask('QUERY', { 'if-match': '"y"' })).status, 412)
})

test('PRE-05 HEAD is treated like GET', async t => {
  const site = await openRoute(t, async ctx => {
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  t.is((await site.ask('HEAD')).headers.etag, '"x"')
  t.is((await site.ask('HEAD', { 'if-none-match': '"x"' })).status, 304)
})

test('FRS-07 a 412 has no targeted field either, with whatever name', async t => {
  const names = ['Surrogate-Control', 'Layer-Control']
  const site = await openRoute(t, async ctx => {
    for (const target of names) ctx.cacheControl({ target, maxAge: 60 })
    ctx.set('X-DNS-Prefetch-Control', 'off')
    if (ctx.path === '/by-hand') ctx.set('Surrogate-Control', 'max-age=5')
    await ctx.fresh('x')
  })
  for (const path of ['/', '/by-hand']) {
    const { headers } = await site.get({ 'if-match': '"y"' }, path)
    t.is(headers['cache-control'], 'no-store')
    for (const name of names) t.is(headers[name.toLowerCase()], undefined, name)
    t.is(headers['x-dns-prefetch-control'], 'off')
  }
  t.is((await site.get()).headers['surrogate-control'], 'max-age=60')
})

test('a 412 is not stored by any cache, whatever was written for the 200', async t => {
  const site = await openRoute(t, async ctx => {
    ctx.expires(900, 'public')
    ctx.cacheControl({ target: 'CDN', maxAge: 600 })
    ctx.type = 'json'
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  const { status, headers, body } = await site.get({ 'if-match': '"y"' })
  t.is(status, 412)
  t.is(headers['cache-control'], 'no-store')
  t.is(headers['cdn-cache-control'], undefined)
  t.is(headers.expires, undefined)
  t.is(headers['content-type'], 'text/plain; charset=utf-8')
  t.is(body, 'Precondition Failed')
})
