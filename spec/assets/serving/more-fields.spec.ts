// Fields that the application adds: NBR-02, WAY-05, MNT-04, MNT-07.
import test from 'ava'
import type { Middleware } from 'koa'
import { valueOf, withMore, without, type Fields } from '../../../lib/assets/serving/fields.ts'
import { withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { digestOf } from '../../../lib/files/digest.ts'
import { makeSite, type Files } from '../../support/site.ts'

test('fields of ours are replaced in place, whatever their case, and others come after them', t => {
  const ours: Fields = Object.entries({ ETag: '"a"', 'Cache-Control': 'no-cache' })
  const more: Fields = Object.entries({ 'cache-control': 'no-store', 'X-A': 'a', 'x-a': 'b' })
  const merged = Object.entries({ ETag: '"a"', 'Cache-Control': 'no-store', 'X-A': 'b' })
  t.deepEqual(withMore(ours, more), merged)
  t.is(valueOf(more, 'X-a'), 'b')
  t.is(valueOf([], 'X-A'), undefined)
  t.deepEqual(without(more, 'X-A'), [['cache-control', 'no-store']])
})

for (const [ours, more, merged] of [
  ['Accept-Encoding', 'Origin', 'Accept-Encoding, Origin'],
  ['Accept-Encoding', 'accept-encoding', 'Accept-Encoding'],
  ['Accept-Encoding', 'Origin, Accept-Encoding', 'Accept-Encoding, Origin']
] as const) {
  test(`Vary: ${ours} and Vary: ${more} are Vary: ${merged}`, t => {
    t.deepEqual(withMore([['Vary', ours]], [['vary', more]]), [['Vary', merged]])
  })
}

const FILES: Files = {
  '/dist/a.txt': 'a text',
  '/dist/b.bin': 'binary',
  '/dist/manifest.json': JSON.stringify({ 'a.js': { file: 'b.bin', isEntry: true } }),
  '/public/c.txt': 'in public'
}

test('NBR-02 headers are on 200, 206 and 304, without Content-Type on the last', async t => {
  const site = await makeSite(t, FILES, {
    headers: { 'X-Both': 'top', 'X-Top': 'top', Vary: 'Origin' },
    mounts: {
      '/m': {
        dir: 'dist',
        headers: path => ({
          'x-both': 'mount',
          'Content-Type': 'text/plain; charset=iso-8859-1',
          'X-Content-Type-Options': 'other',
          'X-Path': path
        })
      }
    }
  })
  const first = await site.ask('/m/a.txt')
  const etag = first.headers.etag ?? ''
  for (const [fields, status, type] of [
    [{}, 200, 'text/plain; charset=iso-8859-1'],
    [{ range: 'bytes=0-1' }, 206, 'text/plain; charset=iso-8859-1'],
    [{ 'if-none-match': etag }, 304, undefined]
  ] as const) {
    const { headers, ...answer } = await site.ask('/m/a.txt', { headers: fields })
    t.is(answer.status, status)
    t.is(headers['content-type'], type)
    const names = ['x-both', 'x-top', 'x-path', 'x-content-type-options', 'vary', 'etag']
    t.deepEqual(
      names.map(name => headers[name]),
      ['mount', 'top', '/m/a.txt', 'other', 'Origin', etag]
    )
  }
  const inPublic = await site.ask('/c.txt')
  t.deepEqual([inPublic.headers['x-both'], inPublic.headers['x-path']], ['top', undefined])
  t.deepEqual(site.errors, [])
})

test('WAY-05 headers and CORS are on 412 and 416 as well, and no lifetime or type', async t => {
  const site = await makeSite(t, FILES, {
    headers: { 'X-Top': 'top', Vary: 'Origin' },
    host: 'https://cdn.example',
    mounts: {
      '/m': {
        dir: 'dist',
        manifest: 'dist/manifest.json',
        headers: {
          'X-Mount': 'mount',
          'Content-Security-Policy': 'sandbox',
          'Content-Type': 'text/x',
          'Cache-Control': 'public, max-age=60',
          'CDN-Cache-Control': 'max-age=60',
          Expires: 'Thu, 01 Jan 2126 00:00:00 GMT'
        }
      }
    }
  })
  for (const [fields, status] of [
    [{ 'if-match': '"x"' }, 412],
    [{ range: 'bytes=100-' }, 416]
  ] as const) {
    const { headers, ...answer } = await site.ask('/m/a.txt', { headers: fields })
    t.is(answer.status, status)
    t.is(headers['x-top'], 'top')
    t.is(headers['x-mount'], 'mount')
    t.is(headers['content-security-policy'], 'sandbox')
    t.is(headers['access-control-allow-origin'], '*')
    t.is(headers.vary, 'Origin')
    t.is(headers['content-length'], '0')
    for (const name of ['content-type', 'cache-control', 'cdn-cache-control', 'expires', 'etag'])
      t.is(headers[name], undefined, name)
  }
  t.deepEqual(site.errors, [])
})

test('NBR-02 headers beat what was set in front, defaults and a Cache-Control do not', async t => {
  const front: Middleware = (ctx, next) => {
    ctx.set({ 'X-A': 'front', 'Cache-Control': 'private', 'CDN-Cache-Control': 'no-store' })
    ctx.set({ 'Content-Security-Policy': "default-src 'self'", Vary: 'Origin' })
    ctx.set({ 'Set-Cookie': 'a=1', 'X-Content-Type-Options': 'other' })
    return next()
  }
  const headers = {
    'x-a': 'ours',
    'X-B': 'ours',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'public, max-age=60',
    'CDN-Cache-Control': 'max-age=60',
    'Set-Cookie': 'b=2',
    Vary: 'Accept'
  }
  const site = await makeSite(t, FILES, {
    front,
    headers: { 'X-C': 'top' },
    mounts: { '/m': { dir: 'dist', headers } }
  })
  const { headers: first } = await site.ask('/m/a.txt')
  for (const [fields, status] of [
    [{}, 200],
    [{ range: 'bytes=0-1' }, 206],
    [{ 'if-none-match': String(first.etag) }, 304],
    [{ 'if-match': '"x"' }, 412]
  ] as const) {
    const answer = await site.ask('/m/a.txt', { headers: fields })
    t.is(answer.status, status)
    t.is(answer.headers['x-a'], 'ours')
    t.is(answer.headers['x-b'], 'ours')
    t.is(answer.headers['x-c'], 'top')
    t.is(answer.headers['content-security-policy'], "default-src 'none'; sandbox")
    t.is(answer.headers['cache-control'], 'private')
    t.is(answer.headers['cdn-cache-control'], 'no-store')
    t.deepEqual(answer.headers['set-cookie'], ['a=1'])
    t.is(answer.headers['x-content-type-options'], 'other')
    t.is(answer.headers.vary, 'Origin, Accept')
  }
  t.deepEqual(site.errors, [])
})

test('NBR-02 a wrong value is a 500 that is told', async t => {
  const headers = { 'X-A': 'a\r\nX-B: c' }
  const site = await makeSite(t, FILES, {
    mounts: { '/m': { dir: 'dist', headers: () => headers } }
  })
  for (let times = 1; times < 3; times++) {
    const bad = await site.ask('/m/b.bin')
    t.deepEqual(
      [bad.status, bad.text, bad.headers['x-b']],
      [500, 'Internal Server Error', undefined]
    )
    t.is(site.errors.length, times)
    t.true(site.errors[0] instanceof TypeError)
    t.regex(
      String(site.errors[0]),
      /X-A must be text without line breaks.* \(mounts\.\/m\.headers\.X-A\)/
    )
  }
})

test('NBR-02 headers are on what is published, compiled and fingerprinted too', async t => {
  const headers = (path: string) => ({ 'X-Path': path, 'Content-Type': 'text/x' })
  const site = await makeSite(t, { 'css/a.css': 'a{}' }, { headers })
  const plain = await site.ask('/assets/a.css')
  t.deepEqual([plain.headers['x-path'], plain.headers['content-type']], ['/assets/a.css', 'text/x'])
  const path = withFingerprint('/assets/a.css', digestOf(Buffer.from('a{}')))
  const production = await makeSite(
    t,
    { [`/public${path}`]: 'a{}' },
    { headers, root: site.root, env: 'production', apps: { web: { fingerprint: false } } }
  )
  const { headers: fields } = await production.ask(path)
  t.is(fields['x-path'], path)
  t.is(fields['cache-control'], 'public, max-age=31536000, immutable')
})

test('NBR-02 `cache-control` in headers replaces ours, that of an immutable file too', async t => {
  const mounts = {
    '/m': { dir: 'dist', immutable: true, headers: { 'cache-control': 'no-store' } }
  }
  const site = await makeSite(t, FILES, { mounts })
  t.is((await site.ask('/m/a.txt')).headers['cache-control'], 'no-store')
})

for (const [title, mount, expected] of [
  ['a value', { cacheControl: 'public, max-age=60' }, ['public, max-age=60', 'public, max-age=60']],
  [
    'a function, which may leave some to the default',
    { cacheControl: (path: string) => (path === '/m/a.txt' ? 'max-age=5' : undefined) },
    ['max-age=5', 'no-cache']
  ],
  [
    'immutable first',
    { immutable: /a\.txt$/g, cacheControl: 'max-age=5' },
    ['public, max-age=31536000, immutable', 'max-age=5']
  ],
  ['immutable: false', { immutable: false }, ['no-cache', 'no-cache']]
] as const) {
  test(`MNT-07 MNT-04 Cache-Control by ${title}`, async t => {
    const site = await makeSite(t, FILES, { mounts: { '/m': { dir: 'dist', ...mount } } })
    for (let times = 0; times < 2; times++) {
      const answers = await Promise.all(['/m/a.txt', '/m/b.bin'].map(path => site.ask(path)))
      t.deepEqual(
        answers.map(({ headers }) => headers['cache-control']),
        expected
      )
    }
  })
}

for (const [title, mount, message] of [
  ['cacheControl', { cacheControl: () => 60 as never }, /^cacheControl must be a value such as/],
  ['immutable', { immutable: () => 'yes' as never }, /^immutable must be true or false, got 'yes'/],
  ['headers', { headers: () => ({ ETag: '"mine"' }) }, /^mounts\.\/m\.headers sets ETag, which is/],
  ['a function that throws', { headers: () => raise('mine') }, /^mine$/]
] as const) {
  test(`MNT-07 a wrong result of ${title} is a 500, and the other files are served`, async t => {
    const site = await makeSite(t, FILES, { mounts: { '/m': { dir: 'dist', ...mount } } })
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await site.ask('/m/a.txt', { method })
      t.deepEqual([status, headers.etag, headers['cache-control']], [500, undefined, undefined])
    }
    t.is(site.errors.length, 2)
    t.regex(site.errors[0]?.message ?? '', message)
    t.is((await site.ask('/c.txt')).status, 200)
    t.is((await site.ask('/m/none.txt')).status, 404)
  })
}

function raise(message: string): never {
  throw new Error(message)
}
