import type { AssetReport, LoggedRequest } from '../../../lib/extras/inspector/pages.ts'
import type { PageOfAssets } from '../../../lib/extras/inspector/lists.ts'
import { escapeHtml } from '../../../lib/runtime/views/html.ts'
import { FILES, json, listOf, makeInspected, PNG } from './inspected.ts'
import { makeSite, test, until } from '../../support/index.ts'
import { ask } from '../../support/raw.ts'

test('the inspector lists every asset with state, sizes, digest and references, problems first', async t => {
  const site = await makeInspected(t)
  await site.ask('/assets/app.css')
  await site.ask('/assets/admin/menu.css')
  await site.ask('/assets/user/menu.css')
  site.write('css/user/menu.css', 'a { b: c }')
  const { assets, total, counts, found } = await listOf(site)
  t.deepEqual([total, found], [6, 6])
  t.deepEqual(counts, { broken: 1, published: 2, outdated: 1, unpublished: 2, problems: 3 })
  t.deepEqual(
    assets.map(({ path, state, source }) => [path, state, source]),
    [
      ['/assets/app.css', 'published', 'apps/web/assets/css/app.css.scss'],
      ['/assets/broken.css', 'broken', 'apps/web/assets/css/broken.css.scss'],
      ['/assets/twice.js', 'unpublished', 'apps/web/assets/js/twice.js'],
      ['/assets/a.png', 'unpublished', 'apps/web/assets/img/a.png'],
      ['/assets/admin/menu.css', 'published', 'apps/web/assets/css/admin/menu.css'],
      ['/assets/user/menu.css', 'outdated', 'apps/web/assets/css/user/menu.css']
    ]
  )
  const [app, broken, twice, image, menu] = assets
  const published = await site.ask('/assets/app.css')
  t.deepEqual(app?.sizes, { identity: published.bytes.length })
  t.is(published.headers.etag, `"${app?.digest}"`)
  t.deepEqual([app?.refersTo, app?.referredBy], [['/assets/a.png'], ['/assets/admin/menu.css']])
  t.deepEqual(image?.referredBy, ['/assets/app.css'])
  t.true(app?.problems[0]?.includes('refers to none.png, which was not found'))
  t.true(broken?.problems[0]?.startsWith('apps/web/assets/css/broken.css.scss:2'))
  t.true(twice?.problems[0]?.includes('are published as twice.js'))
  t.deepEqual(twice?.shadowed, ['apps/web/assets/lib/twice.js'])
  t.deepEqual(menu?.shadowed, ['more/css/admin/menu.css'])
  t.deepEqual([menu?.tails, menu?.ambiguous], [['css/admin/menu.css'], ['menu.css']])
})

test('no page of the inspector waits for a slow compiler', async t => {
  const compiled: ((output: { code: string }) => void)[] = []
  const compile = () => new Promise<{ code: string }>(resolve => compiled.push(resolve))
  const files = { 'css/slow.css.x': '', 'css/quick.css': '' }
  const compilers = [{ extensions: '.x', target: '.css', compile }]
  const site = await makeSite(t, files, { compilers })
  const surveyed = async () => (await json<PageOfAssets>(site, '?json')).surveyed
  await until(async () => (await surveyed()) === 1, 'the other asset has been looked at')
  const { headers, text } = await site.ask('/assets/-/')
  t.regex(String(headers['refresh']), /^\d+$/)
  t.true(text.includes('Looked at 1 of 2 assets') && text.includes('not looked at yet'))
  for (const finish of compiled) finish({ code: 'a {}' })
  const { counts } = await listOf(site)
  t.deepEqual(counts, { unpublished: 2 })
  t.false('refresh' in (await site.ask('/assets/-/')).headers)
  site.write('css/slow.css.x', 'edited')
  const [, slow] = (await json<PageOfAssets>(site, '?json')).assets
  t.is(slow?.state, 'unpublished')
})

test('the inspector filters its list by text and state, in pages of 100 assets', async t => {
  const many = Array.from({ length: 96 }, (_, at) => [`txt/many/${at}.txt`, ''])
  const site = await makeInspected(t, { ...FILES, ...Object.fromEntries(many) })
  const first = await listOf(site)
  t.deepEqual([first.total, first.found, first.pages, first.assets.length], [102, 102, 2, 100])
  for (const [page, rel] of Object.entries({ 1: '2" rel="next"', 2: '1" rel="prev"' })) {
    const { text } = await site.ask(`/assets/-/?q=web&page=${page}`)
    t.true(text.includes(`href="./?q=web&amp;state=&amp;page=${rel}`))
    t.is(text.split('rel="').length, 4, 'no other page')
  }
  for (const [query, found, shown] of [
    ['page=2', 102, 2],
    ['page=99', 102, 2],
    ['page=-1', 102, 100],
    ['state=problems', 3, 3],
    ['q=MANY/1', 11, 11],
    ['q=app.css.scss&state=unpublished', 1, 1],
    ['q=nothing', 0, 0]
  ]) {
    const list = await json<PageOfAssets>(site, `?json&${query}`)
    t.deepEqual([list.found, list.assets.length], [found, shown], String(query))
  }
  t.notRegex((await site.ask('/assets/-/?q=nothing')).text, /<table|page 1 of/)
})

test('the inspector lists the last 100 requests with status, reason and bytes, the latest first', async t => {
  const files = { ...FILES, 'img/logged.png': PNG, 'css/logged.css.scss': 'a {' }
  const site = await makeInspected(t, files)
  await site.ask('/assets/-/')
  const { headers, bytes } = await site.ask('/assets/logged.png?x')
  await site.ask('/assets/logged.png', { headers: { 'If-None-Match': headers.etag } })
  await site.ask('/assets/logged.js')
  await site.ask('/assets/logged.css')
  const requests = await json<LoggedRequest[]>(site, 'requests?json')
  // Those of other instances of this process are among them.
  const own = requests.filter(({ path }) => path.includes('logged'))
  t.like(own, [
    { path: '/assets/logged.css', status: 500 },
    { path: '/assets/logged.js', status: 404 },
    { path: '/assets/logged.png', status: 304, bytes: 0, reason: 'If-None-Match names the ETag' },
    { path: '/assets/logged.png', status: 200, bytes: bytes.length }
  ])
  for (let at = 0; at < 100; at++) await site.ask('/assets/logged.png')
  t.is((await json<LoggedRequest[]>(site, 'requests?json')).length, 100)
  t.true((await site.ask('/assets/-/requests')).text.includes('/assets/logged.png'))
})

const PAGES = ['', 'asset?path=/assets/app.css', 'asset?path=broken.css', 'requests']

test('a page of the inspector says what its JSON says', async t => {
  const site = await makeInspected(t)
  await site.ask('/assets/app.css')
  const { assets } = await listOf(site)
  const page = await site.ask('/assets/-/')
  for (const { path, source, state, problems, digest, sizes } of assets) {
    const said = [path, source, state, digest?.slice(0, 8), sizes['identity']?.toLocaleString('en')]
    for (const each of said) t.true(each === undefined || page.text.includes(each), each)
    for (const each of problems) t.true(page.text.includes(escapeHtml(each)), each)
  }
  const about = 'asset?path=/assets/app.css'
  const { asset, explanation, source } = await json<AssetReport>(site, `${about}&json`)
  t.deepEqual(asset?.dependencies, ['apps/web/assets/css/_colors.scss'])
  const { text } = await site.ask(`/assets/-/${about}`)
  const lines = source?.text.trimEnd().split('\n') ?? []
  t.true(lines.length > 1)
  const { steps, representations } = explanation
  const headers = representations.flatMap(each => Object.entries(each.headers).flat())
  const found = steps.flatMap(({ finding, details }) => [finding, ...details])
  for (const each of [...lines, ...headers, ...found]) t.true(text.includes(escapeHtml(each)), each)
  t.regex(text, /<dt>State<\/dt>[^]*<dt>Also made of<\/dt>/)
  t.notRegex(text, /<dd>\s*<\/dd>/)
})

test('names that contain markup are shown literally', async t => {
  const name = `<script>alert(1)<!-- "' \u202e.css`
  const site = await makeInspected(t, { [`css/${name}`]: '</code><script>alert(2)</script>' })
  const path = encodeURIComponent(`/assets/${encodeURIComponent(name)}`)
  await site.ask(`/assets/${encodeURIComponent(name)}`)
  await site.ask('/assets/%3Cscript%3Enone')
  const asked = ['?q=', '?state=', 'asset?path='].map(query => `${query}%3Cscript%3E%22`)
  for (const page of ['', `asset?path=${path}`, 'requests', ...asked]) {
    const { text } = await site.ask(`/assets/-/${page}`)
    t.false(/<script|<!--|\u202e/.test(text), page)
  }
  const found = await site.ask('/assets/-/?q=%3Cscript%3E%22')
  t.true(found.text.includes('value="&lt;script&gt;&quot;"'))
  const { text } = await site.ask(`/assets/-/asset?path=${path}`)
  t.true(text.includes('&lt;script&gt;alert(1)&lt;!-- &quot;&#39; \\u202e.css'))
  t.true(text.includes('&lt;/code&gt;&lt;script&gt;alert(2)'))
})

test('pages of the inspector neither run scripts nor are stored in caches', async t => {
  const site = await makeInspected(t)
  for (const page of [...PAGES, '?json', 'inspector.css']) {
    const { headers, text, status } = await site.ask(`/assets/-/${page}`)
    t.is(status, 200, page)
    const { 'cache-control': caching, 'x-content-type-options': sniffing } = headers
    t.deepEqual([caching, sniffing], ['no-store', 'nosniff'])
    const policy =
      /^default-src 'none'; style-src 'self'; img-src 'self' data:; .*frame-ancestors 'none'/
    t.regex(String(headers['content-security-policy']), policy)
    // Without an icon, a browser asks the application for /favicon.ico.
    t.is(text.includes('<link rel="icon" href="data:,"'), PAGES.includes(page), page)
    t.false(/<script|<style| style=| on\w+=/.test(text), page)
    const head = await site.ask(`/assets/-/${page}`, { method: 'HEAD' })
    t.deepEqual([head.status, head.bytes.length], [200, 0])
  }
})

test('an image that the inspector shows is not published before a browser loads it', async t => {
  const site = await makeInspected(t)
  await listOf(site)
  const { text } = await site.ask('/assets/-/asset?path=/assets/a.png')
  t.is(site.read('/public/assets/a.png'), undefined)
  const [, url = ''] = /<img src="([^"]+)"/.exec(text) ?? []
  t.deepEqual((await site.ask(url)).bytes, PNG)
})

test('the inspector finds an asset by name, path or URL, or explains that there is none', async t => {
  const site = await makeInspected(t)
  const nothing = await site.ask('/assets/-/asset?path=/assets/ap.css')
  t.is(nothing.status, 404)
  t.true(nothing.text.includes('did you mean'))
  for (const path of ['app.css', 'css/app.css', 'http://localhost/assets/app.css?v=1']) {
    const { asset } = await json<AssetReport>(site, `asset?json&path=${encodeURIComponent(path)}`)
    t.is(asset?.path, '/assets/app.css', path)
  }
  for (const path of ['', '/', '/%', '/assets/../..', '/assets.json', '%00', '/assets/-/']) {
    const { status } = await site.ask(`/assets/-/asset?path=${encodeURIComponent(path)}`)
    t.is(status, 404, path)
  }
})

test('no other spelling of its path and no other method reaches the inspector', async t => {
  const { port } = await makeSite(t, { 'css/-/inspector.css': 'own{}' })
  t.not((await ask(port, 'GET', '/assets/-/inspector.css')).text, 'own{}')
  t.is((await ask(port, 'GET', '/assets/-/')).status, 200)
  const spelled = ['/assets//-/', '/assets/%2D/', '/assets/./-/', '/assets/-//', '/assets/-']
  for (const path of [...spelled, `http://localhost:${port}/assets/-/`])
    t.is((await ask(port, 'GET', path)).status, 404, path)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    t.is((await ask(port, method, '/assets/-/')).status, 404, method)
})
