import test from 'ava'
import Koa from 'koa'
import mount from 'koa-mount'
import session from 'koa-session'

import { type HttpCacheOptions, koaHttpCache } from '../lib/index.ts'
import { open, openRoute } from './support/cached-site.ts'

const HTTP_DATE = 'Wed, 01 Jan 2020 00:00:00 GMT'

// ctx.cacheControl

test('CC-01 cacheControl writes the directives', async t => {
  const site = await openRoute(t, ctx => {
    ctx.cacheControl('public', { maxAge: 600 })
    ctx.body = 'page'
  })
  t.is((await site.get()).headers['cache-control'], 'public, max-age=600')
})

test('CC-06 S45 a directive that is rejected leaves the field as it was', async t => {
  const wrongs = [{ weird: 1 }, { minFresh: 1 }, { maxAge: -1 }, { extension: { x: 'a\r\nb: c' } }]
  const site = await openRoute(t, ctx => {
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

test('CC-09 of two calls the last counts', async t => {
  const site = await openRoute(t, ctx => {
    ctx.cacheControl('public', { maxAge: 600 })
    ctx.cacheControl('private')
    ctx.body = 'page'
  })
  t.is((await site.get()).headers['cache-control'], 'private')
})

test('CC-11 a target has a field of its own', async t => {
  const site = await openRoute(t, ctx => {
    ctx.cacheControl('no-cache')
    ctx.cacheControl({ target: 'CDN', maxAge: 600 })
    ctx.body = 'page'
  })
  const { headers } = await site.get()
  t.is(headers['cdn-cache-control'], 'max-age=600')
  t.is(headers['cache-control'], 'no-cache')
})

const statuses = [200, 203, 204, 206, 300, 301, 304, 308]
const others = [201, 202, 302, 303, 307, 400, 401, 403, 404, 405, 410, 412, 500, 503]
for (const status of [...statuses, ...others]) {
  const applied = statuses.includes(status)
  test(`CC-12 a default is ${applied ? '' : 'not '}applied to ${status}`, async t => {
    const site = await openRoute(
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

test('FRS-06 a default that is the header’s own text is sent as it is', async t => {
  const site = await openRoute(t, ctx => void (ctx.body = 'page'), {
    cacheControl: 'public, max-age=60'
  })
  t.is((await site.get()).headers['cache-control'], 'public, max-age=60')
})

test('CC-12 a default is applied to GET and HEAD and no other method', async t => {
  const site = await openRoute(
    t,
    ctx => {
      ctx.body = 'page'
    },
    { cacheControl: 'public', expires: '1m' }
  )
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
    const { headers } = await site.ask(method)
    const applied = method === 'GET' || method === 'HEAD'
    t.is(headers['cache-control'], applied ? 'public, max-age=60' : undefined, method)
    t.is(headers.expires !== undefined, applied, method)
  }
})

test('CC-12 a default is not applied to an error', async t => {
  for (const status of [404, 500]) {
    const site = await openRoute(t, ctx => ctx.throw(status), { cacheControl: 'public' })
    t.is((await site.get()).headers['cache-control'], undefined)
  }
})

// What shared caches may store

const personal: readonly [HttpCacheOptions, string][] = [
  [{ cacheControl: 'public' }, 'private'],
  [{ cacheControl: ['public', { maxAge: 60 }] }, 'private, max-age=60'],
  [{ cacheControl: { maxAge: 60 } }, 'private, max-age=60'],
  [{ cacheControl: ['public', { maxAge: 60, sMaxage: 600 }] }, 'private, max-age=60'],
  [{ cacheControl: ['no-cache', 'proxy-revalidate'] }, 'private, no-cache'],
  [{ cacheControl: ['public', { privateFields: ['X-User'], maxAge: 5 }] }, 'private, max-age=5'],
  [
    { cacheControl: ['must-understand', 'no-store', 'public'] },
    'private, must-understand, no-store'
  ],
  [{ cacheControl: 'public', expires: 60 }, 'private, max-age=60'],
  [{ cacheControl: 'public, max-age=60, s-maxage=600' }, 'private, max-age=60'],
  [{ expires: '1m' }, 'private, max-age=60'],
  [{ cacheControl: { target: 'CDN', maxAge: 600 } }, 'private'],
  [{ cacheControl: ['no-store'] }, 'no-store'],
  [{ cacheControl: ['private', { maxAge: 60 }] }, 'private, max-age=60']
]
for (const [options, expected] of personal) {
  test(`CC-14 CC-12 the default ${JSON.stringify(options)} for one visitor: ${expected}`, async t => {
    const site = await openRoute(
      t,
      async ctx => {
        if (ctx.path === '/cookie') ctx.cookies.set('seen', 'yes')
        await ctx.fresh('x')
        ctx.body = 'page'
      },
      options
    )
    const match = { 'if-none-match': '"x"' }
    const responses = [
      await site.get({}, '/cookie'),
      await site.get(match, '/cookie'),
      await site.get({ authorization: 'Bearer x' }),
      await site.get({ authorization: 'Bearer x', ...match }),
      await site.ask('HEAD', { authorization: 'Bearer x' }, '/cookie')
    ]
    for (const { headers } of responses) {
      t.is(headers['cache-control'], expected)
      t.is(headers.expires, undefined)
      t.is(headers['cdn-cache-control'], undefined)
    }
  })
}

for (const place of ['further in', 'in front']) {
  test(`FRS-05 a default is private once a cookie was read ${place}, by whatever way`, async t => {
    const reads: Record<string, (ctx: Koa.Context) => unknown> = {
      '/get': ctx => ctx.cookies.get('user'),
      '/signed': ctx => ctx.cookies.get('user', { signed: true }),
      '/session': ctx => ctx.session,
      '/after-set': ctx => {
        ctx.cookies.set('seen', 'yes')
        ctx.res.removeHeader('Set-Cookie')
        ctx.cookies.get('user')
      },
      '/mounted': () => undefined,
      '/none': () => undefined,
      '/set': ctx => {
        ctx.cookies.set('seen', 'yes')
        ctx.res.removeHeader('Set-Cookie')
      }
    }
    const app = new Koa()
    app.keys = ['a key']
    if (place === 'in front') app.use(session(app))
    if (place === 'in front') app.use((ctx, next) => (reads[ctx.path]?.(ctx), next()))
    app.use(koaHttpCache({ cacheControl: 'public, max-age=60', expires: 60, trace: true }))
    if (place === 'further in') app.use(session(app))
    app.use(mount('/mounted', ctx => void (ctx.body = ctx.cookies.get('user') ?? '')))
    app.use(async ctx => {
      if (place === 'further in') reads[ctx.path]?.(ctx)
      await ctx.fresh('x')
      ctx.body = `hello ${ctx.cookies.constructor.name}`
    })
    const site = await open(t, app)
    // The first request of a process as well.
    for (const [path, match] of [
      ...Object.keys(reads).map(path => [path, {}] as const),
      ['/get', { 'if-none-match': '"x"' }],
      ['/none', { 'if-none-match': '"x"' }]
    ] as const) {
      const isRead = path !== '/none' && path !== '/set'
      for (const cookie of [{}, { cookie: 'user=alice' }]) {
        const { headers } = await site.get({ ...match, ...cookie }, path)
        const expected = isRead ? 'private, max-age=60' : 'public, max-age=60'
        t.is(headers['cache-control'], expected, path)
        t.is(headers.expires !== undefined, !isRead)
        t.is(headers.vary, undefined)
        const reason = String(headers['x-http-cache'])
        t.is(reason.endsWith('for one visitor: the route read a cookie'), isRead, reason)
      }
    }
    t.deepEqual(site.errors, [])
  })
}

test('FRS-05 the cookies that an upstream middleware held since the first request', async t => {
  const app = new Koa()
  app.use(async (ctx, next) => {
    const { cookies } = ctx
    ctx.state.user = cookies.get('user')
    await next()
  })
  app.use(koaHttpCache({ cacheControl: 'public' }))
  app.use(ctx => {
    ctx.body = `hello ${ctx.state.user}`
  })
  const site = await open(t, app)
  for (const user of ['alice', 'bob']) {
    const { headers, body } = await site.get({ cookie: `user=${user}` })
    t.is(body, `hello ${user}`)
    t.is(headers['cache-control'], 'private')
  }
})

test('FRS-05 what was read stays what it is without koaHttpCache', async t => {
  const app = new Koa()
  app.keys = ['a key']
  app.use(koaHttpCache())
  app.use(ctx => {
    const { cookies } = ctx
    if (ctx.path === '/own') ctx.cookies = { get: (name: string) => `own ${name}` } as never
    if (ctx.path === '/set') ctx.cookies.set('user', 'alice', { signed: true })
    ctx.body = {
      user: ctx.cookies.get('user', { signed: ctx.path !== '/plain' }) ?? null,
      isSame: cookies === ctx.cookies
    }
  })
  const site = await open(t, app)
  const set = (await site.get({}, '/set')).headers['set-cookie'] ?? []
  const cookie = set.map(each => each.replace(/;.*/, '')).join('; ')
  const read = async (path: string, cookie: string) =>
    JSON.parse((await site.get({ cookie }, path)).body) as unknown
  t.deepEqual(await read('/', cookie), { user: 'alice', isSame: true })
  t.deepEqual(await read('/', 'user=alice'), { user: null, isSame: true })
  t.deepEqual(await read('/plain', 'user=alice'), { user: 'alice', isSame: true })
  t.deepEqual(await read('/own', 'user=alice'), { user: 'own user', isSame: false })
})

test('FRS-05 a default with shared cookies may be read and stays public', async t => {
  const site = await openRoute(
    t,
    ctx => {
      ctx.body = ctx.cookies.get('theme') ?? 'page'
    },
    { cacheControl: ['public', { cookies: 'shared' }] }
  )
  t.is((await site.get({ cookie: 'theme=dark' })).headers['cache-control'], 'public')
})

test('FRS-05 a cookie read between two koaHttpCache, or inside the inner one', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use(async (ctx, next) => {
    await next()
    if (ctx.path === '/between') ctx.cookies.get('user')
  })
  app.use(koaHttpCache({ cacheControl: 'public', expires: 60 }))
  app.use(ctx => {
    if (ctx.path === '/inside') ctx.cookies.get('user')
    if (ctx.path === '/own') ctx.cacheControl('public', { maxAge: Number(!ctx.cookies.get('a')) })
    ctx.body = 'page'
  })
  const site = await open(t, app)
  const expected = {
    '/': 'public, max-age=60',
    '/between': 'private, max-age=60',
    '/inside': 'private, max-age=60',
    '/own': 'public, max-age=1'
  }
  for (const [path, value] of Object.entries(expected)) {
    t.is((await site.get({}, path)).headers['cache-control'], value, path)
  }
})

test('CC-14 a default with shared cookies is sent as written, but not to Authorization', async t => {
  const site = await openRoute(
    t,
    ctx => {
      ctx.cookies.set('seen', 'yes')
      ctx.body = 'page'
    },
    { cacheControl: ['public', { cookies: 'shared' }] }
  )
  t.is((await site.get()).headers['cache-control'], 'public')
  t.is((await site.get({ authorization: 'Bearer x' })).headers['cache-control'], 'private')
})

test('CC-14 CC-15 the outer of two koaHttpCache sees what was set between them', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use(async (ctx, next) => {
    await next()
    if (ctx.path === '/cookie') ctx.cookies.set('seen', 'yes')
    if (ctx.path === '/fails') ctx.status = 500
    if (ctx.path === '/throws') throw new Error('database')
    if (ctx.path === '/by-hand') {
      ctx.cookies.set('seen', 'yes')
      ctx.set('Cache-Control', 'public, max-age=5')
    }
  })
  app.use(koaHttpCache({ cacheControl: 'public', expires: 60 }))
  app.use(ctx => {
    ctx.body = 'page'
  })
  const site = await open(t, app)
  const expected = {
    '/': 'public, max-age=60',
    '/cookie': 'private, max-age=60',
    '/fails': 'no-store',
    '/throws': 'no-store',
    '/by-hand': 'public, max-age=5'
  }
  for (const [path, value] of Object.entries(expected)) {
    const { headers } = await site.get({}, path)
    t.is(headers['cache-control'], value, path)
    t.is(headers.expires !== undefined, path === '/', path)
  }
})

test('CC-13 a targeted field of the route is not overwritten either', async t => {
  const site = await openRoute(
    t,
    ctx => {
      if (ctx.path === '/edge') ctx.cacheControl({ target: 'CDN', maxAge: 5 })
      ctx.body = 'page'
    },
    { cacheControl: { target: 'CDN', maxAge: 600 } }
  )
  t.is((await site.get({}, '/edge')).headers['cdn-cache-control'], 'max-age=5')
  t.is((await site.get()).headers['cdn-cache-control'], 'max-age=600')
})

test('CC-14 a route may write public for a request with Authorization', async t => {
  const site = await openRoute(
    t,
    ctx => {
      ctx.cacheControl('public')
      ctx.body = 'page'
    },
    { cacheControl: 'private' }
  )
  t.is((await site.get({ authorization: 'Bearer x' })).headers['cache-control'], 'public')
})

const written = (ctx: Koa.Context): void => {
  ctx.expires(900, 'public')
  ctx.cacheControl({ target: 'CDN', maxAge: 600 })
  ctx.set('X-Other', 'kept')
}
const failing = Object.freeze(Object.assign(new Error('frozen'), { status: 503 }))
const failures: Record<string, (ctx: Koa.Context) => void> = {
  'that the route responds': ctx => {
    ctx.status = 500
  },
  'that is thrown': ctx => ctx.throw(503, 'busy', { expose: false }),
  'that is thrown without a status': () => {
    throw new Error('database')
  },
  'that is thrown without being an error': () => {
    // oxlint-disable-next-line typescript/only-throw-error -- people do
    throw 'database'
  },
  'that is thrown frozen': () => {
    throw failing
  }
}
for (const [kind, fail] of Object.entries(failures)) {
  // Koa itself writes on the error, so that a frozen one never becomes a response of its.
  const places = kind.includes('frozen') ? [] : ['nowhere']
  for (const place of [...places, 'in front', 'further in']) {
    test(`CC-15 S56 a failure ${kind}, rendered ${place}, is not stored by any cache`, async t => {
      const app = new Koa()
      const render: Koa.Middleware = async (ctx, next) => {
        try {
          await next()
        } catch {
          ctx.status = 500
          ctx.body = 'sorry'
        }
      }
      if (place === 'in front') app.use(render)
      app.use(koaHttpCache({ cacheControl: 'public', expires: 60 }))
      if (place === 'further in') app.use(render)
      app.use(ctx => {
        written(ctx)
        fail(ctx)
      })
      const site = await open(t, app)
      const { status, headers } = await site.get()
      t.true(status >= 500)
      // What is not an error cannot carry a field for Koa, which drops every other one.
      const isUntold = place === 'nowhere' && kind.includes('without being')
      t.is(headers['cache-control'], isUntold ? undefined : 'no-store')
      t.is(headers.expires, undefined)
      t.is(headers['cdn-cache-control'], undefined)
      const koaDrops = place === 'nowhere' && kind !== 'that the route responds'
      t.is(headers['x-other'], koaDrops ? undefined : 'kept')
    })
  }
}

test('CC-15 fields that were written for the failure itself are kept', async t => {
  const site = await openRoute(t, ctx => {
    written(ctx)
    if (ctx.path === '/thrown') {
      ctx.throw(503, 'busy', { headers: { 'cache-control': 'public, max-age=5' } })
    }
    ctx.status = 503
    if (ctx.path === '/by-hand') ctx.set('Cache-Control', 'public, max-age=5')
    else ctx.cacheControl('public', { maxAge: 5 })
  })
  for (const path of ['/', '/by-hand', '/thrown']) {
    const { headers } = await site.get({}, path)
    t.is(headers['cache-control'], 'public, max-age=5', path)
    t.is(headers.expires, undefined, path)
    t.is(headers['cdn-cache-control'], undefined, path)
  }
})

test('CC-15 a failure without fields of ctx.cacheControl is left alone', async t => {
  const site = await openRoute(t, ctx => {
    if (ctx.path === '/thrown') throw new Error('database')
    ctx.set('Cache-Control', 'public, max-age=5')
    ctx.status = 500
  })
  t.is((await site.get()).headers['cache-control'], 'public, max-age=5')
  t.is((await site.get({}, '/thrown')).headers['cache-control'], undefined)
})

test('CC-13 fields of the route are not overwritten', async t => {
  const options = { cacheControl: 'public', expires: 60 } as const
  const cacheControl = await openRoute(
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
  const expires = await openRoute(
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

test('calling a context method outside of koaHttpCache is an error', async t => {
  const methods: Record<string, (ctx: Koa.Context) => unknown> = {
    cacheControl: ctx => ctx.cacheControl('public'),
    expires: ctx => ctx.expires(60),
    cacheGroups: ctx => ctx.cacheGroups('books'),
    invalidateCacheGroups: ctx => ctx.invalidateCacheGroups('books'),
    fresh: ctx => ctx.fresh('x')
  }
  for (const [name, call] of Object.entries(methods)) {
    for (const place of ['before', 'after']) {
      const app = new Koa()
      app.use(async (ctx, next) => {
        if (place === 'before' && ctx.path !== '/fine') await call(ctx)
        await next()
        if (place === 'after' && ctx.path !== '/fine') await call(ctx)
      })
      app.use(koaHttpCache())
      app.use(ctx => {
        ctx.body = 'page'
      })
      const site = await open(t, app)
      t.is((await site.get()).status, 500)
      t.is((await site.get({}, '/fine')).status, 200)
      t.is((await site.get()).status, 500)
      const { headers } = await site.get()
      t.is(headers['cache-control'], undefined)
      // Koa's own ctx.fresh is a boolean there, which cannot name anything.
      const expected = name === 'fresh' ? /fresh is not a function/ : /ctx\.\w+ .*koaHttpCache/
      t.regex(site.errors.at(-1)?.message ?? '', expected)
    }
  }
})

// ctx.expires

test('EXP-01 EXP-05 expires writes both headers, by the clock of the server', async t => {
  const site = await openRoute(t, ctx => {
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
