// A guard in front that compares ctx.path cannot be bypassed, and no request gets more than it may.
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'node:url'
import type { Context, Middleware, Next } from 'koa'
import mount from 'koa-mount'
import { digestOf } from '../../lib/runtime/files/digest.ts'
import { type Answer, ask } from '../support/raw.ts'
import { PLACES, targetAt } from './places.ts'
import { makeStronghold, SECRET } from './stronghold.ts'
import { ENVIRONMENTS, isWindows, makeFront, makeFronts, makeProject } from '../support/index.ts'
import { makeSite, METHODS, test, words, type ExecutionContext } from '../support/index.ts'

/** What people write in front of a folder. */
function guard(prefix: string): Middleware {
  return function refuse(ctx: Context, next: Next) {
    if (ctx.path === prefix || ctx.path.startsWith(`${prefix}/`)) ctx.throw(403)
    return next()
  }
}

/** Which authorities Koa's parser takes is Node's to say, and it says more since version 24. */
function isRead(target: string): boolean {
  try {
    return parse(target).pathname !== null
  } catch {
    return false
  }
}

async function checkRefused(t: ExecutionContext, port: number, target: string, method = 'GET') {
  const { status, text, headers } = await ask(port, method, target)
  // The guard's own `ctx.path` throws for a host that this version of Node rejects.
  const isRight = [400, 403, 404].includes(status) || (status === 500 && !isRead(target))
  t.true(isRight, `${method} ${target} ${status}`)
  t.false(text.includes(SECRET), target)
  const { etag, allow, location } = headers
  t.deepEqual([etag, allow, location], [undefined, undefined, undefined], target)
}

const guarded: Readonly<Record<string, readonly string[]>> = {
  '%2F': words(`
    /admin%2Fsecret.html /admin%2fsecret.html /admin%2F%2Fsecret.html /%2Fadmin/secret.html
    /%2fadmin%2fsecret.html /css%2F..%2Fadmin%2Fsecret.html
  `),
  '//': words(`
    //admin/secret.html ///admin/secret.html /admin//secret.html //localhost/admin/secret.html
    //localhost//admin/secret.html //@/admin/secret.html
  `),
  'a backslash': words(`
    /admin%5Csecret.html /admin%5csecret.html /admin\\secret.html \\admin\\secret.html
    /\\admin/secret.html /%5Cadmin/secret.html
  `),
  'another spelling': words(`
    /x/../admin/secret.html /css/../admin/secret.html /x/%2e%2e/admin/secret.html
    /./admin/secret.html /%2e/admin/secret.html /%61dmin/secret.html /%61%64%6d%69%6e/secret.html
    /admi%6E/secret.html /%2561dmin/secret.html /ADMIN/secret.html /Admin/secret.html
    /admin./secret.html /admin%20/secret.html /admin%09/secret.html /admin%0a/secret.html
    /admin%00/secret.html /admin;/secret.html /admin;x=1/secret.html /admin%3B/secret.html
    /admin%3f/secret.html /admin%23/secret.html /admin::$INDEX_ALLOCATION/secret.html
    /%c1%a1dmin/secret.html /%e0%81%a1dmin/secret.html /\u00e1dmin/secret.html
    /admin%C0%AFsecret.html /admin%EF%BC%8Fsecret.html /%EF%BD%81dmin/secret.html
    /?/../admin/secret.html /no-such-file?/../admin/secret.html ?/admin/secret.html
    #/admin/secret.html /#/../admin/secret.html admin/secret.html * ./admin/secret.html
  `),
  'an absolute URL': words(`
    http://localhost/admin%2Fsecret.html http://localhost//admin/secret.html
    http://localhost\\admin/secret.html http://localhost\\admin\\secret.html
    http://localhost/%61dmin/secret.html http://localhost/x/../admin/secret.html
    http://a:b/admin/secret.html http://a:1:2/admin/secret.html http://a:80b/admin/secret.html
    http://[::1/admin/secret.html http://a[b/admin/secret.html http://]/admin/secret.html
    http://xn--a/admin/secret.html http://:@/admin/secret.html http://x@y/admin/secret.html
    http://localhost?/admin/secret.html http://localhost#/admin/secret.html
    http://localhost;/admin/secret.html http:/admin/secret.html http:admin/secret.html
    http:///admin/secret.html http:\\\\localhost/admin/secret.html https:admin/secret.html
    HTTP://a:b/admin/secret.html ftp://localhost/admin/secret.html file:///admin/secret.html
    javascript:/admin/secret.html
  `)
}

for (const place of PLACES) {
  for (const [what, targets] of Object.entries(guarded)) {
    test(`a guard on /admin cannot be bypassed with ${what}${place.where}`, async t => {
      const root = makeStronghold(t)
      for (const environment of Object.values(ENVIRONMENTS)) {
        const inFront = [guard(`${place.at}/admin`)]
        const front = await makeFront(t, { root, ...environment, ...place.options, inFront })
        for (const target of targets.map(given => targetAt(place, given)))
          for (const method of METHODS) await checkRefused(t, front.port, target, method)
      }
    })
  }
}

test('a guard on a folder of assets holds with tails: false', async t => {
  const root = makeStronghold(t, { 'apps/web/assets/stylesheets/secret/x.css': SECRET })
  for (const tails of [true, false]) {
    for (const fingerprint of [false, true]) {
      const options = { root, public: `public-${tails}-${fingerprint}`, compile: true, fingerprint }
      const inFront = [guard('/assets/secret')]
      const { port } = await makeFront(t, { ...options, tails, env: 'production', inFront })
      t.is((await ask(port, 'GET', '/assets/secret/x.css')).status, 403)
      // With `tails`, a shorter or longer path finds a plain file as well, past this guard.
      const digest = `-${digestOf(Buffer.from(SECRET))}`
      for (const name of ['x', 'stylesheets/secret/x']) {
        const answer = await ask(port, 'GET', `/assets/${name}.css`)
        t.is(answer.text.includes(SECRET), tails && !fingerprint, name)
        t.is((await ask(port, 'GET', `/assets/${name}${digest}.css`)).status, 404, name)
      }
    }
  }
})

test('a URL that Koa cannot read is a 404 instead of an error', async t => {
  const root = makeStronghold(t)
  for (const environment of Object.values(ENVIRONMENTS)) {
    const front = await makeFront(t, { root, ...environment })
    for (const target of words(`
      http://a[b/robots.txt http://xn--a/robots.txt http://x%c0%ae@y/robots.txt
      http://]/assets/app.css http://[::1]:80/assets/app.css
    `)) {
      const answer = await ask(front.port, 'GET', target)
      t.is(answer.status, isRead(target) ? 200 : 404, target)
      t.deepEqual(front.errors, [])
    }
  }
})

for (const { where, options } of PLACES.filter(({ at }) => at === '')) {
  test(`a guard in front of assets within koa-mount cannot be bypassed${where}`, async t => {
    const root = makeStronghold(t)
    for (const environment of Object.values(ENVIRONMENTS)) {
      const given = { root, ...environment, ...options, inFront: [guard('/site/admin')] }
      const front = await makeFront(t, { ...given, wrap: assets => mount('/site', assets) })
      t.is((await ask(front.port, 'GET', '/site/robots.txt')).text, 'robots')
      t.is((await ask(front.port, 'GET', '/site/admin/secret.html')).status, 403)
      for (const target of Object.values(guarded).flat()) {
        for (const at of ['', '/site', '/site/site'])
          await checkRefused(t, front.port, targetAt({ at }, target))
      }
    }
  })
}

test('a guard on the assets of one app cannot be bypassed', async t => {
  const root = makeStronghold(t, { 'apps/admin/assets/javascripts/panel.js': SECRET })
  const front = await makeFront(t, { root, env: 'development', inFront: [guard('/assets/admin')] })
  t.is((await ask(front.port, 'GET', '/assets/admin/panel.js')).status, 403)
  const spellings = words(`
    /assets/%61dmin/panel.js /assets//admin/panel.js /assets/admin%2Fpanel.js
    /assets/admin%2fjavascripts%2fpanel.js /assets/./admin/panel.js /assets/x/../admin/panel.js
    /%61ssets/admin/panel.js /assets%2Fadmin/panel.js /assets/ADMIN/panel.js //assets/admin/panel.js
    http://a:b/assets/admin/panel.js /assets/panel.js
  `)
  for (const target of spellings) await checkRefused(t, front.port, target)
})

/** The same sizes and the same times as another site: only the place tells one from the other. */
function makeTwin(t: ExecutionContext, text: string): string {
  const root = makeProject(t, {
    'apps/web/assets/stylesheets/app.css': text,
    'apps/web/assets/stylesheets/sheet.css.scss': `/*! ${text} */`,
    'public/robots.txt': text,
    [`apps/web/assets/stylesheets/only-${text}.css`]: text
  })
  utimesSync(join(root, 'apps/web/assets/stylesheets/app.css'), 1e9, 1e9)
  utimesSync(join(root, 'public/robots.txt'), 1e9, 1e9)
  return root
}

test('two sites in one process never give out each other’s bytes', async t => {
  const roots = [makeTwin(t, 'one'), makeTwin(t, 'two')] as const
  for (const environment of [ENVIRONMENTS.development, { env: 'production', compile: true }]) {
    const options = { fingerprint: false, ...environment }
    const one = await makeFront(t, { root: roots[0], ...options })
    const two = await makeFront(t, { root: roots[1], ...options })
    for (let round = 0; round < 3; round++) {
      for (const path of ['/assets/app.css', '/assets/sheet.css', '/robots.txt']) {
        const asked = [one, two].map(({ port }) => ask(port, 'GET', path))
        const [first, second] = (await Promise.all(asked)) as [Answer, Answer]
        t.true(first.text.includes('one') && !first.text.includes('two'), path)
        t.true(second.text.includes('two') && !second.text.includes('one'), path)
        t.not(first.headers.etag, second.headers.etag)
      }
      t.is((await ask(one.port, 'GET', '/assets/only-two.css')).status, 404)
      t.is((await ask(two.port, 'GET', '/assets/only-one.css')).status, 404)
    }
  }
})

test('a root, a prefix and the paths of apps and mounts are never read as patterns', async t => {
  const odd = isWindows ? 'a+b(c)[d]{e}^$' : 'a+b(c)[d]{e}^$.*?'
  const outer = makeProject(t, {
    [`${odd}/apps/web/assets/stylesheets/app.css`]: 'web',
    [`${odd}/apps/x+(y)/assets/stylesheets/app.css`]: 'odd',
    [`${odd}/d+(i)[r]/app.css`]: 'mounted',
    'aab/apps/web/assets/stylesheets/app.css': 'pattern'
  })
  const apps = { web: {}, odd: { dir: 'apps/x+(y)', path: '/x+(y)' } }
  const mounts = { '/m+n(o)[p]': 'd+(i)[r]' }
  const options = { env: 'development', prefix: '/a+b(c)[d]', apps, mounts, alone: true }
  const front = await makeFront(t, { root: join(outer, odd), ...options })
  const textOf = async (target: string) => (await ask(front.port, 'GET', target)).text
  t.is(await textOf('/a+b(c)[d]/app.css'), 'web')
  t.is(await textOf('/a+b(c)[d]/x+(y)/app.css'), 'odd')
  for (const path of ['/m+n(o)[p]', '/m+n(o)%5Bp%5D'])
    t.is(await textOf(`${path}/app.css`), 'mounted')
  const wouldMatch = ['aab(c)d', 'aab', 'a+b(c)d', 'ab', 'aabcd', 'mmn(o)p', 'mn', 'm+n(o)p']
  for (const name of wouldMatch) t.is(await textOf(`/${name}/app.css`), 'Not Found', name)
  t.is(readFileSync(join(outer, odd, 'public/a+b(c)[d]/app.css'), 'utf8'), 'web')
  for (const at of ['/a+b(c)[d]', '/m+n(o)[p]']) {
    const missing = await ask(front.port, 'GET', `${at}/missing.css`)
    t.is(missing.headers['cache-control'], 'no-store')
  }
})

for (const { where, at, options } of PLACES) {
  test(`request headers for nginx or Apache, such as X-Sendfile, change no response${where}`, async t => {
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

test('no URL in a page or a header takes its host from the request', async t => {
  const root = makeStronghold(t)
  const headers = {
    Host: 'evil.example',
    'X-Forwarded-Host': 'evil.example',
    Forwarded: 'host=evil.example',
    Origin: 'https://evil.example',
    Referer: 'https://evil.example/'
  }
  const helpers = ['javascript', 'stylesheet', 'image', 'path', 'url', 'favicon']
  const routes: Middleware = ctx => {
    const { assets } = ctx as unknown as { assets: Record<string, (name: string) => string> }
    if (ctx.path === '/page') ctx.body = helpers.map(name => assets[name]?.('app')).join('\n')
  }
  for (const host of [{}, { host: 'https://cdn.example' }]) {
    const { port } = await makeSite(t, {}, { root, ...host, routes })
    for (const target of ['/page', 'http://evil.example/page', 'http://evil.example:80/page']) {
      const answer = await ask(port, 'GET', target, headers)
      t.is(answer.status, 200)
      t.true(answer.text.includes('/assets/app'))
      t.false(`${answer.head}${answer.text}`.includes('evil'), answer.text)
      const file = await ask(port, 'GET', '/assets/app.css', headers)
      t.false(file.head.includes('evil'))
    }
  }
})
