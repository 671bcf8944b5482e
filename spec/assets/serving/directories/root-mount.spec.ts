// A mount at `/` shares its paths with the apps, with public and with the routes: MNT-01, MNT-02.
import { rmSync } from 'node:fs'
import test from 'ava'
import type { Context } from 'koa'
import { precompile } from '../../../../lib/assets/building/precompile.ts'
import { makeSite, type Files } from '../../../support/site.ts'
import { untilSettled } from '../../../support/until.ts'

const FILES: Files = {
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

test('beside a mount at `/` assets are compiled, copied and kept up to date on request', async t => {
  const site = await makeSite(t, FILES, { mounts: MOUNTS, routes })
  t.regex((await site.ask('/assets/app.css')).text, /color: red/)
  t.is((await site.ask('/assets/logo.png')).text, 'png')
  t.is((await site.ask('/assets/chunk.js')).text, 'of the mount')
  t.is((await site.ask('/robots.txt')).text, 'robots')
  t.is((await site.ask('/')).text, 'index')
  t.regex((await site.ask('/page')).text, /href="\/assets\/app\.css"/)
  site.write('css/app.css.scss', 'a { color: blue }')
  t.regex((await site.ask('/assets/app.css')).text, /color: blue/)
  const missing = await site.ask('/assets/none.css')
  t.deepEqual([missing.status, missing.headers['cache-control']], [404, 'no-store'])
  const broken = await site.ask('/assets/app.css', { method: 'POST' })
  t.deepEqual([broken.status, broken.headers.allow], [405, 'GET, HEAD, OPTIONS'])
  t.deepEqual(site.errors, [])
})

test('beside a mount at `/` a stylesheet that cannot be compiled is the error page, not the shell', async t => {
  const site = await makeSite(t, { ...FILES, 'css/bad.css.scss': 'a {' }, { mounts: MOUNTS })
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const { status, text } = await site.ask('/assets/bad.css', { headers })
  t.is(status, 500)
  t.regex(text, /bad\.css\.scss/)
})

for (const compile of [false, true]) {
  test(`beside a mount at / fingerprints are served as immutable, with compile: ${compile}`, async t => {
    const site = await makeSite(t, FILES, { serve: false })
    await precompile({ root: site.root })
    const options = { env: 'production', compile, root: site.root, mounts: MOUNTS, routes }
    const production = await makeSite(t, {}, options)
    const page = await production.ask('/page')
    const [, href = ''] = /href="([^"]+)"/.exec(page.text) ?? []
    t.regex(href, /^\/assets\/app-[0-9a-f]{32}\.css$/)
    for (let times = 0; times < 3; times++) {
      const { status, headers } = await production.ask(href)
      t.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
      t.is((await production.ask('/assets/chunk.js')).text, 'of the mount')
      t.is((await production.ask('/robots.txt')).text, 'robots')
      await untilSettled()
    }
    t.deepEqual(production.errors, [])
  })
}

test('the file of a mount at `/` comes before an asset of the same path, and gives it back once deleted', async t => {
  const files = { ...FILES, '/dist/assets/app.css': 'of the mount' }
  const site = await makeSite(t, files, { mounts: { '/': 'dist', '/assets': 'dist/assets' } })
  t.is((await site.ask('/assets/app.css')).text, 'of the mount')
  t.is(site.read('/public/assets/app.css'), undefined, 'nothing is published for it')
  rmSync(site.at('/dist/assets/app.css'))
  t.regex((await site.ask('/assets/app.css')).text, /color: red/)
})

test('a mount over the prefix has its files, and what it lacks is published', async t => {
  const site = await makeSite(t, FILES, { mounts: { '/assets': 'dist/assets' } })
  t.is((await site.ask('/assets/chunk.js')).text, 'of the mount')
  t.regex((await site.ask('/assets/app.css')).text, /color: red/)
  t.is((await site.ask('/assets/none.css')).headers['cache-control'], 'no-store')
  t.is((await site.ask('/chunk.js')).status, 404)
  t.deepEqual(site.errors, [])
})

test('at `/` a missing path with an extension is not stored, and a missing page is as the stack left it', async t => {
  const site = await makeSite(t, FILES, { mounts: { '/': 'dist' }, routes })
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
