// A guard in front that compares ctx.path is never talked past: S16 to S19, and what is beyond them.
import { parse } from 'node:url'
import test from 'ava'
import type { Context, Middleware, Next } from 'koa'
import mount from 'koa-mount'
import { ENVIRONMENTS, makeFront } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { PLACES, targetAt } from './places.ts'
import { makeStronghold, SECRET } from './stronghold.ts'
import { digestOf } from '../../lib/files/digest.ts'

/** What people write in front of a folder. */
function guard(prefix: string): Middleware {
  return function refuse(ctx: Context, next: Next) {
    if (ctx.path === prefix || ctx.path.startsWith(`${prefix}/`)) ctx.throw(403)
    return next()
  }
}

/** The guard's own `ctx.path` throws for a host that this version of Node rejects. */
function refused(status: number, target: string): boolean {
  return [400, 403, 404].includes(status) || (status === 500 && !isRead(target))
}

const guarded: Readonly<Record<string, readonly string[]>> = {
  'S16 a guard on /admin cannot be talked past with %2F': [
    '/admin%2Fsecret.html',
    '/admin%2fsecret.html',
    '/admin%2F%2Fsecret.html',
    '/%2Fadmin/secret.html',
    '/%2fadmin%2fsecret.html',
    '/css%2F..%2Fadmin%2Fsecret.html'
  ],
  'S17 a guard on /admin cannot be talked past with //': [
    '//admin/secret.html',
    '///admin/secret.html',
    '/admin//secret.html',
    '//localhost/admin/secret.html',
    '//localhost//admin/secret.html',
    '//@/admin/secret.html'
  ],
  'S18 a guard on /admin cannot be talked past with a backslash': [
    '/admin%5Csecret.html',
    '/admin%5csecret.html',
    '/admin\\secret.html',
    '\\admin\\secret.html',
    '/\\admin/secret.html',
    '/%5Cadmin/secret.html'
  ],
  'S19 a guard on /admin cannot be talked past with another spelling': [
    '/x/../admin/secret.html',
    '/css/../admin/secret.html',
    '/x/%2e%2e/admin/secret.html',
    '/./admin/secret.html',
    '/%2e/admin/secret.html',
    '/%61dmin/secret.html',
    '/%61%64%6d%69%6e/secret.html',
    '/admi%6E/secret.html',
    '/%2561dmin/secret.html',
    '/ADMIN/secret.html',
    '/Admin/secret.html',
    '/admin./secret.html',
    '/admin%20/secret.html',
    '/admin%09/secret.html',
    '/admin%0a/secret.html',
    '/admin%00/secret.html',
    '/admin;/secret.html',
    '/admin;x=1/secret.html',
    '/admin%3B/secret.html',
    '/admin%3f/secret.html',
    '/admin%23/secret.html',
    '/admin::$INDEX_ALLOCATION/secret.html',
    '/%c1%a1dmin/secret.html',
    '/%e0%81%a1dmin/secret.html',
    '/\u00e1dmin/secret.html',
    '/admin%C0%AFsecret.html',
    '/admin%EF%BC%8Fsecret.html',
    '/%EF%BD%81dmin/secret.html',
    '/?/../admin/secret.html',
    '/no-such-file?/../admin/secret.html',
    '?/admin/secret.html',
    '#/admin/secret.html',
    '/#/../admin/secret.html',
    'admin/secret.html',
    '*',
    './admin/secret.html'
  ],
  'S19 a guard on /admin cannot be talked past with an absolute target': [
    'http://localhost/admin%2Fsecret.html',
    'http://localhost//admin/secret.html',
    'http://localhost\\admin/secret.html',
    'http://localhost\\admin\\secret.html',
    'http://localhost/%61dmin/secret.html',
    'http://localhost/x/../admin/secret.html',
    'http://a:b/admin/secret.html',
    'http://a:1:2/admin/secret.html',
    'http://a:80b/admin/secret.html',
    'http://[::1/admin/secret.html',
    'http://a[b/admin/secret.html',
    'http://]/admin/secret.html',
    'http://xn--a/admin/secret.html',
    'http://:@/admin/secret.html',
    'http://x@y/admin/secret.html',
    'http://localhost?/admin/secret.html',
    'http://localhost#/admin/secret.html',
    'http://localhost;/admin/secret.html',
    'http:/admin/secret.html',
    'http:admin/secret.html',
    'http:///admin/secret.html',
    'http:\\\\localhost/admin/secret.html',
    'https:admin/secret.html',
    'HTTP://a:b/admin/secret.html',
    'ftp://localhost/admin/secret.html',
    'file:///admin/secret.html',
    'javascript:/admin/secret.html'
  ]
}

const guardedPlaces = PLACES.flatMap(place =>
  Object.entries(guarded).map(([title, targets]) => ({ place, title, targets }))
)

for (const { place, title, targets } of guardedPlaces) {
  test(`${title}${place.where}`, async t => {
    const root = makeStronghold(t)
    for (const environment of Object.values(ENVIRONMENTS)) {
      const inFront = [guard(`${place.at}/admin`)]
      const front = await makeFront(t, { root, ...environment, ...place.options, inFront })
      for (const given of targets) {
        const target = targetAt(place, given)
        for (const method of ['GET', 'HEAD', 'POST']) {
          const answer = await ask(front.port, method, target)
          t.true(refused(answer.status, target), `${method} ${target} ${answer.status}`)
          t.false(answer.text.includes(SECRET), target)
          t.is(answer.headers.etag, undefined, `${method} ${target}`)
          t.is(answer.headers.allow, undefined, `${method} ${target}`)
          t.is(answer.headers.location, undefined, `${method} ${target}`)
        }
      }
    }
  })
}

test('a guard on a folder of assets holds with tails: false; with tails they lead past it', async t => {
  const root = makeStronghold(t, { 'apps/web/assets/stylesheets/secret/x.css': SECRET })
  for (const tails of [true, false]) {
    for (const fingerprint of [false, true]) {
      const options = { root, public: `public-${tails}-${fingerprint}`, compile: true, fingerprint }
      const inFront = [guard('/assets/secret')]
      const { port } = await makeFront(t, { ...options, tails, env: 'production', inFront })
      t.is((await ask(port, 'GET', '/assets/secret/x.css')).status, 403)
      const digest = `-${digestOf(Buffer.from(SECRET))}`
      for (const name of ['x', 'stylesheets/secret/x']) {
        const answer = await ask(port, 'GET', `/assets/${name}.css`)
        t.is(answer.text.includes(SECRET), tails && !fingerprint, name)
        t.is((await ask(port, 'GET', `/assets/${name}${digest}.css`)).status, 404, name)
      }
    }
  }
})

test('S19 a target that Koa cannot read is not ours, and no error', async t => {
  const root = makeStronghold(t)
  for (const environment of Object.values(ENVIRONMENTS)) {
    const front = await makeFront(t, { root, ...environment })
    for (const target of [
      'http://a[b/robots.txt',
      'http://xn--a/robots.txt',
      'http://x%c0%ae@y/robots.txt',
      'http://]/assets/app.css'
    ]) {
      const answer = await ask(front.port, 'GET', target)
      t.is(answer.status, isRead(target) ? 200 : 404, target)
      t.deepEqual(front.errors, [])
    }
  }
})

/** Which authorities Koa's parser takes is Node's to say, and it says more since version 24. */
function isRead(target: string): boolean {
  try {
    return parse(target).pathname !== null
  } catch {
    return false
  }
}

test('S19 the guard itself sees an absolute target that is in order', async t => {
  const root = makeStronghold(t)
  const front = await makeFront(t, { root, env: 'development', inFront: [guard('/admin')] })
  const statusOf = async (target: string) => (await ask(front.port, 'GET', target)).status
  t.is(await statusOf('/admin/secret.html'), 403)
  t.is(await statusOf('http://localhost/admin/secret.html'), 403)
  t.is(await statusOf('http://localhost:8080/admin/secret.html?x'), 403)
  t.is(await statusOf('http://[::1]:80/admin/secret.html'), 403)
  t.is(await statusOf('http://localhost/robots.txt'), 200)
  t.is(await statusOf('http://[::1]:80/assets/app.css'), 200)
})

for (const { where, options } of PLACES.filter(({ at }) => at === '')) {
  test(`S19 a guard within koa-mount is not talked past either${where}`, async t => {
    const root = makeStronghold(t)
    for (const environment of Object.values(ENVIRONMENTS)) {
      const front = await makeFront(t, {
        root,
        ...environment,
        ...options,
        inFront: [guard('/site/admin')],
        wrap: assets => mount('/site', assets)
      })
      t.is((await ask(front.port, 'GET', '/site/robots.txt')).text, 'robots')
      t.is((await ask(front.port, 'GET', '/site/admin/secret.html')).status, 403)
      for (const target of Object.values(guarded).flat()) {
        const mounted = target.replace(/^((?:\w+:\/\/[^/\\?#]*)?)(?=[/\\?#])/, '$1/site')
        for (const way of [target, mounted, mounted.replace('/site', '/site/site')]) {
          const answer = await ask(front.port, 'GET', way)
          t.true(refused(answer.status, way), `${way} ${answer.status}`)
          t.false(answer.text.includes(SECRET), way)
        }
      }
    }
  })
}

test('S19 an app’s own prefix is as strict as its guard', async t => {
  const root = makeStronghold(t, { 'apps/admin/assets/javascripts/panel.js': SECRET })
  const front = await makeFront(t, {
    root,
    env: 'development',
    inFront: [guard('/assets/admin')]
  })
  t.is((await ask(front.port, 'GET', '/assets/admin/panel.js')).status, 403)
  const spellings = [
    '/assets/%61dmin/panel.js',
    '/assets//admin/panel.js',
    '/assets/admin%2Fpanel.js',
    '/assets/admin%2fjavascripts%2fpanel.js',
    '/assets/./admin/panel.js',
    '/assets/x/../admin/panel.js',
    '/%61ssets/admin/panel.js',
    '/assets%2Fadmin/panel.js',
    '/assets/ADMIN/panel.js',
    '//assets/admin/panel.js',
    'http://a:b/assets/admin/panel.js',
    '/assets/panel.js'
  ]
  for (const target of spellings) {
    const answer = await ask(front.port, 'GET', target)
    t.true(refused(answer.status, target), `${target} ${answer.status}`)
    t.false(answer.text.includes(SECRET), target)
  }
})

test('S19 a host that Node rejects is no error of koaAssets', async t => {
  const root = makeStronghold(t)
  const { port, errors } = await makeFront(t, { root, env: 'development' })
  for (const host of ['a:b', 'a:1:2', 'a[b', '[::1', ']', 'xn--a', ':@']) {
    const answer = await ask(port, 'GET', `http://${host}/assets/none.css`)
    t.true([400, 404].includes(answer.status), `${host} ${answer.status}`)
  }
  t.deepEqual(errors, [])
})
