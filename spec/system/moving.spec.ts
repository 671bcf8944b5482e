// docs/moving-from-koa-static.md: its examples run, and its tables say what these packages and ours do.
import { symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import Router from '@koa/router'
import Koa2 from 'koa2'
import Koa, { type Context, type Middleware } from 'koa'
import compose from 'koa-compose'
import compress from 'koa-compress'
import conditional from 'koa-conditional-get'
import etag from 'koa-etag'
import mount from 'koa-mount'
import range from 'koa-range'
import send from 'koa-send'
import serve from 'koa-static'
import staticCache from 'koa-static-cache'
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
import { differencesBetween, VERDICTS } from './moving/differences.ts'

const page = readPage('docs/moving-from-koa-static.md')
const [before, after] = page.take('In ten minutes').map(asBody)
const [filesExample] = page.take('One directory').map(asBody)
const [ownExample] = page.take('Then your own assets').map(asBody)
const [sendExample] = page.take('koa-send').map(asBody)
const [routeExample] = page.take('koa-conditional-get and koa-etag').map(asBody)
const [lifetimeExample] = page.take('koa-cache-control and koa-no-cache').map(asBody)
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
    etag: quietEtag,
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

/** It warns that it is deprecated in favour of @koa/etag. */
function quietEtag(options?: object): Middleware {
  const { warn } = console
  console.warn = () => undefined
  try {
    return etag(options)
  } finally {
    console.warn = warn
  }
}

test('one directory of koa-static is one call', async t => {
  const root = makeProject(t, { 'public/index.html': TEXT, 'public/robots.txt': 'robots' })
  const ask = await siteOf(t, root, filesExample)
  t.is((await ask('/')).text, TEXT)
  t.is((await ask('/robots.txt')).headers['cache-control'], 'public, max-age=86400')
  t.is((await ask('/hello')).text, 'hello')
})

test('an asset of the app beside the moved directories is kept for a year, and the page names it', async t => {
  const root = makeProject(t, { 'assets/css/site.css': TEXT, 'public/robots.txt': 'robots' })
  await precompile({ root })
  const ask = await siteOf(t, root, `${after}\n${ownExample}`)
  const { text } = await ask('/about')
  const asset = await ask(/href="([^"]+)"/.exec(text)?.[1] ?? '')
  t.deepEqual([asset.status, asset.headers['cache-control']], [200, YEAR])
  t.is((await ask('/robots.txt')).headers['cache-control'], 'public, max-age=86400')
})

test('a moved stylesheet loses its folder in production, and a tree of sources keeps it as the page says', async t => {
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

test('before and after, the example sends the same files with the same lifetimes, and the same page', async t => {
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

test('the patterns for hashed names match hashed names, and the one for Vite matches a word as well', t => {
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
  const theirs = await site(t, withSirv(join(root, 'dist'), { ...year, etag: true, single: true }))
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

/** The path and a field, or no field for status and text; their options, ours, and what both respond. */
type Row = readonly [question: string, theirs: object, ours: object, expected: string]

const AGE = 'cache-control'
const FOREVER = { immutable: true }
const MINUTE = 'public, max-age=60'
const noindex = { 'X-Robots-Tag': 'noindex' }
const setHeaders = (res: Context['res']) => void res.setHeader('X-Robots-Tag', 'noindex')
const index = { index: 'home.html' }
const byPath = (path: string) => (path.endsWith('.css') ? MINUTE : 'no-cache')
const SERVE: readonly Row[] = [
  [`/a.txt ${AGE}`, { maxage: 60_000 }, { cacheControl: MINUTE }, `max-age=60 | ${MINUTE}`],
  [`/app.css ${AGE}`, { maxage: 60_000 }, { cacheControl: byPath }, `max-age=60 | ${MINUTE}`],
  [`/a.txt ${AGE}`, FOREVER, FOREVER, `max-age=0,immutable | ${YEAR}`],
  ['/docs/', index, index, '200 docs | 200 docs'],
  ['/docs location', index, index, 'undefined | /docs/'],
  ['/docs', { ...index, format: false }, {}, '404 Not Found | 404 Not Found'],
  ['/.env', { hidden: true }, {}, '200 secret | 404 Not Found'],
  ['/app.css content-encoding', {}, {}, 'br | br'],
  ['/app.css x-robots-tag', { setHeaders }, { headers: () => noindex }, 'noindex | noindex']
]
const SEND: readonly Row[] = [
  ['a%20b.txt', {}, {}, '200 blank | 404 Not Found'],
  ['/app.css content-encoding', {}, {}, 'br | br'],
  [`app.css ${AGE}`, {}, {}, 'max-age=0 | private, no-cache'],
  [`app.css ${AGE}`, { maxage: 60_000 }, { cacheControl: MINUTE }, `max-age=60 | ${MINUTE}`],
  [`a.txt ${AGE}`, FOREVER, FOREVER, `max-age=0,immutable | ${YEAR.replace('public', 'private')}`],
  ['.env', { hidden: true }, {}, '200 secret | 404 Not Found'],
  ['docs', {}, {}, '404 Not Found | 404 Not Found'],
  ['home', { extensions: ['html'] }, {}, '200 home | 404 Not Found']
]
const compressed = { gzip: true, usePrecompiledGzip: true, buffer: true }
const unkept = { cacheControl: 'no-cache' }
const CACHE: readonly Row[] = [
  [`/app.css ${AGE}`, { maxAge: 60 }, { cacheControl: MINUTE }, `${MINUTE} | ${MINUTE}`],
  [`/a.txt ${AGE}`, unkept, unkept, 'no-cache | no-cache'],
  ['/app.css content-encoding', compressed, {}, 'gzip | br'],
  ['/a.txt', { filter: ['app.css'] }, {}, '404 Not Found | 200 a'],
  ['/b.txt', { alias: { '/b.txt': '/a.txt' } }, {}, '200 a | 404 Not Found'],
  ['/a.txt content-md5', {}, {}, 'DMF1ucDxtqgxw5niaXcmYQ== | undefined']
]

test('the tables are right about each option of koa-static, koa-send and koa-static-cache, and about ours', async t => {
  const root = makeProject(t, {
    'public/app.css': TEXT + TEXT,
    'public/app.css.br': brotliCompressSync(TEXT + TEXT),
    'public/a.txt': 'a',
    'public/a b.txt': 'blank',
    'public/home.html': 'home',
    'public/docs/home.html': 'docs',
    'public/.env': 'secret'
  })
  const dir = join(root, 'public')
  const serving = { root, env: 'production', serve: true, apps: false, public: false } as const
  const mounted = (ours: object) =>
    koaAssets({ ...serving, mounts: { '/': { dir: 'public', ...ours } } })
  const check = async (
    rows: readonly Row[],
    before: (theirs: object, path: string) => Middleware,
    after: (ours: object, path: string) => Middleware,
    urlOf = (path: string) => path
  ) => {
    for (const [question, theirs, ours, expected] of rows) {
      const [path = '', field = ''] = question.split(' ')
      const both = [await site(t, before(theirs, path)), await site(t, after(ours, path))] as const
      await compareTable(t, ...both, [[`${urlOf(path)} ${field}`.trim(), expected, BR]])
    }
  }
  await check(SERVE, options => serve(dir, options), mounted)
  await check(CACHE, options => staticCache(dir, { ...options }), mounted)
  const elsewhere = koaAssets({ ...serving, mounts: { '/elsewhere': 'public' } })
  await check(
    SEND,
    (options, path) => async ctx => void (await send(ctx, path, { root: dir, ...options })),
    (options, path) =>
      compose([elsewhere, ctx => ctx.sendFile(path, { root: 'public', ...options })]),
    () => '/'
  )
})

test('the table for koa-range says what koa-range does, and what the 404 of koa-send reveals', async t => {
  const root = makeProject(t, { 'public/film.mp4': TEXT })
  const serving = { root, env: 'production', serve: true, mounts: { '/': 'public' } }
  const theirs = await site(t, range, serve(join(root, 'public')))
  const ours = await site(t, koaAssets(serving))
  for (const [value, expected, actual] of [
    ['bytes=-500', 416, 206],
    ['bytes=0-9999', 'ECONNRESET', 206],
    ['bytes=9999-', 'HPE_INVALID_CONTENT_LENGTH', 416],
    ['bytes=0-1,4-5', 206, 200],
    ['bytes=a-b', 416, 200]
  ] as const) {
    const headers = { range: value }
    const codeOf = (error: NodeJS.ErrnoException) => ({ status: error.code })
    t.is((await theirs('/film.mp4', { headers }).catch(codeOf)).status, expected, value)
    t.is((await ours('/film.mp4', { headers })).status, actual, value)
  }
  const old = { range: 'bytes=0-1', 'if-range': '"an old one"' }
  t.is((await theirs('/film.mp4', { headers: old })).status, 206)
  t.is((await ours('/film.mp4', { headers: old })).status, 200)
  const alone = await site(t, async ctx => void (await send(ctx, '/none', { root })))
  t.true((await alone('/none')).text.includes(root))
})

test('in place of koa-cache-control and koa-no-cache, a default and the lifetimes of routes are sent', async t => {
  const ours = await siteOf(t, makeProject(t), lifetimeExample)
  t.is((await ours('/prices')).headers['cache-control'], 'public, max-age=600')
  t.is((await ours('/hello')).headers['cache-control'], 'no-store')
})

test('a route for every path leaves a missing file to the 404, which nobody stores', async t => {
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

test('a route with a wildcard that may match nothing sends a file or a 404', async t => {
  const root = makeProject(t, { 'data/a b.txt': 'blank' })
  const [, options = ''] = /`(koaAssets\([^`]+\))`:/.exec(page.text) ?? []
  const [, path = ''] = /match nothing: `([^`]+)`/.exec(page.text) ?? []
  const ours = await siteOf(
    t,
    root,
    `app.use(${options})
    router.get('/files{/*path}', ctx => ctx.sendFile(${path}, { root: 'data' }))`
  )
  t.is((await ours('/files/a%20b.txt')).text, 'blank')
  for (const missing of ['/files', '/files/', '/files/none'])
    t.is((await ours(missing)).status, 404, missing)
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

test('koa-static-cache, koa-static and koa-compress may stay beside koaAssets', async t => {
  const root = makeProject(t, {
    'mounted/app.css': TEXT,
    'mounted/copied.css': TEXT,
    'mounted/copied.css.br': brotliCompressSync(TEXT),
    'static/static.css': TEXT,
    'cached/cached.css': TEXT
  })
  const ours = await site(
    t,
    compress({ threshold: 0, br: false }),
    serve(join(root, 'static')),
    staticCache(join(root, 'cached')),
    koaAssets({ root, env: 'production', serve: true, mounts: { '/': 'mounted' } }),
    koaHttpCache()
  )
  const headers = { 'accept-encoding': 'br, gzip' }
  for (const path of ['/app.css', '/copied.css', '/static.css', '/cached.css']) {
    const coding = path === '/copied.css' ? 'br' : 'gzip'
    const answer = await ours(path, { headers })
    t.deepEqual([answer.status, answer.headers['content-encoding']], [200, coding], path)
  }
  const cached = await ours('/cached.css')
  const again = { headers: { 'if-none-match': cached.headers.etag } }
  t.is((await ours('/cached.css', again)).status, 304)
})

test('a filter of koa-compress that lists the type of scripts of Koa 2 compresses none', async t => {
  const root = makeProject(t, { 'public/app.js': TEXT })
  for (const [type, coding] of [
    ['application/javascript', undefined],
    ['text/javascript', 'gzip']
  ] as const) {
    const ours = await site(
      t,
      compress({ br: false, threshold: 0, filter: (each: string) => each === type }),
      koaAssets({ root, env: 'production', serve: true, apps: false })
    )
    const { headers } = await ours('/app.js', { headers: { 'accept-encoding': 'gzip' } })
    t.is(headers['content-encoding'], coding, type)
  }
})

const SCRIPT = 'export const words = "the same words again"\n'.repeat(100)
const year = { maxAge: 31_536_000, immutable: true }
/** By its name, an old layer over `dist`. */
const LAYERS: Readonly<Record<string, (dir: string) => Middleware>> = {
  'koa-static': dir => serve(dir, { maxage: 31_536_000_000, immutable: true }),
  sirv: dir => withSirv(dir, { ...year, etag: true, single: true })
}
const applied = new Set<object>()

for (const [name, layer] of Object.entries(LAYERS)) {
  test(`every difference from ${name} is listed, with who is right`, async t => {
    const root = makeProject(t, {
      'dist/index.html': `<!doctype html><title>page</title>${'<p>words</p>'.repeat(300)}`,
      'dist/docs/index.html': 'docs',
      'dist/app-1a2b3c4d.js': SCRIPT,
      'dist/app-1a2b3c4d.js.br': brotliCompressSync(SCRIPT),
      'dist/logo.png': 'twenty bytes of image',
      'dist/.env': 'secret',
      'package.json': '{}'
    })
    // A date is no strong validator of a file that is younger than a second.
    utimesSync(join(root, 'dist/app-1a2b3c4d.js'), 1.7e9, 1.7e9)
    const theirs = await site(t, layer(join(root, 'dist')))
    const ours = await siteOf(t, root, sirvExample)
    const unjudged: string[] = []
    for (const { difference, request } of await differencesBetween(theirs, ours)) {
      const verdict = VERDICTS.find(
        ([, of, , requests = /^/]) => of.test(difference) && requests.test(request)
      )
      if (verdict) applied.add(verdict)
      else unjudged.push(`${difference}, for ${request}`)
    }
    t.deepEqual(unjudged, [])
  })
}

test.after('every verdict that is listed applies', t => {
  for (const verdict of VERDICTS) t.true(applied.has(verdict), verdict.join())
})
