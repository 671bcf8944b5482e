// The middleware that people use with koaAssets, in front of it: each does what it does for `ctx.body = buffer`.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { brotliCompressSync, gunzipSync } from 'node:zlib'
import cors from '@koa/cors'
import newEtag from '@koa/etag'
import type { Middleware } from 'koa'
import compose from 'koa-compose'
import compress from 'koa-compress'
import conditional from 'koa-conditional-get'
import oldEtag from 'koa-etag'
import helmet from 'koa-helmet'
import responseTime from 'koa-response-time'
import { koaHttpCache } from '../../../lib/koa-http-cache.ts'
import { makeSite, openDescriptors, test, until, type Answer } from '../../support/index.ts'
import type { ExecutionContext, SiteOptions } from '../../support/index.ts'
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

function checkIntact(t: ExecutionContext, answers: ReadonlyMap<number | 'head', Answer>): void {
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

/** Middleware that adds nothing to the response of a file, or the same fields to each. */
const ADDING: Readonly<
  Record<string, readonly [front: () => Middleware, added?: Record<string, RegExp>]>
> = {
  'koa-response-time': [responseTime, { 'x-response-time': /^\d+ms$/ }],
  'koa-helmet': [
    helmet,
    {
      'content-security-policy': /^default-src 'self'/,
      'x-frame-options': /^SAMEORIGIN$/,
      'x-content-type-options': /^nosniff$/,
      'cross-origin-resource-policy': /^same-origin$/
    }
  ],
  'koa-conditional-get with koa-etag': [() => compose([conditional(), oldEtag() as Middleware])],
  'koa-conditional-get with @koa/etag': [() => compose([conditional(), newEtag() as Middleware])],
  'koaHttpCache with defaults': [
    () => koaHttpCache({ cacheControl: ['public', { maxAge: 600 }], autoEtag: true })
  ]
}

for (const [way, options] of GIVEN) {
  for (const [name, [front, added = {}]] of Object.entries(ADDING)) {
    test(`${name} only adds its fields to a response, ${way}`, async t => {
      const bare = await makeWith(t, options)
      const site = await makeWith(t, { ...options, root: bare.root, front: front() })
      const [expected, answers] = [await everyKind(bare), await everyKind(site)]
      checkIntact(t, answers)
      for (const [kind, { headers }] of answers) {
        for (const [field, pattern] of Object.entries(added))
          t.regex(String(headers[field]), pattern)
        if (Object.keys(added).length > 0) continue
        t.deepEqual({ ...headers, date: '' }, { ...expected.get(kind)?.headers, date: '' })
      }
      await settle(t, site)
    })
  }

  test(`koa-compress compresses only files without a compressed copy, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: compress() })
    const { headers, bytes } = await site.get('/a.css', { 'accept-encoding': 'gzip' })
    t.deepEqual([headers['content-encoding'], headers.vary], ['gzip', 'Accept-Encoding'])
    t.is(gunzipSync(bytes).toString(), TEXT)
    const again = { 'accept-encoding': 'gzip', 'if-none-match': headers.etag ?? '' }
    t.is((await site.get('/a.css', again)).status, 304)
    const copy = await site.get('/assets/b.css', { 'accept-encoding': 'br, gzip' })
    t.deepEqual([copy.headers['content-encoding'], copy.headers.vary], ['br', 'Accept-Encoding'])
    t.is(copy.headers['content-length'], String(BR.length))
    checkIntact(t, await everyKind(site))
    await settle(t, site)
  })

  test(`@koa/cors decides which origins may read a file even if host is set, ${way}`, async t => {
    const front = cors({ credentials: true, keepHeadersOnError: true })
    const site = await makeWith(t, { ...options, host: 'https://cdn.example', front })
    const origin = 'https://other.example'
    const { headers } = await site.get('/assets/b.css', { origin })
    t.is(headers['access-control-allow-origin'], origin)
    t.is(headers['access-control-allow-credentials'], 'true')
    t.is(headers.vary, 'Origin, Accept-Encoding')
    await settle(t, site)
  })
}

test('a client that disconnects while koa-compress compresses leaves no error and no descriptor', async t => {
  const site = await makeWith(t, { memory: { maxFileBytes: 0 }, front: compress({ threshold: 1 }) })
  site.write('/public/big.css', randomBytes(2 ** 20).toString('hex'))
  for (const end of ['destroy', 'resetAndDestroy'] as const) {
    const socket = connect(site.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('GET /big.css HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n')
    await once(socket, 'data')
    socket[end]()
    await once(socket, 'close')
  }
  const { bytes } = await site.get('/big.css', { 'accept-encoding': 'gzip' })
  t.is(gunzipSync(bytes).toString(), site.read('/public/big.css') ?? '')
  await settle(t, site)
})
