// The fields of a response: those that the application adds (NBR-02, WAY-05, MNT-04, MNT-07), and those for
// one visitor alone (PRV-01).
import test from 'ava'
import type { Middleware } from 'koa'
import { withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { digestOf } from '../../../lib/files/digest.ts'
import { type Files, makeSite, type SiteOptions } from '../../support/site.ts'

const FILES: Files = {
  '/dist/a.txt': 'a text',
  '/dist/b.bin': 'binary',
  '/dist/manifest.json': JSON.stringify({ 'a.js': { file: 'b.bin', isEntry: true } }),
  '/public/c.txt': 'in public'
}

test('NBR-02 headers are on every response, a type where there is a body, and override what was set in front, except for a Cache-Control', async t => {
  const front: Middleware = (ctx, next) => {
    ctx.set({ 'X-A': 'front', 'Cache-Control': 'private', 'CDN-Cache-Control': 'no-store' })
    ctx.set({ 'Content-Security-Policy': "default-src 'self'", Vary: 'Origin' })
    ctx.set({ 'Set-Cookie': 'a=1', 'X-Content-Type-Options': 'other' })
    return next()
  }
  const headers = {
    'x-a': 'ours',
    'X-B': 'ours',
    'X-C': 'ours',
    'Content-Type': 'text/plain; charset=iso-8859-1',
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
    [{ 'if-match': '"x"' }, 412]
  ] as const) {
    const answer = await site.ask('/m/a.txt', { headers: fields })
    t.is(answer.status, status)
    t.is(answer.headers['x-a'], 'ours')
    t.is(answer.headers['x-b'], 'ours')
    t.is(answer.headers['x-c'], 'ours')
    t.deepEqual([answer.headers['x-top'], answer.headers['x-path']], ['top', '/m/a.txt'])
    const type = status < 300 ? 'text/plain; charset=iso-8859-1' : undefined
    t.is(answer.headers['content-type'], type)
    t.is(answer.headers['content-security-policy'], "default-src 'none'; sandbox")
    t.is(answer.headers['cache-control'], 'private')
    t.is(answer.headers['cdn-cache-control'], 'no-store')
    t.deepEqual(answer.headers['set-cookie'], ['a=1'])
    t.is(answer.headers['x-content-type-options'], 'other')
    t.is(answer.headers.vary, 'Origin, Accept')
  }
  const { headers: inPublic } = await site.ask('/c.txt')
  t.deepEqual([inPublic['x-c'], inPublic['x-path']], ['top', undefined])
  t.deepEqual(site.errors, [])
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

test('NBR-02 MNT-07 a wrong result of a function is a 500 that is reported, and the other files are served', async t => {
  for (const [mount, message] of [
    [
      { headers: () => ({ 'X-A': 'a\r\nX-B: c' }) },
      /^X-A must be text without line breaks.* \(mounts\.\/m\.headers\.X-A\)/
    ],
    [{ cacheControl: () => 60 as never }, /^cacheControl must be a value such as/],
    [{ immutable: () => 'yes' as never }, /^immutable must be true or false, got 'yes'/],
    [{ headers: () => ({ ETag: '"mine"' }) }, /^mounts\.\/m\.headers sets ETag, which is/],
    [{ headers: () => raise('mine') }, /^mine$/]
  ] as const) {
    const site = await makeSite(t, FILES, { mounts: { '/m': { dir: 'dist', ...mount } } })
    for (let times = 1; times < 3; times++) {
      const { status, text, headers } = await site.ask('/m/a.txt')
      t.deepEqual([status, text], [500, 'Internal Server Error'])
      for (const name of ['etag', 'cache-control', 'x-b']) t.is(headers[name], undefined)
      t.is(site.errors.length, times)
      t.regex(site.errors[0]?.message ?? '', message)
    }
    t.is((await site.ask('/c.txt')).status, 200)
  }
})

function raise(message: string): never {
  throw new Error(message)
}

const TEXT = 'body { color: red }'
const PRINTED = withFingerprint('/assets/a.css', digestOf(TEXT))
const VISITED = {
  [`/public${PRINTED}`]: TEXT,
  '/public/assets/a.css': TEXT,
  '/public/robots.txt': TEXT,
  '/dist/a.css': TEXT,
  '/dist/fixed-12345678.css': TEXT
}

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

test('PRV-01 S66 no file is public for a request with Authorization', async t => {
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

test('PRV-01 no file is public when earlier middleware has set a cookie, unless that says so', async t => {
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

test('FRS-11 S82 an HTML file is private beside a nonce that was set in front, and no other file is', async t => {
  const policy = "script-src 'nonce-4f'"
  const front: Middleware = (ctx, next) => {
    if (ctx.get('x-nonce') !== '') ctx.set('Content-Security-Policy', policy)
    return next()
  }
  const files = { '/dist/page.html': '<p>page', '/dist/a.css': TEXT }
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
