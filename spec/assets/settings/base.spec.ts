import test from 'ava'
import type { Middleware } from 'koa'
import { koaAssets, type KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { makeFingerprinted, MODES } from '../../support/fingerprinted.ts'
import { makeProject, makeSite } from '../../support/site.ts'

const HASH = '[0-9a-f]{32}'

const FILES = {
  'stylesheets/app.css': 'a { background: url(logo.png) } b { background: url(/assets/logo.png) }',
  'images/logo.png': 'logo',
  'javascripts/app.js': "import { go } from './go.js'; go()",
  'javascripts/go.js': 'export function go() {}'
}

for (const mode of MODES) {
  test(`BAS-01 every URL that is emitted has base, no path that is matched does: ${mode}`, async t => {
    const site = await makeFingerprinted(t, mode, FILES, { base: '/shop' })
    const page = await site.render(({ path, url, stylesheet, javascript, importMap }) =>
      JSON.stringify([
        path('app.css'),
        url('app.css'),
        stylesheet('app'),
        javascript('app', { type: 'module' }),
        importMap()
      ])
    )
    const urls = page.match(/[^"'<>\\; ]*\/assets\/[^"'<>\\; ]+/g) ?? []
    t.true(urls.length >= 6)
    for (const url of urls) {
      t.true(url.startsWith('/shop/assets/'), url)
      t.is((await site.ask(url)).status, 404, url)
      t.is((await site.ask(url.slice('/shop'.length))).status, 200, url)
    }
    const stylesheet = await site.ask((await site.path('app.css')).slice('/shop'.length))
    const url = `url\\(/shop/assets/logo-${HASH}\\.png\\)`
    t.regex(stylesheet.text, new RegExp(`^a { background: ${url} } b { background: ${url} }$`))
    const script = await site.ask((await site.path('app.js')).slice('/shop'.length))
    t.regex(script.text, new RegExp(`^import { go } from "/shop/assets/go-${HASH}\\.js"`))
  })
}

test('BAS-02 base stands behind the host, and path() has it without', async t => {
  const site = await makeFingerprinted(t, 'precompiled', FILES, {
    base: '/shop',
    host: 'https://cdn.example/'
  })
  const [url, path, tag] = JSON.parse(
    await site.render(({ url, path, stylesheet }) =>
      JSON.stringify([url('logo.png'), path('logo.png'), stylesheet('app')])
    )
  ) as [string, string, string]
  t.regex(path, new RegExp(`^/shop/assets/logo-${HASH}\\.png$`))
  t.is(url, `https://cdn.example${path}`)
  t.regex(tag, /href="https:\/\/cdn\.example\/shop\/assets\/app-/)
})

test('BAS-03 plain names have base in stylesheets that are compiled on request', async t => {
  const site = await makeSite(t, FILES, { base: '/shop', routes: pageOf })
  t.is((await site.ask('/')).text, '/shop/assets/app.css')
  const { text } = await site.ask('/assets/app.css')
  // As it is written, the first one leads to the image, wherever the stylesheet is.
  t.is(text, 'a { background: url(logo.png) } b { background: url(/shop/assets/logo.png) }')
})

const pageOf: Middleware = (ctx, next) => {
  if (ctx.path !== '/') return next()
  ctx.body = ctx.assets.path('app.css')
  return undefined
}

test('BAS-04 a request for a folder is sent on to its URL with base', async t => {
  const files = { '/docs/guide/index.html': 'guide' }
  const mounts = { '/docs': { dir: 'docs', index: 'index.html' } }
  const site = await makeSite(t, files, { base: '/shop', mounts })
  const { status, headers } = await site.ask('/docs/guide?page=2')
  t.is(status, 301)
  t.is(headers['location'], '/shop/docs/guide/?page=2')
})

test('BAS-05 a base that is not the beginning of a path is an error at start', t => {
  const root = makeProject(t)
  const start = (base: unknown) => () => koaAssets({ root, base } as KoaAssetsOptions)
  for (const base of ['shop', '/shop/', '/', '/a/../b', '/..', '//shop', "/a'b", '/a b', '/ü', 7]) {
    const error = t.throws(start(base), { instanceOf: TypeError }, String(base))
    t.regex(error.message, /^base must be a path such as '\/shop'/)
  }
  for (const base of ['', '/shop', '/a/b-c', '/caf%C3%A9', undefined]) t.notThrows(start(base))
})
