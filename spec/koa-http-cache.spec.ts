import { Readable } from 'node:stream'

import test from 'ava'

import { Halt, koaHttpCache } from '../lib/index.ts'
import { KOAS, open, openRoute } from './http-site.ts'

const DATE = new Date('2020-01-01T00:00:00.789Z')
const HTTP_DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'
const EARLIER = 'Tue, 31 Dec 2019 00:00:00 GMT'
const LATER = 'Thu, 02 Jan 2020 00:00:00 GMT'
const FUTURE = 'Fri, 01 Jan 2100 00:00:00 GMT'

for (const [koa, Koa] of KOAS) {
  const of = (title: string) => `${title} (${koa})`
  const route = (
    t: Parameters<typeof openRoute>[0],
    middleware: Parameters<typeof openRoute>[1],
    options?: Parameters<typeof openRoute>[2]
  ) => openRoute(t, middleware, options, Koa)

  // ctx.cacheControl

  test(of('CC-01 cacheControl writes the directives'), async t => {
    const site = await route(t, ctx => {
      ctx.cacheControl('public', { maxAge: 600 })
      ctx.body = 'page'
    })
    t.is((await site.get()).headers['cache-control'], 'public, max-age=600')
  })

  test(of('CC-06 S45 a directive that is refused leaves the header as before'), async t => {
    const wrongs = [
      { weird: 1 },
      { minFresh: 1 },
      { maxAge: -1 },
      { extension: { x: 'a\r\nb: c' } }
    ]
    const site = await route(t, ctx => {
      ctx.cacheControl('no-cache')
      for (const wrong of wrongs) {
        t.throws(() => ctx.cacheControl('public', wrong as never), { instanceOf: TypeError })
        t.throws(() => ctx.expires(60, 'public', wrong as never), { instanceOf: TypeError })
      }
      ctx.body = 'page'
    })
    const { headers } = await site.get()
    t.is(headers['cache-control'], 'no-cache')
    t.is(headers.expires, undefined)
  })

  test(of('CC-09 of two calls the last counts'), async t => {
    const site = await route(t, ctx => {
      ctx.cacheControl('public', { maxAge: 600 })
      ctx.cacheControl('private')
      ctx.body = 'page'
    })
    t.is((await site.get()).headers['cache-control'], 'private')
  })

  test(of('CC-11 a target has a header of its own'), async t => {
    const site = await route(t, ctx => {
      ctx.cacheControl('no-cache')
      ctx.cacheControl({ target: 'CDN', maxAge: 600 })
      ctx.body = 'page'
    })
    const { headers } = await site.get()
    t.is(headers['cdn-cache-control'], 'max-age=600')
    t.is(headers['cache-control'], 'no-cache')
  })

  const statuses = [200, 203, 204, 206, 300, 301, 304, 308, 404, 410]
  for (const status of [...statuses, 201, 202, 302, 303, 307, 400, 401, 403, 405, 412, 500, 503]) {
    const applied = statuses.includes(status)
    test(of(`CC-12 a default is ${applied ? '' : 'not '}applied to ${status}`), async t => {
      const site = await route(
        t,
        ctx => {
          ctx.status = status
        },
        { cacheControl: ['public', { maxAge: 60 }], expires: 30 }
      )
      const { headers } = await site.get()
      t.is(headers['cache-control'], applied ? 'public, max-age=60' : undefined)
      t.is(typeof headers.expires, applied ? 'string' : 'undefined')
    })
  }

  test(of('CC-12 a default is not applied to an error'), async t => {
    const site = await route(t, ctx => ctx.throw(404), { cacheControl: 'public' })
    t.is((await site.get()).headers['cache-control'], undefined)
  })

  test(of('CC-13 a route that speaks is not overruled'), async t => {
    const options = { cacheControl: 'public', expires: 60 } as const
    const cacheControl = await route(
      t,
      ctx => {
        ctx.cacheControl('private')
        ctx.body = 'page'
      },
      options
    )
    const spoken = await cacheControl.get()
    t.is(spoken.headers['cache-control'], 'private')
    t.is(spoken.headers.expires, undefined)
    const expires = await route(
      t,
      ctx => {
        ctx.set('Expires', HTTP_DATE)
        ctx.body = 'page'
      },
      options
    )
    const dated = await expires.get()
    t.is(dated.headers['cache-control'], undefined)
    t.is(dated.headers.expires, HTTP_DATE)
  })

  // ctx.expires

  test(of('EXP-01 EXP-05 expires writes both headers, by the clock of the server'), async t => {
    const site = await route(t, ctx => {
      ctx.expires(900, 'public', 'no-cache')
      ctx.body = 'page'
    })
    const before = Math.floor(Date.now() / 1000)
    const { headers } = await site.get()
    const after = Math.floor(Date.now() / 1000)
    t.is(headers['cache-control'], 'public, no-cache, max-age=900')
    const expires = Date.parse(headers.expires ?? '') / 1000
    t.true(expires >= before + 900 && expires <= after + 900, headers.expires)
    t.regex(headers.expires ?? '', /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
  })

  // ctx.fresh with an ETag

  test(of('ETG-01 ETG-02 ETG-03 an ETag is set, and its owner is halted'), async t => {
    let ran = 0
    const site = await route(t, async ctx => {
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

  test(of('ETG-04 lists, weak tags, * and tags without quotes are understood'), async t => {
    const site = await route(t, async ctx => {
      await ctx.fresh('a,b')
      ctx.body = 'page'
    })
    for (const list of ['"a,b"', '"x", "a,b"', 'W/"a,b"', '*']) {
      t.is((await site.get({ 'if-none-match': list })).status, 304, list)
    }
    t.is((await site.get({ 'if-none-match': '"a", "b"' })).status, 200)
  })

  test(of('ETG-05 an identifier with quotes is taken as it is'), async t => {
    const site = await route(t, async ctx => {
      await ctx.fresh(ctx.query.tag as string)
      ctx.body = 'page'
    })
    const { headers } = await site.get({}, '/?tag=W%2F%22x%22')
    t.is(headers.etag, 'W/"x"')
    t.is((await site.get({}, '/?tag=%22x%22')).headers.etag, '"x"')
  })

  test(of('ETG-06 S45 what a header cannot carry is refused, and no header changed'), async t => {
    const site = await route(t, async ctx => {
      for (const wrong of [
        'a"\r\nX: y',
        'a"b',
        '',
        'ä',
        42,
        undefined,
        {},
        { etag: 7 },
        { tag: 'x' }
      ]) {
        const error = await t.throwsAsync(ctx.fresh(wrong as never), { instanceOf: TypeError })
        t.false(error instanceof Halt)
      }
      for (const wrong of [new Date(Number.NaN), { etag: 'x', lastModified: '2020-01-01' }]) {
        await t.throwsAsync(ctx.fresh(wrong as never), { instanceOf: TypeError })
      }
      await t.throwsAsync(ctx.fresh('x', { hatl: false } as never), {
        instanceOf: TypeError,
        message: /did you mean halt/
      })
      ctx.body = 'page'
    })
    const { status, headers } = await site.get({ 'if-none-match': '*' })
    t.is(status, 200)
    t.is(headers.etag, undefined)
    t.is(headers['last-modified'], undefined)
    t.is(headers.x, undefined)
  })

  test(of('ETG-07 a list or an object is digested'), async t => {
    const states = [
      { id: 1, tags: ['a', 'b'] },
      { tags: ['a', 'b'], id: 1 },
      { id: 1, tags: ['b', 'a'] }
    ]
    const site = await route(t, async ctx => {
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

  test(of('MOD-01 MOD-02 MOD-04 a Last-Modified in whole seconds is set and compared'), async t => {
    let ran = 0
    const site = await route(t, async ctx => {
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

  test(
    of('MOD-03 another date, or none, is a 200; with `before` a later one is a 304'),
    async t => {
      for (const ifModifiedSince of ['exact', 'before'] as const) {
        const site = await route(
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
    }
  )

  test(of('MOD-05 the older formats are read as well'), async t => {
    const site = await route(t, async ctx => {
      await ctx.fresh(DATE)
      ctx.body = 'page'
    })
    for (const since of ['Wednesday, 01-Jan-20 00:00:00 GMT', 'Wed Jan  1 00:00:00 2020']) {
      t.is((await site.get({ 'if-modified-since': since })).status, 304, since)
    }
  })

  // Preconditions

  test(of('PRE-01 the ETag decides over the date, both ways'), async t => {
    const site = await route(t, async ctx => {
      await ctx.fresh({ etag: 'x', lastModified: DATE })
      ctx.body = 'page'
    })
    const older = { 'if-none-match': '"x"', 'if-modified-since': EARLIER }
    t.is((await site.get(older)).status, 304)
    const other = { 'if-none-match': '"y"', 'if-modified-since': HTTP_DATE }
    t.is((await site.get(other)).status, 200)
  })

  test(of('PRE-02 If-Match lets an up-to-date PUT go on and halts another'), async t => {
    let stored = 0
    const site = await route(t, async ctx => {
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

  test(of('PRE-03 PUT with If-None-Match: * is for what is not there yet'), async t => {
    const site = await route(t, async ctx => {
      await ctx.fresh(ctx.path === '/there' ? 'x' : null)
      ctx.status = 201
    })
    t.is((await site.ask('PUT', { 'if-none-match': '*' }, '/there')).status, 412)
    t.is((await site.ask('PUT', { 'if-none-match': '*' }, '/new')).status, 201)
    t.is((await site.ask('PUT', { 'if-match': '*' }, '/new')).status, 412)
  })

  test(of('PRE-04 POST with a matching If-None-Match is 412, never 304'), async t => {
    const site = await route(t, async ctx => {
      await ctx.fresh('x')
      ctx.body = 'page'
    })
    t.is((await site.ask('POST', { 'if-none-match': '"x"' })).status, 412)
  })

  test(of('PRE-05 HEAD is answered as GET'), async t => {
    const site = await route(t, async ctx => {
      await ctx.fresh('x')
      ctx.body = 'page'
    })
    t.is((await site.ask('HEAD')).headers.etag, '"x"')
    t.is((await site.ask('HEAD', { 'if-none-match': '"x"' })).status, 304)
  })

  test(of('a 412 is kept by no cache, whatever was said about the 200'), async t => {
    const site = await route(t, async ctx => {
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

  // Halting

  test(of('HLT-01 a middleware that halts keeps the next one from being entered'), async t => {
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

  test(of('HLT-02 finally runs'), async t => {
    let closed = 0
    const site = await route(t, async ctx => {
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

  test(of('HLT-03 a catch in between that answers 500 does not lose the halt'), async t => {
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

  test(of('HLT-03 a halt that was wrapped in another error is still a halt'), async t => {
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

  test(of('an error that comes after the halt is reported, the answer stays'), async t => {
    const site = await route(t, async ctx => {
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

  test(of('HLT-04 a forgotten await does not lose the halt'), async t => {
    const site = await route(t, ctx => {
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

  test(of('HLT-04 nor does one on validators that are promised late'), async t => {
    const site = await route(t, ctx => {
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

  test(of('HLT-04 nor does it hide an error'), async t => {
    for (const wrong of [() => Promise.reject(new Error('database')), () => '"']) {
      const site = await route(t, ctx => {
        // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
        ctx.fresh(wrong())
        ctx.body = 'page'
      })
      t.is((await site.get()).status, 500)
      t.is(site.errors.length, 1)
    }
  })

  test(of('an error that the route caught itself stays caught'), async t => {
    const site = await route(t, async ctx => {
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

  test(of('HLT-05 a stream that is the body already is destroyed'), async t => {
    const stream = new Readable({ read: () => undefined })
    const site = await route(t, async ctx => {
      ctx.body = stream
      await ctx.fresh('x')
    })
    const { status, headers } = await site.get({ 'if-none-match': '"x"' })
    t.is(status, 304)
    t.is(headers['content-type'], undefined)
    t.true(stream.destroyed)
    t.deepEqual(site.errors, [])
  })

  test(of('HLT-06 other headers are kept, those about content are not'), async t => {
    const site = await route(t, async ctx => {
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

  test(of('HLT-07 with halt: false the route decides'), async t => {
    const site = await route(t, async ctx => {
      ctx.body = String(await ctx.fresh('x', { halt: false }))
    })
    t.is((await site.get()).body, 'false')
    const match = await site.get({ 'if-none-match': '"x"' })
    t.is(match.status, 200)
    t.is(match.body, 'true')
    t.is((await site.ask('PUT', { 'if-match': '"y"' })).body, 'true')
  })

  test(of('HLT-08 an error of the route is left to Koa'), async t => {
    const site = await route(t, async ctx => {
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

  test(of('HLT-09 of two questions the first match counts'), async t => {
    const site = await route(t, async ctx => {
      // oxlint-disable-next-line typescript/no-floating-promises -- forgotten
      ctx.fresh('first')
      t.true(await ctx.fresh('second', { halt: false }))
      await ctx.fresh('second')
      t.fail('the route was not halted')
    })
    const { status, headers } = await site.get({ 'if-none-match': '"first", "second"' })
    t.is(status, 304)
    t.is(headers.etag, '"first"')
  })

  test(of('HLT-09 a question that did not match is followed by another'), async t => {
    const site = await route(t, async ctx => {
      t.false(await ctx.fresh('first'))
      await ctx.fresh('second')
      ctx.body = 'page'
    })
    const { status, headers } = await site.get({ 'if-none-match': '"second"' })
    t.is(status, 304)
    t.is(headers.etag, '"second"')
  })

  test(of('HLT-09 nested: the inner one answers, by its own options'), async t => {
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

  test(of('HLT-10 outside of koaHttpCache ctx.fresh is Koa’s boolean'), async t => {
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

    const without = await open(
      t,
      new Koa().use(ctx => {
        ctx.body = `${typeof ctx.fresh} ${typeof ctx.cacheControl}`
      })
    )
    t.is((await without.get()).body, 'boolean undefined')
  })

  test(of('HLT-12 another version is another ETag'), async t => {
    let version = '1'
    const site = await route(
      t,
      async ctx => {
        await ctx.fresh(ctx.path === '/dated' ? DATE : { etag: 'x', weak: ctx.path === '/weak' })
        ctx.body = 'page'
      },
      { version: () => version }
    )
    for (const path of ['/', '/weak', '/dated']) {
      version = '1'
      const { etag = '' } = (await site.get({}, path)).headers
      t.is((await site.get({ 'if-none-match': etag }, path)).status, 304, path)
      version = '2'
      const next = await site.get({ 'if-none-match': etag, 'if-modified-since': HTTP_DATE }, path)
      t.is(next.status, 200, path)
      t.not(next.headers.etag, etag)
    }
  })

  test(of('HLT-12 a version that is none is an error of the route'), async t => {
    const site = await route(t, ctx => ctx.fresh('x'), { version: () => undefined as never })
    t.is((await site.get()).status, 500)
    t.regex(site.errors[0]?.message ?? '', /version\(ctx\) must be a text, got undefined/)
  })

  const bodies: Record<string, () => unknown> = {
    text: () => 'page',
    buffer: () => Buffer.from('page'),
    JSON: () => ({ page: true })
  }
  for (const [kind, body] of Object.entries(bodies)) {
    test(of(`HLT-13 autoEtag tags ${kind} and answers conditions on it`), async t => {
      const site = await route(
        t,
        ctx => {
          ctx.body = body()
        },
        { autoEtag: true }
      )
      const { status, headers } = await site.get()
      t.is(status, 200)
      t.regex(headers.etag ?? '', /^W\/"[0-9a-f]{32}"$/)
      const again = await site.get({ 'if-none-match': headers.etag ?? '' })
      t.is(again.status, 304)
      t.is(again.headers.etag, headers.etag)
      t.is(again.headers['content-type'], undefined)
      t.is(again.body, '')
      t.is((await site.get({ 'if-match': '"y"' })).status, 412)
    })
  }

  test(of('HLT-13 autoEtag compares a Last-Modified of the route, too'), async t => {
    const site = await route(
      t,
      ctx => {
        ctx.lastModified = DATE
        ctx.body = 'page'
      },
      { autoEtag: true }
    )
    t.is((await site.get({ 'if-modified-since': HTTP_DATE })).status, 304)
  })

  test(of('HLT-13 autoEtag leaves alone what it cannot or need not tag'), async t => {
    const site = await route(
      t,
      ctx => {
        ctx.body = ctx.path === '/stream' ? Readable.from(['page']) : 'page'
        if (ctx.path === '/tagged') ctx.set('ETag', '"own"')
        if (ctx.path === '/201') ctx.status = 201
        if (ctx.path === '/empty') ctx.body = null
      },
      { autoEtag: true }
    )
    t.is((await site.get({}, '/stream')).headers.etag, undefined)
    t.is((await site.get({}, '/stream')).body, 'page')
    t.is((await site.get({ 'if-none-match': '"own"' }, '/tagged')).status, 200)
    t.is((await site.get({}, '/tagged')).headers.etag, '"own"')
    t.is((await site.get({}, '/201')).headers.etag, undefined)
    t.is((await site.get({}, '/empty')).headers.etag, undefined)
    t.is((await site.ask('POST')).headers.etag, undefined)
  })

  // Routes that answer past Koa

  test(of('a route that answers by itself is left alone'), async t => {
    const site = await route(
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

  test(of('a route that wanted to answer by itself and is halted is answered for'), async t => {
    const site = await route(t, async ctx => {
      ctx.respond = false
      await ctx.fresh('x')
      ctx.res.end('own')
    })
    t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)
  })

  test(of('a question that comes when the headers are out is false'), async t => {
    const site = await route(t, async ctx => {
      ctx.respond = false
      ctx.res.writeHead(200)
      ctx.res.end(String(await ctx.fresh('x')))
    })
    const { status, body } = await site.get({ 'if-none-match': '"x"' })
    t.is(status, 200)
    t.is(body, 'false')
  })

  test(of('trace says why'), async t => {
    const site = await route(
      t,
      async ctx => {
        if (ctx.path !== '/silent') await ctx.fresh({ etag: 'x', lastModified: DATE })
        ctx.body = 'page'
      },
      { trace: true }
    )
    const why = async (method: string, headers = {}, path = '/') =>
      (await site.ask(method, headers, path)).headers['x-http-cache']
    t.is(await why('GET', {}, '/silent'), '200: ctx.fresh was not asked')
    t.is(await why('GET'), '200: the request has no condition')
    t.is(await why('GET', { 'if-none-match': '"x"' }), '304: If-None-Match names the ETag')
    t.is(await why('PUT', { 'if-match': '"y"' }), '412: If-Match does not name the ETag')
    const silent = await route(t, ctx => ctx.fresh('x'), { trace: false })
    t.is((await silent.get()).headers['x-http-cache'], undefined)
  })
}
