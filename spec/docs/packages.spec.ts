// docs/npm-assets.md
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { blocksLeft, makeExample, readPage } from '../support/examples.ts'
import { withDigest } from '../support/digest.ts'
import { soakTest } from '../support/soak.ts'

const npmAssetsPage = readPage('docs/npm-assets.md')
const preprocessed = npmAssetsPage.take('Sass and Less from a package')
const modules = npmAssetsPage.take('Modules of a package')
const files = npmAssetsPage.take('Directories of a package')

soakTest(
  'Bootstrap is compiled, and fonts, icons and scripts of packages are served by name',
  async t => {
    const site = makeExample(t)
    await site.follow(preprocessed)
    await site.follow(files)
    await site.run('SERVE_STATIC_ASSETS=true node server.js')
    t.regex((await site.ask('/')).text, /"leaflet": ?"\/assets\/leaflet-src\.esm\.js"/)
    t.is((await site.ask('/assets/leaflet-src.esm.js')).status, 200)
    const bootstrap = (await site.ask('/assets/app.css')).text
    t.regex(bootstrap, /--bs-primary: #1f7a5c/)
    const { text, headers } = await site.ask('/')
    t.is(headers.link, '</assets/inter-latin-400-normal.woff2>; rel=preload; as=font; crossorigin')
    for (const [, url = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      t.is((await site.ask(url)).status, 200, url)
    }
    for (const [sheet, image] of [
      ['leaflet.css', /url\((.*layers\.png)\)/],
      ['solid.css', /url\("([^)"]*fa-solid-900\.woff2)"\)/]
    ] as const) {
      const [, url = ''] = image.exec((await site.ask(`/assets/${sheet}`)).text) ?? []
      const { pathname } = new URL(url, `http://x/assets/${sheet}`)
      t.regex(
        (await site.ask(pathname)).headers['content-type'] ?? '',
        /^(?:image|font)\//,
        pathname
      )
    }
    t.is((await site.ask('/assets/inter-latin-400-normal.woff2')).status, 200)
    t.regex(
      text,
      /<script src="\/assets\/bootstrap\.bundle\.min\.js" type="text\/javascript" defer/
    )
    t.regex((await site.ask('/assets/bootstrap.esm.js')).text, /^import .* from '@popperjs\/core'/m)
    const layers = await Promise.all(
      ['layers.png', 'images/layers.png'].map(path => site.ask(`/assets/${path}`))
    )
    t.deepEqual(
      layers.map(({ status }) => status),
      [200, 200]
    )
  }
)

test('PKG-01 modules and files of packages are published without a bundler, in every environment', async t => {
  const site = makeExample(t)
  await site.follow(modules)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const urlsIn = (text: string) =>
    Array.from(text.matchAll(/(?:href|src)="([^"]+)"/g), ([, url = '']) => url)
  const development = (await site.ask('/')).text
  t.true(development.includes('"@popperjs/core":"/assets/npm/@popperjs/core/lib/index.js"'))
  t.true(urlsIn(development).includes('/assets/npm/preact/hooks/dist/hooks.mjs'))
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const production = (await site.ask('/')).text
  t.is(urlsIn(production).length, urlsIn(development).length)
  for (const url of urlsIn(production)) t.is((await site.ask(url)).status, 200, url)
})

// docs/asset-packages.md

const assetPackagesPage = readPage('docs/asset-packages.md')
const [manifest, entry] = assetPackagesPage.take('The package')
const application = assetPackagesPage.take('In the application')
const inPackage = 'node_modules/koa-confetti'

test('a package brings its assets, in development and in production', async t => {
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
  const [names, none] = [
    /^\| `(assets\/[^`]+)` +\| `([^`]+)`/gm,
    /^\| `(assets\/[^`]+)` +\| none/gm
  ]
  const rows = Array.from(assetPackagesPage.text.matchAll(names))
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

  site.write({ 'apps/admin/assets/stylesheets/admin.css': 'p {}' })
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const { text } = await site.ask('/')
  const urls = Array.from(text.matchAll(/(?:href|src)="([^"]+)"/g), ([, url = '']) => url)
  t.is(urls.length, 2)
  for (const url of urls) {
    t.regex(url, withDigest(/^\/assets\/confetti\/confetti-DIGEST\./))
    t.is((await site.ask(url)).status, 200, url)
  }
  t.is((await site.ask('/assets/admin/confetti/confetti.css')).status, 200)
})

// docs/modules.md

const modulesPage = readPage('docs/modules.md')
const example = modulesPage.take('')

const SOURCES = {
  'apps/web/assets/javascripts/lib/dial.js': 'export const turn = async () => 1',
  'apps/web/assets/javascripts/vendor/confetti.js': 'export default () => 2',
  'apps/web/assets/javascripts/other.js': 'export {}',
  'apps/web/assets/images/dial.svg': '<svg/>'
}

test('JSM-05 the page names the same modules in development and in production', async t => {
  const site = makeExample(t, SOURCES)
  await site.follow(example)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const development = (await site.ask('/')).text
  t.true(development.includes('{"imports":{"confetti":"/assets/vendor/confetti.js"}}'))
  t.is((await site.ask('/assets/app.js')).text, site.read('apps/web/assets/javascripts/app.js'))

  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const { text } = await site.ask('/')
  const preloaded = Array.from(
    text.matchAll(withDigest(/href="([^"]+)-DIGEST\.js" rel="modulepreload" integrity="[^"]+"/g)),
    ([, path]) => path
  )
  t.deepEqual(preloaded, ['/assets/vendor/confetti', '/assets/lib/dial'])
  t.false(text.includes('other'))
  const [, script = ''] = /src="([^"]+)"/.exec(text) ?? []
  const rewritten = (await site.ask(script)).text
  const urls = Array.from(rewritten.matchAll(/"([^"]+)"/g), ([, url = '']) => url)
  t.is(urls.length, 3, rewritten)
  for (const url of urls) t.is((await site.ask(url)).status, 200, url)
})

// docs/writing-a-compiler.md

const writingACompilerPage = readPage('docs/writing-a-compiler.md')
const sprite = writingACompilerPage.take('')
const postcss = writingACompilerPage.take('PostCSS')
const tests = writingACompilerPage.take('Tests')

const SERVER = `import Koa from 'koa'
  import { koaAssets } from 'koa-fresh-assets'
  import options from './assets.config.js'
  const app = new Koa()
  app.silent = true
  app.use(koaAssets({ ...options, serve: true }))
  app.listen(3000)`

test('the sprite is compiled, follows its icons, and names the line of a mistake', async t => {
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

soakTest('PostCSS runs its plugins, and reports the place of a mistake', async t => {
  const site = makeExample(t, {
    'server.js': SERVER,
    'assets.config.js': `import { pcss } from './compilers/pcss.js'
      const green = { postcssPlugin: 'green', Declaration: each => { each.value = 'green' } }
      export default { root: import.meta.dirname, compilers: [pcss(green)] }`,
    'assets/app.pcss': 'p { color: red }'
  })
  await site.follow(postcss)
  await site.run('node server.js')
  t.regex((await site.ask('/assets/app.css')).text, /^p \{ color: green \}\n.*sourceMappingURL=/)
  site.write({ 'assets/app.pcss': 'p {}\np { color' })
  t.regex((await site.ask('/assets/app.css')).text, /assets\/app\.pcss:2:\d/)
})

soakTest('the tests of the page pass', async t => {
  const site = makeExample(t)
  await site.follow(sprite)
  await t.notThrowsAsync(site.follow(tests))
})

// docs/errors.md

const errorsPage = readPage('docs/errors.md')
const program = errorsPage.take('')

test('the table has every code of lib/errors.ts, and no other', t => {
  const [, union = ''] =
    /type AssetErrorCode =([^]*?)\n\n/.exec(readFileSync('lib/errors.ts', 'utf8')) ?? []
  const codes = Array.from(union.matchAll(/'([\w-]+)'/g), ([, code]) => code)
  const named = Array.from(errorsPage.text.matchAll(/^\| `([\w-]+)`/gm), ([, code]) => code)
  t.true(codes.length > 10)
  t.is(named.length, codes.length)
  t.deepEqual(
    codes.filter(code => !named.includes(code)),
    []
  )
})

test('an error that is reported has its place, or its code', async t => {
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
  await site.follow(program)
  await site.run('node server.js')
  t.is((await site.ask('/assets/app.css')).status, 500)
  t.regex((await site.ask('/reported')).text, /app\.css\.scss:2:\d+ expected/)
  await site.ask('/throws')
  t.is((await site.ask('/reported')).text, 'RangeError too far /throws')
})

test('every block of these pages is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
