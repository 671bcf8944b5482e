// The middleware that people use with koaAssets, in front of it: each does what it does for `ctx.body = buffer`.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { brotliCompressSync, gunzipSync } from 'node:zlib'
import cors from '@koa/cors'
import newEtag from '@koa/etag'
import Router from '@koa/router'
import { test, type ExecutionContext } from '../../support/test.ts'
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
import { digestOf, makeFingerprinted, MODES } from '../../support/fingerprinted.ts'
import { makeSite, type SiteOptions } from '../../support/site.ts'
import { words } from '../../support/texts.ts'
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

/** Middleware that adds nothing to the response of a file, or the same fields to each. */
const ADDING: Readonly<
  Record<string, readonly [front: () => Middleware, added: Record<string, RegExp>]>
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
  'koa-conditional-get with koa-etag': [
    () => compose([conditional(), oldEtag() as Middleware]),
    {}
  ],
  'koa-conditional-get with @koa/etag': [
    () => compose([conditional(), newEtag() as Middleware]),
    {}
  ],
  'koaHttpCache with defaults': [
    () => koaHttpCache({ cacheControl: ['public', { maxAge: 600 }], autoEtag: true }),
    {}
  ]
}

for (const [way, options] of GIVEN) {
  for (const [name, [front, added]] of Object.entries(ADDING)) {
    test(`${name} adds its fields to every response and changes nothing else, ${way}`, async t => {
      const bare = await makeWith(t, options)
      const site = await makeWith(t, { ...options, root: bare.root, front: front() })
      const [expected, answers] = [await everyKind(bare), await everyKind(site)]
      areIntact(t, answers)
      for (const [kind, { headers }] of answers) {
        const rest = { ...headers, date: '' }
        for (const [field, pattern] of Object.entries(added)) {
          t.regex(String(headers[field]), pattern)
        }
        if (Object.keys(added).length > 0) continue
        t.deepEqual(rest, { ...expected.get(kind)?.headers, date: '' })
      }
      await settle(t, site)
    })
  }

  test(`koa-session, changed on each request, sets its cookie with every response, ${way}`, async t => {
    const stack: Middleware[] = []
    const site = await makeWith(t, { ...options, front: (ctx, next) => compose(stack)(ctx, next) })
    let visits = 0
    stack.push(session({ signed: false }, site.app), (ctx, next) => {
      Object.assign(ctx.session ?? {}, { visits: ++visits })
      return next()
    })
    const cookies = Array.from((await everyKind(site)).values(), ({ headers }) =>
      String(headers['set-cookie']?.[0]).replace(/;.*/, '')
    )
    for (const cookie of cookies) t.regex(cookie, /^koa\.sess=./)
    t.is(new Set(cookies).size, cookies.length)
    await settle(t, site)
  })

  test(`koa-compress compresses what has no copy, and leaves a copy as it is, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: compress() })
    const { headers, bytes } = await site.get('/a.css', { 'accept-encoding': 'gzip' })
    t.deepEqual([headers['content-encoding'], headers.vary], ['gzip', 'Accept-Encoding'])
    t.is(gunzipSync(bytes).toString(), TEXT)
    const again = { 'accept-encoding': 'gzip', 'if-none-match': headers.etag ?? '' }
    t.is((await site.get('/a.css', again)).status, 304)
    const copy = await site.get('/assets/b.css', { 'accept-encoding': 'br, gzip' })
    t.deepEqual([copy.headers['content-encoding'], copy.headers.vary], ['br', 'Accept-Encoding'])
    t.is(copy.headers['content-length'], String(BR.length))
    areIntact(t, await everyKind(site))
    await settle(t, site)
  })

  test(`@koa/cors decides who may read a file, whatever host is, ${way}`, async t => {
    const front = cors({ credentials: true, keepHeadersOnError: true })
    const site = await makeWith(t, { ...options, host: 'https://cdn.example', front })
    const origin = 'https://other.example'
    const { headers } = await site.get('/assets/b.css', { origin })
    t.is(headers['access-control-allow-origin'], origin)
    t.is(headers['access-control-allow-credentials'], 'true')
    t.is(headers.vary, 'Origin, Accept-Encoding')
    await settle(t, site)
  })

  test(`koa-logger logs status and length, ${way}`, async t => {
    const lines: string[] = []
    // oxlint-disable-next-line no-control-regex -- the colours
    const transporter = (line: string) =>
      void lines.push(line.replaceAll(/\u001B\[\d+m/g, '').trim())
    const site = await makeWith(t, { ...options, front: logger({ transporter }) })
    areIntact(t, await everyKind(site))
    await until(() => lines.length === 14, 'every response is logged')
    const seen = lines.map(line => line.replace(/ [\d,]+m?s\b/, ' ms'))
    const expected = ['200 ms 3.91kb', '206 ms 4b', '304 ms', '412 ms -', '416 ms -']
    for (const line of expected) t.true(seen.includes(`--> GET /a.css ${line}`), seen.join('\n'))
    t.true(seen.includes('--> HEAD /a.css 200 ms 3.91kb'), seen.join('\n'))
    await settle(t, site)
  })

  test(`@koa/router in front passes on what it has no route for, and may guard a file, ${way}`, async t => {
    const router = new Router()
    router.get('/page', ctx => void (ctx.body = 'page'))
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
}

test('a client that disconnects while koa-compress compresses is not an error and leaves no descriptor', async t => {
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

// Requests for fingerprinted names.

const IMMUTABLE = 'public, max-age=31536000, immutable'
const other = '0123456789abcdef'.repeat(2)

for (const mode of MODES) {
  const revalidated = mode === 'live' ? 'no-cache' : 'public, max-age=0, must-revalidate'

  test(`a file with a verified fingerprint is cached for a year, and nothing else is (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      'app.js': 'go()',
      'film.bin': Buffer.alloc(1024 * 1024 + 1, 'film'),
      '/public/robots.txt': 'all',
      '/public/assets/own.txt': 'mine'
    })
    for (const name of ['app.js', 'film.bin']) {
      const path = await site.path(name)
      for (const headers of [{}, { Range: 'bytes=0-1' }, { 'If-None-Match': '*' }]) {
        t.is((await site.ask(path, { headers })).headers['cache-control'], IMMUTABLE, path)
      }
      t.is((await site.ask(path, { method: 'HEAD' })).headers['cache-control'], IMMUTABLE)
      t.is((await site.ask(`/assets/${name}`)).headers['cache-control'], revalidated)
    }
    for (const path of ['/robots.txt', '/assets/own.txt']) {
      t.is((await site.ask(path)).headers['cache-control'], revalidated)
    }
  })

  test(`a name that becomes another path without its fingerprint is passed on (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'app.css': 'a{}', '.x/passwd': 'secret' })
    const prints = [digestOf('a{}'), other]
    const paths = prints.flatMap(print =>
      words(`.-${print}./etc/passwd ..-${print}/passwd -${print} -${print}.css .-${print}.x/passwd
        .-${print} ..-${print}. a/..-${print} -${print}../app.css %2e-${print}.%2fpasswd
        app.css-${print} app-${print}.css/ app-${print}.css/-${print} app-${print}-${print}.css
        app-${print.toUpperCase()}.css app-${print.slice(1)}.css app${print}.css`)
    )
    for (const path of paths) {
      const { status, headers, text } = await site.ask(`/assets/${path}`)
      t.is(status, 404, path)
      t.is(headers['cache-control'], 'no-store', path)
      t.is(text, 'Not Found', path)
    }
    t.is((await site.ask(`/assets/app-${digestOf('a{}')}.css`)).status, 200)
  })

  test(`a name that ends in 32 other hex characters is an ordinary name (${mode})`, async t => {
    const [logo, twin] = [`logo-${other}.png`, `app-${other}.css`]
    const site = await makeFingerprinted(t, mode, {
      [logo]: 'logo',
      'app.css': 'a{}',
      [twin]: `b { background: url(${logo}) }`,
      [`/public/assets/upload-${other}.jpg`]: 'upload',
      [`/public/uploads/photo-${other}.jpg`]: 'photo'
    })
    const fingerprinted = `/assets/logo-${other}-${digestOf('logo')}.png`
    t.is(await site.path(logo), fingerprinted)
    t.is((await site.ask(fingerprinted)).headers['cache-control'], IMMUTABLE)
    for (const [path, text] of [
      [`/assets/${logo}`, 'logo'],
      [`/assets/${twin}`, `b { background: url(${fingerprinted}) }`],
      [`/assets/upload-${other}.jpg`, 'upload'],
      [`/uploads/photo-${other}.jpg`, 'photo']
    ] as const) {
      for (let asked = 0; asked < 2; asked++) {
        const response = await site.ask(path)
        t.deepEqual([response.status, response.text], [200, text], path)
        t.is(response.headers['cache-control'], revalidated, path)
      }
    }
    await site.edit({ [logo]: 'newer' })
    await until(async () => (await site.ask(`/assets/${logo}`)).text === 'newer', 'the new logo')
    t.is((await site.ask(fingerprinted)).text, 'logo', 'what an open page asks for')
  })
}
