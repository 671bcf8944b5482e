// docs/getting-started.md
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Middleware } from 'koa'
import { COMMANDS } from '../../lib/cli/arguments.ts'
import type { KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { blocksLeft, evaluate, makeExample, readPage } from '../support/examples.ts'
import { makeSite } from '../support/site.ts'
import { until } from '../support/until.ts'
import { withDigest } from '../support/digest.ts'
import { soakTest } from '../support/soak.ts'

const gettingStartedPage = readPage('docs/getting-started.md')
const one = gettingStartedPage.take('One app')
const production = gettingStartedPage.take('To production')
const several = gettingStartedPage.take('Several apps')
const typescript = gettingStartedPage.take('TypeScript')
const compiled = gettingStartedPage.take('Compiled by tsc')
const commonjs = gettingStartedPage.take('CommonJS')

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
    withDigest(/"(\/assets\/books-DIGEST\.css)".* integrity="sha384-/).exec(
      (await site.ask('/')).text
    ) ?? []
  const { status, headers } = await site.ask(url)
  t.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
  t.regex((await site.ask('/assets/admin/admin.css')).text, /^body/m)
})

test('with TypeScript: the options and the context are typed, and the page gets a 304', async t => {
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

test('with TypeScript compiled by tsc: node runs it, and the command reads its configuration', async t => {
  const site = makeExample(t, {
    'apps/web/assets/stylesheets/books.css': 'p {}',
    'assets.config.ts': 'export default { root: process.cwd() }'
  })
  await site.follow(typescript.filter(({ file }) => file === 'server.ts'))
  const server = site.read('server.ts').replace('import.meta.dirname', 'process.cwd()')
  site.write({ 'server.ts': server })
  await site.follow(compiled)
  t.regex((await site.ask('/')).text, withDigest(/href="\/assets\/books-DIGEST\.css"/))
})

soakTest('with TypeScript in a CommonJS package the same is typed, and runs', async t => {
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
  await site.run('npx tsc')
  site.write({ 'server.ts': `${server}\nkoaAssets({ serv: true })` })
  await t.throwsAsync(site.run('npx tsc'), { message: /'serv' does not exist/ })
})

soakTest('with CommonJS: require loads the package, and the configuration', async t => {
  const site = makeExample(t, { 'package.json': '{}' })
  await site.run('npx koa-fresh-assets init')
  site.write({ 'apps/web/assets/stylesheets/books.css': 'p {}' })
  const [server, start, config] = commonjs
  await site.follow([server, start].flatMap(block => block ?? []))
  t.true((await site.ask('/')).text.includes('/assets/books.css'))
  const configured = 'console.log(require("./assets.config.js").root)'
  t.is((await site.run(`node -e '${configured}'`)).trim(), site.root)
  await site.follow(config ? [config] : [])
  t.regex(await site.run('npx koa-fresh-assets list'), /books\.css/)
})

// docs/production.md

const productionPage = readPage('docs/production.md')
const build = productionPage.take('Precompile')
const [serving, withoutServing] = productionPage.take('Start')
const release = productionPage.take('The next release')
const inCode = productionPage.take('In code')

const FILES = {
  'assets.config.js': 'export default { root: import.meta.dirname }',
  'assets/stylesheets/app.css.scss':
    'p { color: green }\n' +
    Array.from({ length: 100 }, (_, at) => `.a${at} { top: 0 }\n`).join(''),
  'server.js': `import Koa from 'koa'
    import { koaAssets } from 'koa-fresh-assets'
    import options from './assets.config.js'
    const app = new Koa()
    app.use(koaAssets(options))
    app.use(ctx => {
      if (ctx.path === '/') ctx.body = ctx.assets.path('app.css')
    })
    app.listen(3000)`
}

const makeShop = (t: ExecutionContext) => makeExample(t, FILES)

test('built, verified and started: files for a year, compressed, without sources or manifest', async t => {
  const site = makeShop(t)
  const started = site.follow(serving ? [serving] : [])
  await t.throwsAsync(started, { message: /there is no manifest .*koa-fresh-assets precompile/s })
  await site.follow(build)
  rmSync(join(site.root, 'assets'), { recursive: true })
  await site.follow(serving ? [serving] : [])
  const { text: path } = await site.ask('/')
  const { status, headers } = await site.ask(path, { headers: { 'accept-encoding': 'br' } })
  t.is(status, 200)
  t.is(headers['cache-control'], 'public, max-age=31536000, immutable')
  t.is(headers['content-encoding'], 'br')
  t.is((await site.ask('/assets.json')).status, 404)
  await site.follow(withoutServing ? [withoutServing] : [])
  t.is((await site.ask('/')).text, path)
  t.is((await site.ask(path)).status, 404)
  site.write({ [`public${path}`]: 'p {}' })
  await t.throwsAsync(site.run('npx koa-fresh-assets verify'), { message: /verify: 1\n/ })
})

soakTest(
  'the next release keeps the files of the last one, and a running server takes it over',
  async t => {
    const site = makeShop(t)
    await site.follow(build)
    await site.follow(serving ? [serving] : [])
    const { text: before } = await site.ask('/')
    site.write({ 'assets/stylesheets/app.css.scss': 'p { color: red }' })
    await site.follow(release)
    let after = before
    await until(async () => {
      after = (await site.ask('/')).text
      return after !== before
    }, 'the new manifest is taken over')
    for (const path of [before, after]) t.is((await site.ask(path)).status, 200)
  }
)

soakTest('the same in code: built, verified, minified', async t => {
  const site = makeShop(t)
  await site.follow(inCode)
  await site.run('node release.js')
  t.regex(await site.run('npx koa-fresh-assets verify'), /no problems/)
  t.regex(site.read('public/assets/app.css'), /^p\{color:green\}/)
})

// docs/deploy.md

const deployPage = readPage('docs/deploy.md')
const server = deployPage.take('What these files expect')

soakTest(
  'the server answers /health, and takes the address of the client from a proxy',
  async t => {
    const site = makeExample(t, { 'package.json': '{ "type": "module" }' })
    await site.run('npx koa-fresh-assets init')
    await site.follow(server)
    await site.run('PORT=3001 HOST=127.0.0.1 node server.js')
    const { status, text } = await site.ask('/health')
    t.deepEqual([status, text], [200, 'ok'])
    const headers = { 'X-Forwarded-For': '192.0.2.7' }
    t.is((await site.ask('/', { headers })).text, 'Hello, 192.0.2.7')
    t.is((await site.ask('/none')).status, 404)
  }
)

// docs/coming-from.md

const comingFromPage = readPage('docs/coming-from.md')
const program = comingFromPage.take('')

soakTest('the example responds with its assets, and with 304', async t => {
  const book =
    "{ id: 7, revision: 1, title: 'Walden', updatedAt: new Date('2024-05-01T10:00:00Z') }"
  const site = makeExample(t, {
    'books.js': `export const books = { find: () => (${book}) }`,
    'apps/web/assets/stylesheets/app.css': 'p {}',
    'apps/web/assets/images/logo.png': 'png',
    'apps/polls/assets/stylesheets/app.css': 'h1 {}'
  })
  await site.follow(program)
  await site.run('NODE_ENV=development node server.js')
  const { text, headers } = await site.ask('/books/7')
  t.regex(text, /<link href="\/assets\/app\.css".*<img src="\/assets\/logo\.png" alt="Logo">/s)
  t.is(headers.etag, '"7-1"')
  t.is((await site.ask('/books/7', { headers: { 'if-none-match': '"7-1"' } })).status, 304)
  t.is((await site.ask('/assets/polls/app.css')).text, 'h1 {}')
  t.regex(await site.run('npx koa-fresh-assets explain /assets/polls/app.css'), /apps\/polls/)
})

const said = comingFromPage.text.matchAll(/^## (.*)$/gm)
const stanzas = Array.from(said, ([, section = '']) => section).flatMap(section =>
  comingFromPage
    .take(section)
    .flatMap(({ text }) => text.trimEnd().split('\n\n'))
    .map(stanza => ({ section, stanza }))
)

test('every line of another framework has one of ours, with the result that the page gives', async t => {
  const book = { id: 7, revision: 1, updatedAt: new Date('2024-05-01T10:00:00Z') }
  const mounted: KoaAssetsOptions[] = []
  const koaAssets = (options: KoaAssetsOptions) => void mounted.push(options)
  const cache = koaHttpCache({ trace: false })
  const run: Middleware = async ctx => {
    const code = stanzas[Number(ctx.query['n'])]?.stanza.replaceAll(/^\/\/.*$/gm, '').trim()
    const names = { ctx, assets: ctx.assets, book, koaAssets }
    ctx.body =
      (await evaluate(`return (async () => ${code?.replace(/^await /, '')})()`, names)) ?? ''
  }
  const site = await makeSite(
    t,
    {
      'stylesheets/app.css': 'p {}',
      'javascripts/app.js': 'go()',
      'javascripts/vendor/menu.js': 'menu()',
      'images/logo.png': 'png',
      'images/icons/cart.svg': '<svg/>',
      '/apps/polls/assets/stylesheets/app.css': 'p {}'
    },
    { routes: (ctx, next) => cache(ctx, async () => void (await run(ctx, next))) }
  )
  for (const [n, { section, stanza }] of stanzas.entries()) {
    const { status, text, headers } = await site.ask(`/?n=${n}`)
    t.is(status, 200, `${section}: ${stanza}`)
    const [, expected = ''] = /^\/\/ -> (.*)$/m.exec(stanza) ?? []
    const [, field, value] = /^([A-Z][\w-]+): (.*)$/.exec(expected) ?? []
    if (field === undefined) t.is(text, expected, section)
    else t.is(headers[field.toLowerCase()], value, section)
  }
  t.true(stanzas.length >= 20)
  t.is(mounted.length, 4)
  for (const { mounts = {} } of mounted) await makeSite(t, {}, { mounts, env: 'production' })
})

test('every command that the tables give exists, with its options', async t => {
  const ours = comingFromPage.text.split('\n').flatMap(line => line.split(' | ').slice(1))
  const commands = new Set(COMMANDS.map(({ name }) => name))
  const named = ours.flatMap(cell =>
    Array.from(cell.matchAll(/npx koa-fresh-assets (\w+)/g), ([, name = '']) => name)
  )
  t.true(named.length > 5)
  t.deepEqual(
    named.filter(name => !commands.has(name)),
    []
  )
  const site = makeExample(t, { 'assets/app.css': 'p {}' })
  await site.run('npx koa-fresh-assets precompile')
  await site.run('npx koa-fresh-assets clean --age 1h --keep 2')
})

test('every block of these pages is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
