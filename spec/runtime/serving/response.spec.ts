// The response of a file: validators, conditions, ranges, codings. every-way.spec.ts says that it is the same
// however the file is sent.
import { utimesSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Middleware } from 'koa'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { withFingerprint } from '../../../lib/runtime/urls/spelling.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { makeSite, test, words } from '../../support/index.ts'
import type { ExecutionContext, Files, SiteOptions } from '../../support/index.ts'

const TEXT = '0123456789'
const THEN = 1_700_000_000
const LAST_MODIFIED = 'Tue, 14 Nov 2023 22:13:20 GMT'
const LATER = 'Tue, 14 Nov 2023 22:13:21 GMT'

const makeFile = async (t: ExecutionContext) => {
  const site = await makeSite(t, { '/public/a.txt': TEXT })
  utimesSync(site.at('/public/a.txt'), THEN, THEN)
  const etag = (await site.ask('/a.txt')).headers.etag ?? ''
  /** Asks with fields in which `{etag}` is the file's. */
  const get = (fields: Readonly<Record<string, string>>, method = 'GET') => {
    const own = Object.entries(fields).map(([name, value]) => [name, value.replace('{etag}', etag)])
    return site.ask('/a.txt', { method, headers: Object.fromEntries(own) as typeof fields })
  }
  return { ...site, etag, get }
}

test('a response has no headers but those that its status needs', async t => {
  const { get, etag } = await makeFile(t)
  const common = {
    etag,
    'last-modified': LAST_MODIFIED,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    connection: 'close'
  }
  const content = {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '10',
    'accept-ranges': 'bytes'
  }
  for (const [condition, status, text, fields] of [
    [{}, 200, TEXT, { ...common, ...content }],
    [{ 'if-none-match': '{etag}' }, 304, '', common],
    [{ 'if-match': 'W/{etag}' }, 412, '', { 'content-length': '0', connection: 'close' }]
  ] as const) {
    const answer = await get(condition)
    const { date, ...headers } = answer.headers
    t.truthy(date)
    t.deepEqual([answer.status, answer.text, headers], [status, text, fields])
  }
})

/** The body and Content-Range. */
const PARTS: Readonly<Record<string, readonly [string, string]>> = {
  'bytes=0-3': ['0123', 'bytes 0-3/10'],
  'bytes=-3': ['789', 'bytes 7-9/10'],
  'bytes=-30': [TEXT, 'bytes 0-9/10'],
  'bytes=4-': ['456789', 'bytes 4-9/10'],
  'bytes=5-5': ['5', 'bytes 5-5/10'],
  'bytes=8-99999999999999999999': ['89', 'bytes 8-9/10'],
  'BYTES=0-0': ['0', 'bytes 0-0/10'],
  'Bytes= 1-2 ': ['12', 'bytes 1-2/10']
}
const BEYOND = words('bytes=10- bytes=10-11 bytes=99999999999999999999- bytes=-0')
const WHOLE = words(
  'bytes=0-1,3-4 lines=0-1 bytes= bytes=- bytes=b-1 bytes=0x1-2 bytes=+1-2 bytes:1-2 bytes=5-2 x'
)

test('a GET of one range of bytes gets a 206 or 416, anything else the whole file', async t => {
  const { get, etag } = await makeFile(t)
  for (const range of BEYOND) {
    const { status, text, headers } = await get({ range })
    t.deepEqual([status, text, headers['content-range']], [416, '', 'bytes */10'], range)
    t.is(headers['content-type'], undefined, range)
  }
  for (const range of [...Object.keys(PARTS), ...WHOLE]) {
    const [body, contentRange] = PARTS[range] ?? [TEXT]
    const { status, text, headers } = await get({ range })
    t.deepEqual([status, text], [contentRange ? 206 : 200, body], range)
    t.is(headers['content-range'], contentRange, range)
    t.is(headers['content-length'], String(body.length), range)
    t.is(headers['content-type'], 'text/plain; charset=utf-8', range)
    t.deepEqual([headers.etag, headers['last-modified']], [etag, LAST_MODIFIED], range)
    t.is(headers['cache-control'], 'no-cache', range)
  }
  const { status, headers } = await get({ range: 'bytes=0-3' }, 'HEAD')
  t.deepEqual([status, headers['content-length'], headers['content-range']], [200, '10', undefined])
})

test('If-Range gets a part only with the ETag or the date of the file', async t => {
  const { get } = await makeFile(t)
  const others = ['"old"', 'W/{etag}', '"old", {etag}', '*', 'abc', '', LATER]
  for (const value of ['{etag}', LAST_MODIFIED, 'Tuesday, 14-Nov-23 22:13:20 GMT', ...others]) {
    const isCurrent = !others.includes(value)
    const { status, text } = await get({ range: 'bytes=0-3', 'if-range': value })
    t.deepEqual([status, text], isCurrent ? [206, '0123'] : [200, TEXT], value)
    const beyond = await get({ range: 'bytes=20-', 'if-range': value })
    t.is(beyond.status, isCurrent ? 416 : 200, value)
  }
})

test('an mtime before 1990 or in the future is never taken for the date of a file', async t => {
  const site = await makeFile(t)
  for (const mtime of [0, 1, 315_532_800, 499_162_500, 631_151_999, 4_000_000_000]) {
    utimesSync(site.at('/public/a.txt'), mtime, mtime)
    for (const date of [new Date(mtime * 1000).toUTCString(), LATER]) {
      const asked = { 'if-modified-since': date, range: 'bytes=0-3', 'if-range': date }
      const { status, headers } = await site.ask('/a.txt', { headers: asked })
      t.deepEqual([status, headers['last-modified']], [200, undefined])
    }
  }
  utimesSync(site.at('/public/a.txt'), 631_152_000, 631_152_000)
  const { headers } = await site.ask('/a.txt')
  t.is(headers['last-modified'], 'Mon, 01 Jan 1990 00:00:00 GMT')
})

test('with a CDN host all origins may read assets, in development only local ones and live.hosts', async t => {
  const files = { '/public/assets/a.css': 'a{}', '/public/robots.txt': 'x' }
  const host = 'https://cdn.example'
  const live = { hosts: ['shop.test'] }
  const own = ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:8', 'http://Shop.test']
  const others = [undefined, 'null', 'https://evil.example', 'http://localhost.evil.example']
  const rows: readonly [env: string, KoaAssetsOptions, readers: '*' | readonly string[]][] = [
    ['test', { host }, '*'],
    ['development', { host, live }, own],
    ['development', { host, live: false }, own.slice(0, 3)],
    ['development', {}, []]
  ]
  for (const [env, options, readers] of rows) {
    const site = await makeSite(t, files, { env, ...options })
    for (const origin of [...own, ...others]) {
      const asked = { headers: origin === undefined ? {} : { origin } }
      const { headers } = await site.ask('/assets/a.css', asked)
      const again = { headers: { ...asked.headers, 'if-none-match': headers.etag ?? '' } }
      const same = await site.ask('/assets/a.css', again)
      const isReader = origin !== undefined && readers !== '*' && readers.includes(origin)
      const allowed = readers === '*' ? '*' : isReader ? origin : undefined
      const vary = env === 'development' && 'host' in options ? 'Origin' : undefined
      for (const answer of [headers, same.headers]) {
        t.is(answer['access-control-allow-origin'], allowed, `${env} ${origin}`)
        t.is(answer.vary, vary)
      }
      t.is(same.status, 304)
      const { headers: ofPublic } = await site.ask('/robots.txt', asked)
      t.is(ofPublic['access-control-allow-origin'], undefined)
    }
  }
})

const CSS = 'body { color: red }\n'.repeat(50)
/** Copies are sent of a file of any type. */
const FORMS = {
  '/public/scene.glb': CSS,
  '/public/scene.glb.br': brotliCompressSync(CSS),
  '/public/scene.glb.gz': gzipSync(CSS)
}
/** A mount of the same files. */
const MOUNTS = { '/static': { dir: 'public', cacheControl: 'public, max-age=0, must-revalidate' } }

async function makeCoded(t: ExecutionContext, options: SiteOptions = {}, files: object = FORMS) {
  const site = await makeSite(t, { ...files }, { env: 'staging', ...options })
  for (const path of Object.keys(files)) utimesSync(site.at(path), THEN, THEN)
  const get = (acceptEncoding: string | undefined, headers = {}) => {
    const accepted = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
    return site.ask('/scene.glb', { headers: { ...accepted, ...headers } })
  }
  return { ...site, get }
}

// Brotli makes the smallest of these.
const CHOICES = {
  br: ['gzip, deflate, br', 'gzip;q=0, br', '*'],
  gzip: ['br;q=0.1, gzip;q=1', 'br;q=0, *', 'gzip;q=0.001', 'GZIP', 'x-gzip'],
  '': [
    'gzip;q=0',
    '*;q=0',
    'identity;q=0, *;q=0',
    'identity, gzip;q=0.5',
    'gzipped, brotli',
    'gzip;q=nonsense',
    '',
    undefined
  ]
}

test('a client gets the coding to which it gives the most weight, else the smallest', async t => {
  const { get, ask } = await makeCoded(t, { mounts: MOUNTS })
  const bytesOf = {
    br: FORMS['/public/scene.glb.br'],
    gzip: FORMS['/public/scene.glb.gz'],
    '': Buffer.from(CSS)
  }
  // They ask at the same time: whoever is first decides nothing.
  const asking = (['br', 'gzip', ''] as const).flatMap(coding =>
    CHOICES[coding].map(async acceptEncoding => {
      const { status, headers, bytes } = await get(acceptEncoding)
      const asked = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
      const ofMount = await ask('/static/scene.glb', { headers: asked })
      t.deepEqual({ ...ofMount.headers, date: '' }, { ...headers, date: '' })
      t.deepEqual(ofMount.bytes, bytes)
      t.deepEqual([status, headers['content-encoding'] ?? ''], [200, coding], acceptEncoding)
      t.deepEqual(bytes, bytesOf[coding], acceptEncoding)
      t.is(headers['content-type'], 'model/gltf-binary')
    })
  )
  await Promise.all(asking)
})

test('caches can tell the codings of a file apart, by ETag and Vary', async t => {
  const { get } = await makeCoded(t)
  const tags = new Set<string | undefined>()
  for (const coding of ['br', 'gzip', 'identity']) {
    const etag = (await get(coding)).headers.etag ?? ''
    tags.add(etag)
    t.regex(etag, /^"[^"]+"$/)
    for (const [condition, status] of [
      [{}, 200],
      [{ range: 'bytes=0-4' }, 206],
      [{ 'if-none-match': etag }, 304],
      [{ 'if-match': '"another"' }, 412]
    ] as const) {
      const response = await get(coding, condition)
      t.deepEqual([response.status, response.headers.vary], [status, 'Accept-Encoding'], coding)
    }
  }
  t.is(tags.size, 3)
})

test('a response has no Vary without a compressed copy, or while sources are compiled', async t => {
  for (const { get } of [
    await makeCoded(t, {}, { '/public/scene.glb': CSS }),
    await makeCoded(t, { env: 'development' })
  ]) {
    t.is((await get('br, gzip')).text, CSS)
    for (const fields of [{}, { range: 'bytes=0-4' }, { 'if-match': '"another"' }]) {
      const { headers } = await get('br, gzip', fields)
      t.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined])
    }
  }
})

// The fields of a response: those that the application adds, and those for one visitor alone.

const FILES: Files = {
  '/dist/a.txt': 'a text',
  '/dist/b.bin': 'binary',
  '/public/c.txt': 'in public'
}

test('`headers` replaces what middleware in front has set, except cookies and what caches obey', async t => {
  const DATE = 'Fri, 31 Dec 2099 23:59:59 GMT'
  const front: Middleware = (ctx, next) => {
    ctx.set({ 'X-A': 'front', 'Cache-Control': 'private', 'CDN-Cache-Control': 'no-store' })
    ctx.set({ 'Content-Security-Policy': "default-src 'self'", Vary: 'Origin' })
    ctx.set({ 'Set-Cookie': 'a=1', 'X-Content-Type-Options': 'öther', Expires: DATE })
    return next()
  }
  const headers = {
    'x-a': 'ours',
    'Content-Disposition': 'filename=Århus\u0080\u00ff',
    'X-C': 'ours',
    'Content-Type': 'text/plain; charset=iso-8859-1',
    'Content-Language': 'de',
    'Content-Digest': 'sha-256=:x:',
    'Repr-Digest': 'sha-256=:x:',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'public, max-age=60',
    'CDN-Cache-Control': 'max-age=60',
    'Set-Cookie': 'b=2',
    Vary: 'Accept'
  }
  const site = await makeSite(t, FILES, {
    front,
    headers: { 'X-C': 'top', 'X-Top': 'top' },
    mounts: { '/m': { dir: 'dist', headers: path => ({ ...headers, 'x-path': path }) } }
  })
  const { headers: first } = await site.ask('/m/a.txt')
  for (const [fields, status] of [
    [{}, 200],
    [{ range: 'bytes=0-1' }, 206],
    [{ 'if-none-match': String(first.etag) }, 304],
    [{ 'if-match': '"x"' }, 412],
    [{ range: 'bytes=99-' }, 416]
  ] as const) {
    const answer = await site.ask('/m/a.txt', { headers: fields })
    t.is(answer.status, status)
    t.like(answer.headers, {
      'x-a': 'ours',
      'content-disposition': 'filename=Århus\u0080\u00ff',
      'x-c': 'ours',
      'x-top': 'top',
      'x-path': '/m/a.txt',
      'content-type': status < 300 ? 'text/plain; charset=iso-8859-1' : undefined,
      'content-language': status < 300 ? 'de' : undefined,
      'content-digest': status === 200 ? 'sha-256=:x:' : undefined,
      'repr-digest': status < 300 ? 'sha-256=:x:' : undefined,
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': status > 400 ? 'no-store' : 'private',
      'cdn-cache-control': status > 400 ? undefined : 'no-store',
      expires: status > 400 ? undefined : DATE,
      'set-cookie': ['a=1'],
      'x-content-type-options': 'öther',
      vary: 'Origin, Accept'
    })
  }
  const { headers: inPublic } = await site.ask('/c.txt')
  t.deepEqual([inPublic['x-c'], inPublic['x-path']], ['top', undefined])
  t.deepEqual(site.errors, [])
})

test('Cache-Control is that of `immutable`, else that of `cacheControl`, else the default', async t => {
  const ofAnotherRealm = runInNewContext('/a\\.txt$/g') as RegExp
  const some = (path: string) => (path === '/m/a.txt' ? 'max-age=5' : undefined)
  for (const [mount, expected] of [
    [{ cacheControl: 'public, max-age=60' }, ['public, max-age=60', 'public, max-age=60']],
    [{ cacheControl: some }, ['max-age=5', 'no-cache']],
    [
      { immutable: ofAnotherRealm, cacheControl: 'max-age=5' },
      ['public, max-age=31536000, immutable', 'max-age=5']
    ],
    [{ immutable: false }, ['no-cache', 'no-cache']]
  ] as const) {
    const site = await makeSite(t, FILES, { mounts: { '/m': { dir: 'dist', ...mount } } })
    for (let times = 0; times < 2; times++) {
      const answers = await Promise.all(['/m/a.txt', '/m/b.bin'].map(path => site.ask(path)))
      t.deepEqual(
        answers.map(({ headers }) => headers['cache-control'] as string),
        [...expected]
      )
    }
  }
})

const OWN_TEXT = 'body { color: red }'
const PRINTED = withFingerprint('/assets/a.css', digestOf(OWN_TEXT))
const VISITED = Object.fromEntries(
  words(`/public${PRINTED} /public/assets/a.css /public/robots.txt /dist/a.css
    /dist/fixed-12345678.css`).map(path => [path, OWN_TEXT])
)

const VISITED_OPTIONS: SiteOptions = {
  env: 'production',
  apps: { web: { compile: false, fingerprint: false } },
  mounts: {
    '/m': {
      dir: 'dist',
      immutable: /fixed/,
      cacheControl: 'public, max-age=604800',
      headers: { 'CDN-Cache-Control': 'max-age=60' }
    }
  }
}

const PRIVATE = {
  [PRINTED]: 'private, max-age=31536000, immutable',
  '/assets/a.css': 'private, max-age=0, must-revalidate',
  '/robots.txt': 'private, max-age=0, must-revalidate',
  '/m/a.css': 'private, max-age=604800',
  '/m/fixed-12345678.css': 'private, max-age=31536000, immutable'
}

test('no file is public for a request with Authorization', async t => {
  const site = await makeSite(t, VISITED, VISITED_OPTIONS)
  for (const [path, value] of Object.entries(PRIVATE)) {
    const { headers } = await site.ask(path)
    for (const sent of ['Basic YTpi', '']) {
      for (const more of [{}, { range: 'bytes=0-1' }, { 'if-none-match': String(headers.etag) }]) {
        const answer = await site.ask(path, { headers: { authorization: sent, ...more } })
        t.is(answer.headers['cache-control'], value, `${path} ${answer.status}`)
        t.not(answer.headers['cdn-cache-control'], 'max-age=60')
      }
    }
    // What was made for one visitor is not kept for the others.
    for (let asked = 0; asked < 3; asked++) {
      const other = await site.ask(path)
      t.is(other.headers['cache-control'], value.replace('private', 'public'))
    }
  }
  t.deepEqual(site.errors, [])
})

test('no file is public when earlier middleware has set a cookie, unless that says so', async t => {
  const front: Middleware = (ctx, next) => {
    if (ctx.get('x-visitor') !== '') ctx.cookies.set('visitor', '1')
    if (ctx.get('x-visitor') === '2') ctx.set('Cache-Control', 'public, max-age=5')
    return next()
  }
  const site = await makeSite(t, VISITED, { ...VISITED_OPTIONS, front })
  for (const [path, value] of Object.entries(PRIVATE)) {
    const { headers } = await site.ask(path, { headers: { 'x-visitor': '1' } })
    t.is(headers['cache-control'], value, path)
    t.deepEqual(headers['set-cookie'], ['visitor=1; path=/; httponly'])
    const other = await site.ask(path)
    t.is(other.headers['cache-control'], value.replace('private', 'public'), path)
  }
  const own = await site.ask('/robots.txt', { headers: { 'x-visitor': '2' } })
  t.is(own.headers['cache-control'], 'public, max-age=5')
})

test('only HTML files are private beside a nonce that was set in front', async t => {
  const policy = "script-src 'nonce-4f'"
  const front: Middleware = (ctx, next) => {
    if (ctx.get('x-nonce') !== '') ctx.set('Content-Security-Policy', policy)
    return next()
  }
  const files = { '/dist/page.html': '<p>page', '/dist/a.css': OWN_TEXT }
  const cacheControl = 'public, max-age=604800'
  const mounts = { '/m': { dir: 'dist', cacheControl } }
  const site = await makeSite(t, files, { env: 'production', apps: false, mounts, front })
  for (const [path, value] of [
    ['/m/page.html', 'private, max-age=604800'],
    ['/m/a.css', cacheControl]
  ] as const) {
    const { headers } = await site.ask(path, { headers: { 'x-nonce': '1' } })
    t.is(headers['cache-control'], value)
    t.is(headers['content-security-policy'], policy)
    t.is((await site.ask(path)).headers['cache-control'], cacheControl)
  }
})

test('a mount keeps a Content-Type that was set in front, unless an earlier body brought it', async t => {
  const front: Middleware = (ctx, next) => {
    if (ctx.query['body']) ctx.body = 'earlier'
    else ctx.type = 'text/csv'
    return next()
  }
  const mounts = {
    '/m': 'dist',
    '/own': { dir: 'dist', headers: { 'Content-Type': 'text/x-own' } }
  }
  const site = await makeSite(t, FILES, { front, mounts })
  for (const [path, type] of [
    ['/m/b.bin', 'text/csv; charset=utf-8'],
    ['/m/a.txt?body=1', 'text/plain; charset=utf-8'],
    ['/own/b.bin', 'text/x-own'],
    ['/c.txt', 'text/plain; charset=utf-8']
  ] as const)
    t.is((await site.ask(path)).headers['content-type'], type, path)
})
