// The option `packages`: files of npm packages, published as they are.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import test from 'ava'
import type { ViewHelpers } from '../../../lib/assets/views/view-helpers.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { PACKAGES } from '../../../lib/extras/packages/options.ts'
import { precompile } from '../../../lib/koa-assets.ts'
import { withDigest } from '../../support/digest.ts'
import { makeFingerprinted, placed, readManifest, run } from '../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'
import { soakTest } from '../../support/soak.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'
import { APP, makePage, mapIn, modulePkg, NAMES, pkg, TIP } from './package-files.ts'
import { ONE_BY_ONE } from '../../support/as-written.ts'

test('PKG-01 in development the modules of a package are found by the import map, each under its own path', async t => {
  const view = (assets: ViewHelpers) =>
    assets.importMap() + assets.javascript('app', { type: 'module', modulepreload: true })
  const page = await makePage(t, { ...TIP, ...APP }, { packages: ['tip'] }, view)
  const html = (await page.ask('/')).text
  t.deepEqual(mapIn(html), {
    imports: {
      '@pop/core': '/assets/npm/@pop/core/lib/index.js',
      tip: '/assets/npm/tip/dist/esm/index.js',
      'tip/more': '/assets/npm/tip/more.js'
    }
  })
  const preloads = html.matchAll(/href="\/assets\/(\S+)" rel="modulepreload"/g)
  t.deepEqual(Array.from(preloads, ([, name = '']) => name).toSorted(), NAMES)
  for (const name of NAMES) {
    const { status, text } = await page.ask(`/assets/${name}`)
    t.is(status, 200, name)
    t.is(text, page.read(`/node_modules/${name.slice('npm/'.length)}`) ?? '')
  }
  page.write('javascripts/app.js', "import 'tip/more'\nimport './own.js'")
  page.write('javascripts/own.js', 'export {}')
  t.regex((await page.ask('/')).text, /href="\/assets\/own\.js" rel="modulepreload"/)
  const inside = ['unused.js', 'dist/cjs/index.js', 'package.json'].map(file => `npm/tip/${file}`)
  for (const name of [...inside, 'tip/more.js', 'more.js'])
    t.is((await page.ask(`/assets/${name}`)).status, 404, name)
})

for (const way of ['live', 'precompiled'] as const) {
  test(`PKG-01 with fingerprints the modules of a package refer to each other by them where they are not joined (${way})`, async t => {
    const options = { packages: 'tip', ...ONE_BY_ONE }
    const site = await makeFingerprinted(t, way, { ...TIP, ...APP }, options)
    const html = await site.render(
      assets =>
        assets.importMap({ entry: 'app' }) +
        assets.javascript('app', { type: 'module', modulepreload: true })
    )
    const preloads = html.matchAll(
      withDigest(/href="\/assets\/(\S+)-DIGEST\.js" rel="modulepreload" integrity="sha384-/g)
    )
    t.deepEqual(Array.from(preloads, ([, name]) => `${name}.js`).toSorted(), NAMES)
    const index = await site.path('npm/tip/dist/esm/index.js')
    t.false(html.includes('importmap'))
    const { imports } = mapIn(await site.render(assets => assets.importMap()))
    t.is(imports['tip'], index)
    t.is(imports['tip/more'], await site.path('npm/tip/more.js'))
    const app = (await site.ask(await site.path('app.js'))).text
    t.true(app.includes(`import { base } from "${index}"`))
    const { text, headers } = await site.ask(index)
    t.true(text.includes(`from "${await site.path('npm/@pop/core/lib/index.js')}"`))
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable')
  })
}

test('PKG-01 packages are appended level by level, and the option imports takes precedence', async t => {
  const other = pkg('other', { type: 'module', main: './main' }, { 'main.js': "import 'tip'" })
  const page = await makePage(
    t,
    { ...TIP, ...other, 'javascripts/own.js': '' },
    {
      imports: { '@pop/core': 'own.js' },
      packages: ['tip'],
      configure: { development: { packages: ['other'] }, production: { packages: ['none'] } }
    }
  )
  t.deepEqual(await page.imports(), {
    '@pop/core': '/assets/own.js',
    other: '/assets/npm/other/main.js',
    tip: '/assets/npm/tip/dist/esm/index.js'
  })
})

test('PKG-01 development and production get the builds that a package has for each', async t => {
  const exported = {
    '.': { browser: { development: './dev.js', production: './min.js' }, default: './cjs.js' }
  }
  const files = pkg('two', { exports: exported }, { 'dev.js': 'export {}', 'min.js': 'export {}' })
  const page = await makePage(t, files, { packages: ['two'] })
  t.deepEqual(await page.imports(), { two: '/assets/npm/two/dev.js' })
  await run({ root: page.root, packages: ['two'], env: 'production' })
  const published = Object.keys(readManifest(page.root).assets)
  t.deepEqual(published, ['/assets/npm/two/min.js'])
})

test('PKG-01 a package that is installed in two versions is published in both; what only one package sees has a scope', async t => {
  const [one, two] = [{ 'c.js': "export default 'one'" }, { 'c.js': "export default 'two'" }]
  const second = { module: 'c.js', version: '2.0.0' }
  const a = { name: 'a', module: 'a.js', imports: { '#x': { browser: './x.js' } } }
  const files = {
    ...pkg('a', a, { 'a.js': "import 'c'\nimport '#x'", 'x.js': 'export {}' }),
    ...pkg('b', { module: 'b.js' }, { 'b.js': "import 'c'\nimport 'd'" }),
    ...pkg('d', { module: 'd.js' }, { 'd.js': "import 'c'" }),
    ...pkg('c', { module: 'c.js' }, one),
    ...pkg('b/node_modules/c', second, two),
    ...pkg('d/node_modules/c', second, two)
  }
  const page = await makePage(t, files, { packages: ['a', 'b'] })
  const { imports: everywhere, scopes } = mapIn((await page.ask('/')).text)
  t.is(everywhere['c'], '/assets/npm/c/c.js')
  t.deepEqual(scopes, {
    '/assets/npm/a/': { '#x': '/assets/npm/a/x.js' },
    '/assets/npm/b/': { c: '/assets/npm/c@2.0.0/c.js' },
    '/assets/npm/d/': { c: '/assets/npm/c@2.0.0/c.js' }
  })
  t.is((await page.ask('/assets/npm/c@2.0.0/c.js')).text, "export default 'two'")
  await run({ root: page.root, packages: ['a', 'b'], ...ONE_BY_ONE })
  const { assets } = readManifest(page.root)
  const importsOf = (path: string) => assets[`/assets/npm/${path}`]?.imports
  t.deepEqual(importsOf('d/d.js'), ['/assets/npm/c@2.0.0/c.js'])
  t.deepEqual(importsOf('a/a.js'), ['/assets/npm/c/c.js', '/assets/npm/a/x.js'])
})

test('PKG-01 packages are found behind links and above the root, as in a workspace', async t => {
  const top = makeProject(t)
  const store = 'node_modules/.pnpm/tip@1.0.0/node_modules/'
  const moved = Object.entries(placed(TIP)).map(([path, text]) => [
    path.replace('node_modules/', store),
    text
  ])
  writeFiles(top, Object.fromEntries(moved))
  symlinkSync(join(top, store, 'tip'), join(top, 'node_modules/tip'))
  const root = join(top, 'sites/shop')
  mkdirSync(root, { recursive: true })
  const page = await makePage(t, APP, { root, packages: ['tip'] })
  t.is((await page.imports())['@pop/core'], '/assets/npm/@pop/core/lib/index.js')
  for (const name of NAMES) t.is((await page.ask(`/assets/${name}`)).status, 200, name)
})

test('PKG-01 a package that is updated while a site runs, or newly imported, is noticed by the next page', async t => {
  const page = await makePage(t, { ...TIP, 'javascripts/app.js': '' }, { packages: ['tip'] })
  t.is((await page.imports())['tip/more'], undefined)
  page.write('javascripts/app.js', "import 'tip/more'")
  t.is((await page.imports())['tip/more'], '/assets/npm/tip/more.js')
  page.write('/node_modules/tip/dist/esm/_base.js', "export * from './new.js'")
  page.write('/node_modules/tip/dist/esm/new.js', 'export const base = 2')
  t.is((await page.ask('/assets/npm/tip/dist/esm/_base.js')).text, "export * from './new.js'")
  t.is((await page.ask('/assets/npm/tip/dist/esm/new.js')).text, 'export const base = 2')
  const second = pkg('tip', { version: '2.0.0', exports: './v2.js' }, { 'v2.js': 'export {}' })
  for (const [path, text] of Object.entries(second)) page.write(path, text)
  page.write('javascripts/app.js', "import 'tip'")
  t.deepEqual(await page.imports(), { tip: '/assets/npm/tip/v2.js' })
  t.is((await page.ask('/assets/npm/tip/dist/esm/_base.js')).status, 404)
})

const WEIGHTS = ['400.woff2', '400.woff', '700.woff2']
const FONTS = pkg(
  '@fonts/inter',
  { exports: { '.': './index.css' } },
  {
    '400.css': '@font-face { src: url(./files/400.woff2) format("woff2"), url(./files/400.woff) }',
    'index.css': '',
    ...Object.fromEntries(WEIGHTS.map(name => [`files/${name}`, `files/${name}`]))
  }
)

test('PKG-02 files of a package bring along what they refer to, and nothing else', async t => {
  const packages = { '@fonts/inter': ['400.css'] }
  const files = { ...FONTS, 'stylesheets/app.css': '@import "@fonts/inter/400.css"' }
  const site = await makeFingerprinted(t, 'precompiled', files, { packages })
  t.deepEqual(Object.keys(readManifest(site.root).assets), [
    '/assets/app.css',
    '/assets/npm/@fonts/inter/400.css',
    '/assets/npm/@fonts/inter/files/400.woff',
    '/assets/npm/@fonts/inter/files/400.woff2'
  ])
  const sheet = await site.path('npm/@fonts/inter/400.css')
  t.true((await site.ask(sheet)).text.includes(await site.path('npm/@fonts/inter/files/400.woff2')))
  t.true((await site.ask(await site.path('app.css'))).text.includes(sheet))
  const page = await makePage(t, FONTS, { packages: [packages] }, assets =>
    assets.stylesheet('npm/@fonts/inter/400.css')
  )
  t.true((await page.ask('/')).text.includes('href="/assets/npm/@fonts/inter/400.css"'))
  t.is((await page.ask('/assets/npm/@fonts/inter/files/400.woff2')).text, 'files/400.woff2')
  t.is((await page.ask('/assets/npm/@fonts/inter/files/700.woff2')).status, 404)
})

const COMMON = "const a = require('a')\nexports.a = import('./index.js') // export default"
const BROKEN = {
  ...TIP,
  ...pkg('common', { main: 'index.js', version: '3.1.0' }, { 'index.js': COMMON }),
  ...modulePkg('uses-common', "import a from 'common'"),
  ...modulePkg('lacks', "import 'gone'"),
  ...modulePkg('for-node', "import 'node:fs'"),
  ...modulePkg('short', "export * from './part'", { 'part.js': '' }),
  ...pkg('types-only', { exports: { '.': { types: './a.d.ts' } } }),
  ...pkg('unreadable', {}, { 'package.json': '{' })
}

for (const [packages, message] of [
  ['common', 'common 3.1.0 is CommonJS (index.js), which no browser can import: bundle it (docs/'],
  ['uses-common', '. It is named by uses-common 1.0.0 (index.js)'],
  ['unheard-of', 'the package unheard-of, which is not installed: run npm install unheard-of'],
  ['tipp/more', "did you mean 'tip', which is? If not, run npm install tipp"],
  ['@pop/cor', "the package @pop/cor, which is not installed: did you mean '@pop/core', which is?"],
  ['lacks', 'lacks 1.0.0 (index.js) names the package gone, which is not installed: run npm'],
  ['tip/mor', "has no export './mor' for browsers, though the option packages names it"],
  ['tip/mor', ": did you mean './more'?"],
  ['types-only', 'has no module for browsers, though the option packages names it'],
  ['types-only', ": name files of it, packages: { 'types-only': […] }, or bundle it"],
  ['for-node', 'for-node 1.0.0 (index.js) imports node:fs, which browsers do not have: bundle it'],
  ['short', "short 1.0.0 (index.js) imports './part', which a browser cannot find: bundle it"],
  [{ tip: 'dist/x.js' }, 'tip 1.0.0 has no file dist/x.js, which the option packages names: look'],
  ['unreadable', 'package.json cannot be read: ']
] as const) {
  test(`PKG-03 for ${inspect(packages)} the error of a page says: ${message}`, async t => {
    const page = await makePage(t, BROKEN, { packages })
    t.is((await page.ask('/')).status, 500)
    t.like(page.errors[0], { code: 'package-unusable' })
    t.true(page.errors[0]?.message.includes(message), page.errors[0]?.message)
  })
}

test('PKG-03 an import of something that the package does not export is an error that names the script', async t => {
  const files = { ...TIP, 'javascripts/app.js': "import 'tip/mor'" }
  const page = await makePage(t, files, { packages: 'tip' })
  t.is((await page.ask('/')).status, 500)
  t.regex(
    page.errors[0]?.message ?? '',
    /^tip 1\.0\.0 has no export '\.\/mor' .*, though apps\/web\/assets\/javascripts\/app\.js names it/
  )
  page.write('javascripts/app.js', "import 'tip/more'")
  t.is((await page.ask('/')).status, 200)
})

test('PKG-03 what only some environments load may be missing, and a stylesheet is served while a package is broken', async t => {
  const code =
    "import('gone').catch(() => 0)\nimport('./none.js')\nimport './meta.js' // require('x')"
  const meta = { 'meta.js': "import.meta.url // require('x')" }
  const files = { ...modulePkg('optional', code, meta), ...BROKEN, 'stylesheets/app.css': 'a {}' }
  const page = await makePage(t, files, { packages: 'optional', missing: 'ignore' })
  t.is((await page.ask('/')).status, 200)
  const broken = await makePage(t, files, { packages: 'common' })
  t.is((await broken.ask('/assets/app.css')).text, 'a {}')
  t.is((await broken.ask('/assets/npm/common/index.js')).status, 500)
})

test('PKG-01 one of two apps may have packages', async t => {
  const apps = { web: { packages: ['tip'] }, admin: {} }
  const { ask } = await makeSite(t, { ...TIP, 'a.css': '', '/apps/admin/x': '' }, { apps })
  t.is((await ask('/assets/npm/tip/dist/esm/index.js')).status, 200)
})

test('PKG-03 an import of a package that the option does not name says how to publish it, and what else may be meant', async t => {
  const lit = pkg('lit', { module: 'lit.js' }, { 'lit.js': 'export const html = 1' })
  const project = (source: string) =>
    makeProject(t, placed({ ...TIP, ...lit, ...pkg('tap', {}), 'app.js': `import '${source}'` }))
  for (const [source, told] of [
    ['lit', "does not find it: set packages: ['lit'], or name"],
    ['lit/html.js', "does not find it: set packages: ['lit/html.js'], or name"],
    ['tpi', "did you mean 'tip'? If not, run npm install tpi and set packages: ['tpi'], or name"],
    ['tup', "did you mean 'tip'? If not, run npm install tup and"],
    ['lot', "did you mean 'lit'? If not, run npm install lot and"],
    ['@a/b/c', "does not find it: run npm install @a/b and set packages: ['@a/b/c'], or name"],
    ['src/dial.js', "does not find it: name an asset or a URL in imports: { 'src/dial.js': … }"],
    ['~/dial', "does not find it: name an asset or a URL in imports: { '~/dial': … }"],
    ['path', "'path', a module of Node, which browsers do not have: name"]
  ] as const) {
    const root = project(source)
    const error = await t.throwsAsync(run({ root, packages: ['tip'] }), {
      code: 'precompile-failed'
    })
    t.true(error.message.includes(told), error.message)
    const site = await makeSite(t, {}, { root, packages: ['tip'] })
    await site.ask('/assets/app.js')
    t.is(warningsAbout(`imports '${source}'`).filter(each => each.includes(told)).length, 1)
  }
})

test('PKG-03 an import that was added since the last page is looked up before anything is said', async t => {
  const site = await makeSite(t, { ...TIP, 'app.js': "import 'tip'" }, { packages: ['tip'] })
  await site.ask('/assets/app.js')
  site.write('app.js', "import 'tip'\nimport 'tip/more'")
  await site.ask('/assets/app.js')
  t.deepEqual(warningsAbout("imports 'tip"), [])
})

test('PKG-03 a value that names no packages is an error at start, with what the option must be', t => {
  const names = ['', './a', '../tip', '@pop', 'tip/../x', 42, ['a', 1], [['tip']]]
  for (const packages of [...names, { a: '../b' }, { 'a/b': 'c.js' }, { tip: [], x: 1 }]) {
    const { message } = t.throws(() => settle({ packages } as object), { instanceOf: TypeError })
    t.true(message.startsWith(`packages must be ${PACKAGES.packages.expected}, got `), message)
  }
})

test('REN-14 a mistyped entry of the import map is logged with packages as well', async t => {
  const view = (assets: ViewHelpers) => assets.importMap({ entry: 'shpo' })
  const page = await makePage(t, { ...TIP, 'javascripts/shop.js': '' }, { packages: 'tip' }, view)
  t.is((await page.ask('/')).status, 200)
  await until(() => warningsAbout('/shpo.js').length > 0, 'the entry is logged')
  t.regex(warningsAbout('/shpo.js')[0] ?? '', /no source in .*; did you mean 'shop\.js'\?$/)
})

soakTest('S80 8,000 modules of a package that each import the next are published', async t => {
  t.timeout(300_000)
  const next = (at: number) => (at < 7999 ? `import './m${at + 1}.js'` : '')
  const all = Array.from({ length: 8000 }, (_, at) => [`m${at}.js`, next(at)])
  const root = makeProject(t, placed(pkg('deep', { module: 'm0.js' }, Object.fromEntries(all))))
  const options = { root, packages: 'deep', ...ONE_BY_ONE }
  t.is((await precompile(options, { warn: t.fail })).assets, 8000)
})

const deep = (depth: number) => '{"import":'.repeat(depth) + '"./i.js"' + '}'.repeat(depth)
const many = Array.from({ length: 40_000 }, (_, at) => `"./${at}/${'k'.repeat(20)}":"./x"`)
const NO_MODULE = /^hostile 1\.0\.0 has no module for browsers/
const NOT_FOUND = /^hostile 1\.0\.0 \(i\.js\) imports /
const HOSTILE: [what: string, json: string, message: RegExp, code?: string][] = [
  ['imports that lead to themselves', '"module":"i.js","imports":{"#x":"#x"}', NOT_FOUND],
  ['imports in a circle', '"module":"i.js","imports":{"#x":"#y","#y":"#x"}', NOT_FOUND],
  ['exports 20,000 deep', `"exports":${deep(20_000)}`, /\.json of hostile .* cannot be followed/],
  ['a NUL in exports', '"exports":"./a\\u0000.js"', NO_MODULE],
  ['a NUL in main', '"main":"a\\u0000.js","module":"\\u0000"', NO_MODULE],
  ['a megabyte of keys', `"exports":{${many.join()}}`, NO_MODULE],
  ['a NUL in imports', '"module":"i.js","imports":{"#x":"./\\u0000.js"}', /^hostile 1\.0\.0 /],
  ['a module that imports a NUL', '"module":"i.js"', /^hostile 1\.0\.0 /, "import 'a\0b'"],
  ['a module that imports a path', '"module":"i.js"', /^hostile 1\.0\.0 /, "import '@a/../b'"]
]

for (const [what, json, message, code = "import '#x'"] of HOSTILE) {
  test(`S79 a package with ${what} is an error that names it`, async t => {
    const text = `{"name":"hostile","version":"1.0.0",${json}}`
    const files = pkg('hostile', {}, { 'package.json': text, 'i.js': code })
    const page = await makePage(t, files, { packages: 'hostile' })
    const before = process.cpuUsage()
    t.is((await page.ask('/')).status, 500)
    t.true(process.cpuUsage(before).user < 30_000_000, 'linear')
    t.like(page.errors[0], { code: 'package-unusable' })
    t.regex(page.errors[0]?.message ?? '', message)
  })
}

const LEAFLET = pkg(
  'leaflet',
  { main: 'dist/leaflet-src.js', version: '1.9.4' },
  {
    'dist/leaflet-src.js': 'exports.map = 1',
    'dist/leaflet-src.esm.js': 'export const map = 1',
    'dist/leaflet.mjs': "export { default } from './leaflet-src.js'",
    'dist/a.mjs': 'export const part = 1',
    'a/b/c/index.mjs': 'export const part = 1',
    'node_modules/index.mjs': 'export const part = 1',
    'dist/esm/leaflet-extra.js': 'export const part = 1'
  }
)
const NAVIGATION = { headers: { accept: 'text/html,*/*;q=0.8' } }

test('NAM-03 a browser gets one page with all unusable packages, each with a way out; the rest of the site goes on', async t => {
  const page = await makeSite(
    t,
    { ...BROKEN, ...LEAFLET, 'stylesheets/app.css': 'a {}' },
    {
      packages: ['leaflet', 'gone', 'tip/mor', 'uses-common', 'types-only'],
      routes(ctx) {
        if (ctx.path === '/api') ctx.body = { orders: 7 }
        if (ctx.path === '/') ctx.body = ctx.assets.importMap()
      }
    }
  )
  const { status, text, headers } = await page.ask('/', NAVIGATION)
  t.is(status, 500)
  t.is(headers['content-type'], 'text/html; charset=utf-8')
  t.is(headers['cache-control'], 'no-store')
  for (const said of [
    'leaflet 1.9.4 is CommonJS (dist/leaflet-src.js), which no browser can import: use its dist/leaflet-src.esm.js,',
    'packages: { &#39;leaflet&#39;: [&#39;dist/leaflet-src.esm.js&#39;] } with imports: { &#39;leaflet&#39;: &#39;npm/leaflet/dist/leaflet-src.esm.js&#39; }',
    'the package gone, which is not installed',
    'no export &#39;./mor&#39; for browsers',
    'common 3.1.0 is CommonJS (index.js), which no browser can import: bundle it (docs/bundlers.md). It is named by uses-common 1.0.0',
    'types-only 1.0.0 has no module for browsers'
  ])
    t.true(text.includes(said), said + text)
  t.is((await page.ask('/api')).text, '{"orders":7}')
  t.is((await page.ask('/api', { method: 'POST' })).status, 200)
  t.is((await page.ask('/assets/app.css')).text, 'a {}')
  t.is((await page.ask('/')).status, 500, 'a page without its import map would fail in the browser')
  t.true(page.errors.every(error => 'code' in error && error.code === 'package-unusable'))
})

test('NAM-03 what the page says of a package is right: its module is imported by its name', async t => {
  const page = await makePage(t, LEAFLET, {
    packages: { leaflet: ['dist/leaflet-src.esm.js'] },
    imports: { leaflet: 'npm/leaflet/dist/leaflet-src.esm.js' }
  })
  const { leaflet = '' } = await page.imports()
  t.is((await page.ask(leaflet)).text, 'export const map = 1')
})

test('NAM-03 a browser could use a file that the package names, unless that needs Node', async t => {
  for (const [field, code, isUsable] of [
    ['jsnext:main', 'export const x = 1', true],
    ['browser', "export * from 'other'", true],
    ['browser', "export * from 'fs'", false],
    ['files', "export * from 'other'", false]
  ] as const) {
    const named = { exports: { node: './x.js' }, [field]: 'src/x.js' }
    const files = pkg('named', named, { 'x.js': '', 'src/x.js': code })
    const page = await makePage(t, files, { packages: 'named' })
    const { text } = await page.ask('/', NAVIGATION)
    t.is(/: use its src\/x\.js, packages:/.test(text), isUsable, `${field} ${code}`)
  }
})

test('S78 a package that claims the name and the version of another never takes its place', async t => {
  const claim = { name: 'preact', version: '10.27.0', module: 'evil.js' }
  const real = { version: '10.27.0', module: 'index.js' }
  const files = {
    ...pkg('evil', claim, { 'evil.js': "export default 'evil'", 'a.css': 'a {}' }),
    ...pkg('evil/node_modules/x', claim, { 'evil.js': 'export {}' }),
    ...pkg('preact', real, { 'index.js': "export default 'preact'" }),
    ...modulePkg('user', "import 'preact'"),
    ...pkg('user/node_modules/preact', real, { 'index.js': "export default 'copy'" })
  }
  const page = await makePage(t, files, { packages: [{ evil: ['a.css'] }, 'preact', 'user'] })
  t.deepEqual(await page.imports(), {
    preact: '/assets/npm/preact/index.js',
    user: '/assets/npm/user/index.js'
  })
  t.is((await page.ask('/assets/npm/preact/index.js')).text, "export default 'preact'")
  t.is((await page.ask('/assets/npm/evil/a.css')).text, 'a {}')
})

test('S78 packages of one name and one version that are not copies have folders of their own', async t => {
  const files = {
    ...modulePkg('a', "import 'c'"),
    ...modulePkg('b', "import 'c'"),
    ...modulePkg('c', 'export const own = 1'),
    ...modulePkg('a/node_modules/c', 'export const a = 1', {}, { name: 'x' }),
    ...modulePkg('b/node_modules/c', 'export const b = 1', {}, { name: 'x', version: '1/../..' })
  }
  const page = await makePage(t, files, { packages: ['a', 'b', 'c'] })
  const { scopes = {} } = mapIn((await page.ask('/')).text)
  for (const name of ['a', 'b']) {
    const path = scopes[`/assets/npm/${name}/`]?.['c'] ?? ''
    t.is((await page.ask(path)).text, `export const ${name} = 1`, path)
  }
})
