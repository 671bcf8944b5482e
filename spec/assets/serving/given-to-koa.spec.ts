// Who sends a response, and what middleware in front can do with one that is given to Koa, or may have set before.
import test, { type ExecutionContext } from 'ava'
import Koa, { type Context, type Middleware } from 'koa'
import compose from 'koa-compose'
import mount from 'koa-mount'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { ask } from '../../support/ask.ts'
import { openDescriptors } from '../../support/descriptors.ts'
import { listen } from '../../support/front.ts'
import { ask as askRaw } from '../../support/raw.ts'
import { makeProject, makeSite, type SiteOptions } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { GIVEN, passOn } from '../../support/ways.ts'

const TEXT = '0123456789'
const FILES = { 'public/a.txt': TEXT }
const PRODUCTION = { env: 'production', compile: false, fingerprint: false } as const

/** A site with something in front that looks at the context once koaAssets has returned. */
const makeWatched = (t: ExecutionContext, options: SiteOptions, after: (ctx: Context) => void) => {
  const front: Middleware = async (ctx, next) => {
    await next()
    after(ctx)
  }
  return makeSite(t, { '/public/a.txt': TEXT }, { ...PRODUCTION, ...options, front })
}

const CONDITIONS = [{}, { range: 'bytes=0-3' }, { 'if-none-match': '*' }, { 'if-match': '"x"' }]
const KEPT = {
  'cache-control': 'private, max-age=60',
  expires: 'Thu, 01 Jan 2026 00:00:00 GMT',
  pragma: 'no-cache',
  'content-security-policy': "default-src 'none'",
  'content-disposition': 'attachment',
  'content-location': '/b.txt',
  'x-content-type-options': 'nosniff, nosniff',
  link: '</a.css>; rel=preload',
  'cdn-cache-control': 'max-age=5',
  vary: 'Origin'
}
const DROPPED = {
  'content-type': 'text/x-default',
  'content-language': 'x-default',
  'content-encoding': 'x-default',
  'content-range': 'bytes 0-1/9999',
  'content-length': '9999',
  'content-digest': 'sha-256=:AAAA:',
  'repr-digest': 'sha-256=:AAAA:',
  'accept-ranges': 'none',
  etag: '"default"',
  'last-modified': 'Sat, 01 Jan 2000 00:00:00 GMT'
}

for (const [way, options] of GIVEN) {
  test(`a middleware in front sees status, type, length, validators and body, ${way}`, async t => {
    const seen: unknown[] = []
    const site = await makeWatched(t, options, ctx => {
      const { status, type, length, etag, lastModified, body } = ctx.response
      const kind = Buffer.isBuffer(body) ? 'buffer' : (body && 'stream') || body
      seen.push([status, type, length, etag !== '' && lastModified !== undefined, kind])
    })
    const content = way.startsWith('from memory') ? 'buffer' : 'stream'
    for (const headers of CONDITIONS) await site.ask('/a.txt', { headers })
    await site.ask('/a.txt', { headers: { range: 'bytes=10-' } })
    await site.ask('/a.txt', { method: 'HEAD' })
    t.deepEqual(seen, [
      [200, 'text/plain', 10, true, content],
      [206, 'text/plain', 4, true, content],
      [304, '', undefined, true, null],
      [412, '', 0, false, null],
      [416, '', 0, false, null],
      [200, 'text/plain', 10, true, null]
    ])
  })

  test(`NBR-01 NBR-03 what was set in front stays unless it describes the content, ${way}`, async t => {
    /** A page for every other path. */
    const front: Middleware = (ctx, next) => {
      ctx.status = 404
      ctx.body = 'no such page'
      ctx.set({ ...KEPT, ...DROPPED })
      return next()
    }
    const site = await makeSite(t, {}, { ...PRODUCTION, ...options, front })
    // The epoch stands for "unknown": no Last-Modified of ours takes the place of the default's.
    site.write('/public/a.txt', TEXT, 0)
    const etag = String((await site.ask('/a.txt')).headers.etag)
    t.regex(etag, /^"[^"]+"$/)
    for (const [line, headers] of [
      ['200 OK', {}],
      ['206 Partial Content', { Range: 'bytes=0-3' }],
      ['304 Not Modified', { 'If-None-Match': etag }],
      ['412 Precondition Failed', { 'If-Match': '"another"' }],
      ['416 Range Not Satisfiable', { Range: 'bytes=100-' }]
    ] as const) {
      for (const method of /^(?:2|416)/.test(line) ? ['GET'] : ['GET', 'HEAD']) {
        const answer = await askRaw(site.port, method, '/a.txt', headers)
        t.is(answer.statusLine, `HTTP/1.1 ${line}`)
        for (const [name, value] of Object.entries(KEPT)) t.is(answer.headers[name], value)
        for (const [name, value] of Object.entries(DROPPED)) t.not(answer.headers[name], value)
        t.false(answer.text.includes('no such page'))
      }
    }
    t.deepEqual(site.errors, [])
  })

  test(`a body that is replaced in front, or an error there, is the response, and the file is closed, ${way}`, async t => {
    const mine = Object.assign(new Error('mine'), { status: 503, expose: true })
    const bodies: unknown[] = ['replaced', null, { a: 1 }]
    const site = await makeWatched(t, options, ctx => {
      if (bodies.length === 0) throw mine
      ctx.body = bodies.shift()
    })
    for (const expected of ['200 replaced', '204 ', '200 {"a":1}']) {
      const { status, text } = await site.ask('/a.txt')
      t.is(`${status} ${text}`, expected)
    }
    const { status, text, headers } = await site.ask('/a.txt')
    t.deepEqual([status, text, headers.etag], [503, 'mine', undefined])
    await until(() => openDescriptors(site.root) === 0, 'every file is closed')
    t.deepEqual(site.errors, [mine])
  })

  test(`a default body that is a stream is not sent, and is closed, ${way}`, async t => {
    const front: Middleware = async (ctx, next) => {
      const { createReadStream } = await import('node:fs')
      ctx.body = createReadStream(import.meta.filename)
      await next()
    }
    const site = await makeSite(t, { '/public/a.txt': TEXT }, { ...PRODUCTION, ...options, front })
    const { text, headers } = await site.ask('/a.txt')
    t.deepEqual([text, headers['content-length']], [TEXT, '10'])
    await until(() => openDescriptors(import.meta.filename) === 0, 'the default body is closed')
    t.deepEqual(site.errors, [])
  })
}

/** Whether a middleware in front can still set a field when koaAssets has returned. */
async function reachesFront(t: ExecutionContext, app: Koa, path = '/a.txt'): Promise<boolean> {
  const { status, text, headers } = await ask(await listen(t, app.callback()), path)
  t.deepEqual([status, text], [200, TEXT])
  return headers['x-after'] === 'yes'
}

const setAfter: Middleware = async (ctx, next) => {
  await next()
  ctx.set('X-After', 'yes')
}

test('a middleware in front takes effect however it is registered: used, composed, wrapped, joined, mounted', async t => {
  const options = { ...PRODUCTION, root: makeProject(t, FILES), serve: true }
  const apps: Record<string, (app: Koa) => Koa> = {
    used: app => app.use(setAfter).use(koaAssets(options)),
    composed: app => app.use(compose([setAfter, koaAssets(options)])),
    wrapped(app) {
      const assets = koaAssets(options)
      return app.use((ctx, next) => setAfter(ctx, () => Promise.resolve(assets(ctx, next))))
    },
    'mounted as an application': app =>
      app.use(setAfter).use(mount(new Koa().use(koaAssets(options)))),
    'mounted in front of itself'(app) {
      const assets = koaAssets(options)
      return app.use(assets).use(mount('/again', compose([setAfter, assets])))
    }
  }
  for (const [how, use] of Object.entries(apps)) {
    const path = how.endsWith('itself') ? '/again/a.txt' : '/a.txt'
    t.true(await reachesFront(t, use(new Koa()), path), how)
  }
  const join = (stack: Middleware[]) => compose([setAfter, ...stack])
  const joined = new (Koa as new (options: object) => Koa)({ compose: join })
  t.true(await reachesFront(t, joined.use(koaAssets(options))), 'joined')
  t.false(await reachesFront(t, new Koa().use(koaAssets(options)).use(setAfter)), 'behind')
})

test('a client that has left before the file is opened is logged with the status of the file', async t => {
  const seen: unknown[] = []
  const front: Middleware = async (ctx, next) => {
    ctx.req.socket.destroy()
    await passOn(ctx, next)
    seen.push([ctx.status, ctx.body])
  }
  const memory = { maxFileBytes: 0 }
  const site = await makeSite(t, { '/public/a.txt': TEXT }, { ...PRODUCTION, memory, front })
  await t.throwsAsync(site.ask('/a.txt'))
  await until(() => seen.length > 0, 'koaAssets has returned')
  await until(() => openDescriptors(site.root) === 0, 'the file is closed')
  t.deepEqual([seen, site.errors], [[[200, null]], []])
})
