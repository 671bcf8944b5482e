// Validators that nobody gave to ctx.fresh: of a route, of a middleware behind, and of the content.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import Koa, { type Context, type Middleware } from 'koa'
import conditional from 'koa-conditional-get'
import { koaHttpCache, type HttpCacheOptions } from '../../lib/koa-http-cache.ts'
import { KOAS, open, type Headers } from '../support/cached-site.ts'
import { inDevelopment } from '../support/environment.ts'
import { makeProject } from '../support/site.ts'
import { warningsAbout } from '../support/warnings.ts'

const DATE = 'Wed, 01 May 2024 10:00:00 GMT'
const EARLIER = 'Wed, 01 May 2024 09:59:59 GMT'
const HAS_V1 = { 'if-none-match': '"v1"' }

type Route = (ctx: Context) => unknown

const tagged: Route = ctx => {
  ctx.etag = 'v1'
  ctx.body = { page: true }
}

function siteOf(t: ExecutionContext, options: HttpCacheOptions, ...behind: readonly Middleware[]) {
  const app = new Koa()
  for (const each of [koaHttpCache(options), ...behind]) app.use(each)
  return open(t, app)
}

/** What ends a response that was set in each of these ways, all with the tag "v1" and the date. */
const WAYS: Readonly<Record<string, Route>> = {
  'ctx.etag and ctx.lastModified': ctx => {
    ctx.etag = 'v1'
    ctx.lastModified = new Date(DATE)
    ctx.body = 'page'
  },
  'fields of a response that was passed on': ctx => {
    ctx.set({ ETag: '"v1"', 'Last-Modified': DATE })
    ctx.status = 203
    ctx.body = Readable.from(['page'])
  },
  'Node’s own response': ctx => {
    ctx.res.setHeader('ETag', '"v1"')
    ctx.res.setHeader('Last-Modified', DATE)
    ctx.status = 204
  },
  'a web stream': ctx => {
    ctx.body = new Response('page', { headers: { ETag: '"v1"', 'Last-Modified': DATE } })
  },
  'a part': ctx => {
    ctx.set({ ETag: '"v1"', 'Last-Modified': DATE, 'Content-Range': 'bytes 0-3/8' })
    ctx.body = 'page'
    ctx.status = 206
  }
}

for (const [way, route] of Object.entries(WAYS)) {
  test(`FRS-08 with autoEtag a route’s own validators are compared: ${way}`, async t => {
    const site = await siteOf(t, { autoEtag: true }, route)
    const { status: ok, headers } = await site.get()
    t.deepEqual([headers.etag, headers['last-modified']], ['"v1"', DATE])
    t.is(Math.trunc(ok / 100), 2)
    for (const [conditions, expected] of [
      [HAS_V1, 304],
      [{ 'if-none-match': '"a", W/"v1"' }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"v2"', 'if-modified-since': DATE }, ok],
      [{ 'if-modified-since': DATE }, 304],
      [{ 'if-modified-since': EARLIER }, ok],
      [{ 'if-match': '"v1"' }, ok],
      [{ 'if-match': 'W/"v1"' }, 412],
      [{ ...HAS_V1, 'if-match': '"v2"' }, 412],
      [{ 'if-unmodified-since': DATE }, ok],
      [{ 'if-unmodified-since': EARLIER }, 412]
    ] as readonly (readonly [Headers, number])[]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await site.ask(method, conditions)
        t.is(answer.status, expected, `${method} ${JSON.stringify(conditions)}`)
        t.deepEqual([answer.headers.etag, answer.headers['last-modified']], ['"v1"', DATE])
        if (expected === 304)
          t.deepEqual([answer.body, answer.headers['content-type']], ['', undefined])
        if (expected === 412) t.is(answer.headers['cache-control'], 'no-store')
      }
    }
    t.is((await site.ask('POST', HAS_V1)).status, ok, 'only what reads')
    t.deepEqual(site.errors, [])
  })
}

test('FRS-08 a weak tag is compared weakly for a 304, and names nothing in If-Match; what is no success is not compared, nor anything without autoEtag', async t => {
  const route: Middleware = ctx => {
    ctx.etag = 'W/"v1"'
    ctx.body = 'page'
    if (ctx.path !== '/') ctx.status = Number(ctx.path.slice(1))
  }
  const site = await siteOf(t, { autoEtag: true }, route)
  t.is((await site.get(HAS_V1)).status, 304)
  t.is((await site.get({ 'if-match': '"v1"' })).status, 412)
  for (const status of [302, 404, 503]) {
    t.is((await site.get(HAS_V1, `/${status}`)).status, status)
  }
  const without = await siteOf(t, {}, route)
  const { status, headers, body } = await without.get({ ...HAS_V1, 'if-match': '"v2"' })
  t.deepEqual([status, headers.etag, body], [200, 'W/"v1"', 'page'])
})

for (const [name, AnyKoa] of KOAS) {
  test(`FRS-08 the file of a stream is closed where the response is a 304, ${name}`, async t => {
    const root = makeProject(t, { 'film.mp4': 'a film' })
    const closed: Promise<unknown>[] = []
    const app = new AnyKoa().use(koaHttpCache({ autoEtag: true })).use(ctx => {
      const stream = createReadStream(join(root, 'film.mp4'))
      closed.push(once(stream, 'close'))
      ctx.lastModified = new Date(DATE)
      ctx.body = stream
    })
    const site = await open(t, app)
    t.is((await site.get()).body, 'a film')
    const { status, body } = await site.get({ 'if-modified-since': DATE })
    t.deepEqual([status, body], [304, ''])
    t.is((await Promise.all(closed)).length, 2)
  })
}

test('FRS-08 what ctx.fresh has compared is not compared again', async t => {
  const site = await siteOf(t, { autoEtag: true }, async ctx => {
    await ctx.fresh('v1', { halt: false })
    if (ctx.path === '/changed') ctx.etag = 'v2'
    ctx.body = 'page'
  })
  t.is((await site.get(HAS_V1)).status, 200, 'the route has its own response')
  t.is((await site.get({ 'if-none-match': '"v2"' }, '/changed')).status, 200)
  const nested = await siteOf(
    t,
    { autoEtag: true, ifModifiedSince: 'before' },
    koaHttpCache({ autoEtag: true }),
    WAYS['ctx.etag and ctx.lastModified'] as Middleware
  )
  const later = { 'if-modified-since': 'Thu, 02 May 2024 10:00:00 GMT' }
  t.is((await nested.get(later)).status, 200, 'by the options of the inner one')
})

test('FRS-09 with autoEtag a route’s own date in the future, or before 1990, is not sent, and not compared', async t => {
  let date = ''
  const site = await siteOf(t, { autoEtag: true, ifModifiedSince: 'before' }, ctx => {
    ctx.set('Last-Modified', date)
    ctx.body = Readable.from(['page'])
  })
  for (const time of [Date.now() + 60_000, Date.UTC(1985, 9, 26)]) {
    date = new Date(time).toUTCString()
    for (const since of [date, DATE]) {
      const { status, headers } = await site.get({ 'if-modified-since': since })
      t.deepEqual([status, headers['last-modified']], [200, undefined])
    }
    t.is((await site.get({ 'if-unmodified-since': DATE })).status, 200)
  }
})

test('FRS-08 without autoEtag, development says once that a route’s validators are compared with nothing', async t => {
  const site = await inDevelopment(() => siteOf(t, {}, tagged))
  const missed = 'which could have been a'
  await site.get({}, '/uncompared/first')
  await site.get({ 'if-none-match': '"v2"' }, '/uncompared/first')
  t.deepEqual(warningsAbout('/uncompared'), [], 'nothing was missed yet')
  await site.get(HAS_V1, '/uncompared/page')
  await site.get(HAS_V1, '/uncompared/page')
  await site.get(HAS_V1, '/uncompared/other')
  const [said, ...more] = warningsAbout('/uncompared')
  t.deepEqual(more, [])
  t.regex(
    said ?? '',
    new RegExp(`: GET /uncompared/page has an ETag .* ${missed} 304: .*autoEtag: true.*ctx\\.fresh`)
  )
})

test('FRS-08 development says nothing where koa-conditional-get upstream compares, or nothing would', async t => {
  const app = new Koa().use(conditional())
  app.use(inDevelopment(() => koaHttpCache()))
  app.use(tagged)
  const site = await open(t, app)
  t.is((await site.get(HAS_V1, '/upstream')).status, 304)
  const versioned = await inDevelopment(() =>
    siteOf(t, { version: () => '1' }, ctx => {
      ctx.lastModified = new Date(DATE)
      ctx.body = 'page'
    })
  )
  t.is((await versioned.get({ 'if-modified-since': DATE }, '/upstream/dated')).status, 200)
  t.deepEqual(warningsAbout('/upstream'), [])
})
