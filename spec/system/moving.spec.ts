// docs/moving-from-koa-static.md: its examples run, and its tables say what these packages and ours do.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync } from 'node:zlib'
import Router from '@koa/router'
import Koa2 from 'koa2'
import Koa, { type Middleware } from 'koa'
import conditional from 'koa-conditional-get'
import etag from '@koa/etag'
import mount from 'koa-mount'
import serve from 'koa-static'
import sirv from 'sirv'
import { MOUNT, TOP } from '../../lib/runtime/settings/table.ts'
import {
  koaAssets,
  koaFiles,
  koaHttpCache,
  precompile,
  type KoaAssetsOptions
} from '../../lib/index.ts'
import { asBody, blocksLeft, evaluate, readPage } from '../support/examples.ts'
import { ask, listen as listenTo, makeProject, test, warningsAbout } from '../support/index.ts'
import { words, writeFiles, type ExecutionContext, type Files } from '../support/index.ts'
import type { Question } from '../support/index.ts'

const page = readPage('docs/moving-from-koa-static.md')
const [before, after] = page.take('In ten minutes').map(asBody)
const [filesExample] = page.take('One directory').map(asBody)
const [ownExample] = page.take('Then your own assets').map(asBody)
const [sendExample] = page.take('koa-send').map(asBody)
const [routeExample] = page.take('koa-conditional-get and koa-etag').map(asBody)
const [lifetimeExample] = page.take('koa-cache-control and koa-no-cache').map(asBody)
const [changedExample] = page.take('Files that a middleware changes').map(asBody)
const [aliasExample] = page.take('Aliases').map(asBody)
const [everyPathExample] = page.take('A route for every path').map(asBody)
const [sirvExample] = page.take('sirv').map(asBody)
const YEAR = 'public, max-age=31536000, immutable'
const TEXT = 'body { color: red }\n'.repeat(50)
const BR = { 'accept-encoding': 'gzip, br' }

async function listen(t: ExecutionContext, app: Koa) {
  app.silent = true
  const port = await listenTo(t, app.callback())
  return (path: string, question?: Question) => ask(port, path, question)
}

function site(t: ExecutionContext, ...middleware: readonly Middleware[]) {
  const app = new Koa()
  for (const each of middleware) app.use(each)
  return listen(t, app)
}

type Site = Awaited<ReturnType<typeof listen>>

/** A path, perhaps before a field, or `status` alone; and what both respond. */
type Compared = readonly [question: string, expected: string, headers?: object]

async function compareTable(
  t: ExecutionContext,
  theirs: Site,
  ours: Site,
  rows: readonly Compared[]
): Promise<void> {
  for (const [question, expected, headers = {}] of rows) {
    const [path = '', field] = question.split(' ')
    const said = [theirs, ours].map(async site => {
      const answer = await site(path, { headers: { ...headers } })
      if (field === undefined) return `${answer.status} ${answer.text}`
      return String(field === 'status' ? answer.status : answer.headers[field])
    })
    t.is((await Promise.all(said)).join(' | '), expected, `${question} ${JSON.stringify(headers)}`)
  }
}

/** An application with the code of an example, whose directories are below `root`. */
function siteOf(t: ExecutionContext, root: string, example = '', more: object = {}) {
  const [app, router] = [new Koa(), new Router()]
  router.get('/hello', ctx => {
    ctx.body = 'hello'
  })
  const names = {
    app,
    router,
    mount,
    conditional,
    etag,
    koaHttpCache,
    serve: (dir: string, options: object) => serve(join(root, dir), options),
    koaFiles: (dir: string, options: object) => koaFiles(dir, { ...options, root }),
    koaAssets: (options: KoaAssetsOptions) => koaAssets({ ...options, root, env: 'production' }),
    ...more
  }
  evaluate(example, names)
  app.use(router.routes())
  return listen(t, app)
}

test('one call of koaFiles replaces koa-static for a directory', async t => {
  const root = makeProject(t, { 'public/index.html': TEXT, 'public/robots.txt': 'robots' })
  const ask = await siteOf(t, root, filesExample)
  t.is((await ask('/')).text, TEXT)
  t.is((await ask('/robots.txt')).headers['cache-control'], 'public, max-age=86400')
  t.is((await ask('/hello')).text, 'hello')
})

test('beside the moved directories, a page names an asset that browsers keep for a year', async t => {
  const root = makeProject(t, { 'assets/css/site.css': TEXT, 'public/robots.txt': 'robots' })
  await precompile({ root })
  const ask = await siteOf(t, root, `${after}\n${ownExample}`)
  const { text } = await ask('/about')
  const asset = await ask(/href="([^"]+)"/.exec(text)?.[1] ?? '')
  t.deepEqual([asset.status, asset.headers['cache-control']], [200, YEAR])
  t.is((await ask('/robots.txt')).headers['cache-control'], 'public, max-age=86400')
})

test('in production a moved stylesheet keeps its folder only with the option that the page shows', async t => {
  const production = { env: 'production', serve: true }
  const moved = makeProject(t, { 'assets/css/site.css': TEXT })
  await precompile({ root: moved })
  const one = await site(t, koaAssets({ ...production, root: moved }))
  t.is((await one('/assets/css/site.css')).status, 404)
  t.is((await one('/assets/site.css')).status, 200)
  const [, written = ''] = /paths by `(apps: [^`]+)`/.exec(page.text) ?? []
  const kept = evaluate(`return { ${written} }`, {}) as KoaAssetsOptions
  const root = makeProject(t, { 'frontend/css/site.css': TEXT })
  const { assets } = await precompile({ ...kept, root })
  const other = await site(t, koaAssets({ ...kept, ...production, root }))
  t.deepEqual([assets, (await other('/assets/css/site.css')).status], [1, 200])
})

test('after the move the example sends the same files, only HTML below /static for less long', async t => {
  // Those of esbuild, Vite and webpack, and a copied file.
  const built = ['app-1a2b3c4d.js', 'assets/index-BcXr2f3k.js', 'main.3f9a1c2b4d5e6f7a8b9c.js']
  const scripts = [...built, 'logo.svg']
  const root = makeProject(t, {
    'public/index.html': TEXT,
    'public/docs/index.html': 'docs',
    'public/robots.txt': 'robots',
    'build/index.html': 'build',
    ...Object.fromEntries(scripts.map(name => [`build/${name}`, name]))
  })
  const [old, ours] = [await siteOf(t, root, before), await siteOf(t, root, after)]
  const hashed = scripts.map(name => `/static/${name}`)
  for (const path of ['/', '/docs/', '/robots.txt', '/static/', ...hashed, '/hello']) {
    const [expected, actual] = [await old(path), await ours(path)]
    t.is(actual.status, 200, path)
    t.is(actual.text, expected.text, path)
    const agesOf = ({ headers }: typeof actual) =>
      /max-age=\d+/.exec(headers['cache-control'] ?? '')?.[0]
    if (path !== '/static/') t.is(agesOf(actual), agesOf(expected), path)
    const again = ({ headers }: typeof actual) => ({ headers: { 'if-none-match': headers.etag } })
    t.is((await old(path, again(expected))).status, 304, path)
    t.is((await ours(path, again(actual))).status, 304, path)
  }
  for (const path of hashed) {
    const { headers } = await ours(path)
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable', path)
  }
  const page = await ours('/static/')
  t.is(page.headers['cache-control'], 'public, max-age=0, must-revalidate', 'HTML can change')
  t.regex((await old('/static/')).headers['cache-control'] ?? '', /max-age=31536000,immutable/)
})

test('of the patterns for hashed names only that for Vite also matches a common word', t => {
  const patterns = page.text.matchAll(/`\/([^`]+\$)\/`/g)
  const [webpack, hex, vite] = Array.from(patterns, ([, text = '']) => new RegExp(text))
  const names = words(`main.3f9a1c2b4d5e6f7a8b9c.js.map app-1a2b3c4d.js index-BcXr2f3k.js
    my-notebook.js jquery.min.js`)
  const matching = (pattern = /^$/) => names.filter(name => pattern.test(`/static/${name}`))
  t.deepEqual(matching(webpack), ['main.3f9a1c2b4d5e6f7a8b9c.js.map'])
  t.deepEqual(matching(hex), ['app-1a2b3c4d.js'])
  t.deepEqual(matching(vite), ['app-1a2b3c4d.js', 'index-BcXr2f3k.js', 'my-notebook.js'])
})

test('the first table says what koa-static and koaAssets do', async t => {
  const root = makeProject(t, {
    'public/app.js': 'go()',
    'public/docs/index.html': 'docs',
    'public/data.json': '{}',
    'public/.well-known/security.txt': 'Contact: mailto:us@example.com',
    'public/app.css': TEXT,
    'public/app.css.br': brotliCompressSync(TEXT),
    'public/old.css': TEXT,
    'public/old.css.br': 'of other bytes',
    'package.json': '{}',
    'outside.txt': 'outside'
  })
  symlinkSync('../outside.txt', join(root, 'public/link.txt'))
  const options = { root, env: 'production', serve: true }
  const mounts = { '/': { dir: 'public', index: 'index.html' } }
  const ours = await site(t, koaAssets({ ...options, mounts }))
  const theirs = await site(t, serve(join(root, 'public')))
  await compareTable(t, theirs, ours, [
    ['/assets/%', '400 failed to decode | 400 Bad Request'],
    ['/assets/% cache-control', 'undefined | no-store'],
    ['/x.css%00', '400 Malicious Path | 400 Bad Request'],
    ['/x.css%00 cache-control', 'undefined | no-store'],
    ['/docs location', 'undefined | /docs/'],
    ['/docs cache-control', 'max-age=0 | no-cache'],
    ['/app.css content-encoding', 'br | br', BR],
    ['/old.css content-encoding', 'br | undefined', BR],
    ['/app.js cache-control', 'max-age=0 | public, max-age=0, must-revalidate'],
    ['/data.json content-type', 'application/json; charset=utf-8 | application/json'],
    ['/.well-known/security.txt status', '404 | 200'],
    ['/link.txt status', '200 | 404']
  ])
  const old = await listen(t, new Koa2().use(serve(join(root, 'public'))))
  const types = 'application/javascript; charset=utf-8 | text/javascript; charset=utf-8'
  await compareTable(t, old, ours, [['/app.js content-type', types]])

  t.notThrows(() => serve(join(root, 'nowhere')))
  const later = koaAssets({ ...options, mounts: { '/x': 'nowhere' } })
  t.is((await (await site(t, later))('/x/app.js')).status, 404)
  t.is(warningsAbout('the directory nowhere of the mount /x does not exist').length, 1)
  const built = { dir: 'nowhere', manifest: 'nowhere/manifest.json' }
  t.throws(() => koaAssets({ ...options, mounts: { '/': built } }), { code: 'mount-unusable' })
  t.is((await (await site(t, serve(root)))('/package.json')).status, 200)
  t.throws(() => koaAssets({ ...options, mounts: { '/': '.' } }), { code: 'mount-unusable' })
})

const SIRV = { maxAge: 31_536_000, immutable: true, etag: true, single: true }

function withSirv(dir: string, options: Parameters<typeof sirv>[1]): Middleware {
  const files = sirv(dir, options)
  return ctx => {
    ctx.respond = false
    files(ctx.req, ctx.res, () => void ctx.res.writeHead(404).end())
  }
}

test('the table for sirv says what sirv and koaAssets do', async t => {
  const root = makeProject(t, {
    'dist/index.html': TEXT,
    'dist/docs/index.html': 'docs',
    'dist/about.html': 'about',
    'dist/app-1a2b3c4d.js': TEXT,
    'dist/.env': 'secret',
    'dist/.well-known/security.txt': 'Contact: mailto:us@example.com'
  })
  const theirs = await site(t, withSirv(join(root, 'dist'), SIRV))
  const ours = await siteOf(t, root, sirvExample)
  const html = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const asset = '/app-1a2b3c4d.js'
  await compareTable(t, theirs, ours, [
    ['/', `200 ${TEXT} | 200 ${TEXT}`, html],
    ['/docs/', '200 docs | 200 docs', html],
    ['/about', '200 about | 200 about', html],
    [asset, `200 ${TEXT} | 200 ${TEXT}`, html],
    [`${asset} cache-control`, `public,max-age=31536000,immutable | ${YEAR}`],
    ['/.well-known/security.txt status', '200 | 200', html]
  ])
  writeFiles(root, { 'dist/later.txt': 'later' })
  await compareTable(t, theirs, ours, [['/later.txt', '404  | 200 later']])
})

test('the example for koa-cache-control sends a default unless a route sets a lifetime', async t => {
  const ours = await siteOf(t, makeProject(t), lifetimeExample)
  t.is((await ours('/prices')).headers['cache-control'], 'public, max-age=600')
  t.is((await ours('/hello')).headers['cache-control'], 'no-store')
})

test('a missing file stays a 404 that no cache stores beside a route for every path', async t => {
  const root = makeProject(t, { 'build/app.js': 'go()' })
  const ours = await siteOf(t, root, everyPathExample)
  t.is((await ours('/static/app.js')).text, 'go()')
  t.regex((await ours('/anything')).text, /<title>page/)
  const { status, headers } = await ours('/static/none.js')
  t.deepEqual([status, headers['cache-control']], [404, 'no-store'])
})

test('every option that the tables give for an old one exists', t => {
  const known = new Set([...Object.keys(TOP), ...Object.keys(MOUNT), 'download'])
  const named = Array.from(page.text.matchAll(/`([a-z]\w*): (?!\/)/g), ([, name = '']) => name)
  const theirs = ['maxage', 'weak', 'autoEtag', 'ifModifiedSince', 'maxBytes', 'single']
  t.true(named.length > 10)
  for (const name of named) t.true(known.has(name) || theirs.includes(name), name)
  t.deepEqual(blocksLeft(), [])
})

test('the example for files that a middleware changes sends and compares what that makes of them', async t => {
  let version = 'one'
  const change: Middleware = async (ctx, next) => {
    await next()
    const body: unknown = ctx.body
    if (body == null) return
    const bytes = Buffer.isBuffer(body) ? body : await buffer(body as Readable)
    ctx.body = bytes.toString().replace('VERSION', version)
  }
  const root = makeProject(t, { 'public/page.html': `<p>VERSION</p>${TEXT}` })
  writeFiles(root, { 'public/page.html.br': brotliCompressSync(`<p>VERSION</p>${TEXT}`) })
  const start = `app.use(koaHttpCache({ autoEtag: true })).use(change)`
  const code = `${start}\n${changedExample}\napp.use(koaFiles('public', {}))`
  const ask = await siteOf(t, root, code, { change })
  const { headers, text: whole } = await ask('/page.html', { headers: BR })
  const { headers: ofHead } = await ask('/page.html', { method: 'HEAD' })
  t.true([undefined, `${whole.length}`].includes(ofHead['content-length']))
  const conditions = { 'if-none-match': headers.etag, ...BR }
  t.is((await ask('/page.html', { headers: conditions })).status, 304)
  const part = await ask('/page.html', { headers: { range: 'bytes=0-3' } })
  t.deepEqual([part.status, part.text.slice(0, 5)], [200, '<p>on'])
  version = 'two'
  const { status, text } = await ask('/page.html', { headers: conditions })
  t.deepEqual([status, text.slice(0, 5)], [200, '<p>tw'])
})

test('the example for koa-send sends a report to those who may have it', async t => {
  const root = makeProject(t, { 'data/reports/may 5.pdf': 'report' })
  const assets = "app.use(koaAssets({ mounts: { '/static': 'data' } }))"
  const ours = await siteOf(t, root, `${assets}\n${sendExample}`)
  t.is((await ours('/reports/may%205')).status, 401)
  const headers = { authorization: 'let me in' }
  const report = await ours('/reports/may%205', { headers })
  t.is(report.text, 'report')
  t.is(report.headers['content-disposition'], 'attachment; filename="Report.pdf"')
  t.is(report.headers['cache-control'], 'private, no-cache')
  t.is((await ours('/reports/none', { headers })).status, 404)
  t.is((await ours('/reports/may%205', { headers: { ...headers, range: 'bytes=-2' } })).text, 'rt')
})

test('the example for routes responds 304 without rendering', async t => {
  let rendered = 0
  const ours = await siteOf(t, makeProject(t), routeExample, {
    books: { find: () => ({ updatedAt: new Date('2024-05-01T10:00:00Z') }) },
    render: () => `book ${++rendered}`
  })
  const { headers } = await ours('/books/1')
  const again = { headers: { 'if-modified-since': headers['last-modified'] } }
  t.is((await ours('/books/1', again)).status, 304)
  t.is(rendered, 1)
})

test('the example for aliases sends one file under two paths', async t => {
  const files: Files = { 'public/favicon-32.png': 'icon', 'public/about.html': 'about' }
  const ours = await siteOf(t, makeProject(t, files), aliasExample)
  for (const path of ['/favicon.png', '/favicon-32.png']) t.is((await ours(path)).text, 'icon')
  t.is((await ours('/start')).text, 'about')
})
