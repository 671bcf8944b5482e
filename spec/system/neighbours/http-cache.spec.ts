import { Readable } from 'node:stream'
import cors from '@koa/cors'
import Koa from 'koa'
import compose from 'koa-compose'
import compress from 'koa-compress'
import session from 'koa-session'
import { koaHttpCache } from '../../../lib/index.ts'
import { open } from '../../support/cached-site.ts'
import { openTab } from '../../extras/live/tab.ts'
import { makeSite, test, until, type Site } from '../../support/index.ts'

const PAGE = 'a page that is long enough to be worth compressing. '.repeat(100)

async function page(ctx: Koa.Context): Promise<void> {
  ctx.expires(900, 'public')
  await ctx.fresh('x')
  ctx.body = PAGE
}

test('koa-session, koa-compress and @koa/cors work with a 304 and a 412 on either side of koaHttpCache', async t => {
  for (const isInFront of [true, false]) {
    const app = new Koa()
    app.keys = ['a key']
    const others = [session(app), compress(), cors()]
    const all = isInFront ? [...others, koaHttpCache()] : [koaHttpCache(), ...others]
    for (const middleware of all) app.use(middleware)
    app.use(ctx => {
      if (ctx.session) ctx.session.seen = Date.now()
      return page(ctx)
    })
    const site = await open(t, app)
    const asked = { 'accept-encoding': 'gzip', origin: 'https://other.example' }
    for (const [method, condition, status, coding] of [
      ['GET', {}, 200, 'gzip'],
      ['GET', { 'if-none-match': '"x"' }, 304, undefined],
      ['PUT', { 'if-match': '"y"' }, 412, undefined]
    ] as const) {
      const answer = await site.ask(method, { ...asked, ...condition })
      t.is(answer.status, status)
      t.is(answer.headers['content-encoding'], coding)
      t.is(answer.headers['access-control-allow-origin'], '*')
      t.regex(String(answer.headers.vary), /Accept-Encoding/)
      t.regex(String(answer.headers['set-cookie']), /koa\.sess=/)
      if (status === 304) t.is(answer.body, '')
    }
    t.deepEqual(site.errors, [])
  }
})

test('autoEtag gives a compressed page an ETag only where koa-compress is in front', async t => {
  const asked = { 'accept-encoding': 'gzip' }
  for (const isInFront of [true, false]) {
    const app = new Koa()
    const both = [compress(), koaHttpCache({ autoEtag: true })]
    for (const middleware of isInFront ? both : both.toReversed()) app.use(middleware)
    app.use(ctx => {
      if (ctx.path === '/own') ctx.etag = 'W/"own"'
      ctx.body = PAGE
    })
    const site = await open(t, app)
    for (const path of ['/', '/own']) {
      const { headers } = await site.get(asked, path)
      t.is(headers['content-encoding'], 'gzip')
      t.is(headers.etag !== undefined, isInFront || path === '/own')
      const again = await site.get({ ...asked, 'if-none-match': headers.etag ?? '"none"' }, path)
      t.is(again.status, headers.etag === undefined ? 200 : 304)
    }
    t.deepEqual(site.errors, [])
  }
})

test('koa-compress does not hold back the events of a route behind a default', async t => {
  const app = new Koa().use(compress()).use(koaHttpCache({ cacheControl: 'public' }))
  app.use(ctx => {
    ctx.type = 'text/event-stream'
    ctx.body = Readable.from([PAGE])
  })
  const { headers } = await (await open(t, app)).get({ 'accept-encoding': 'gzip' })
  t.is(headers['content-encoding'], undefined)
})

const connectionsOf = ({ server }: Site) =>
  new Promise<number>(resolve => server.getConnections((_, count) => resolve(count)))

test('middleware in front of the live channel may compress and set fields and cookies', async t => {
  const adding: Koa.Middleware = async (ctx, next) => {
    await next()
    ctx.set('X-Request', 'seen')
    ctx.cookies.set('session', 'renewed')
  }
  const front = compose([compress({ threshold: 0 }), adding])
  const site = await makeSite(t, { 'css/app.css': 'a{}' }, { front })
  const { status } = await site.ask('/assets/-/live', { method: 'HEAD' })
  t.is(status, 200)
  const tab = await openTab(t, site.port, 'use=app.css')
  await until(() => tab.told().length === 1, 'the first message')
  const { headers } = tab.answer
  t.is(headers['content-encoding'], undefined, 'events come at once')
  t.is(headers['x-request'], 'seen')
  t.regex(String(headers['set-cookie']), /^session=renewed/)
  tab.close()
  await until(async () => (await connectionsOf(site)) === 0, 'the connection is closed')
  t.deepEqual(site.errors, [])
})
