// The pages whose code blocks are programs and commands: they are followed in processes of their own, from
// docs/getting-started.md on. `npm test` goes the way of a new application; the rest is in the soak lane.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from 'koa'
import type { KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { AssetError, type AssetErrorCode } from '../../lib/runtime/errors.ts'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { freePort } from '../../demo/deploy/stack.ts'
import { blocksLeft, evaluate, makeExample, readPage, urlsIn } from '../support/examples.ts'
import { ask, makeSite, placed, soakTest, test, until, withDigest } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'

const gettingStartedPage = readPage('docs/getting-started.md')
const one = gettingStartedPage.take('One app')
const production = gettingStartedPage.take('To production')
const several = gettingStartedPage.take('Several apps')
const typescript = gettingStartedPage.take('TypeScript')
const compiled = gettingStartedPage.take('Compiled by tsc')
const commonjs = gettingStartedPage.take('CommonJS')

test('docs/getting-started.md leads from an empty folder to a site in production', async t => {
  const site = makeExample(t, { 'package.json': '{}' })
  await site.follow(one)
  const { text } = await site.ask('/')
  t.true(text.includes('<link href="/assets/books.css" type="text/css" rel="stylesheet">'))
  t.regex((await site.ask('/assets/books.css')).text, /\.book h1 \{/)
  for (const url of urlsIn(text)) t.is((await site.ask(url)).status, 200, url)
  await site.run('echo "body {" > apps/web/assets/stylesheets/books.css.scss')
  t.regex((await site.ask('/assets/books.css')).text, /books\.css\.scss:1:7/)
  await site.follow(one.filter(({ file }) => file?.endsWith('.scss')))

  await site.follow(several)
  await site.follow(production)
  const tag = withDigest(/"(\/assets\/books-DIGEST\.css)".* integrity="sha384-/)
  const [, url = ''] = tag.exec((await site.ask('/')).text) ?? []
  const { status, headers } = await site.ask(url)
  t.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
  t.regex((await site.ask('/assets/admin/admin.css')).text, /^body/m)
})

const STYLESHEET = { 'apps/web/assets/stylesheets/books.css': 'p {}' }
const MISTYPED = '\nkoaAssets({ serv: true })'

soakTest('the TypeScript example works as written, with types for the options and ctx', async t => {
  const menu = { 'apps/web/assets/javascripts/menu.js.ts': 'export const open: boolean = true' }
  const site = makeExample(t, { ...STYLESHEET, ...menu })
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
  site.write({ 'server.ts': site.read('server.ts') + MISTYPED })
  await t.throwsAsync(site.run('npx tsc'), { message: /'serv' does not exist/ })
})

soakTest('a server and a configuration that tsc compiled work in production', async t => {
  const config = { 'assets.config.ts': 'export default { root: process.cwd() }' }
  const site = makeExample(t, { ...STYLESHEET, ...config })
  await site.follow(typescript.filter(({ file }) => file === 'server.ts'))
  const server = site.read('server.ts').replace('import.meta.dirname', 'process.cwd()')
  site.write({ 'server.ts': server })
  await site.follow([...production.filter(({ file }) => file !== undefined), ...compiled])
  t.regex((await site.ask('/')).text, withDigest(/href="\/assets\/books-DIGEST\.css"/))
})

soakTest('a CommonJS project can require the package and its configuration', async t => {
  const site = makeExample(t, { 'package.json': '{}' })
  await site.run('npx koa-fresh-assets init')
  site.write(STYLESHEET)
  await site.follow(commonjs.slice(0, 2))
  t.true((await site.ask('/')).text.includes('/assets/books.css'))
  const configured = 'console.log(require("./assets.config.js").root)'
  t.is((await site.run(`node -e '${configured}'`)).trim(), site.root)
  await site.follow(commonjs.slice(2))
  t.regex(await site.run('npx koa-fresh-assets list'), /books\.css/)
})

const productionPage = readPage('docs/production.md')
const build = productionPage.take('Precompile')
const serving = productionPage.take('Start')
const release = productionPage.take('The next release')

const makeShop = (t: ExecutionContext) =>
  makeExample(t, {
    'assets.config.js': 'export default { root: import.meta.dirname }',
    'assets/stylesheets/app.css.scss':
      'p { color: green }\n' +
      Array.from({ length: 100 }, (_, at) => `.a${at} { top: 0 }`).join(''),
    'server.js': `import Koa from 'koa'
      import { koaAssets } from 'koa-fresh-assets'
      import options from './assets.config.js'
      const app = new Koa().use(koaAssets(options))
      app.use(ctx => { if (ctx.path === '/') ctx.body = ctx.assets.path('app.css') })
      app.listen(3000)`
  })

soakTest('the production guide leads to a site with compressed, immutable files', async t => {
  const site = makeShop(t)
  const started = site.follow(serving)
  await t.throwsAsync(started, { message: /there is no manifest .*koa-fresh-assets precompile/s })
  await site.follow(build)
  rmSync(join(site.root, 'assets'), { recursive: true })
  await site.follow(serving)
  const { text: path } = await site.ask('/')
  const { status, headers } = await site.ask(path, { headers: { 'accept-encoding': 'br' } })
  t.deepEqual([status, headers['content-encoding']], [200, 'br'])
  t.is(headers['cache-control'], 'public, max-age=31536000, immutable')
  t.is((await site.ask('/assets.json')).status, 404)
  const off = serving.map(block => ({ ...block, text: block.text.replace(/^SERVE_.*/m, '') }))
  await site.follow(off)
  t.is((await site.ask('/')).text, path)
  t.is((await site.ask(path)).status, 404)
  site.write({ [`public${path}`]: 'p {}' })
  await t.throwsAsync(site.run('npx koa-fresh-assets verify'), { message: /verify: 1\n/ })
})

soakTest('a running server serves the next release and the files of the last one', async t => {
  const site = makeShop(t)
  await site.follow(build)
  await site.follow(serving)
  const { text: before } = await site.ask('/')
  site.write({ 'assets/stylesheets/app.css.scss': 'p { color: red }' })
  await site.follow(release)
  const isNew = async () => (await site.ask('/')).text !== before
  await until(isNew, 'the new manifest is taken over')
  const { text: after } = await site.ask('/')
  for (const path of [before, after]) t.is((await site.ask(path)).status, 200)
})

const deployPage = readPage('docs/deploy.md')
const server = deployPage.take('What these files expect')

const WAYS_TO_STOP: ReadonlyArray<(child: ChildProcess) => boolean> = [
  child => child.kill('SIGTERM'),
  child => child.kill('SIGINT'),
  // What pm2 does with shutdown_with_message.
  child => child.send('shutdown')
]

test('the server of the deploy guide exits with status 0 on SIGTERM, on SIGINT and from pm2', async t => {
  const site = makeExample(t, { 'assets.config.js': 'export default { apps: false }' })
  await site.follow(server)
  const ends = WAYS_TO_STOP.map(async stop => {
    const port = await freePort()
    const where = { PORT: String(port), HOST: '127.0.0.1', NODE_ENV: 'production' }
    const env = { ...process.env, ...where }
    const given = { cwd: site.root, env, execArgv: [], silent: true }
    const child = fork(join(site.root, 'server.js'), given)
    t.teardown(() => child.kill('SIGKILL'))
    const isUp = async () => (await ask(port, '/health')).status === 200
    await until(async () => isUp().catch(() => false), 'the server responds')
    const ended = once(child, 'exit')
    stop(child)
    return ended
  })
  for (const end of ends) t.deepEqual(await end, [0, null])
})

// In spec/system: rolling.spec.ts, base.spec.ts and bucket.spec.ts, behind nginx and Varnish, and with a bucket.
for (const section of ['Rolling back', 'Below a path', 'A bucket behind a CDN'])
  deployPage.take(section)

const comingFromPage = readPage('docs/coming-from.md')

const headings = [...comingFromPage.text.matchAll(/^## (.*)$/gm)]
const stanzas = headings
  .flatMap(([, section = '']) => comingFromPage.take(section))
  .flatMap(({ section, text }) =>
    text
      .trimEnd()
      .split('\n\n')
      .map(stanza => ({ section, stanza }))
  )

test('each equivalent in docs/coming-from.md gives the result that the page states', async t => {
  const book = { id: 7, revision: 1, updatedAt: new Date('2024-05-01T10:00:00Z') }
  const mounted: KoaAssetsOptions[] = []
  const koaAssets = (options: KoaAssetsOptions) => void mounted.push(options)
  const cache = koaHttpCache({ trace: false })
  const route = async (ctx: Context) => {
    const code = stanzas[Number(ctx.query['n'])]?.stanza.replaceAll(/^\/\/.*$/gm, '').trim()
    const names = { ctx, assets: ctx.assets, book, koaAssets }
    ctx.body =
      (await evaluate(`return (async () => ${code?.replace(/^await /, '')})()`, names)) ?? ''
  }
  const files = {
    'stylesheets/app.css': 'p {}',
    'javascripts/app.js': 'go()',
    'images/logo.png': 'png',
    'images/icons/cart.svg': '<svg/>',
    '/apps/polls/assets/stylesheets/app.css': 'p {}'
  }
  const site = await makeSite(t, files, { routes: ctx => cache(ctx, () => route(ctx)) })
  for (const [n, { section, stanza }] of stanzas.entries()) {
    const { status, text, headers } = await site.ask(`/?n=${n}`)
    t.is(status, 200, `${section}: ${stanza}`)
    const [, expected = ''] = /^\/\/ -> (.*)$/m.exec(stanza) ?? []
    const [, field, value] = /^([A-Z][\w-]+): (.*)$/.exec(expected) ?? []
    if (field === undefined) t.is(text, expected, section)
    else t.is(headers[field.toLowerCase()], value, section)
  }
  t.true(stanzas.length >= 10)
  t.is(mounted.length, 2)
  for (const { mounts = {} } of mounted) await makeSite(t, {}, { mounts, env: 'production' })
})

const assetPackagesPage = readPage('docs/asset-packages.md')
const [manifest, entry] = assetPackagesPage.take('The package')
const application = assetPackagesPage.take('In the application')
const inPackage = 'node_modules/koa-confetti'

soakTest('a package brings its assets, in development and in production', async t => {
  const site = makeExample(t)
  const assets = `${inPackage}/assets`
  site.write({
    [`${inPackage}/package.json`]: manifest?.text ?? '',
    [`${inPackage}/index.js`]: entry?.text ?? '',
    [`${assets}/stylesheets/confetti/_colours.scss`]: '$spark: #fc0;',
    [`${assets}/stylesheets/confetti/confetti.css.scss`]:
      "@use 'colours'; i { color: colours.$spark; background: url('spark.svg') }",
    [`${assets}/javascripts/confetti/confetti.js`]: "console.log('confetti')",
    [`${assets}/images/confetti/spark.svg`]: '<svg xmlns="http://www.w3.org/2000/svg"/>'
  })
  await site.follow(application)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const none = /^\| `(assets\/[^`]+)` +\| none/gm
  const rows = Array.from(assetPackagesPage.text.matchAll(/^\| `(assets\/[^`]+)` +\| `([^`]+)`/gm))
  t.is(rows.length, 3)
  for (const [, source = '', name = ''] of rows) {
    t.true(site.exists(`${inPackage}/${source}`), source)
    t.is((await site.ask(`/assets/${name}`)).status, 200, name)
  }
  for (const [, source = ''] of assetPackagesPage.text.matchAll(none)) {
    t.true(site.exists(`${inPackage}/${source}`), source)
    t.regex((await site.ask('/assets/confetti/_colours.css')).text, /^<!doctype html>/)
  }
  t.regex((await site.ask('/assets/app.css')).text, /color: #fc0/)
  site.write({ 'apps/web/assets/images/confetti/spark.svg': '<svg id="own"/>' })
  t.is((await site.ask('/assets/confetti/spark.svg')).text, '<svg id="own"/>')

  const server = site.read('server.js').replace('confetti(ctx)', "confetti(ctx, { nonce: 'n1' })")
  site.write({ 'apps/admin/assets/stylesheets/admin.css': 'p {}', 'server.js': server })
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const { text } = await site.ask('/')
  const urls = urlsIn(text)
  t.deepEqual([urls.length, text.match(/ nonce="n1"/g)?.length], [2, 2])
  for (const url of urls) {
    t.regex(url, withDigest(/^\/assets\/confetti\/confetti-DIGEST\./))
    t.is((await site.ask(url)).status, 200, url)
  }
  t.is((await site.ask('/assets/admin/confetti/confetti.css')).status, 200)
})

const SERVER = `import Koa from 'koa'
  import { koaAssets } from 'koa-fresh-assets'
  import options from './assets.config.js'
  const app = new Koa()
  app.silent = true
  app.use(koaAssets({ ...options, serve: true })).listen(3000)`

const modulesPage = readPage('docs/modules.md')
const example = modulesPage.take('')
const members = modulesPage.take('Members of a workspace')
// In spec/system/npm-assets.spec.ts, where the packages are.
for (const section of ['Packages', 'Stylesheets of packages', 'Directories of a package'])
  modulesPage.take(section)

soakTest('in production the example page preloads what its script imports', async t => {
  const sources = {
    'javascripts/lib/dial.js': 'export const turn = async () => 1',
    'javascripts/vendor/confetti.js': 'export default () => 2',
    'javascripts/other.js': 'export {}',
    'images/dial.svg': '<svg/>'
  }
  const site = makeExample(t, placed(sources))
  await site.follow(example)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const development = (await site.ask('/')).text
  t.true(development.includes('{"imports":{"confetti":"/assets/vendor/confetti.js"}}'))
  const source = site.read('apps/web/assets/javascripts/app.js')
  const published = source.replace("from 'confetti'", 'from "/assets/vendor/confetti.js"')
  t.is((await site.ask('/assets/app.js')).text, published)

  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const { text } = await site.ask('/')
  const link = withDigest(/href="([^"]+)-DIGEST\.js" rel="modulepreload" integrity="[^"]+"/g)
  const preloaded = Array.from(text.matchAll(link), ([, path]) => path)
  t.deepEqual(preloaded, ['/assets/vendor/confetti'])
  t.false(text.includes('other'))
  const [, script = ''] = /src="([^"]+)"/.exec(text) ?? []
  const rewritten = (await site.ask(script)).text
  const urls = Array.from(rewritten.matchAll(/"([^"]+)"/g), ([, url = '']) => url)
  // The other module is part of it.
  t.is(urls.length, 2, rewritten)
  for (const url of urls) t.is((await site.ask(url)).status, 200, url)
})

soakTest('an app can import the modules of a workspace member by its package name', async t => {
  const site = makeExample(t, {
    '../ui/src/index.ts': "export { label } from './label'",
    '../ui/src/label.ts': "export const label: string = 'Buy'",
    'apps/web/assets/javascripts/app.js': "import { label } from '@acme/ui'; alert(label)",
    'server.js': SERVER
  })
  await site.follow(members)
  await site.run('node server.js')
  t.regex((await site.ask('/assets/app.js')).text, /from "\/assets\/ui\/index\.js"/)
  t.is((await site.ask('/assets/ui/label.js')).status, 200)
  await site.run('npx koa-fresh-assets precompile')
})

const compilers = readPage('docs/writing-a-compiler.md')
const sprite = compilers.take('')
// In spec/system/recipes.spec.ts, where the packages are.
compilers.take('Vue')
compilers.take('Svelte')

soakTest('the sprite compiler of the guide follows icons that are added or removed', async t => {
  const images = 'apps/web/assets/images'
  const site = makeExample(t, {
    'server.js': SERVER,
    [`${images}/icons.sprite`]: 'house\nuser\n',
    [`${images}/house.svg`]: '<svg id="1"/>'
  })
  await site.follow(sprite)
  await site.run('node server.js')
  const missing = await site.ask('/assets/icons.svg')
  t.is(missing.status, 500)
  t.true(missing.text.includes(`${images}/icons.sprite:2:1\n\nthere is no icon user.svg`))
  site.write({ 'node_modules/user.svg': '<svg><path d="far"/></svg>' })
  t.true((await site.ask('/assets/icons.svg')).text.includes('<symbol id="user"><path d="far"/>'))
  site.write({ [`${images}/user.svg`]: '<svg><path d="near"/></svg>' })
  const { text, headers } = await site.ask('/assets/icons.svg')
  t.true(text.includes('<symbol id="user"><path d="near"/>'))
  t.is(headers['content-type'], 'image/svg+xml')
  await site.run('npx koa-fresh-assets precompile')
  rmSync(join(site.root, images, 'house.svg'))
  const failure = { message: /icons\.sprite:1:1: there is no icon house/ }
  await t.throwsAsync(site.run('npx koa-fresh-assets precompile'), failure)
})

const errorsPage = readPage('docs/errors.md')
const reporting = errorsPage.take('')

test('each error code has its section in docs/errors.md, to which `help` leads', t => {
  const source = readFileSync('lib/runtime/errors.ts', 'utf8')
  const [, table = ''] = /const LOGGED = \{([^]*?)\n\}/.exec(source) ?? []
  const codes = Array.from(table.matchAll(/'([\w-]+)':/g), ([, code = '']) => code)
  const named = Array.from(errorsPage.text.matchAll(/^### `([\w-]+)`$/gm), ([, code = '']) => code)
  t.true(codes.length > 10)
  t.deepEqual(named.toSorted(), codes.toSorted())
  for (const code of codes) {
    const { help, stack } = new AssetError(code as AssetErrorCode, 'this failed\nhere')
    t.is(help, `node_modules/koa-fresh-assets/docs/errors.md#${code}`)
    t.true(stack?.includes(`\n  See ${help}`), code)
  }
})

soakTest('the example of error reporting names the source line or request path', async t => {
  const site = makeExample(t, {
    'assets/app.css.scss': 'p {\n  color red;\n}',
    'server.js': `import Koa from 'koa'
    import { koaAssets } from 'koa-fresh-assets'
    import { reportErrors } from './report-errors.js'
    const app = new Koa()
    app.silent = true
    reportErrors(app)
    console.error = (...words) => { app.context.reported = words.join(' ') }
    app.use((ctx, next) => ctx.path === '/reported' ? void (ctx.body = ctx.reported) : next())
    app.use(koaAssets({ root: import.meta.dirname, serve: true }))
    app.use(ctx => { if (ctx.path === '/throws') throw new RangeError('too far') })
    app.listen(3000)`
  })
  await site.follow(reporting)
  await site.run('node server.js')
  t.is((await site.ask('/assets/app.css')).status, 500)
  t.regex((await site.ask('/reported')).text, /app\.css\.scss:2:\d+ expected/)
  await site.ask('/throws')
  t.is((await site.ask('/reported')).text, 'RangeError too far /throws')
})

test('every block of the pages for a new application is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
