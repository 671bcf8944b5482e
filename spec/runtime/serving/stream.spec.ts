// Clients that leave, connections that are shared, and none at all.
import { EventEmitter, once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import http2 from 'node:http2'
import { connect, Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import Koa, { type Context, type Middleware } from 'koa'
import compose from 'koa-compose'
import mount from 'koa-mount'
import type { Compiler } from '../../../lib/runtime/settings/compiler.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { ask as askRaw } from '../../support/raw.ts'
import { ask, listen, makeProject, makeSite, open, openDescriptors } from '../../support/index.ts'
import { test, until, type ExecutionContext, type SiteOptions } from '../../support/index.ts'
import { passOn, WAYS, GIVEN } from '../../support/ways.ts'

test('an error that no client caused reaches the application after an asset was sent', async t => {
  const mine = new Error('mine')
  const front: Middleware = async (ctx, next) => {
    ctx.res.once('finish', () => {
      ctx.onerror(mine)
      // What some middleware hand on in its place.
      ;(Object.create(ctx) as Context).onerror(mine)
    })
    await next()
  }
  const site = await makeSite(t, { '/public/a.txt': 'a' }, { front })
  for (let times = 0; times < 2; times++) t.is((await site.ask('/a.txt')).text, 'a')
  t.deepEqual(site.errors, [mine, mine, mine, mine])
})

/** One that waits until it may continue. */
function slowCompiler(compiling: EventEmitter): Compiler {
  return {
    extensions: ['.slow'],
    target: '.css',
    async compile({ code }) {
      compiling.emit('begun')
      await once(compiling, 'go on')
      return { code }
    }
  }
}

test('a client that resets its connection before the response begins is not an error', async t => {
  const compiling = new EventEmitter()
  const gone = new EventEmitter()
  const front: Middleware = (ctx, next) => {
    ctx.req.socket.once('close', () => gone.emit('close'))
    return next()
  }
  const files = { 'a.css.slow': 'a{}', '/public/b.txt': 'b' }
  const site = await makeSite(t, files, { compilers: [slowCompiler(compiling)], front })
  for (let times = 0; times < 5; times++) {
    site.write('a.css.slow', `a { times: ${times} }`)
    const [socket, begun] = [connect(site.port, '127.0.0.1'), once(compiling, 'begun')]
    socket.on('error', () => {})
    socket.write('GET /assets/a.css HTTP/1.1\r\nHost: x\r\n\r\n')
    await begun
    const closed = once(gone, 'close')
    socket.resetAndDestroy()
    await closed
    compiling.emit('go on')
  }
  t.is((await site.ask('/b.txt')).text, 'b')
  t.deepEqual(site.errors, [])
})

/** Undefined for a stream that was reset. */
async function statusOf(stream: http2.ClientHttp2Stream): Promise<unknown> {
  const [headers] = await Promise.race([once(stream, 'response'), once(stream, 'close')])
  return (headers as http2.IncomingHttpHeaders | undefined)?.[':status']
}

for (const [way, options] of WAYS.slice(0, 2)) {
  // Node resets a stream that begins while 10 MB wait to be sent on others of its session.
  test(`256 HTTP/2 streams that nobody reads leave room for more on their session, ${way}`, async t => {
    const files = { '/public/big.txt': Buffer.alloc(200_000, '0123456789') }
    const site = await makeSite(t, files, { ...options, revalidate: 60 })
    const server = http2.createServer((req, res) => void site.app.callback()(req, res))
    // Bytes of each body that are sent before the client has read any.
    const settings = { initialWindowSize: 1000 }
    const session = http2.connect(`http://127.0.0.1:${await open(t, server)}`, { settings })
    t.teardown(() => session.destroy())
    const request = () => session.request({ ':path': '/big.txt' })
    const waiting = Array.from({ length: 256 }, request)
    t.deepEqual(new Set(await Promise.all(waiting.map(statusOf))), new Set([200]))
    const more = Array.from({ length: 8 }, request)
    t.deepEqual(new Set(await Promise.all(more.map(statusOf))), new Set([200]))
    for (const { rstCode } of [...waiting, ...more]) t.is(rstCode, http2.constants.NGHTTP2_NO_ERROR)
    t.deepEqual(site.errors, [])
  })
}

test('over HTTP/2 middleware in front sees a file as a stream of bytes, which koa-json leaves alone', async t => {
  const bodies: unknown[] = []
  const front: Middleware = async (ctx, next) => {
    await next()
    bodies.push(ctx.body)
  }
  const site = await makeSite(t, { '/public/big.txt': Buffer.alloc(200_000) }, { front })
  const server = http2.createServer((req, res) => void site.app.callback()(req, res))
  const session = http2.connect(`http://127.0.0.1:${await open(t, server)}`)
  t.teardown(() => session.destroy())
  t.is(await statusOf(session.request({ ':path': '/big.txt' })), 200)
  t.like(bodies, [{ readableObjectMode: false }])
})

const TEN_THOUSAND = '0123456789'.repeat(1000)

for (const [way, maxFileBytes, ...front] of [
  ['from memory', 100_000],
  ['streamed', 100],
  ['from memory, given to Koa', 100_000, passOn],
  ['streamed, given to Koa', 100, passOn]
] as const) {
  test(`a response whose request has no connection is sent, ${way}`, async t => {
    const root = makeProject(t, { 'public/a.txt': TEN_THOUSAND })
    const app = new Koa()
    const errors: Error[] = []
    app.on('error', error => errors.push(error))
    for (const middleware of front) app.use(middleware)
    app.use(koaAssets({ root, serve: true, env: 'development', memory: { maxFileBytes } }))
    const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/a.txt' })
    // As serverless-http makes it.
    const res = new ServerResponse({ method: 'GET' } as IncomingMessage)
    const chunks: Buffer[] = []
    const sink = new PassThrough().on('data', (chunk: Buffer) => chunks.push(chunk))
    res.useChunkedEncodingByDefault = false
    res.assignSocket(sink as unknown as Socket)
    const finished = once(res, 'finish')
    await app.callback()(req, res)
    await finished
    const bytes = Buffer.concat(chunks).toString()
    t.regex(bytes, /^HTTP\/1\.1 200 OK\r\n/)
    t.true(bytes.endsWith(`\r\n\r\n${TEN_THOUSAND}`))
    t.deepEqual(errors, [])
  })
}

// Who sends a response, and what middleware in front can do with one that is given to Koa, or may have set before.

const TEXT = '0123456789'
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
/** No cache may give the failure of one request to others. */
const UNSTORED = {
  'cache-control': 'no-store',
  expires: undefined,
  'cdn-cache-control': undefined
}
const KEPT = {
  'cache-control': 'private, max-age=60',
  expires: 'Thu, 01 Jan 2026 00:00:00 GMT',
  pragma: 'no-cache',
  'content-security-policy': "default-src 'none'",
  'content-disposition': 'filename=Århus\u0080\u00ff',
  'content-location': '/b.txt',
  'x-content-type-options': 'nosniff, nosniff',
  link: '</ä.css>; rel=preload',
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

  test(`a header that was set in front stays unless it is wrong for the response, ${way}`, async t => {
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
        const kept = line.startsWith('41') ? { ...KEPT, ...UNSTORED } : KEPT
        for (const [name, value] of Object.entries(kept)) t.is(answer.headers[name], value)
        for (const [name, value] of Object.entries(DROPPED)) t.not(answer.headers[name], value)
        t.false(answer.text.includes('no such page'))
      }
    }
    t.deepEqual(site.errors, [])
  })

  test(`a body or an error of middleware in front replaces the response, ${way}`, async t => {
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

  test(`a stream that was set as body in front is closed unsent, ${way}`, async t => {
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

const setAfter: Middleware = async (ctx, next) => {
  await next()
  ctx.set('X-After', 'yes')
}

test('a middleware in front takes effect however it is registered', async t => {
  const options = { ...PRODUCTION, root: makeProject(t, { 'public/a.txt': TEXT }), serve: true }
  const join = (stack: Middleware[]) => compose([setAfter, ...stack])
  const again = koaAssets(options)
  const itself = mount('/again', compose([setAfter, again]))
  const Joining = Koa as new (options: object) => Koa
  for (const [how, app, path = '/a.txt'] of [
    ['used', new Koa().use(setAfter).use(koaAssets(options))],
    ['composed', new Koa().use(compose([setAfter, koaAssets(options)]))],
    ['wrapped', new Koa().use((ctx, next) => setAfter(ctx, async () => again(ctx, next)))],
    ['mounted', new Koa().use(setAfter).use(mount(new Koa().use(koaAssets(options))))],
    ['mounted in front of itself', new Koa().use(again).use(itself), '/again/a.txt'],
    ['joined', new Joining({ compose: join }).use(koaAssets(options))],
    ['not in front', new Koa().use(koaAssets(options)).use(setAfter)]
  ] as const) {
    const { status, text, headers } = await ask(await listen(t, app.callback()), path)
    t.deepEqual([status, text], [200, TEXT])
    t.is(headers['x-after'], how === 'not in front' ? undefined : 'yes', how)
  }
})
