// docs/getting-started.md
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/getting-started.md')
const one = page.take('One app')
const production = page.take('To production')
const several = page.take('Several apps')
const typescript = page.take('TypeScript')
const commonjs = page.take('CommonJS')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('from an empty folder to production: a page, its stylesheet, and fingerprints', async t => {
  const site = makeExample(t, { 'package.json': '{}' })
  await site.follow(one)
  const { text } = await site.ask('/')
  t.true(text.includes('<link href="/assets/books.css" type="text/css" rel="stylesheet">'))
  t.regex((await site.ask('/assets/books.css')).text, /\.book h1 \{/)
  for (const [, url = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
    t.is((await site.ask(url)).status, 200, url)
  }
  await site.run('echo "body {" > apps/web/assets/stylesheets/books.css.scss')
  t.regex((await site.ask('/assets/books.css')).text, /books\.css\.scss:1:7/)
  await site.follow(one.filter(({ file }) => file?.endsWith('.scss')))

  await site.follow(several)
  await site.follow(production)
  const [, url = ''] =
    /"(\/assets\/books-[0-9a-f]{32}\.css)".* integrity="sha384-/.exec((await site.ask('/')).text) ??
    []
  const { status, headers } = await site.ask(url)
  t.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
  t.regex((await site.ask('/assets/admin/admin.css')).text, /^body/m)
})

test('with TypeScript: the options and the context are typed, and the page is answered with 304', async t => {
  const site = makeExample(t, {
    'apps/web/assets/stylesheets/books.css': 'p {}',
    'apps/web/assets/javascripts/menu.js.ts': 'export const open: boolean = true'
  })
  await site.follow(typescript)
  const { text, headers } = await site.ask('/')
  t.true(text.includes('/assets/books.css'))
  t.is(headers['cache-control'], 'public, max-age=600')
  t.is((await site.ask('/', { headers: { 'if-none-match': headers.etag } })).status, 304)
  t.regex((await site.ask('/assets/menu.js')).text, /const open = true/)
  await site.run('npx koa-fresh-assets init')
  const configured = "import configured from './assets.config.js'\nkoaAssets(configured)"
  site.write({ 'server.ts': `${site.read('server.ts')}\n${configured}` })
  await site.run('npx tsc')
  site.write({ 'server.ts': `${site.read('server.ts')}\nkoaAssets({ serv: true })` })
  await t.throwsAsync(site.run('npx tsc'), { message: /'serv' does not exist/ })
})

test('with TypeScript in a package of CommonJS modules the same is typed, and runs', async t => {
  const stylesheet = { 'apps/web/assets/stylesheets/books.css': 'p {}' }
  const site = makeExample(t, { 'package.json': '{}', ...stylesheet })
  const files = typescript.filter(({ file }) => file !== undefined)
  await site.follow(files)
  const server = site.read('server.ts').replace('import.meta.dirname', '__dirname')
  site.write({ 'server.ts': server })
  await site.run('npx tsc')
  await site.run('npx tsx server.ts')
  t.true((await site.ask('/')).text.includes('/assets/books.css'))
  const older = site.read('tsconfig.json').replace('nodenext', 'node16')
  site.write({ 'tsconfig.json': older })
  await t.throwsAsync(site.run('npx tsc'), { message: /TS1479/ })
})

test('with CommonJS: require loads the package, and the configuration', async t => {
  const site = makeExample(t, { 'package.json': '{}' })
  await site.run('npx koa-fresh-assets init')
  site.write({ 'apps/web/assets/stylesheets/books.css': 'p {}' })
  await site.follow(commonjs)
  t.true((await site.ask('/')).text.includes('/assets/books.css'))
  const configured = 'console.log(require("./assets.config.mjs").default.root)'
  t.is((await site.run(`node -e '${configured}'`)).trim(), site.root)
})
