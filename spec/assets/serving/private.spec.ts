// What is sent to somebody who said who they are, or together with a cookie: no shared cache may keep it.
import test from 'ava'
import type { Middleware } from 'koa'
import { withFingerprint } from '../../../lib/assets/urls/fingerprint.ts'
import { digestOf } from '../../../lib/files/digest.ts'
import { ask } from '../../support/raw.ts'
import { makeSite, type SiteOptions } from '../../support/site.ts'
import { WAYS } from '../../support/ways.ts'

const TEXT = 'body { color: red }'
const PRINTED = withFingerprint('/assets/a.css', digestOf(TEXT))
const FILES = {
  [`/public${PRINTED}`]: TEXT,
  '/public/assets/a.css': TEXT,
  '/public/robots.txt': TEXT,
  '/dist/a.css': TEXT,
  '/dist/fixed-12345678.css': TEXT
}

const OPTIONS: SiteOptions = {
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

for (const [way, options] of WAYS) {
  test(`PRV-01 S66 no file is public for a request with Authorization, ${way}`, async t => {
    const site = await makeSite(t, FILES, { ...OPTIONS, ...options })
    for (const [path, value] of Object.entries(PRIVATE)) {
      const { headers } = await site.ask(path)
      const shared = value.replace('private', 'public')
      for (const [name, sent] of [
        ['authorization', 'Basic YTpi'],
        ['Authorization', '']
      ] as const) {
        for (const more of [
          {},
          { range: 'bytes=0-1' },
          { 'if-none-match': String(headers.etag) }
        ]) {
          const answer = await site.ask(path, { headers: { [name]: sent, ...more } })
          t.is(answer.headers['cache-control'], value, `${path} ${answer.status}`)
          t.not(answer.headers['cdn-cache-control'], 'max-age=60')
        }
      }
      // What was made for one visitor is not kept for the others.
      for (let asked = 0; asked < 3; asked++) {
        t.is((await site.ask(path)).headers['cache-control'], shared)
      }
    }
    t.deepEqual(site.errors, [])
  })
}

for (const [way, options] of WAYS.filter(([, { front }]) => front)) {
  test(`PRV-01 no file is public beside a cookie that was set in front, ${way}`, async t => {
    const front: Middleware = (ctx, next) => {
      if (ctx.get('x-visitor') !== '') ctx.cookies.set('visitor', '1')
      return next()
    }
    const site = await makeSite(t, FILES, { ...OPTIONS, ...options, front })
    for (const [path, value] of Object.entries(PRIVATE)) {
      const { headers } = await site.ask(path, { headers: { 'x-visitor': '1' } })
      t.is(headers['cache-control'], value, path)
      t.deepEqual(headers['set-cookie'], ['visitor=1; path=/; httponly'])
      const other = await site.ask(path)
      t.is(other.headers['cache-control'], value.replace('private', 'public'), path)
    }
  })
}

test('PRV-01 a Cache-Control that was set in front stays, and so does what a route says of its file', async t => {
  const front: Middleware = (ctx, next) => {
    if (ctx.path === '/robots.txt') ctx.set('Cache-Control', 'public, max-age=5')
    return next()
  }
  const site = await makeSite(t, FILES, {
    ...OPTIONS,
    front,
    routes: ctx => ctx.sendFile('a.css', { root: 'dist', cacheControl: 'public, max-age=6' })
  })
  const headers = { authorization: 'Basic YTpi' }
  t.is((await site.ask('/robots.txt', { headers })).headers['cache-control'], 'public, max-age=5')
  t.is((await site.ask('/route', { headers })).headers['cache-control'], 'public, max-age=6')
})

test('PRV-01 requests of two visitors on one connection do not mix', async t => {
  const site = await makeSite(t, FILES, OPTIONS)
  for (let round = 0; round < 3; round++) {
    const open = await ask(site.port, 'GET', PRINTED)
    const guarded = await ask(site.port, 'GET', PRINTED, { Authorization: 'Basic YTpi' })
    t.is(open.headers['cache-control'], 'public, max-age=31536000, immutable')
    t.is(guarded.headers['cache-control'], 'private, max-age=31536000, immutable')
  }
  t.deepEqual(site.errors, [])
})
