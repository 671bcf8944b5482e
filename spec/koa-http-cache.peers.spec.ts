// Interoperation with common middleware, upstream and downstream.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:http2'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

import cors from '@koa/cors'
import etag from '@koa/etag'
import { Router } from '@koa/router'
import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'
import compress from 'koa-compress'
import conditional from 'koa-conditional-get'
import helmet from 'koa-helmet'
import mount from 'koa-mount'
import session from 'koa-session'
import staticCache from 'koa-static-cache'

import { koaHttpCache } from '../lib/index.ts'
import { KOAS, open, openRoute, type Headers } from './support/cached-site.ts'
import { cases } from './support/soak.ts'

const PAGE = 'a page that is long enough to be worth compressing. '.repeat(100)

function directoryOf(t: ExecutionContext, files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'http-cache-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  return directory
}

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
    await ctx.fresh(Promise.resolve({ etag: 'x', lastModified: DATE }))
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

test('HLT-11 koa-static-cache works upstream, and is a 500 downstream', async t => {
  const directory = directoryOf(t, { 'app.css': 'body{}' })
  const front = new Koa()
  front.use(staticCache(directory))
  front.use(koaHttpCache())
  front.use(page)
  const site = await open(t, front)
  const file = await site.get({}, '/app.css')
  t.is(file.status, 200)
  t.is(file.body, 'body{}')
  const since = { 'if-modified-since': file.headers['last-modified'] ?? '' }
  t.is((await site.get(since, '/app.css')).status, 304)
  t.is((await site.get({ 'if-none-match': '"x"' })).status, 304)

  const behind = new Koa()
  behind.use(koaHttpCache())
  behind.use(staticCache(directory))
  const wrong = await open(t, behind)
  t.is((await wrong.get({}, '/app.css')).status, 500)
  t.regex(wrong.errors[0]?.message ?? '', /koa-static-cache/)
})

test('a 304 that the route sets itself is sent', async t => {
  const site = await openRoute(
    t,
    async ctx => {
      await ctx.fresh('y')
      ctx.status = 304
    },
    {}
  )
  t.is((await site.get()).status, 304)
})

test('@koa/router: on the application, on the router, on one route', async t => {
  const app = new Koa()
  const cached = new Router()
  cached.use(koaHttpCache())
  cached.get('/router', page)
  const other = new Router()
  other.get('/route', koaHttpCache({ cacheControl: 'no-cache' }), async ctx => {
    await ctx.fresh('x')
    ctx.body = PAGE
  })
  other.get('/none', ctx => {
    ctx.body = typeof ctx.fresh
  })
  app.use(cached.routes()).use(other.routes()).use(other.allowedMethods())
  const site = await open(t, app)
  for (const path of ['/router', '/route']) {
    t.is((await site.get({}, path)).status, 200, path)
    t.is((await site.get({ 'if-none-match': '"x"' }, path)).status, 304, path)
  }
  t.is((await site.get({}, '/route')).headers['cache-control'], 'no-cache')
  t.is((await site.get({}, '/none')).body, 'boolean')
  t.is((await site.ask('DELETE', {}, '/route')).status, 405)
})

test('koa-mount: an application in an application, cached from outside or inside', async t => {
  const inner = new Koa()
  inner.use(koaHttpCache({ cacheControl: 'private' }))
  inner.use(async ctx => {
    await ctx.fresh('inner')
    ctx.body = ctx.path
  })
  const plain = new Koa().use(page)
  const app = new Koa()
  app.use(mount('/inner', inner))
  app.use(koaHttpCache())
  app.use(mount('/plain', plain))
  const site = await open(t, app)
  const first = await site.get({}, '/inner/a')
  t.is(first.body, '/a')
  t.is(first.headers['cache-control'], 'private')
  t.is((await site.get({ 'if-none-match': '"inner"' }, '/inner/a')).status, 304)
  t.is((await site.get({}, '/plain')).body, PAGE)
  t.is((await site.get({ 'if-none-match': '"x"' }, '/plain')).status, 304)
})

test('FRS-01 a 304 carries no policy of koa-helmet with a nonce, any other stays', async t => {
  const policies: Record<string, boolean> = {
    "script-src 'self'": true,
    "script-src 'nonce-4f'": false,
    "default-src 'self'; script-src 'self' 'NONCE-4f'": false
  }
  const names = ['content-security-policy', 'content-security-policy-report-only'] as const
  for (const [policy, stays] of Object.entries(policies)) {
    const app = new Koa()
    app.use(helmet())
    app.use(koaHttpCache({ autoEtag: true }))
    app.use(async ctx => {
      for (const name of names) ctx.set(name, policy)
      if (ctx.path === '/by-itself') ctx.status = 304
      else if (ctx.path !== '/content') await ctx.fresh('x')
      ctx.body = PAGE
    })
    const site = await open(t, app)
    const { etag = '' } = (await site.get({}, '/content')).headers
    for (const path of ['/', '/content', '/by-itself']) {
      const { status, headers } = await site.get({ 'if-none-match': `${etag}, "x"` }, path)
      t.is(status, 304, path)
      for (const name of names) t.is(headers[name], stays ? policy : undefined, path)
      t.is(headers['x-frame-options'], 'SAMEORIGIN')
    }
    for (const headers of [{}, { 'if-match': '"y"' }]) {
      for (const name of names) t.is((await site.get(headers)).headers[name], policy)
    }
  }
  const nonces = ["script-src 'self'", "script-src 'nonce-4f'"]
  const listed = await openRoute(
    t,
    async ctx => {
      ctx.set('Content-Security-Policy', nonces)
      await ctx.fresh('x')
    },
    {}
  )
  const { headers } = await listed.get({ 'if-none-match': '"x"' })
  t.is(headers['content-security-policy'], undefined)
})

for (const place of ['in front', 'further in']) {
  const between = (app: Koa, middleware: Koa.Middleware) => {
    if (place === 'in front') app.use(middleware).use(koaHttpCache())
    else app.use(koaHttpCache()).use(middleware)
  }

  test(`koa-session ${place} still sets its cookie on a 304`, async t => {
    const app = new Koa()
    app.keys = ['a key']
    between(app, session(app))
    app.use(async ctx => {
      if (ctx.session) ctx.session.seen = Date.now()
      await ctx.fresh('x')
      ctx.body = PAGE
    })
    const site = await open(t, app)
    for (const headers of [{}, { 'if-none-match': '"x"' }]) {
      const answer = await site.get(headers)
      t.is(answer.status, 'if-none-match' in headers ? 304 : 200)
      t.regex(String(answer.headers['set-cookie']), /koa\.sess=/)
    }
    t.deepEqual(site.errors, [])
  })

  test(`koa-compress ${place} compresses the 200 and leaves the 304 empty`, async t => {
    const app = new Koa()
    between(app, compress())
    app.use(page)
    const site = await open(t, app)
    const gzip = { 'accept-encoding': 'gzip' }
    t.is((await site.get(gzip)).headers['content-encoding'], 'gzip')
    const { status, headers, body } = await site.get({ ...gzip, 'if-none-match': '"x"' })
    t.is(status, 304)
    t.is(headers['content-encoding'], undefined)
    t.is(headers.vary, 'Accept-Encoding')
    t.is(headers.etag, '"x"')
    t.is(body, '')
  })

  test(`@koa/cors ${place} keeps its headers on 304 and 412`, async t => {
    const app = new Koa()
    between(app, cors())
    app.use(page)
    const site = await open(t, app)
    const origin = { origin: 'https://other.example' }
    const seen = await site.get({ ...origin, 'if-none-match': '"x"' })
    t.is(seen.status, 304)
    t.is(seen.headers['access-control-allow-origin'], '*')
    const lost = await site.ask('PUT', { ...origin, 'if-match': '"y"' })
    t.is(lost.status, 412)
    t.is(lost.headers['access-control-allow-origin'], '*')
    t.deepEqual(site.errors, [])
  })
}

test('a web stream that was set as the body is cancelled', async t => {
  let cancelled = 0
  const site = await openRoute(t, async ctx => {
    const stream = new ReadableStream({
      cancel() {
        cancelled++
        if (ctx.path === '/fails') throw new Error('cannot cancel')
      }
    })
    ctx.body = ctx.path === '/response' ? new Response(stream) : stream
    await ctx.fresh('x')
  })
  for (const path of ['/', '/response', '/fails']) {
    const { status, body } = await site.get({ 'if-none-match': '"x"' }, path)
    t.is(status, 304)
    t.is(body, '')
  }
  t.is(cancelled, 3)
  t.deepEqual(
    site.errors.map(error => error.message),
    ['cannot cancel']
  )
})

test('200, 304 and 412 are the same over HTTP/2 as over HTTP/1', async t => {
  const app = new Koa()
  app.use(koaHttpCache())
  app.use(page)
  const handle = app.callback()
  const server = createServer((req, res) => void handle(req as never, res as never))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.teardown(() => {
    client.close()
    server.close()
  })
  const ask = async (headers: Record<string, string>) => {
    const stream = client.request({ ':path': '/', ...headers })
    const [answer] = (await once(stream, 'response')) as [Record<string, string | number>]
    return { status: answer[':status'], headers: answer, body: await text(stream) }
  }
  const first = await ask({})
  t.is(first.status, 200)
  t.is(first.headers.etag, '"x"')
  t.is(first.body, PAGE)
  const again = await ask({ 'if-none-match': '"x"' })
  t.is(again.status, 304)
  t.is(again.headers['cache-control'], 'public, max-age=900')
  t.is(again.headers['content-type'], undefined)
  t.is(again.body, '')
  const failed = await ask({ 'if-match': '"y"' })
  t.is(failed.status, 412)
  t.is(failed.headers['cache-control'], 'no-store')
})
