// URLs of mounts that differ from their files: folders, pages without extension, and everything at `/`.
import { rmSync } from 'node:fs'
import test from 'ava'
import type { Context } from 'koa'
import mount from 'koa-mount'
import { precompile } from '../../../../lib/koa-assets.ts'
import { makeFront } from '../../../support/front.ts'
import { ask } from '../../../support/raw.ts'
import { type Files, makeProject, makeSite } from '../../../support/site.ts'
import { ENVIRONMENTS } from '../../../support/ways.ts'
import { cases } from '../../../support/soak.ts'
import { words } from '../../../support/texts.ts'

const FILES: Files = {
  '/html/index.html': 'home',
  '/html/docs/index.html': 'docs',
  '/html/docs/a b/index.html': 'a b',
  '/html/empty/other.html': 'other',
  '/html/docs/page.html': 'page',
  '/html/blog': 'a file'
}

for (const [environment, options] of ENVIRONMENTS) {
  for (const [at, mounts] of Object.entries({
    '': { '/': { dir: 'html', index: 'index.html' } },
    '/site': { '/site': { dir: 'html', index: 'index.html' } }
  })) {
    // `npm test` has each place and each environment once.
    if ((at === '') !== (environment === 'in development') && cases(0, 1) === 0) continue
    const where = `in a mount at ${at || '/'}, ${environment}`

    test(`MNT-05 a folder’s URL gets its index file, ${where}`, async t => {
      const site = await makeSite(t, FILES, { ...options, mounts })
      for (const [path, text] of [
        ['/', 'home'],
        ['/docs/', 'docs'],
        ['/docs/?q=1', 'docs'],
        ['/docs/a%20b/', 'a b']
      ] as const) {
        const { status, headers, ...answer } = await site.ask(at + path)
        t.deepEqual([path, status, answer.text], [path, 200, text])
        t.is(headers['content-type'], 'text/html; charset=utf-8')
        const again = await site.ask(at + path, { headers: { 'if-none-match': headers.etag } })
        t.is(again.status, 304)
        const part = await site.ask(at + path, { headers: { range: 'bytes=0-0' } })
        t.deepEqual([part.status, part.text], [206, text[0]])
        const head = await site.ask(at + path, { method: 'HEAD' })
        t.deepEqual([head.status, head.text], [200, ''])
        t.is((await site.ask(at + path, { method: 'POST' })).status, 405)
      }
      t.deepEqual(site.errors, [])
    })

    test(`MNT-05 a folder’s URL without its slash is redirected there, with its query, ${where}`, async t => {
      const site = await makeSite(t, FILES, { ...options, mounts })
      for (const [path, to] of [
        ['/docs', '/docs/'],
        ['/docs?', '/docs/?'],
        ['/docs?q=1&r=/../x', '/docs/?q=1&r=/../x'],
        ['/docs?q=//evil.example', '/docs/?q=//evil.example'],
        ['/docs/a%20b', '/docs/a%20b/']
      ] as const) {
        for (const method of ['GET', 'HEAD']) {
          const { status, headers } = await site.ask(at + path, { method })
          t.deepEqual([status, headers.location], [301, at + to])
          t.is(headers['cache-control'], 'no-cache', 'a file may take the place of the folder')
        }
      }
      if (at !== '') t.is((await site.ask(at)).headers.location, `${at}/`)
    })

    test(`MNT-05 a folder without an index file, and a file with a slash, are passed on, ${where}`, async t => {
      const site = await makeSite(t, FILES, { ...options, mounts })
      for (const path of ['/empty', '/empty/', '/none/', '/none', '/blog/', '/docs/page.html/']) {
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
          const { status, headers } = await site.ask(at + path, { method })
          t.deepEqual([path, status, headers.location], [path, 404, undefined])
        }
      }
      for (const method of ['POST', 'PUT', 'OPTIONS']) {
        const { status, headers } = await site.ask(`${at}/docs`, { method })
        t.deepEqual([status, headers.location], [404, undefined], `${method} /docs`)
      }
      site.write('/html/none/index.html', 'there now')
      t.is((await site.ask(`${at}/none/`)).text, 'there now')
      t.is((await site.ask(`${at}/none`)).status, 301)
      rmSync(site.at('/html/none'), { recursive: true })
      t.is((await site.ask(`${at}/none/`)).status, 404)
      t.is((await site.ask(`${at}/none`)).status, 404)
      t.deepEqual(site.errors, [])
    })
  }
}

test('MNT-05 WAY-01 if two mounts match, the longer one that has the index file, or the file with an extension, responds', async t => {
  const files = {
    '/short/x/a/index.html': 'short',
    '/short/x/b/index.html': 'short',
    '/short/x/page': 'short',
    '/long/a/index.htm': 'long',
    '/long/page.html': 'long'
  }
  const mounts = {
    '/x': { dir: 'long', index: 'index.htm', extensions: ['html'] },
    '/': { dir: 'short', index: 'index.html' }
  }
  const site = await makeSite(t, files, { mounts })
  t.is((await site.ask('/x/a/')).text, 'long')
  t.is((await site.ask('/x/page')).text, 'long')
  t.is((await site.ask('/x/b/')).text, 'short')
  t.is((await site.ask('/x/b')).headers.location, '/x/b/')
})

test('S5 no spelling of a folder is redirected to another host, or anywhere but to itself', async t => {
  const root = makeProject(t, {
    'html/docs/index.html': 'docs',
    'html/evil.example/index.html': 'evil',
    'html/docs/evil.example/index.html': 'evil'
  })
  const targets = words(
    String.raw`//evil.example //evil.example/ ///evil.example /\evil.example \\evil.example
    /%5Cevil.example /%5cevil.example /%2F%2Fevil.example /%2fevil.example /%09/docs
    //docs /./docs /docs/.. /docs/. /x/../docs /%2e/docs /%64ocs /docs%2F
    //evil.example/docs /docs//evil.example /docs/%2Fevil.example /docs%0d%0aX:y
    /;@evil.example /@evil.example /:80 /http://evil.example /evil.example:80`
  )
  for (const env of ['development', 'production']) {
    for (const wrap of [undefined, (assets: Parameters<typeof mount>[1]) => mount('/in', assets)]) {
      const at = wrap ? '/in' : ''
      const mounts = { '/': { dir: 'html', index: 'index.html' } }
      const options = { root, env, fingerprint: false, mounts, ...(wrap && { wrap }) }
      const { port } = await makeFront(t, options)
      for (const target of targets) {
        for (const sent of [target, at + target, target.replace(/^[/\\]/, '$&in/')]) {
          const { status, headers } = await ask(port, 'GET', sent)
          t.not(status, 301, sent)
          t.is(headers.location, undefined, sent)
        }
      }
      for (const folder of ['/docs', '/evil.example', '/docs/evil.example']) {
        for (const authority of ['', 'http://evil.example', 'https://evil.example:8080']) {
          const { status, headers } = await ask(port, 'GET', `${authority}${at}${folder}?q=1`)
          t.deepEqual([status, headers.location], [301, `${at}${folder}/?q=1`])
        }
      }
    }
  }
})

test('S5 the redirect of a rewritten URL leads to the URL that the browser shows', async t => {
  const files = { '/html/docs/index.html': 'docs' }
  const mounts = { '/': { dir: 'html', index: 'index.html' } }
  const rewrite = (from: RegExp, to: string) => (ctx: Context, next: () => Promise<unknown>) => {
    ctx.url = ctx.url.replace(from, to)
    return next()
  }
  const prefixed = await makeSite(t, files, { mounts, front: rewrite(/^\/en/, '') })
  t.is((await prefixed.ask('/en/docs?q=1')).headers.location, '/en/docs/?q=1')
  const renamed = await makeSite(t, files, { mounts, front: rewrite(/^\/manual/, '/docs') })
  t.is((await renamed.ask('/manual')).headers.location, '/docs/')
  const stripped = await makeSite(t, files, { mounts, front: rewrite(/^\/\/evil\.example/, '') })
  t.is((await stripped.ask('//evil.example/docs')).headers.location, '/docs/')
})

const PAGES: Files = {
  '/site/about.html': 'about',
  '/site/v1.2.html': 'version',
  '/site/both': 'plain',
  '/site/both.html': 'with extension',
  '/site/docs.html': 'docs page',
  '/site/docs/index.html': 'docs index',
  '/site/guide/index.html': 'guide index',
  '/site/feed.xml': 'feed',
  '/site/.hidden.html': 'hidden',
  '/public/news.html': 'public news'
}
const SITE = { mounts: { '/': { dir: 'site', extensions: ['html', '.xml'], index: 'index.html' } } }

for (const [where, options] of ENVIRONMENTS) {
  test(`WAY-01 /about is about.html, and /about.html stays, ${where}`, async t => {
    const site = await makeSite(t, PAGES, { ...options, ...SITE })
    for (const [path, text] of [
      ['/about', 'about'],
      ['/about.html', 'about'],
      ['/v1.2', 'version'],
      ['/both', 'plain'],
      ['/docs', 'docs page'],
      ['/docs/', 'docs index'],
      ['/feed', 'feed']
    ] as const) {
      for (let times = 0; times < 2; times++) {
        const { status, text: body, headers } = await site.ask(path)
        t.deepEqual([path, status, body], [path, 200, text])
        const again = await site.ask(path, { headers: { 'if-none-match': headers.etag } })
        t.is(again.status, 304, path)
      }
    }
    const page = await site.ask('/about')
    t.is(page.headers['content-type'], 'text/html; charset=utf-8')
    t.is((await site.ask('/guide')).headers.location, '/guide/')
    t.is((await site.ask('/about', { method: 'POST' })).status, 405)
    for (const path of words('/about/ /none /about.htm /%61bout /.hidden /news /docs/.')) {
      t.is((await site.ask(path)).status, 404, path)
    }
    t.deepEqual(site.errors, [])
  })
}

const BESIDE: Files = {
  'css/app.css.scss': '$c: red; a { color: $c }',
  'images/logo.png': 'png',
  '/public/robots.txt': 'robots',
  '/dist/index.html': 'index',
  '/dist/assets/chunk.js': 'of the mount',
  '/dist/favicon.ico': 'icon'
}
const MOUNTS = { '/': { dir: 'dist', index: 'index.html', fallback: 'index.html' } }
const routes = (ctx: Context) => {
  if (ctx.path === '/page') ctx.body = ctx.assets.stylesheet('app')
}

test('a file of a mount at `/` or at the prefix comes before an asset with the same path, until it is deleted; what cannot be compiled gets no shell', async t => {
  const files = { ...BESIDE, '/dist/assets/app.css': 'of the mount', 'css/bad.css.scss': 'a {' }
  const site = await makeSite(t, files, { mounts: { ...MOUNTS, '/assets': 'dist/assets' } })
  for (const path of ['/assets/app.css', '/assets/chunk.js']) {
    t.is((await site.ask(path)).text, 'of the mount')
  }
  t.is(site.read('/public/assets/app.css'), undefined, 'nothing is published for it')
  rmSync(site.at('/dist/assets/app.css'))
  t.regex((await site.ask('/assets/app.css')).text, /color: red/)
  t.is((await site.ask('/assets/none.css')).headers['cache-control'], 'no-store')
  t.is((await site.ask('/chunk.js')).status, 404)
  t.deepEqual(site.errors, [])
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const { status, text } = await site.ask('/assets/bad.css', { headers })
  t.is(status, 500)
  t.regex(text, /bad\.css\.scss/)
})

test('at `/` the 404 for a path with an extension is not stored, and that for a page is as the stack left it', async t => {
  const site = await makeSite(t, BESIDE, { mounts: { '/': 'dist' }, routes })
  for (const [path, expected] of [
    ['/missing.js', 'no-store'],
    ['/a/b/missing.tar.gz', 'no-store'],
    ['/missing', undefined],
    ['/v1.2/missing', undefined],
    ['/', undefined]
  ] as const) {
    const { status, headers } = await site.ask(path)
    t.deepEqual([path, status, headers['cache-control']], [path, 404, expected])
  }
  t.is((await site.ask('/%zz')).status, 404)
  t.is((await site.ask('/%zz.js')).status, 400)
})

const PAGE = { index: 'index.html', fallback: 'index.html' }
const PUBLIC = { '/': { dir: 'public', ...PAGE, cacheControl: 'public, max-age=86400' } }
const IN_PUBLIC: Files = {
  '/public/index.html': 'home',
  '/public/docs/index.html': 'docs',
  '/public/robots.txt': 'robots'
}

for (const env of ['development', 'production']) {
  test(`MNT-02 where public is mounted at /, own assets are kept as fresh and cached as long as without it, in ${env}`, async t => {
    const root = makeProject(t, { ...IN_PUBLIC, 'assets/stylesheets/site.css': 'p{color:red}' })
    const options = { root, env, mounts: PUBLIC, revalidate: 0 }
    if (env === 'production') await precompile(options)
    const routes = (ctx: Context) => {
      if (ctx.path === '/page') ctx.body = ctx.assets.path('site.css')
    }
    const site = await makeSite(t, {}, { ...options, routes })
    const { text: url } = await site.ask('/page')
    const asset = await site.ask(url)
    t.true(asset.text.startsWith('p{color:red}'))
    const lasting = 'public, max-age=31536000, immutable'
    t.is(asset.headers['cache-control'], env === 'production' ? lasting : 'no-cache')
    if (env === 'development') {
      site.write('/assets/stylesheets/site.css', 'p{color:green}')
      t.is((await site.ask(url)).text, 'p{color:green}')
    }
    for (const [path, text] of [
      ['/', 'home'],
      ['/docs/', 'docs'],
      ['/robots.txt', 'robots']
    ] as const) {
      const answer = await site.ask(path)
      t.is(answer.text, text)
      t.is(answer.headers['cache-control'], path === '/' ? 'no-cache' : 'public, max-age=86400')
    }
    const navigation = await site.ask('/orders/7', { headers: { accept: 'text/html' } })
    t.is(navigation.text, 'home')
    t.is((await site.ask('/assets/none.css')).status, 404)
    t.deepEqual(site.errors, [])
  })
}

test('MNT-02 without assets of its own, a mount of public also serves the folder with the name of the prefix', async t => {
  const files = { ...IN_PUBLIC, '/public/assets/docs/index.html': 'built' }
  for (const env of ['development', 'production']) {
    const site = await makeSite(t, files, { env, mounts: PUBLIC })
    const { text, headers } = await site.ask('/assets/docs/')
    t.deepEqual([text, headers['cache-control']], ['built', 'public, max-age=86400'])
  }
})
