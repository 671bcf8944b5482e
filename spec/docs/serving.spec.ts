// The pages about serving and caching; docs/http-caching.md first.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import ejs from 'ejs'
import Koa, { type Middleware } from 'koa'
import { builtInCompilers } from '../../lib/publishing/compilers/built-in.ts'
import { evaluatePreconditions } from '../../lib/runtime/http/preconditions.ts'
import { type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { koaFiles } from '../../lib/index.ts'
import { open } from '../support/cached-site.ts'
import { asBody, blocksLeft, evaluate, makeExample, readPage } from '../support/examples.ts'
import { type Block } from '../support/examples.ts'
import { makeProject, makeSite, soakTest, test, viteBuild } from '../support/index.ts'
import { FILE_EXTENSIONS } from '../../lib/runtime/serving/missing.ts'

const httpCachingPage = readPage('docs/http-caching.md')
const [server] = httpCachingPage.take('')
const EDIT = 'An edit that overwrites nothing'
const sections = [
  'A page',
  'A JSON API',
  EDIT,
  'A new resource that replaces nothing',
  'A feed',
  'A file',
  'Groups',
  'Several caches',
  'Logging in and out'
].flatMap(section => httpCachingPage.take(section))
const defaults = httpCachingPage.take('A default for all routes')
const versions = httpCachingPage.take('Templates and stylesheets')

const BOOKS = `const book = { id: 7, revision: 1, title: 'Walden' }
  const shelves = new Map()
  export const books = {
    find: id => (id === '7' ? book : undefined),
    all: () => [book],
    save: (_, { title }) => Object.assign(book, { title, revision: book.revision + 1 }),
    shelf: name => shelves.get(name),
    addShelf: name => shelves.set(name, { name }),
    remove: () => undefined
  }
  export const feed = { updatedAt: new Date('2024-05-01T10:00:00Z'), render: () => '<feed/>' }
  export const render = ({ title }) => '<h1>' + title + '</h1>'`

test('each example of docs/http-caching.md responds as the page shows', async t => {
  const exchanges = sections.filter(({ language }) => language !== 'js')
  const routes = sections.flatMap(({ language, text }) => (language === 'js' ? text : []))
  const site = makeExample(t, {
    'books.js': BOOKS,
    'data/covers/7.png': '\u0089PNG123',
    'public/robots.txt': '',
    'server.js': `${server?.text}${routes.join('\n')}`
  })
  await site.run('NODE_ENV=development node server.js')
  await site.follow(exchanges)
  t.true(exchanges.length > 10)
  const { headers } = await site.ask('/api/books')
  const lifetime = 'public, max-age=60, stale-while-revalidate=600'
  t.is(headers['cache-control'], lifetime)
  const logout = await site.ask('/logout', { method: 'POST' })
  t.deepEqual([logout.status, logout.headers['clear-site-data']], [302, '"cache"'])
  const again = { headers: { 'if-none-match': headers.etag } }
  t.is((await site.ask('/api/books', again)).status, 304)
  const put = { method: 'PUT', body: '{' }
  t.is((await site.ask('/books/7', put)).status, 428)
  const edit = { ...put, headers: { 'if-match': '"7-1"' } }
  t.is((await site.ask('/books/7', edit)).status, 400)
  t.is((await site.ask('/books/8', { ...edit, body: '{}' })).status, 404)
})

test('of two simultaneous edits of the same version, one is refused with a 412', async t => {
  const site = makeExample(t, {
    'books.js': BOOKS,
    'public/robots.txt': '',
    'server.js': [server, ...sections.filter(({ section }) => section === EDIT)]
      .flatMap(block => (block?.language === 'js' ? block.text : []))
      .join('\n')
  })
  await site.run('NODE_ENV=development node server.js')
  const port = Number(/^port (\d+)$/m.exec(site.said())?.[1])
  const headers = { 'if-match': '"7-1"', expect: '100-continue' }
  const edits = [1, 2].map(() => request({ port, path: '/books/7', method: 'PUT', headers }))
  // Node sends the fields of such requests at once, in any order.
  await Promise.all(edits.map(edit => once(edit, 'continue')))
  // Once a later request has its response, both routes have gone as far as they can without a body.
  await site.ask('/books/7')
  const answers = edits.map(async edit => {
    const [answer] = (await once(edit.end('{}'), 'response')) as [IncomingMessage]
    return answer.resume().statusCode
  })
  t.deepEqual(new Set(await Promise.all(answers)), new Set([204, 412]))
})

soakTest('the cache default of the docs is private once a route reads a cookie', async t => {
  const site = makeExample(t, {
    'server.js': `import Koa from 'koa'
    import { defaultCache } from './default-cache.js'
    new Koa().use(defaultCache).use(ctx => {
      ctx.body = ctx.path === '/' ? 'page' : 'hello ' + ctx.cookies.get('user')
    }).listen(3000)`
  })
  await site.follow(defaults)
  await site.run('node server.js')
  t.is((await site.ask('/')).headers['cache-control'], 'public, max-age=60')
  t.is((await site.ask('/hello')).headers['cache-control'], 'private, no-cache')
})

soakTest('an edited template and a new stylesheet each change the ETag', async t => {
  const site = makeExample(t, {
    'assets/app.css': 'p {}',
    'views/page.html': 'one',
    'server.js': `import Koa from 'koa'
      import { koaAssets } from 'koa-fresh-assets'
      import { pageCache } from './page-cache.js'
      const app = new Koa()
      app.use(koaAssets({ serve: true, configure: { test: { fingerprint: true } } }))
      app.use(pageCache)
      app.use(async ctx => {
        await ctx.fresh('page')
        ctx.body = ctx.assets.version
      })
      app.listen(3000)`
  })
  await site.follow(versions)
  await site.run('NODE_ENV=test node server.js')
  const etags = [(await site.ask('/')).headers.etag]
  site.write({ 'assets/app.css': 'p { color: red }' })
  etags.push((await site.ask('/')).headers.etag)
  site.write({ 'views/page.html': 'two' })
  await site.run('NODE_ENV=test node server.js')
  etags.push((await site.ask('/')).headers.etag)
  t.is(new Set(etags).size, 3)
  await site.run('NODE_ENV=development node server.js')
  t.is((await site.ask('/')).text, '')
})

test('the table of reasons has the words of X-Http-Cache', t => {
  for (const headers of [{}, { 'if-none-match': '"b"' }, { 'if-modified-since': 'never' }]) {
    const { reason } = evaluatePreconditions('GET', headers, { etag: '"a"' })
    t.true(httpCachingPage.text.includes(`\`${reason.replace(/Last-Modified$/, '…')}\``), reason)
  }
})

/** The options that the module of a block exports. */
const optionsOf = ([block]: readonly Block[]) =>
  evaluate(block?.text.replace('export const options =', 'return') ?? '', {}) as KoaAssetsOptions

const securityPage = readPage('docs/security.md')
const uploads = securityPage.take('Serving what others upload')

test('an uploaded HTML page is sent as a sandboxed download', async t => {
  for (const env of ['development', 'production']) {
    const files = { '/data/uploads/page.html': '<script>go()</script>' }
    const site = await makeSite(t, files, { apps: false, ...optionsOf(uploads), env })
    const { status, headers } = await site.ask('/uploads/page.html')
    t.is(status, 200)
    t.is(headers['content-disposition'], 'attachment')
    t.is(headers['content-security-policy'], "default-src 'none'; sandbox")
    t.is(headers['x-content-type-options'], 'nosniff')
  }
})

const livePage = readPage('docs/live.md')
const [tag] = livePage.take('')
const [options] = livePage.take('Options').map(asBody)
const [withNonce] = livePage.take('With a Content-Security-Policy')

test('the tags in docs/live.md lead to the scripts of live reload', async t => {
  let given: KoaAssetsOptions = {}
  evaluate(options ?? '', { koaAssets: (options: KoaAssetsOptions) => (given = options) })
  const routes: Middleware = ctx => {
    const { text } = (ctx.path === '/' ? tag : withNonce) ?? { text: '' }
    ctx.body = ejs.render(text.trim(), { ...ctx.state, nonce: 'once' })
  }
  const site = await makeSite(t, { '/apps/web/views/page.ejs': '' }, { ...given, routes })
  const { text } = await site.ask('/')
  t.is(
    text,
    '<script src="/assets/-/live.js" type="module" async="async"></script>' +
      '<script src="/assets/-/hot.js" type="module"></script>'
  )
  t.is((await site.ask('/nonce')).text, text.replaceAll('></', ' nonce="once"></'))
  for (const name of ['live.js', 'hot.js'])
    t.is((await site.ask(`/assets/-/${name}`)).status, 200, name)
})

const mountsPage = readPage('docs/mounts.md')
const [example = ''] = mountsPage.take('').map(asBody)
const [oneDirectory = ''] = mountsPage.take('One directory').map(asBody)
const only = optionsOf(mountsPage.take('Without assets of your own'))

test('docs/mounts.md lists exactly the extensions that get no fallback', t => {
  const [, list = ''] =
    /## Fallbacks\n[^]*?\n\|[^]*?\n\|[ -|]*\n([^]*?)\n\n/.exec(mountsPage.text) ?? []
  const named = Array.from(list.matchAll(/`\.(\w+)`/g), ([, extension]) => extension)
  t.deepEqual(named, [...FILE_EXTENSIONS])
  const sources = builtInCompilers.flatMap(({ extensions }) => extensions)
  const forgotten = sources.filter(extension => !FILE_EXTENSIONS.has(extension.slice(1)))
  t.deepEqual(forgotten, [], 'sources are no pages either')
})

test('the example of mounts serves four directories, each under its path', async t => {
  let options: KoaAssetsOptions = {}
  evaluate(example, { koaAssets: (given: KoaAssetsOptions) => (options = given) })
  const files = {
    '/build/app/app.js': 'go()',
    '/docs/html/index.html': 'contents',
    '/data/uploads/cat.png': 'cat',
    '/dist/index.html': 'page',
    ...viteBuild('/dist', { 'src/main.js': 'main-B1a2C3d4.js' })
  }
  const site = await makeSite(t, files, { env: 'production', ...options })
  for (const [path, cacheControl] of [
    ['/static/app.js', 'public, max-age=0, must-revalidate'],
    ['/docs/', 'public, max-age=0, must-revalidate'],
    ['/uploads/cat.png', 'public, max-age=604800'],
    ['/main-B1a2C3d4.js', 'public, max-age=31536000, immutable'],
    ['/orders/7', 'no-cache']
  ] as const) {
    const { status, headers } = await site.ask(path, { headers: { accept: 'text/html' } })
    t.deepEqual([status, headers['cache-control']], [200, cacheControl], path)
  }
  t.is((await site.ask('/docs')).status, 301)
})

test('the example without an asset pipeline serves nothing but its folder assets', async t => {
  const files = { '/assets/a.txt': 'a', '/public/robots.txt': 'robots' }
  const site = await makeSite(t, files, { ...only, env: 'production' })
  t.is((await site.ask('/assets/a.txt')).text, 'a')
  t.is((await site.ask('/robots.txt')).status, 404)
})

test('the example of koaFiles serves one directory without its notes', async t => {
  const root = makeProject(t, { 'dist/index.html': 'home', 'dist/notes/a.md': 'a' })
  const app = new Koa()
  const here = (dir: string, options: object) => koaFiles(dir, { ...options, root })
  evaluate(oneDirectory, { app, koaFiles: here })
  const site = await open(t, app)
  const { body, headers } = await site.get()
  t.deepEqual([body, headers['cache-control']], ['home', 'public, max-age=600'])
  t.is((await site.get({}, '/notes/a.md')).status, 404)
})

test('every block of the pages about serving and caching is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
