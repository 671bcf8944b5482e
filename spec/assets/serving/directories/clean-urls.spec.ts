// URLs without the extension of their file: WAY-01.
import test from 'ava'
import { makeSite, type Files } from '../../../support/site.ts'
import { ENVIRONMENTS } from '../../../support/ways.ts'

const FILES: Files = {
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
const SITE = {
  mounts: { '/': { dir: 'site', extensions: ['html', '.xml'], index: 'index.html' } }
}

for (const [where, options] of ENVIRONMENTS) {
  test(`WAY-01 /about is about.html, and /about.html stays, ${where}`, async t => {
    const site = await makeSite(t, FILES, { ...options, ...SITE })
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
    for (const path of [
      '/about/',
      '/none',
      '/about.htm',
      '/%61bout',
      '/.hidden',
      '/news',
      '/docs/.'
    ]) {
      t.is((await site.ask(path)).status, 404, path)
    }
    t.deepEqual(site.errors, [])
  })
}

test('WAY-01 a page that is added, replaced or deleted is noticed under its short URL', async t => {
  const site = await makeSite(t, FILES, { ...SITE, revalidate: 0 })
  const read = async () => (await site.ask('/later')).text
  t.is(await read(), 'Not Found')
  site.write('/site/later.html', 'first')
  t.is(await read(), 'first')
  site.write('/site/later.html', 'second')
  t.is(await read(), 'second')
  site.write('/site/later', 'plain')
  t.is(await read(), 'plain')
})

test('WAY-01 a mount looks for all of its extensions before a mount with a shorter path', async t => {
  const files = { '/a/page.html': 'longer', '/b/x/page': 'shorter', '/b/x/other': 'other' }
  const site = await makeSite(t, files, {
    mounts: { '/': 'b', '/x': { dir: 'a', extensions: ['html'] } }
  })
  t.is((await site.ask('/x/page')).text, 'longer')
  t.is((await site.ask('/x/other')).text, 'other')
})

test('WAY-01 the manifest of a bundle is found under no name', async t => {
  const manifest = JSON.stringify({ 'a.js': { file: 'a.js', isEntry: true } })
  const files = { '/dist/manifest.json': manifest, '/dist/a.js': '', '/public/assets.json': '{}' }
  const site = await makeSite(t, files, {
    mounts: {
      '/': { dir: 'dist', manifest: 'dist/manifest.json', extensions: ['json'] },
      '/p': { dir: 'public', extensions: ['json'] }
    }
  })
  for (const path of ['/manifest', '/manifest.json', '/p/assets', '/assets']) {
    t.is((await site.ask(path)).status, 404, path)
  }
})
