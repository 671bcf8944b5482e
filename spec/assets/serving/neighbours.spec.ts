// The middleware that people use with koaAssets, in front of it: each does what it does for `ctx.body = buffer`.
import { once } from 'node:events'
import { connect } from 'node:net'
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib'
import cors from '@koa/cors'
import newEtag from '@koa/etag'
import Router from '@koa/router'
import test, { type ExecutionContext } from 'ava'
import type { Middleware } from 'koa'
import compose from 'koa-compose'
import compress from 'koa-compress'
import conditional from 'koa-conditional-get'
import oldEtag from 'koa-etag'
import helmet from 'koa-helmet'
import logger from 'koa-logger'
import responseTime from 'koa-response-time'
import session from 'koa-session'
import { koaHttpCache } from '../../../lib/koa-http-cache.ts'
import type { Answer } from '../../support/ask.ts'
import { openDescriptors } from '../../support/descriptors.ts'
import { makeSite, type SiteOptions } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { GIVEN } from '../../support/ways.ts'

const TEXT = 'body { color: red }\n'.repeat(200)
const COPIED = 'body { color: blue }\n'.repeat(200)
const BR = brotliCompressSync(COPIED)
const FILES = {
  '/public/a.css': TEXT,
  '/public/assets/b.css': COPIED,
  '/public/assets/b.css.br': BR,
  '/public/one.css': 'a{}'
}
const PRODUCTION = { env: 'production', compile: false, fingerprint: false } as const

async function makeWith(t: ExecutionContext, options: SiteOptions) {
  const site = await makeSite(t, FILES, { ...PRODUCTION, ...options })
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    site.ask(path, { headers, method })
  return { ...site, get }
}

type SiteWith = Awaited<ReturnType<typeof makeWith>>

/** A response of each kind, by its status; `head` is that to HEAD. */
async function everyKind({ get }: SiteWith): Promise<ReadonlyMap<number | 'head', Answer>> {
  const { headers } = await get('/a.css')
  const etag = headers.etag ?? ''
  const answers: [number | 'head', Answer][] = [
    [200, await get('/a.css')],
    [206, await get('/a.css', { range: 'bytes=1-4' })],
    [304, await get('/a.css', { 'if-none-match': etag })],
    [412, await get('/a.css', { 'if-match': '"x"' })],
    [416, await get('/a.css', { range: 'bytes=99999-' })],
    ['head', await get('/a.css', {}, 'HEAD')]
  ]
  return new Map(answers)
}

/** Each kind has its status and its content, whatever is in front. */
function areIntact(t: ExecutionContext, answers: ReadonlyMap<number | 'head', Answer>): void {
  for (const [kind, { status, text, headers }] of answers) {
    t.is(status, kind === 'head' ? 200 : kind)
    t.is(text, kind === 200 ? TEXT : kind === 206 ? TEXT.slice(1, 5) : '')
    const length = { 200: TEXT.length, head: TEXT.length, 206: 4, 304: undefined }
    const expected = kind in length ? length[kind as keyof typeof length] : 0
    t.is(headers['content-length'], expected?.toString())
    t.is(headers['transfer-encoding'], undefined)
  }
}

const settle = async (t: ExecutionContext, { root, errors }: SiteWith) => {
  await until(() => openDescriptors(root) === 0, 'every file is closed')
  t.deepEqual(errors, [])
}

for (const [way, options] of GIVEN) {
  test(`NBR-04 koa-response-time measures every response, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: responseTime() })
    const answers = await everyKind(site)
    areIntact(t, answers)
    for (const { headers } of answers.values())
      t.regex(String(headers['x-response-time']), /^\d+ms$/)
    await settle(t, site)
  })

  for (const what of ['rolling', 'changed on each request']) {
    test(`NBR-04 koa-session, ${what}, sets its cookie with every response, ${way}`, async t => {
      const stack: Middleware[] = []
      const front: Middleware = (ctx, next) => compose(stack)(ctx, next)
      const site = await makeWith(t, { ...options, front })
      stack.push(session({ signed: false, rolling: what === 'rolling' }, site.app))
      stack.push((ctx, next) => {
        const visits = (ctx.session?.['visits'] as number | undefined) ?? 0
        if (what !== 'rolling' || visits === 0)
          Object.assign(ctx.session ?? {}, { visits: visits + 1 })
        return next()
      })
      const cookieOf = ({ headers }: Answer) => headers['set-cookie']?.join().split(';')[0] ?? ''
      let cookie = cookieOf(await site.get('/a.css'))
      t.regex(cookie, /^koa\.sess=./)
      for (const headers of [
        {},
        { range: 'bytes=0-3' },
        { 'if-none-match': '*' },
        { 'if-match': '"x"' }
      ]) {
        const next = cookieOf(await site.get('/a.css', { ...headers, cookie }))
        t.regex(next, /^koa\.sess=./, JSON.stringify(headers))
        if (what !== 'rolling') t.not(next, cookie)
        cookie = next
      }
      areIntact(t, await everyKind(site))
      await settle(t, site)
    })
  }

  test(`NBR-04 koa-compress compresses what has no copy, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: compress() })
    const { headers, bytes, status } = await site.get('/a.css', { 'accept-encoding': 'gzip' })
    t.deepEqual([status, headers['content-encoding']], [200, 'gzip'])
    t.is(headers.vary, 'Accept-Encoding')
    t.is(headers['content-length'], undefined)
    t.is(gunzipSync(bytes).toString(), TEXT)
    const again = { 'accept-encoding': 'gzip', 'if-none-match': headers.etag ?? '' }
    t.is((await site.get('/a.css', again)).status, 304)
    const small = await site.get('/one.css', { 'accept-encoding': 'gzip' })
    t.deepEqual([small.headers['content-encoding'], small.text], [undefined, 'a{}'])
    areIntact(t, await everyKind(site))
    await settle(t, site)
  })

  test(`NBR-04 koa-compress leaves a copy that is compressed already as it is, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: compress() })
    const { headers, bytes } = await site.get('/assets/b.css', { 'accept-encoding': 'br, gzip' })
    t.is(headers['content-encoding'], 'br')
    t.is(headers.vary, 'Accept-Encoding')
    t.is(headers['content-length'], String(BR.length))
    t.is(brotliDecompressSync(bytes).toString(), COPIED)
    await settle(t, site)
  })

  test(`NBR-04 a client that leaves koa-compress half way is no error and leaves no descriptor, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: compress({ threshold: 1 }) })
    const noise = Array.from({ length: 300_000 }, (_, at) =>
      ((at * 2_654_435_761) >>> 7).toString(36)
    )
    site.write('/public/big.css', noise.join('\n').repeat(4))
    for (let at = 0; at < 10; at++) {
      const socket = connect(site.port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write('GET /big.css HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n')
      await once(socket, 'data')
      socket[at % 2 ? 'destroy' : 'resetAndDestroy']()
      await once(socket, 'close')
    }
    const { bytes } = await site.get('/big.css', { 'accept-encoding': 'gzip' })
    t.is(gunzipSync(bytes).toString(), site.read('/public/big.css') ?? '')
    await settle(t, site)
  })

  test(`NBR-04 the headers of koa-helmet stay, once each, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: helmet() })
    const answers = await everyKind(site)
    areIntact(t, answers)
    for (const { headers } of answers.values()) {
      t.regex(String(headers['content-security-policy']), /^default-src 'self'/)
      t.is(headers['x-frame-options'], 'SAMEORIGIN')
      t.is(headers['x-content-type-options'], 'nosniff')
      t.is(headers['cross-origin-resource-policy'], 'same-origin')
    }
    await settle(t, site)
  })

  test(`NBR-04 @koa/cors decides who may read a file, whatever host is, ${way}`, async t => {
    const front = cors({ credentials: true, keepHeadersOnError: true })
    const host = 'https://cdn.example'
    const site = await makeWith(t, { ...options, host, front })
    const origin = 'https://other.example'
    for (const [path, vary] of [
      ['/a.css', 'Origin'],
      ['/assets/b.css', 'Origin, Accept-Encoding']
    ] as const) {
      const { headers } = await site.get(path, { origin })
      t.is(headers['access-control-allow-origin'], origin)
      t.is(headers['access-control-allow-credentials'], 'true')
      t.is(headers.vary, vary)
    }
    await settle(t, site)
  })

  test(`NBR-04 koa-logger logs status and length, ${way}`, async t => {
    const lines: string[] = []
    // oxlint-disable-next-line no-control-regex -- the colours
    const transporter = (line: string) =>
      void lines.push(line.replaceAll(/\u001B\[\d+m/g, '').trim())
    const site = await makeWith(t, { ...options, front: logger({ transporter }) })
    areIntact(t, await everyKind(site))
    await until(() => lines.length === 14, 'every response is logged')
    const seen = lines
      .filter(line => line.startsWith('-->'))
      .map(line => line.replace(/ [\d,]+m?s\b/, ' ms'))
    const expected = ['200 ms 3.91kb', '206 ms 4b', '304 ms', '412 ms -', '416 ms -']
    for (const line of expected) t.true(seen.includes(`--> GET /a.css ${line}`), seen.join('\n'))
    t.true(seen.includes('--> HEAD /a.css 200 ms 3.91kb'), seen.join('\n'))
    await settle(t, site)
  })

  for (const [name, etag] of [
    ['koa-etag', oldEtag],
    ['@koa/etag', newEtag]
  ] as const) {
    test(`NBR-04 koa-conditional-get and ${name} agree with the ETag and the 304 of a file, ${way}`, async t => {
      const bare = await makeWith(t, options)
      const front = compose([conditional(), etag() as Middleware])
      const site = await makeWith(t, { ...options, root: bare.root, front })
      const [expected, answers] = [await everyKind(bare), await everyKind(site)]
      areIntact(t, answers)
      for (const [kind, { headers }] of answers) {
        t.deepEqual({ ...headers, date: '' }, { ...expected.get(kind)?.headers, date: '' })
      }
      await settle(t, site)
    })
  }

  test(`NBR-04 koa-conditional-get may make a 304 of a response that is a 200 to us, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: conditional() })
    // A date that only Date.parse reads.
    const { status, text, headers } = await site.get('/a.css', { 'if-modified-since': '2999' })
    t.deepEqual([status, text, headers['content-type']], [304, '', undefined])
    await settle(t, site)
  })

  test(`NBR-04 @koa/router in front passes on what it has no route for, and may guard a file, ${way}`, async t => {
    const router = new Router()
    router.get('/page', ctx => {
      ctx.body = 'page'
    })
    router.get('/assets/b.css', (ctx, next) =>
      ctx.get('authorization') ? next() : void (ctx.status = 401)
    )
    const front = compose([router.routes(), router.allowedMethods()] as Middleware[])
    const site = await makeWith(t, { ...options, front })
    areIntact(t, await everyKind(site))
    t.is((await site.get('/page')).text, 'page')
    t.is((await site.get('/assets/b.css')).status, 401)
    t.is((await site.get('/assets/b.css', { authorization: 'x' })).text, COPIED)
    await settle(t, site)
  })

  test(`NBR-04 the defaults of koaHttpCache in front are not for files, ${way}`, async t => {
    const front = koaHttpCache({
      cacheControl: ['public', { maxAge: 600 }],
      autoEtag: true
    })
    const bare = await makeWith(t, options)
    const site = await makeWith(t, { ...options, root: bare.root, front })
    const [expected, answers] = [await everyKind(bare), await everyKind(site)]
    areIntact(t, answers)
    for (const [kind, { headers }] of answers) {
      t.deepEqual({ ...headers, date: '' }, { ...expected.get(kind)?.headers, date: '' })
    }
    await settle(t, site)
  })
}
