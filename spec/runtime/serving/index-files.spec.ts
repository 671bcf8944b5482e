// URLs of mounts that differ from their files: folders, pages without extension, and everything at `/`.
import { rmSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Context, Middleware } from 'koa'
import mount from 'koa-mount'
import { precompile } from '../../../lib/koa-assets.ts'
import { ask } from '../../support/raw.ts'
import { cases, leadLink, makeFront, makeProject, makeSite, test } from '../../support/index.ts'
import { until, words, type Files, type Site } from '../../support/index.ts'
import { ENVIRONMENTS } from '../../support/ways.ts'

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

    test(`a folder’s URL gets its index file, ${where}`, async t => {
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

    test(`a folder’s URL without a slash redirects to it, with its query, ${where}`, async t => {
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

    test(`a folder without index file, or a file with a slash, is a 404, ${where}`, async t => {
      const site = await makeSite(t, FILES, { ...options, mounts })
      for (const path of ['/empty', '/empty/', '/none/', '/none', '/blog/', '/docs/page.html/'])
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
          const { status, headers } = await site.ask(at + path, { method })
          t.deepEqual([path, status, headers.location], [path, 404, undefined])
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

test('no spelling of a folder’s URL is redirected to anything but the folder itself', async t => {
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

test('the redirect of a rewritten URL leads to the URL that the browser shows', async t => {
  const mounts = { '/': { dir: 'html', index: 'index.html' } }
  for (const [from, to, asked, location] of [
    [/^\/en/, '', '/en/docs?q=1', '/en/docs/?q=1'],
    [/^\/manual/, '/docs', '/manual', '/docs/'],
    [/^\/\/evil\.example/, '', '//evil.example/docs', '/docs/']
  ] as const) {
    const front: Middleware = (ctx, next) => {
      ctx.url = ctx.url.replace(from, to)
      return next()
    }
    const site = await makeSite(t, { '/html/docs/index.html': 'docs' }, { mounts, front })
    t.is((await site.ask(asked)).headers.location, location)
  }
})

/** Each has its path as its text. */
const filesAt = (paths: string): Files => Object.fromEntries(words(paths).map(path => [path, path]))

const PAGES = filesAt(`/site/about.html /site/v1.2.html /site/both /site/both.html /site/docs.html
  /site/docs/index.html /site/guide/index.html /site/feed.xml /site/.hidden.html
  /public/news.html`)
const SITE = { mounts: { '/': { dir: 'site', extensions: ['html', '.xml'], index: 'index.html' } } }

for (const [where, options] of ENVIRONMENTS) {
  test(`/about and /about.html both get about.html, ${where}`, async t => {
    const site = await makeSite(t, PAGES, { ...options, ...SITE })
    for (const [path, text] of [
      ['/about', '/site/about.html'],
      ['/about.html', '/site/about.html'],
      ['/v1.2', '/site/v1.2.html'],
      ['/both', '/site/both'],
      ['/docs', '/site/docs.html'],
      ['/docs/', '/site/docs/index.html'],
      ['/feed', '/site/feed.xml']
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
    for (const path of words('/about/ /none /about.htm /%61bout /.hidden /news /docs/.'))
      t.is((await site.ask(path)).status, 404, path)
    t.deepEqual(site.errors, [])
  })
}

const BESIDE: Files = {
  'css/app.css': 'a { color: red }',
  'images/logo.png': 'png',
  '/public/robots.txt': 'robots',
  '/dist/index.html': 'index',
  '/dist/assets/chunk.js': 'of the mount',
  '/dist/favicon.ico': 'icon'
}
const MOUNTS = { '/': { dir: 'dist', index: 'index.html', fallback: 'index.html' } }
test('a file of a mount at `/` or at the prefix comes before an asset with the same path', async t => {
  const files = { ...BESIDE, '/dist/assets/app.css': 'of the mount', 'css/bad.css.own': '' }
  const fail = () => Promise.reject(new Error('it is broken'))
  const compilers = [{ extensions: '.own', target: '.css', compile: fail }]
  const mounts = { ...MOUNTS, '/assets': 'dist/assets' }
  const site = await makeSite(t, files, { mounts, compilers })
  for (const path of ['/assets/app.css', '/assets/chunk.js'])
    t.is((await site.ask(path)).text, 'of the mount')
  t.is(site.read('/public/assets/app.css'), undefined, 'nothing is published for it')
  rmSync(site.at('/dist/assets/app.css'))
  t.regex((await site.ask('/assets/app.css')).text, /color: red/)
  t.is((await site.ask('/assets/none.css')).headers['cache-control'], 'no-store')
  t.is((await site.ask('/chunk.js')).status, 404)
  t.deepEqual(site.errors, [])
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const { status, text } = await site.ask('/assets/bad.css', { headers })
  t.is(status, 500)
  t.regex(text, /bad\.css\.own/)
})

const PAGE = { index: 'index.html', fallback: 'index.html' }
const PUBLIC = { '/': { dir: 'public', ...PAGE, cacheControl: 'public, max-age=86400' } }

for (const env of ['development', 'production']) {
  test(`with public mounted at /, assets are as fresh and as cached as without, in ${env}`, async t => {
    const root = makeProject(t, {
      'public/index.html': 'home',
      'public/robots.txt': 'robots',
      'assets/stylesheets/site.css': 'p{color:red}'
    })
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
    t.is((await site.ask('/robots.txt')).headers['cache-control'], 'public, max-age=86400')
    t.is((await site.ask('/assets/none.css')).status, 404)
    t.deepEqual(site.errors, [])
  })
}

test('a mount of public also serves public/assets if the project has no assets', async t => {
  const files = { '/public/assets/docs/index.html': 'built' }
  for (const env of ['development', 'production']) {
    const site = await makeSite(t, files, { env, mounts: PUBLIC })
    const { text, headers } = await site.ask('/assets/docs/')
    t.deepEqual([text, headers['cache-control']], ['built', 'public, max-age=86400'])
  }
})

// A mount is served as public is, on every way of serving.

/** The text, or the status of what is not found. */
const read = async (site: Site, path: string) => {
  const { status, text } = await site.ask(path)
  return status === 200 ? text : status
}

for (const [where, options] of ENVIRONMENTS) {
  test(`what a mount lacks is looked for in a shorter mount, public and routes, ${where}`, async t => {
    const files = filesAt(`/long/a.txt /long/a/index.htm /long/page.html /short/x/a.txt
      /short/x/b.txt /short/x/a/index.html /short/x/b/index.html /short/x/page /public/x/a.txt
      /public/x/b.txt /public/x/c.txt`)
    const routes = (ctx: Context) => void (ctx.body = 'stack')
    const long = { dir: 'long', index: 'index.htm', extensions: ['html'] }
    const paths = { '/x': long, '/': { dir: 'short', index: 'index.html' }, '/other': 'long' }
    for (const order of [Object.entries(paths), Object.entries(paths).toReversed()]) {
      const mounts = Object.fromEntries(order)
      const site = await makeSite(t, files, { ...options, mounts, routes })
      for (const [path, text] of [
        ['/x/a.txt', '/long/a.txt'],
        ['/x/b.txt', '/short/x/b.txt'],
        ['/x/c.txt', '/public/x/c.txt'],
        ['/x/d.txt', 'stack'],
        ['/x/a/', '/long/a/index.htm'],
        ['/x/b/', '/short/x/b/index.html'],
        ['/x/page', '/long/page.html'],
        ['/other/a.txt', '/long/a.txt'],
        ['/other/b.txt', 'stack']
      ] as const) {
        for (let times = 0; times < 2; times++) t.is(await read(site, path), text, path)
      }
      t.is((await site.ask('/x/b')).headers.location, '/x/b/')
      t.is((await site.ask('/x/a.txt', { method: 'POST' })).text, 'stack')
    }
  })

  test(`a mount whose link is switched serves its new target, if that may be mounted, ${where}`, async t => {
    const elsewhere = makeProject(t, { 'app.js': 'outside' })
    const root = makeProject(t, {
      'builds/1/app.js': 'build 1',
      'builds/2/app.js': 'build 2',
      'library/package.json': '{}',
      'library/app.js': 'a package',
      'app.js': 'the project',
      'apps/web/assets/javascripts/app.js': 'a source'
    })
    const site = await makeSite(t, {}, { ...options, root, mounts: { '/m': 'dist' } })
    const refused = ['.', 'library', 'apps/web/assets/javascripts', 'apps/web']
    const places = [...refused, 'builds/1', 'builds/2', ...refused, elsewhere, 'builds/1']
    t.is(await read(site, '/m/app.js'), 404)
    for (const place of places) {
      leadLink(join(root, 'dist'), place)
      const text = place.startsWith('builds/') ? place.replace('s/', ' ') : 404
      t.is(await read(site, '/m/app.js'), text, place)
    }
    t.deepEqual(site.errors, [])
  })
}

const PRODUCTION = { env: 'production', fingerprint: false } as const

test('in a mount `revalidate` delays changes to files, never new files', async t => {
  for (const revalidate of [3600, 0.05]) {
    const mounts = { '/static': { dir: 'build/app', revalidate } }
    const site = await makeSite(t, { '/build/app/js/a.js': 'a' }, { ...PRODUCTION, mounts })
    const text = () => read(site, '/static/js/new.js')
    t.is(await text(), 404)
    site.write('/build/app/js/new.js', 'new')
    t.is(await text(), 'new')
    site.write('/build/app/js/new.js', 'newer')
    if (revalidate > 1) t.is(await text(), 'new')
    else await until(async () => (await text()) === 'newer', 'it is seen')
  }
})

test('by default a file of a mount that was overwritten is served with its new bytes at once', async t => {
  const files = { '/data/uploads/avatar.png': '0', '/data/uploads/avatar.png.gz': 'not of it' }
  const site = await makeSite(t, files, {
    ...PRODUCTION,
    mounts: { '/up': { dir: 'data/uploads', cacheControl: 'public, max-age=604800' } },
    revalidate: 3600
  })
  for (let round = 1; round <= cases(40, 200); round++) {
    const text = String(round)
    if (round % 2) site.write('/data/uploads/avatar.png', text)
    else {
      site.write('/data/uploads/next', text)
      renameSync(site.at('/data/uploads/next'), site.at('/data/uploads/avatar.png'))
    }
    t.is((await site.ask(`/up/avatar.png?v=${round}`)).text, text)
    t.is((await site.ask(`/up/${round}.png`)).status, 404)
    site.write(`/data/uploads/${round}.png`, text)
    t.is((await site.ask(`/up/${round}.png`)).text, text)
  }
})

test('links in a mount follow its own `symlinks`, else that of the top level', async t => {
  const root = makeProject(t, { 'build/app/logo.png': 'logo', 'build/app-secret/app.js': 'secret' })
  symlinkSync('logo.png', join(root, 'build/app/inside.png'))
  symlinkSync('../app-secret/app.js', join(root, 'build/app/out.js'))
  for (const [top, own, inside, out] of [
    [undefined, undefined, 'logo', 404],
    [undefined, 'deny', 404, 404],
    ['deny', undefined, 404, 404],
    ['deny', 'inside', 'logo', 404],
    ['deny', 'follow', 'logo', 'secret'],
    ['follow', undefined, 'logo', 'secret']
  ] as const) {
    const mounts = { '/static': { dir: 'build/app', symlinks: own } }
    const site = await makeSite(t, {}, { root, symlinks: top, mounts })
    t.is(await read(site, '/static/inside.png'), inside, `${top} ${own}`)
    t.is(await read(site, '/static/out.js'), out, `${top} ${own}`)
  }
})
