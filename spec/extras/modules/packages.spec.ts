// The option `packages`: modules and files of npm packages, in development and precompiled.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { settle } from '../../../lib/runtime/settings/settings.ts'
import { MODULES } from '../../../lib/extras/modules/options.ts'
import { APP, dependencies, makePage, mapIn, modulePkg, pkg, TIP } from './package-files.ts'
import { makeFingerprinted, makeProject, makeSite, ONE_BY_ONE } from '../../support/index.ts'
import { placed, readManifest, run, test, warningsAbout, withDigest } from '../../support/index.ts'
import { messagesOf, writeFiles } from '../../support/index.ts'

/** Rolldown has a chunk of helpers of its own. */
const isNoRuntime = (name: string) => !name.includes('/rolldown-runtime')

const MODULE = { type: 'module', modulepreload: true } as const
const PRELOADED = /href="\/assets\/(\S+)" rel="modulepreload"/g

test('in development the import map names a module for each specifier, with its source map', async t => {
  const view = (assets: ViewHelpers) => assets.importMap() + assets.javascript('app', MODULE)
  const files = {
    ...TIP,
    ...APP,
    ...modulePkg('urls', "export default new URL('./a.wasm', import.meta.url)", { 'a.wasm': '-' }),
    ...pkg('other', { type: 'module', main: './main' }, { 'main.js': '' }),
    'javascripts/own.js': 'export {}'
  }
  const options = {
    imports: { mapped: 'own.js' },
    packages: ['tip', 'urls'],
    configure: { development: { packages: ['other'] }, production: { packages: ['none'] } }
  }
  const page = await makePage(t, files, options, view)
  const html = (await page.ask('/')).text
  t.deepEqual(mapIn(html).imports, {
    mapped: '/assets/own.js',
    other: '/assets/npm/other.js',
    tip: '/assets/npm/tip.js',
    'tip/more': '/assets/npm/tip/more.js',
    urls: '/assets/npm/urls.js'
  })
  const names = Array.from(html.matchAll(PRELOADED), ([, name = '']) => name).toSorted()
  const [shared = '', ...others] = names.filter(isNoRuntime)
  t.regex(shared, /^npm\/-\/[\w-]+\.js$/)
  t.deepEqual(others, ['npm/tip.js', 'npm/tip/more.js'])
  for (const name of names) t.is((await page.ask(`/assets/${name}`)).status, 200, name)
  const map = JSON.parse((await page.ask(`/assets/${shared}.map`)).text) as { sources: string[] }
  t.true(map.sources.some(source => source.endsWith('node_modules/tip/dist/esm/_base.js')))
  t.like(await page.load('tip'), { base: 1 })
  t.is((await page.ask('/assets/npm/urls/a.wasm')).text, '-')
  page.write('javascripts/app.js', "import 'tip/more'\nimport './own.js'")
  t.regex((await page.ask('/')).text, /href="\/assets\/own\.js" rel="modulepreload"/)
  const inside = ['unused.js', 'dist/cjs/index.js', 'package.json'].map(file => `npm/tip/${file}`)
  for (const name of [...inside, 'more.js'])
    t.is((await page.ask(`/assets/${name}`)).status, 404, name)
})

for (const way of ['live', 'precompiled'] as const) {
  test(`modules of packages that are not joined import each other by fingerprinted URLs (${way})`, async t => {
    const options = { packages: 'tip', ...ONE_BY_ONE }
    const site = await makeFingerprinted(t, way, { ...TIP, ...APP }, options)
    const html = await site.render(
      assets => assets.importMap({ entry: 'app' }) + assets.javascript('app', MODULE)
    )
    const tag = withDigest(/"\/assets\/(\S+)-DIGEST\.js" rel="modulepreload" integrity="sha384-/g)
    const all = Array.from(html.matchAll(tag), ([, name]) => `${name}.js`).toSorted()
    const [shared = '', ...names] = all.filter(isNoRuntime)
    t.deepEqual(names, ['npm/tip.js', 'npm/tip/more.js'])
    t.false(html.includes('importmap'))
    const index = await site.path('npm/tip.js')
    const { imports } = mapIn(await site.render(assets => assets.importMap()))
    t.is(imports['tip'], index)
    t.is(imports['tip/more'], await site.path('npm/tip/more.js'))
    const app = (await site.ask(await site.path('app.js'))).text
    t.true(app.includes(`import { base } from "${index}"`))
    const { text, headers } = await site.ask(index)
    t.true(text.includes(`from "${await site.path(shared)}"`))
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable')
    if (way === 'live') return
    // A precompiled site needs no packages, and finds them by no other name.
    rmSync(join(site.root, 'node_modules'), { recursive: true })
    t.is(readManifest(site.root).assets['/assets/npm/tip.js']?.source, 'npm/tip.js')
    const later = { root: site.root, env: 'production', packages: ['tip'] }
    const page = await makePage(t, {}, later)
    t.regex((await page.imports())['tip/more'] ?? '', withDigest(/more-DIGEST\.js$/))
  })
}

test('packages are built again after new imports, edits and updates, but not after a restart', async t => {
  const all = { 'index.js': "for (const name of ['three', 'four']) exports[name] = name" }
  const source = (name: string) =>
    `import { ${name}, type Other } from 'all'\nexport const App = () => <b>{${name}}</b>`
  const files = {
    ...TIP,
    ...pkg('all', {}, all),
    ...pkg('parts', { exports: { './one': './one.js' } }, { 'one.js': '' }),
    'javascripts/list.tsx': source('three'),
    'javascripts/parts.js': "import 'parts/one'"
  }
  const options = { packages: ['tip', 'all', 'parts'] }
  const first = await makePage(t, { ...files, 'javascripts/app.js': '' }, options)
  t.deepEqual(Object.keys(await first.imports()), ['all', 'parts/one', 'tip'])
  const { three, four } = await first.load('all')
  t.deepEqual([three, four], ['three', undefined])
  first.write('javascripts/list.tsx', source('four'))
  first.write('javascripts/app.js', "import 'tip'\nimport 'tip/more'")
  await first.ask('/assets/app.js')
  t.deepEqual(warningsAbout("imports 'tip"), [], 'it is looked up before anything is said')
  const imports = await first.imports()
  t.is(imports['tip/more'], '/assets/npm/tip/more.js')
  t.is((await first.load('all'))['four'], 'four')
  const kept = join(first.root, 'node_modules/.cache/koa-fresh-assets/npm')
  const builds = () =>
    readdirSync(kept, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map(name => `${name} ${statSync(join(kept, name)).ino}`)
  const built = builds()
  const page = await makePage(t, {}, { root: first.root, ...options })
  t.deepEqual(await page.imports(), imports)
  t.deepEqual(builds(), built)
  page.write('/node_modules/tip/dist/esm/_base.js', "export * from './new.js'")
  page.write('/node_modules/tip/dist/esm/new.js', 'export const base = 2')
  t.like(await page.load('tip'), { base: 2 })
  const second = { version: '2.0.0', exports: './v2.js' }
  writeFiles(page.root, pkg('tip', second, { 'v2.js': 'export const v2 = 1' }))
  page.write('javascripts/app.js', "import 'tip'")
  t.deepEqual(Object.keys(await page.imports()), ['all', 'parts/one', 'tip'])
  t.deepEqual({ ...(await page.load('tip')) }, { v2: 1 })
  t.is(readdirSync(kept).length, 1)
})

const BROKEN = {
  ...TIP,
  ...modulePkg('lacks', "import 'gone'"),
  ...pkg('types-only', { exports: { '.': { types: './a.d.ts' } } })
}

test('pages work as soon as the packages that failed are repaired', async t => {
  const files = { ...BROKEN, 'javascripts/app.js': "import 'tip/more'" }
  const page = await makePage(t, files, { packages: ['lacks', 'tip', { tip: 'dist/x.js' }] })
  const failure = async () => {
    t.is((await page.ask('/')).status, 500)
    return page.errors.at(-1)?.message ?? ''
  }
  t.regex(await failure(), /lacks\/index\.js imports 'gone', which is not installed/)
  writeFiles(page.root, modulePkg('gone', 'export {}'))
  t.regex(await failure(), /^tip has no file dist\/x\.js, which the option/)
  page.write('/node_modules/tip/dist/x.js', 'export {}')
  t.is((await page.ask('/')).status, 200)
})

const ADVICE: Readonly<Record<string, string>> = {
  lit: 'does not find it: run npm install lit, or name',
  'lit/html.js': 'does not find it: run npm install lit, or name',
  tpi: "did you mean 'tip'? If not, run npm install tpi, or name",
  tup: "did you mean 'tip'? If not, run npm install tup, or",
  lot: "did you mean 'lit'? If not, run npm install lot, or",
  '@a/b/c': 'does not find it: run npm install @a/b, or name',
  'src/dial.js': "does not find it: name an asset or a URL in imports: { 'src/dial.js': … }",
  '~/dial': "does not find it: name an asset or a URL in imports: { '~/dial': … }",
  path: "'path', a module of Node, which browsers do not have: name"
}
const NAMED: typeof ADVICE = {
  'lit/html.js': "does not find it: set packages: ['lit/html.js'], or name",
  tpi: "If not, run npm install tpi and set packages: ['tpi'], or name"
}

test('the error of an import that is not found says what to install, set or write instead', async t => {
  const code = Object.keys(ADVICE).map(specifier => `import '${specifier}'`)
  const lit = modulePkg('lit', 'export const html = 1')
  const files = { ...TIP, ...lit, ...pkg('tap', {}), 'app.js': code.join('\n') }
  for (const [packages, advice] of [
    [['tip'], ADVICE],
    [['tip', false], NAMED]
  ] as const) {
    const root = makeProject(t, placed(files))
    const error = await t.throwsAsync(run({ root, packages }), { code: 'precompile-failed' })
    const site = await makeSite(t, {}, { root, packages, missing: 'warn' })
    await site.ask('/assets/app.js')
    for (const [specifier, told] of Object.entries(advice)) {
      t.true(error.message.includes(told), error.message)
      const warnings = warningsAbout(`imports '${specifier}'`)
      t.is(warnings.filter(each => each.includes(told)).length, 1, specifier)
    }
  }
})

const AUTOMATIC = {
  ...TIP,
  ...modulePkg('later', 'export const later = 7'),
  ...modulePkg('node-only', "import 'node:fs'"),
  ...modulePkg('unused', 'export {}'),
  '/package.json': dependencies('tip', 'later', 'node-only', 'unused'),
  'javascripts/app.ts': [
    "import { base } from 'tip'",
    "import type { A } from 'node-only'",
    "import { B } from 'node-only'",
    "// import 'unused'",
    "const text: A | B = `import 'unused'` as A",
    "console.log(base, text, import('./part'))"
  ].join('\n'),
  'javascripts/part.js': "import { more } from 'tip/more'; console.log(more)"
}

test('exactly the dependencies that modules import are published, without any option', async t => {
  const page = await makePage(t, AUTOMATIC, {})
  t.deepEqual(await page.imports(), {
    tip: '/assets/npm/tip.js',
    'tip/more': '/assets/npm/tip/more.js'
  })
  const { text } = await page.ask('/assets/app.js')
  t.true(text.startsWith('import { base } from "/assets/npm/tip.js"'), text)
  t.is((await page.load('tip'))['base'], 1)
  for (const bundle of [undefined, true, false] as const) {
    const root = makeProject(t, placed(AUTOMATIC))
    const { warnings } = await run({ root, bundle })
    t.deepEqual(warnings, [])
    const { assets } = readManifest(root)
    const names = Object.keys(assets)
      .filter(path => /npm|joined/.test(path))
      .filter(isNoRuntime)
    t.true(names.length > 0 && names.every(path => /tip|\/-\/esm-/.test(path)), names.join())
  }
})

test('packages that are built for a page are no newer than it, so that it does not reload', async t => {
  const page = await makePage(t, AUTOMATIC, {})
  const requestedAt = Date.now()
  t.is((await page.ask('/')).status, 200)
  const cache = join(page.root, 'node_modules/.cache')
  const built = readdirSync(cache, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.js'))
    .map(path => statSync(join(cache, path)).mtimeMs)
  t.true(built.length > 0 && Math.max(...built) <= requestedAt)
})

test('a dependency that cannot be built breaks only the modules that import it', async t => {
  const names = dependencies('tip', 'later', 'node-only', 'gone', 'sheets')
  const sheets = pkg('sheets', { exports: { './nav': './css/nav.css' } }, { 'css/nav.css': '' })
  const page = await makePage(t, { ...AUTOMATIC, ...sheets, '/package.json': names }, {})
  const failing = {
    'node-only':
      /^apps\/web\/assets\/own\.test\.js:2:8 imports 'node-only', which cannot be built: node_modules\/node-only\/index\.js imports 'node:fs'/,
    gone: /^apps\/web\/assets\/own\.test\.js:2:8 names the package gone, which is not installed/,
    'tip/mor':
      /^tip 1\.0\.0 has no export '\.\/mor' .*, though apps\/web\/assets\/own\.test\.js:2:8 names it/,
    'sheets/nav':
      /^apps\/web\/assets\/own\.test\.js:2:8 imports 'sheets\/nav', a stylesheet: write @import 'sheets\/nav' in a stylesheet of the app, or packages: \{ 'sheets': \['css\/nav\.css'\] \}/
  }
  for (const [name, message] of Object.entries(failing)) {
    page.write('own.test.js', `\nimport '${name}'; import 'later'`)
    t.is((await page.ask('/')).status, 200)
    t.is((await page.ask('/assets/own.test.js')).status, 500)
    t.regex(page.errors.at(-1)?.message ?? '', message)
    t.deepEqual(Object.keys(await page.imports()), ['later', 'tip', 'tip/more'])
    t.is((await page.ask('/assets/app.js')).status, 200)
    t.is((await page.load('tip'))['base'], 1)
  }
  page.write('own.test.js', "import 'later'")
  t.is((await page.ask('/assets/own.test.js')).status, 200)
})

test('a source directory in a package has the dependencies of the project, not those of its author', async t => {
  const kit = pkg('kit', { devDependencies: { later: '1', gone: '1' } })
  const files = {
    ...AUTOMATIC,
    '/package.json': dependencies('tip'),
    ...kit,
    '/node_modules/kit/dist/kit.js': "import 'later'; import 'gone'"
  }
  const page = await makePage(t, files, { sources: '../../node_modules/kit/dist', missing: 'warn' })
  t.deepEqual(Object.keys(await page.imports()), ['tip', 'tip/more'])
  t.is((await page.ask('/assets/kit.js')).status, 200)
  page.write('/package.json', dependencies('tip', 'later'))
  t.deepEqual(Object.keys(await page.imports()), ['later', 'tip', 'tip/more'])
})

test('a page compiles no scripts in search of packages if no source text names one', async t => {
  const own = { 'javascripts/app.ts': "import './part.js'", 'javascripts/part.js': '' }
  const page = await makePage(t, { ...AUTOMATIC, ...own }, { imports: { own: 'part.js' } })
  const compiled = messagesOf(t, 'compiled')
  const count = () => compiled.filter(({ source }) => source.startsWith(page.at(''))).length
  await page.ask('/')
  page.write('javascripts/app.ts', "import './part.js'; import 'own'")
  await page.ask('/')
  t.is(count(), 0)
  await page.ask('/assets/app.js')
  t.is(count(), 1)
})

test('dependencies are also found by package.json imports, compiled code and imports with comments', async t => {
  const json = { dependencies: { tip: '1' }, imports: { '#date': 'tip' } }
  const compile = ({ code }: { readonly code: string }) => ({ code: `import 'tip';${code}` })
  const other = [{ extensions: '.ts', target: '.js', compile }]
  const rows = [
    ["import '#date'", []],
    ['', other],
    ["import { base, // text\n more } from 'tip'; base + more", []],
    ["import(/* lazily */ 'tip')", []]
  ] as const
  for (const [code, compilers] of rows) {
    const own = { 'javascripts/app.ts': code, 'javascripts/part.js': '' }
    const files = { ...AUTOMATIC, '/package.json': JSON.stringify(json), ...own }
    const page = await makePage(t, files, { compilers })
    t.regex((await page.ask('/assets/app.js')).text, /"\/assets\/npm\/tip\.js"/)
    const root = makeProject(t, placed(files))
    await run({ root, compilers, bundle: false })
    t.truthy(readManifest(root).assets['/assets/npm/tip.js'])
  }
})

test('a wrong value of the option packages is an error at start that says what it must be', t => {
  const names = ['', './a', '../tip', '@pop', 'tip/../x', 42, ['a', 1], [['tip']]]
  for (const packages of [...names, { a: '../b' }, { 'a/b': 'c.js' }, { tip: [], x: 1 }]) {
    const { message } = t.throws(() => settle({ packages } as object), { instanceOf: TypeError })
    t.true(message.startsWith(`packages must be ${MODULES.packages.expected}, got `), message)
  }
})

test('only pages that need unusable packages fail, with one error about all of these', async t => {
  const files = { ...BROKEN, 'stylesheets/app.css': 'a {}' }
  const page = await makeSite(t, files, {
    packages: ['gone', 'tip/mor', 'types-only'],
    routes(ctx) {
      if (ctx.path === '/api') ctx.body = { orders: 7 }
      if (ctx.path === '/') ctx.body = ctx.assets.importMap()
    }
  })
  const accept = 'text/html,*/*;q=0.8'
  const { status, text, headers } = await page.ask('/', { headers: { accept } })
  const { 'content-type': type, 'cache-control': caching } = headers
  t.deepEqual([status, type, caching], [500, 'text/html; charset=utf-8', 'no-store'])
  for (const said of [
    'the package gone, which is not installed',
    'no export &#39;./mor&#39; for browsers',
    'types-only 1.0.0 has no module for browsers'
  ])
    t.true(text.includes(said), said + text)
  t.is((await page.ask('/api')).text, '{"orders":7}')
  t.is((await page.ask('/api', { method: 'POST' })).status, 200)
  t.is((await page.ask('/assets/app.css')).text, 'a {}')
  t.is((await page.ask('/assets/npm/gone.js')).status, 500)
  t.is((await page.ask('/')).status, 500, 'a page without its import map would fail in the browser')
  t.true(page.errors.every(error => 'code' in error && error.code === 'package-unusable'))
})
