// docs/http-caching.md
import test from 'ava'
import { evaluatePreconditions } from '../../lib/http/preconditions.ts'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/http-caching.md')
const [server] = page.take('')
const sections = [
  'A page',
  'A JSON API',
  'An edit that overwrites nothing',
  'A new resource that replaces nothing',
  'A feed',
  'A file',
  'Groups',
  'Several caches'
].flatMap(section => page.take(section))
const defaults = page.take('A default for all routes')
const versions = page.take('Templates and stylesheets')

const BOOKS = `const book = { id: 7, revision: 1, title: 'Walden' }
  const shelves = new Map()
  export const books = {
    find: () => book,
    all: () => [book],
    save: (_, { title }) => Object.assign(book, { title, revision: book.revision + 1 }),
    shelf: name => shelves.get(name),
    addShelf: name => shelves.set(name, { name }),
    remove: () => undefined
  }
  export const feed = { updatedAt: new Date('2024-05-01T10:00:00Z'), render: () => '<feed/>' }
  export const render = ({ title }) => '<h1>' + title + '</h1>'`

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('each example responds on the wire as the page shows', async t => {
  const [routes, exchanges] = [[] as string[], sections.filter(({ language }) => language !== 'js')]
  for (const { language, text } of sections) if (language === 'js') routes.push(text)
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
  const again = { headers: { 'if-none-match': headers.etag } }
  t.is((await site.ask('/api/books', again)).status, 304)
  const edit = { method: 'PUT', body: '{}' }
  t.is((await site.ask('/books/7', edit)).status, 428)
})

test('the default of the page is private once a cookie was read', async t => {
  const site = makeExample(t, {
    'server.js': `import Koa from 'koa'
      import { defaultCache } from './default-cache.js'
      const app = new Koa()
      app.use(defaultCache)
      app.use(ctx => {
        ctx.body = ctx.path === '/' ? 'page' : \`hello \${ctx.cookies.get('user')}\`
      })
      app.listen(3000)`
  })
  await site.follow(defaults)
  await site.run('node server.js')
  t.is((await site.ask('/')).headers['cache-control'], 'public, max-age=60')
  t.is((await site.ask('/hello')).headers['cache-control'], 'private, max-age=60')
})

test('an edited template and a new stylesheet make another ETag', async t => {
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
  const conditions = [{}, { 'if-none-match': '"b"' }, { 'if-modified-since': 'never' }]
  for (const headers of conditions) {
    const { reason } = evaluatePreconditions('GET', headers, { etag: '"a"' })
    t.true(page.text.includes(`\`${reason.replace(/Last-Modified$/, '…')}\``), reason)
  }
})
