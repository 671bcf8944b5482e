// The middleware that people use with koaAssets, in front of it: each does what it does for `ctx.body = buffer`.
import { once } from 'node:events'
import { appendFileSync, statSync, unlinkSync, utimesSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
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
import { clean, verify } from '../../../lib/index.ts'
import { koaHttpCache } from '../../../lib/koa-http-cache.ts'
import type { Answer } from '../../support/ask.ts'
import { openDescriptors } from '../../support/descriptors.ts'
import {
  digestOf,
  makeFingerprinted,
  MODES,
  placed,
  readPublic,
  run
} from '../../support/fingerprinted.ts'
import { makeProject, makeSite, type SiteOptions, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { GIVEN } from '../../support/ways.ts'
import { cases } from '../../support/soak.ts'

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

for (const [way, options] of GIVEN.slice(0, cases(1, 2))) {
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
}

for (const [way, options] of GIVEN) {
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

  test(`NBR-04 koa-compress leaves a copy that is already compressed as it is, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: compress() })
    const { headers, bytes } = await site.get('/assets/b.css', { 'accept-encoding': 'br, gzip' })
    t.is(headers['content-encoding'], 'br')
    t.is(headers.vary, 'Accept-Encoding')
    t.is(headers['content-length'], String(BR.length))
    t.is(brotliDecompressSync(bytes).toString(), COPIED)
    await settle(t, site)
  })

  test(`NBR-04 a client that disconnects while koa-compress compresses is not an error and leaves no descriptor, ${way}`, async t => {
    const site = await makeWith(t, { ...options, front: compress({ threshold: 1 }) })
    const noise = Array.from({ length: 100_000 }, (_, at) =>
      ((at * 2_654_435_761) >>> 7).toString(36)
    )
    site.write('/public/big.css', noise.join('\n').repeat(4))
    for (let at = 0; at < 4; at++) {
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
}

for (const [way, options] of GIVEN.slice(0, cases(1, 2))) {
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

// Requests for fingerprinted names.

const IMMUTABLE = 'public, max-age=31536000, immutable'
const other = '0123456789abcdef'.repeat(2)

for (const mode of MODES) {
  const revalidated = mode === 'live' ? 'no-cache' : 'public, max-age=0, must-revalidate'

  test(`ANS-09 a file with a verified fingerprint is cached for a year, and nothing else is (${mode})`, async t => {
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

  test(`S11 a name that becomes another path without its fingerprint is passed on (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'app.css': 'a{}', '.x/passwd': 'secret' })
    const prints = [digestOf('a{}'), other]
    const paths = prints.flatMap(print => [
      `/assets/.-${print}./etc/passwd`,
      `/assets/..-${print}/passwd`,
      `/assets/-${print}`,
      `/assets/-${print}.css`,
      `/assets/.-${print}.x/passwd`,
      `/assets/.-${print}`,
      `/assets/..-${print}.`,
      `/assets/a/..-${print}`,
      `/assets/-${print}../app.css`,
      `/assets/%2e-${print}.%2fpasswd`,
      `/assets/app.css-${print}`,
      `/assets/app-${print}.css/`,
      `/assets/app-${print}.css/-${print}`,
      `/assets/app-${print}-${print}.css`,
      `/assets/app-${print.toUpperCase()}.css`,
      `/assets/app-${print.slice(1)}.css`,
      `/assets/app${print}.css`
    ])
    for (const path of paths) {
      const { status, headers, text } = await site.ask(path)
      t.is(status, 404, path)
      t.is(headers['cache-control'], 'no-store', path)
      t.is(text, 'Not Found', path)
    }
    t.is((await site.ask(`/assets/app-${digestOf('a{}')}.css`)).status, 200)
  })

  test(`a name that already has its own digest is left alone (${mode})`, async t => {
    const name = `vendor-${digestOf('vendor()')}.js`
    const site = await makeFingerprinted(t, mode, { [name]: 'vendor()' })
    t.is(await site.path(name), `/assets/${name}`)
    const { headers, text } = await site.ask(`/assets/${name}`)
    t.is(text, 'vendor()')
    t.is(headers['cache-control'], IMMUTABLE)
  })

  test(`a name that has another digest gets its own as well (${mode})`, async t => {
    const name = `vendor-${other}.js`
    const site = await makeFingerprinted(t, mode, { [name]: 'vendor()' })
    const path = `/assets/vendor-${other}-${digestOf('vendor()')}.js`
    t.is(await site.path(name), path)
    t.is((await site.ask(path)).text, 'vendor()')
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

  test(`names with spaces or Unicode, names without an extension and empty files are published like any other (${mode})`, async t => {
    const names = [
      'a b.css',
      'Übersicht 😀.svg',
      "it's (1)+@2x,.png",
      'LICENSE',
      'a.tar.gz',
      'e.js'
    ]
    const site = await makeFingerprinted(
      t,
      mode,
      Object.fromEntries(names.map(name => [`things/${name}`, name === 'e.js' ? '' : name]))
    )
    for (const name of names) {
      const content = name === 'e.js' ? '' : name
      const path = await site.path(name)
      t.true(decodeURIComponent(path).includes(digestOf(content)), path)
      const { status, text, headers } = await site.ask(path)
      t.deepEqual([status, text], [200, content], path)
      t.is(headers['content-length'], String(Buffer.byteLength(content)))
      t.is(headers['cache-control'], IMMUTABLE)
    }
  })

  for (const size of [100, 2 * 1024 * 1024]) {
    test(`a fingerprinted file that is only touched is sent as before: ${size} bytes (${mode})`, async t => {
      const site = await makeFingerprinted(t, mode, { 'film.bin': Buffer.alloc(size, 'x') })
      const path = await site.path('film.bin')
      t.is((await site.ask(path)).bytes.length, size)
      utimesSync(join(site.root, 'public', path), 1e9, 1e9)
      const { status, bytes, headers } = await site.ask(path)
      t.deepEqual([status, bytes.length], [200, size])
      t.is(headers['cache-control'], IMMUTABLE)
    })
  }

  test(`a big fingerprinted file that changes after it was verified is not sent (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, { 'film.bin': Buffer.alloc(2 ** 21, 'x') })
    const path = await site.path('film.bin')
    t.is((await site.ask(path)).status, 200)
    appendFileSync(join(site.root, 'public', path), 'y')
    const { status, bytes } = await site.ask(path)
    if (mode === 'live') t.is(digestOf(bytes), digestOf(Buffer.alloc(2 ** 21, 'x')))
    else t.is(status, 404)
  })
}

test('S44 with a manifest, an unknown digest and bytes that do not match their digest are a 404 that nobody keeps', async t => {
  const site = await makeFingerprinted(t, 'precompiled', { 'app.css': 'a{}' })
  const [small, big] = [`/assets/small-${other}.js`, `/assets/big-${other}.js`]
  writeFiles(site.root, {
    // Beside these the others count as theirs.
    'public/assets/small.js': 'small()',
    'public/assets/big.js': 'big()',
    [`public${small}`]: 'x',
    [`public${big}`]: Buffer.alloc(1024 * 1024 + 1, 'x')
  })
  for (const path of [`/assets/app-${other}.css`, small, big]) {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await site.ask(path, { method })
      t.deepEqual([path, status, headers['cache-control']], [path, 404, 'no-store'])
    }
  }
})

test('a built site restores a file that was removed', async t => {
  const site = await makeFingerprinted(t, 'live', { 'film.bin': Buffer.alloc(2 ** 21, 'x') })
  const path = await site.path('film.bin')
  t.is((await site.ask(path)).status, 200)
  unlinkSync(join(site.root, 'public', path))
  const { status, bytes } = await site.ask(path)
  t.deepEqual([status, bytes.length], [200, 2 ** 21])
})

test('after a deploy from another checkout big files and compressed copies are still served', async t => {
  const files = { 'film.bin': Buffer.alloc(2 ** 21, 'x'), 'app.js': '/* go */'.repeat(100) }
  const site = await makeFingerprinted(t, 'precompiled', files)
  const [film, app] = [await site.path('film.bin'), await site.path('app.js')]
  const compressed = { headers: { 'Accept-Encoding': 'br' } }
  const first = await site.ask(app, compressed)
  t.is(first.headers['content-encoding'], 'br')
  t.is((await site.ask(film)).status, 200)
  for (const name of Object.keys(files)) {
    utimesSync(join(site.root, 'apps/web/assets', name), 2e9, 2e9)
  }
  await run({ root: site.root, env: 'production' })
  t.is(statSync(join(site.root, 'public', app)).mtimeMs, 2e12)
  t.is((await site.ask(film)).bytes.length, 2 ** 21)
  const next = await makeFingerprinted(t, 'precompiled', {}, { root: site.root })
  for (const path of [app, '/assets/app.js']) {
    const { headers } = await next.ask(path, compressed)
    t.is(headers['content-encoding'], 'br', path)
  }
})

test('a name that ends in 32 other hex characters is published on request', async t => {
  const site = await makeSite(t, { [`images/logo-${other}.png`]: 'logo', 'images/logo.png': 'x' })
  await site.ask('/assets/logo.png')
  for (const text of ['logo', 'newer']) {
    site.write(`images/logo-${other}.png`, text)
    const response = await site.ask(`/assets/logo-${other}.png`)
    t.deepEqual([response.status, response.text], [200, text])
    t.is(response.headers['cache-control'], 'no-cache')
  }
})

test('a name that ends in 32 other hex characters is verified and cleaned like any other', async t => {
  const name = `logo-${other}.png`
  const root = makeProject(t, placed({ [name]: 'logo', 'logo.png': 'another' }))
  await run({ root })
  t.deepEqual((await verify({ root })).problems, [])
  t.deepEqual((await clean({ root }, { keep: 0, age: 0 })).removed, [])
  t.is(String(readPublic(root, `/assets/${name}`)), 'logo')
})
