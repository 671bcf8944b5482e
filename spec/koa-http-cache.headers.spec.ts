import test from 'ava'

import { KOAS, openRoute } from './support/cached-site.ts'

const HTTP_DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'

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
}
