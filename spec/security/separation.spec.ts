// What must not be mixed up: sites, codings, names, hosts: S31, S32, S35, S36, S37.
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import test from 'ava'
import Koa from 'koa'
import session from 'koa-session'
import { koaHttpCache } from '../../lib/index.ts'
import { open } from '../support/cached-site.ts'
import { ENVIRONMENTS, makeFront, makeFronts } from '../support/front.ts'
import { type Answer, ask } from '../support/raw.ts'
import { makeProject } from '../support/site.ts'
import { PLACES } from './places.ts'
import { makeStronghold } from './stronghold.ts'

function siteOf(text: string) {
  return {
    'apps/web/assets/stylesheets/app.css': text,
    'apps/web/assets/stylesheets/sheet.css.scss': `/*! ${text} */`,
    'public/robots.txt': text,
    [`apps/web/assets/stylesheets/only-${text}.css`]: text
  }
}

test('S31 two sites in one process never give out each other’s bytes', async t => {
  const roots = { one: makeProject(t, siteOf('one')), two: makeProject(t, siteOf('two')) }
  // The same size and the same times: only the place tells one from the other.
  for (const root of Object.values(roots)) {
    utimesSync(join(root, 'apps/web/assets/stylesheets/app.css'), 1e9, 1e9)
    utimesSync(join(root, 'public/robots.txt'), 1e9, 1e9)
  }
  for (const environment of [ENVIRONMENTS.development, { env: 'production', compile: true }]) {
    const options = { fingerprint: false, ...environment }
    const one = await makeFront(t, { root: roots.one, ...options })
    const two = await makeFront(t, { root: roots.two, ...options })
    for (let round = 0; round < 3; round++) {
      for (const path of ['/assets/app.css', '/assets/sheet.css', '/robots.txt']) {
        const [first, second] = await Promise.all([
          ask(one.port, 'GET', path),
          ask(two.port, 'GET', path)
        ])
        t.true(first.text.includes('one') && !first.text.includes('two'), path)
        t.true(second.text.includes('two') && !second.text.includes('one'), path)
        t.not(first.headers.etag, second.headers.etag)
      }
      t.is((await ask(one.port, 'GET', '/assets/only-two.css')).status, 404)
      t.is((await ask(two.port, 'GET', '/assets/only-one.css')).status, 404)
    }
  }
})

test('S31 one site behind another goes on with what the first has not', async t => {
  const first = makeProject(t, { 'public/a.txt': 'first', 'apps/web/assets/x/only.css': '1' })
  const second = makeProject(t, { 'public/a.txt': 'second', 'apps/web/assets/x/other.css': '2' })
  const { koaAssets } = await import('../../lib/index.ts')
  const behind = koaAssets({ root: second, env: 'development', serve: true })
  const front = await makeFront(t, {
    root: first,
    env: 'development',
    wrap: assets => (ctx, next) => assets(ctx, () => behind(ctx, next))
  })
  t.is((await ask(front.port, 'GET', '/a.txt')).text, 'first')
  t.is((await ask(front.port, 'GET', '/assets/only.css')).text, '1')
  const other = await ask(front.port, 'GET', '/assets/other.css')
  t.is(other.text, '2')
  t.is(other.headers['cache-control'], 'no-cache')
})

function decoded({ headers, body }: Answer): string {
  const coding = headers['content-encoding']
  if (coding === 'br') return brotliDecompressSync(body).toString()
  if (coding === 'gzip') return gunzipSync(body).toString()
  return coding === undefined ? body.toString() : `unknown coding ${coding}`
}

test('S32 a cold server never answers in another coding than it says, or than it was asked for', async t => {
  const body = 'body { color: red } '.repeat(200)
  const root = makeProject(t, {
    'apps/web/assets/stylesheets/app.css': body,
    'public/assets/app.css': body,
    'public/assets/app.css.br': brotliCompressSync(body),
    'public/assets/app.css.gz': gzipSync(body)
  })
  const orders = [
    ['br', undefined],
    [undefined, 'br'],
    ['gzip', 'br'],
    ['identity', 'gzip, br'],
    ['br;q=0', 'br'],
    ['*;q=0', '*']
  ]
  for (const environment of Object.values(ENVIRONMENTS)) {
    for (const order of [...orders, ...orders.map(pair => pair.toReversed())]) {
      const { port } = await makeFront(t, { root, ...environment })
      const answers = await Promise.all(
        [...order, ...order].map(accepted =>
          ask(port, 'GET', '/assets/app.css', accepted ? { 'Accept-Encoding': accepted } : {})
        )
      )
      answers.forEach((answer, at) => {
        const accepted = [...order, ...order][at]
        const coding = answer.headers['content-encoding'] ?? 'identity'
        t.is(answer.status, 200)
        t.is(decoded(answer), body, `${accepted} got ${coding}`)
        const allowed = accepted === '*' ? ['br', 'gzip'] : (accepted ?? '').split(/, ?/)
        t.true(coding === 'identity' || allowed.includes(coding), `${accepted} got ${coding}`)
        t.is(answer.headers['content-length'], String(answer.body.length))
      })
      const tags = new Map(
        answers.map(({ headers }) => [headers['content-encoding'], headers.etag])
      )
      t.is(new Set(tags.values()).size, tags.size, 'each coding has its own ETag')
    }
  }
})

test('S35 a root, a prefix and an app’s path are taken literally', async t => {
  const odd = 'a+b(c)[d]{e}^$.*?'
  const outer = makeProject(t, {
    [`${odd}/apps/web/assets/stylesheets/app.css`]: 'web',
    [`${odd}/apps/x+(y)/assets/stylesheets/app.css`]: 'odd',
    'aab/apps/web/assets/stylesheets/app.css': 'pattern'
  })
  const front = await makeFront(t, {
    root: join(outer, odd),
    env: 'development',
    prefix: '/a+b(c)[d]',
    apps: { web: {}, odd: { dir: 'apps/x+(y)', path: '/x+(y)' } },
    alone: true
  })
  const textOf = async (target: string) => (await ask(front.port, 'GET', target)).text
  t.is(await textOf('/a+b(c)[d]/app.css'), 'web')
  t.is(await textOf('/a+b(c)[d]/x+(y)/app.css'), 'odd')
  for (const target of [
    '/aab(c)d/app.css',
    '/aab/app.css',
    '/a+b(c)d/app.css',
    '/ab/app.css',
    '/aabcd/app.css'
  ]) {
    t.is(await textOf(target), 'Not Found', target)
  }
  t.is(readFileSync(join(outer, odd, 'public/a+b(c)[d]/app.css'), 'utf8'), 'web')
  const missing = await ask(front.port, 'GET', '/a+b(c)[d]/missing.css')
  t.is(missing.headers['cache-control'], 'no-store')
})

for (const { where, at, options } of PLACES) {
  test(`S36 a client cannot have a front server send a file${where}`, async t => {
    for (const { front } of await makeFronts(t, makeStronghold(t), options)) {
      // In development the first one has the time that publishing took.
      await ask(front.port, 'GET', `${at}/assets/app.css`)
      const plain = await ask(front.port, 'GET', `${at}/assets/app.css`)
      t.is(plain.status, 200)
      const asked = await ask(front.port, 'GET', `${at}/assets/app.css`, {
        'X-Sendfile-Type': 'X-Accel-Redirect',
        'X-Accel-Mapping': `${front.root}/=/private/`,
        'X-Sendfile': '/etc/passwd',
        'X-Accel-Redirect': '/private/x',
        'X-Lighttpd-Send-File': '/etc/passwd',
        'X-Original-URL': '/admin/secret.html',
        'X-Rewrite-URL': '/admin/secret.html',
        'X-HTTP-Method-Override': 'DELETE',
        'X-Forwarded-Prefix': '/evil'
      })
      t.is(asked.text, plain.text)
      t.deepEqual(Object.keys(asked.headers), Object.keys(plain.headers))
    }
  })
}

test('S35 the URL path of a mount is taken literally, and its directory too', async t => {
  const root = makeProject(t, { 'd+(i)[r]/a.css': 'odd', 'ddir/a.css': 'pattern' })
  const mounts = { '/a+b(c)[d]': 'd+(i)[r]', '/x*': 'ddir' }
  for (const environment of Object.values(ENVIRONMENTS)) {
    const { port } = await makeFront(t, { root, ...environment, mounts, alone: true })
    t.is((await ask(port, 'GET', '/a+b(c)[d]/a.css')).text, 'odd')
    t.is((await ask(port, 'GET', '/a+b(c)%5Bd%5D/a.css')).text, 'odd')
    for (const target of [
      '/aab(c)d/a.css',
      '/ab/a.css',
      '/a+b(c)d/a.css',
      '/xx/a.css',
      '/x/a.css'
    ]) {
      t.is((await ask(port, 'GET', target)).status, 404, target)
    }
    const missing = await ask(port, 'GET', '/a+b(c)[d]/missing.css')
    t.is(missing.headers['cache-control'], 'no-store')
  }
})

test('S37 no emitted URL takes its host from the request', async t => {
  const root = makeStronghold(t)
  for (const host of [undefined, 'https://cdn.example']) {
    const front = await makeFront(t, {
      root,
      env: 'development',
      ...(host && { host }),
      wrap: assets => (ctx, next) =>
        assets(ctx, async () => {
          const { assets } = ctx as unknown as { assets: Record<string, (name: string) => string> }
          const names = ['javascript', 'stylesheet', 'image', 'path', 'url', 'favicon']
          if (ctx.path === '/page') ctx.body = names.map(name => assets[name]?.('app')).join('\n')
          await next()
        })
    })
    for (const target of ['/page', 'http://evil.example/page', 'http://evil.example:80/page']) {
      const headers = {
        Host: 'evil.example',
        'X-Forwarded-Host': 'evil.example',
        Forwarded: 'host=evil.example',
        Origin: 'https://evil.example',
        Referer: 'https://evil.example/'
      }
      const answer = await ask(front.port, 'GET', target, headers)
      t.is(answer.status, 200)
      t.true(answer.text.includes('/assets/app'))
      t.false(`${answer.head}${answer.text}`.includes('evil'), answer.text)
      const file = await ask(front.port, 'GET', '/assets/app.css', headers)
      t.false(file.head.includes('evil'))
    }
  }
})

// What a shared cache must not keep: S56.

const OPTIONS = { cacheControl: ['public', { maxAge: 60, sMaxage: 600 }], expires: 60 } as const

// Everything by which a shared cache could take a response for everybody's.
const SHARING = /^(?:cache-control:.*(?:public|s-maxage)|expires:|\w+-cache-control:|surrogate-)/im

function site(): Koa {
  const app = new Koa()
  app.keys = ['key']
  app.silent = true
  app.use(koaHttpCache(OPTIONS))
  app.use(session({ key: 'session' }, app))
  app.use(async ctx => {
    if (ctx.path === '/cookie') ctx.cookies.set('user', 'alice')
    if (ctx.path === '/session') ctx.session = { user: 'alice' }
    if (ctx.path === '/fails') ctx.expires(600, 'public')
    if (ctx.path === '/fails') throw new Error('database')
    await ctx.fresh('x')
    ctx.body = 'page'
  })
  return app
}

test('S56 a default does not make a response with a cookie public, 304 included', async t => {
  const { port } = await open(t, site())
  for (const path of ['/cookie', '/session']) {
    for (const [headers, status] of [
      [{}, 200],
      [{ 'If-None-Match': '"x"' }, 304]
    ] as const) {
      const answer = await ask(port, 'GET', path, headers)
      t.is(answer.status, status)
      t.regex(answer.head, /^set-cookie:/im)
      t.is(answer.headers['cache-control'], 'private, max-age=60')
      t.notRegex(answer.head, SHARING)
    }
  }
})

test('S56 a default does not make a response to Authorization public, however it is written', async t => {
  const { port } = await open(t, site())
  for (const name of ['Authorization', 'authorization', 'AUTHORIZATION']) {
    for (const value of ['Bearer x', '', 'Basic']) {
      const answer = await ask(port, 'GET', '/', { [name]: value })
      t.is(answer.headers['cache-control'], 'private, max-age=60')
      t.notRegex(answer.head, SHARING)
    }
  }
  t.is((await ask(port, 'GET', '/')).headers['cache-control'], 'public, max-age=60, s-maxage=600')
})

test('S56 a failure keeps no lifetime', async t => {
  const { port } = await open(t, site())
  const answer = await ask(port, 'GET', '/fails')
  t.is(answer.status, 500)
  t.is(answer.headers['cache-control'], 'no-store')
  t.notRegex(answer.head, SHARING)
})
