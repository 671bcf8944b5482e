// The option `packages`: files of npm packages, published as they are.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { rolldown } from 'rolldown'
import type { ViewHelpers } from '../../../lib/assets/views/view-helpers.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { MODULES } from '../../../lib/extras/modules/options.ts'
import type { AssetError } from '../../../lib/koa-assets.ts'
import { buildPackages, BuildFailure } from '../../../lib/extras/modules/building/build.ts'
import { withSlashes } from '../../../lib/files/paths.ts'
import { withDigest } from '../../support/digest.ts'
import { makeFingerprinted, placed, readManifest, run } from '../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles, type Files } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'
import { APP, makePage, mapIn, modulePkg, pkg, TIP } from './package-files.ts'
import { ONE_BY_ONE } from '../../support/as-written.ts'

/** Rolldown has a chunk of helpers of its own. */
const isNoRuntime = (name: string) => !name.includes('/rolldown-runtime-')

const PRELOADED = /href="\/assets\/(\S+)" rel="modulepreload"/g

test('PKG-01 in development a specifier is one module, which the import map names; what modules share is in a chunk, and each has its source map', async t => {
  const view = (assets: ViewHelpers) =>
    assets.importMap() + assets.javascript('app', { type: 'module', modulepreload: true })
  const page = await makePage(t, { ...TIP, ...APP }, { packages: ['tip'] }, view)
  const html = (await page.ask('/')).text
  t.deepEqual(mapIn(html), {
    imports: { tip: '/assets/npm/tip.js', 'tip/more': '/assets/npm/tip/more.js' }
  })
  const names = Array.from(html.matchAll(PRELOADED), ([, name = '']) => name).toSorted()
  const [shared = '', ...others] = names.filter(isNoRuntime)
  t.regex(shared, /^npm\/-\/[\w-]+\.js$/)
  t.deepEqual(others, ['npm/tip.js', 'npm/tip/more.js'])
  for (const name of names) {
    t.is((await page.ask(`/assets/${name}`)).status, 200, name)
  }
  const map = JSON.parse((await page.ask(`/assets/${shared}.map`)).text) as { sources: string[] }
  t.true(map.sources.some(source => source.endsWith('node_modules/tip/dist/esm/_base.js')))
  t.like(await page.load('tip'), { base: 1 })
  page.write('javascripts/app.js', "import 'tip/more'\nimport './own.js'")
  page.write('javascripts/own.js', 'export {}')
  t.regex((await page.ask('/')).text, /href="\/assets\/own\.js" rel="modulepreload"/)
  const inside = ['unused.js', 'dist/cjs/index.js', 'package.json'].map(file => `npm/tip/${file}`)
  for (const name of [...inside, 'more.js'])
    t.is((await page.ask(`/assets/${name}`)).status, 404, name)
})

for (const way of ['live', 'precompiled'] as const) {
  test(`PKG-01 with fingerprints these modules refer to each other by them where they are not joined (${way})`, async t => {
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
    const all = Array.from(preloads, ([, name]) => `${name}.js`).toSorted()
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
    other: '/assets/npm/other.js',
    tip: '/assets/npm/tip.js'
  })
})

test('PKG-01 development and production get the builds that a package has for each', async t => {
  const exported = {
    '.': { browser: { development: './dev.js', production: './min.js' }, default: './cjs.js' }
  }
  const mode = (name: string) => `export const mode = '${name} ' + process.env.NODE_ENV`
  const files = pkg('two', { exports: exported }, { 'dev.js': mode('dev'), 'min.js': mode('min') })
  const page = await makePage(t, files, { packages: ['two'] })
  t.deepEqual({ ...(await page.load('two')) }, { mode: 'dev development' })
  for (const bundle of [false, 'packages'] as const) {
    await run({ root: page.root, packages: ['two'], env: 'production', bundle })
    const { assets } = readManifest(page.root)
    const target = assets['/assets/npm/two.js']?.target ?? ''
    t.regex(page.read(`/public${target}`) ?? '', /min.*production/)
  }
})

test('PKG-01 a package that is installed in two versions is published in both, and each importer has its own', async t => {
  const second = { main: 'c.js', version: '2.0.0' }
  const files = {
    ...modulePkg('a', "export { default } from 'c'"),
    ...modulePkg('b', "import c from 'c'\nimport d from 'd'\nexport default [c, d]"),
    ...modulePkg('d', "export { default } from 'c'"),
    ...pkg('c', { module: 'c.js' }, { 'c.js': "export default 'one'" }),
    ...pkg('b/node_modules/c', second, { 'c.js': "module.exports = 'two'" }),
    ...pkg('d/node_modules/c', second, { 'c.js': "module.exports = 'two'" })
  }
  const page = await makePage(t, files, { packages: ['a', 'b'] })
  t.deepEqual(Object.keys(await page.imports()), ['a', 'b'])
  t.is((await page.load('a'))['default'], 'one')
  t.deepEqual((await page.load('b'))['default'], ['two', 'two'])
})

test('PKG-01 a package that others share is loaded once: its state is one', async t => {
  const files = {
    ...pkg('state', {}, { 'index.js': 'exports.seen = []' }),
    ...modulePkg('one', "import { seen } from 'state'\nseen.push('one')\nexport * from 'two'"),
    ...modulePkg('two', "import { seen } from 'state'\nseen.push('two')\nexport { seen }")
  }
  const page = await makePage(t, files, { packages: ['one', 'two', 'state'] })
  t.deepEqual((await page.load('one'))['seen'], ['two', 'one'])
})

test('PKG-01 packages are found behind links and above the root, as in a workspace', async t => {
  const top = makeProject(t)
  const store = 'node_modules/.pnpm/tip@1.0.0/node_modules/'
  const moved = Object.entries(placed(TIP)).map(([path, text]) => [
    path.replace('node_modules/', store),
    text
  ])
  const own = {
    'packages/own/package.json': '{"name":"own"}',
    'packages/own/index.js': 'export { base as own } from "tip"'
  }
  writeFiles(top, { ...Object.fromEntries(moved), ...own })
  symlinkSync(join(top, store, 'tip'), join(top, 'node_modules/tip'))
  symlinkSync(join(top, 'packages/own'), join(top, 'node_modules/own'))
  const root = join(top, 'sites/shop')
  mkdirSync(root, { recursive: true })
  const page = await makePage(t, APP, { root, packages: ['tip', 'own'] })
  t.like(await page.load('tip/more'), { more: 1 })
  t.like(await page.load('own'), { own: 1 })
})

test('PKG-01 a package that is updated while a site runs, or newly imported, is noticed by the next page', async t => {
  const page = await makePage(t, { ...TIP, 'javascripts/app.js': '' }, { packages: ['tip'] })
  t.is((await page.imports())['tip/more'], undefined)
  page.write('javascripts/app.js', "import 'tip/more'")
  t.is((await page.imports())['tip/more'], '/assets/npm/tip/more.js')
  page.write('/node_modules/tip/dist/esm/_base.js', "export * from './new.js'")
  page.write('/node_modules/tip/dist/esm/new.js', 'export const base = 2')
  t.like(await page.load('tip'), { base: 2 })
  const second = pkg(
    'tip',
    { version: '2.0.0', exports: './v2.js' },
    { 'v2.js': 'export const v2 = 1' }
  )
  for (const [path, text] of Object.entries(second)) page.write(path, text)
  page.write('javascripts/app.js', "import 'tip'")
  t.deepEqual(await page.imports(), { tip: '/assets/npm/tip.js' })
  t.deepEqual({ ...(await page.load('tip')) }, { v2: 1 })
})

test('PKG-01 a server that starts again takes the build from the disk, and one is kept', async t => {
  const files = { ...TIP, ...APP }
  const { root, ...first } = await makePage(t, files, { packages: ['tip'] })
  const before = await first.imports()
  const kept = join(root, 'node_modules/.cache/koa-fresh-assets/npm')
  const builds = () =>
    readdirSync(kept, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map(name => `${name} ${statSync(join(kept, name)).ino}`)
  const built = builds()
  const second = await makePage(t, {}, { root, packages: ['tip'] })
  t.deepEqual(await second.imports(), before)
  t.deepEqual(builds(), built)
  second.write('/node_modules/tip/more.js', 'export const more = 2')
  t.like(await second.load('tip/more'), { more: 2 })
  t.is(readdirSync(kept).length, 1)
  t.notDeepEqual(builds(), built)
})

test('PKG-01 a build that cannot be kept beside the packages is kept elsewhere', async t => {
  const root = makeProject(t, placed({ ...TIP, ...APP }))
  // No folder can be made in the place of a file.
  writeFileSync(join(root, 'node_modules/.cache'), '')
  const page = await makePage(t, {}, { root, packages: ['tip'] })
  t.like(await page.load('tip/more'), { more: 1 })
})

test('PKG-01 CommonJS has the names that it exports, those that the app imports, and its default', async t => {
  const files = {
    ...pkg(
      'named',
      {},
      {
        'index.js': "exports.one = 1\nmodule.exports = { ...exports, ...require('./more') }",
        'more.js': 'exports.two = 2'
      }
    ),
    ...pkg(
      'all',
      {},
      {
        'index.js': "module.exports = require('./more')",
        'more.js': "for (const name of ['three', 'four']) exports[name] = name"
      }
    ),
    ...pkg(
      'compiled',
      {},
      {
        'index.js':
          "Object.defineProperty(exports, '__esModule', { value: true })\nexports.default = 'five'"
      }
    ),
    'javascripts/app.tsx':
      "import { three, type Other } from 'all'\nimport { one } from 'named'\nexport const App = () => <b>{three}{one}</b>"
  }
  const page = await makePage(t, files, { packages: ['named', 'all', 'compiled'] })
  t.like(await page.load('named'), { one: 1, default: { one: 1, two: 2 } })
  const { three, four, ...rest } = await page.load('all')
  t.deepEqual([three, four], ['three', undefined])
  t.deepEqual(rest['default'], { three: 'three', four: 'four' })
  t.is((await page.load('compiled'))['default'], 'five')
  page.write(
    'javascripts/app.tsx',
    "import { four } from 'all'\nexport const App = () => <b>{four}</b>"
  )
  t.is((await page.load('all'))['four'], 'four')
})

test('PKG-01 what a module refers to by its own URL is published, a worker with what it imports', async t => {
  const code = `export const url = new URL('./data/a.wasm?v=1', import.meta.url).href
export const work = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })`
  const files = modulePkg('own', code, {
    'data/a.wasm': 'wasm',
    'worker.js': "import { told } from './told.js'\npostMessage(told)",
    'told.js': "export const told = 'told'"
  })
  const page = await makePage(t, files, { packages: ['own'] })
  const { url } = await page.load('own')
  t.regex(String(url), /\/assets\/npm\/own\/data\/a\.wasm\?v=1$/)
  t.is((await page.ask('/assets/npm/own/data/a.wasm')).text, 'wasm')
  const built = (await page.ask('/assets/npm/own.js')).text
  const [, worker = ''] = /new URL\("(-\/worker-[\da-f]+\.js)"/.exec(built) ?? []
  t.regex((await page.ask(`/assets/npm/${worker}`)).text, /"told"/, built)
})

test('PKG-01 a package whose name would be a folder of another stands aside', async t => {
  const files = {
    ...modulePkg('chart', "export const a = 'chart'"),
    ...modulePkg('chart.js', "export const a = 'chart.js'", {
      'auto.js': "export const a = 'auto'"
    })
  }
  const page = await makePage(t, files, { packages: ['chart', 'chart.js', 'chart.js/auto'] })
  for (const name of ['chart', 'chart.js']) t.is((await page.load(name))['a'], name)
  t.is((await page.load('chart.js/auto'))['a'], 'auto')
  t.is((await page.imports())['chart'], '/assets/npm/-/chart.js')
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

const BROKEN = {
  ...TIP,
  ...modulePkg('lacks', "import 'gone'"),
  ...modulePkg('for-node', "import { readFile } from 'node:fs'\nexport const read = readFile"),
  ...modulePkg('styled', "import './a.css'\nimport './b.css'", {
    'a.css': 'a {}',
    'b.css': 'b {}'
  }),
  ...modulePkg('short', "export * from './part'"),
  ...modulePkg('wrong', 'export const a = 1\nexport const b = {'),
  ...pkg('types-only', { exports: { '.': { types: './a.d.ts' } } }),
  ...pkg('unreadable', {}, { 'package.json': '{' })
}

for (const [specifier, message] of [
  ['unheard-of', 'the package unheard-of, which is not installed: run npm install unheard-of'],
  ['tipp/more', "did you mean 'tip', which is? If not, run npm install tipp"],
  ['@pop/cor', "the package @pop/cor, which is not installed: did you mean '@pop/core', which is?"],
  [
    'lacks',
    "node_modules/lacks/index.js imports 'gone', which is not installed: run npm install gone"
  ],
  ['tip/mor', "has no export './mor' for browsers, though the option packages names it"],
  ['tip/mor', ": did you mean './more'?"],
  ['types-only', 'has no module for browsers, though the option packages names it'],
  ['types-only', ": name files of it, packages: { 'types-only': […] }, or bundle it"],
  [
    'for-node',
    "for-node/index.js imports 'node:fs', which is a module of Node, and no browser has it"
  ],
  ['styled', "styled/index.js imports './a.css', which is a stylesheet, and no browser takes it"],
  ['short', "short/index.js imports './part', which is not there: install the package again"],
  ['wrong', 'node_modules/wrong/index.js:2:19 cannot be built: '],
  ['unreadable', 'package.json cannot be read: ']
] as const) {
  test(`PKG-03 for ${specifier} the error says: ${message}`, async t => {
    const { error } = await buildIn(t, BROKEN, specifier)
    t.is(error?.code, 'package-unusable')
    t.true(error?.message.includes(message), error?.message)
  })
}

test('PKG-03 a failure is found out once, and again when something has changed', async t => {
  const page = await makePage(t, BROKEN, { packages: ['lacks', { tip: 'dist/x.js' }] })
  const timed = async () => {
    const before = performance.now()
    t.is((await page.ask('/')).status, 500)
    return performance.now() - before
  }
  const first = await timed()
  t.true((await timed()) < first / 3, 'nothing is built')
  for (const [path, text] of Object.entries(modulePkg('gone', 'export {}'))) page.write(path, text)
  t.is((await page.ask('/')).status, 500)
  t.regex(page.errors.at(-1)?.message ?? '', /^tip has no file dist\/x\.js, which the option/)
  page.write('/node_modules/tip/dist/x.js', 'export {}')
  t.is((await page.ask('/')).status, 200)
})

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
    "import('gone').catch(() => 0)\nimport('./none.js').catch(() => 0)\nimport './old.cjs'"
  const meta = { 'old.cjs': "try { require('gone') } catch {}\nmodule.exports = require('fs')" }
  const files = { ...modulePkg('optional', code, meta), ...BROKEN, 'stylesheets/app.css': 'a {}' }
  const page = await makePage(t, files, { packages: 'optional', missing: 'ignore' })
  t.is((await page.ask('/')).status, 200)
  const broken = await makePage(t, files, { packages: 'lacks' })
  t.is((await broken.ask('/assets/app.css')).text, 'a {}')
  t.is((await broken.ask('/assets/npm/lacks.js')).status, 500)
})

/** One build, in this process. */
async function buildAt(root: string, specifier: string) {
  const imported = { importer: 'the option packages', names: [] }
  const wanted = {
    root,
    condition: 'development',
    mapped: [],
    specifiers: new Map([[specifier, imported]])
  } as const
  const built = await buildPackages({ rolldown }, wanted)
  return built instanceof BuildFailure ? { error: built.error as AssetError } : { built }
}

const buildIn = (t: ExecutionContext, files: Files, specifier: string) =>
  buildAt(makeProject(t, placed(files)), specifier)

test('PKG-01 one of two apps may have packages', async t => {
  const apps = { web: { packages: ['tip'] }, admin: {} }
  const { ask } = await makeSite(t, { ...TIP, 'a.css': '', '/apps/admin/x': '' }, { apps })
  t.is((await ask('/assets/npm/tip.js')).status, 200)
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
    t.true(message.startsWith(`packages must be ${MODULES.packages.expected}, got `), message)
  }
})

test('REN-14 a mistyped entry of the import map is logged with packages as well', async t => {
  const view = (assets: ViewHelpers) => assets.importMap({ entry: 'shpo' })
  const page = await makePage(t, { ...TIP, 'javascripts/shop.js': '' }, { packages: 'tip' }, view)
  t.is((await page.ask('/')).status, 200)
  await until(() => warningsAbout('/shpo.js').length > 0, 'the entry is logged')
  t.regex(warningsAbout('/shpo.js')[0] ?? '', /no source in .*; did you mean 'shop\.js'\?$/)
})

const deep = (depth: number) => '{"import":'.repeat(depth) + '"./i.js"' + '}'.repeat(depth)
const many = Array.from({ length: 40_000 }, (_, at) => `"./${at}/${'k'.repeat(20)}":"./x"`)
const NO_MODULE = /^hostile 1\.0\.0 has no module for browsers/
const NOT_FOUND = /^node_modules\/hostile\/i\.js imports '.*', which is not there: install/
const HOSTILE: [what: string, json: string, message: RegExp, code?: string][] = [
  ['imports that lead to themselves', '"module":"i.js","imports":{"#x":"#x"}', NOT_FOUND],
  ['imports in a circle', '"module":"i.js","imports":{"#x":"#y","#y":"#x"}', NOT_FOUND],
  ['exports 20,000 deep', `"exports":${deep(20_000)}`, NO_MODULE],
  ['a NUL in exports', '"exports":"./a\\u0000.js"', NO_MODULE],
  ['a NUL in main', '"main":"a\\u0000.js","module":"\\u0000"', NO_MODULE],
  ['a megabyte of keys', `"exports":{${many.join()}}`, NO_MODULE],
  ['a NUL in imports', '"module":"i.js","imports":{"#x":"./\\u0000.js"}', NOT_FOUND],
  ['a module that imports a NUL', '"module":"i.js"', NOT_FOUND, "import 'a\0b'"],
  ['a module that imports a path', '"module":"i.js"', NOT_FOUND, "import '@a/../b'"]
]

for (const [what, json, message, code = "import '#x'"] of HOSTILE) {
  test(`S79 a package with ${what} is an error that names it`, async t => {
    const text = `{"name":"hostile","version":"1.0.0",${json}}`
    const files = pkg('hostile', {}, { 'package.json': text, 'i.js': code })
    const before = process.cpuUsage()
    const { error } = await buildIn(t, files, 'hostile')
    t.true(process.cpuUsage(before).user < 30_000_000, 'linear')
    t.is(error?.code, 'package-unusable')
    t.regex(error?.message ?? '', message)
  })
}

const NAVIGATION = { headers: { accept: 'text/html,*/*;q=0.8' } }

test('NAM-03 a browser gets one page with all unusable packages, each with a way out; the rest of the site goes on', async t => {
  const page = await makeSite(
    t,
    { ...BROKEN, 'stylesheets/app.css': 'a {}' },
    {
      packages: ['gone', 'tip/mor', 'types-only'],
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
    'the package gone, which is not installed',
    'no export &#39;./mor&#39; for browsers',
    'types-only 1.0.0 has no module for browsers'
  ])
    t.true(text.includes(said), said + text)
  t.is((await page.ask('/api')).text, '{"orders":7}')
  t.is((await page.ask('/api', { method: 'POST' })).status, 200)
  t.is((await page.ask('/assets/app.css')).text, 'a {}')
  t.is((await page.ask('/')).status, 500, 'a page without its import map would fail in the browser')
  t.true(page.errors.every(error => 'code' in error && error.code === 'package-unusable'))
})

test('S78 a package that claims the name and the version of another never takes its place', async t => {
  const claim = { name: 'preact', version: '10.27.0', module: 'evil.js' }
  const real = { version: '10.27.0', module: 'index.js' }
  const files = {
    ...pkg('evil', claim, { 'evil.js': "export default 'evil'", 'a.css': 'a {}' }),
    ...pkg('evil/node_modules/x', claim, { 'evil.js': 'export {}' }),
    ...pkg('preact', real, { 'index.js': "export default 'preact'" }),
    ...modulePkg('user', "export { default } from 'preact'"),
    ...pkg('user/node_modules/preact', real, { 'index.js': "export default 'copy'" })
  }
  const page = await makePage(t, files, { packages: [{ evil: ['a.css'] }, 'preact', 'user'] })
  t.is((await page.load('preact'))['default'], 'preact')
  t.is((await page.load('user'))['default'], 'copy')
  t.is((await page.ask('/assets/npm/evil/a.css')).text, 'a {}')
})

const SECRET = 'the key of the application'
const secret = {
  '/secret.js': `export const key = '${SECRET}'`,
  '/secret.cjs': `exports.key = '${SECRET}'`
}
const OUT: [what: string, files: Files][] = [
  ['an import', modulePkg('leaky', "export * from '../../secret.js'")],
  ['an import()', modulePkg('leaky', "export const key = () => import('../../secret.js')")],
  ['a path of the disk', modulePkg('leaky', "export * from '/SECRET'")],
  ['require', pkg('leaky', {}, { 'index.js': "module.exports = require('../../secret.cjs')" })],
  ['the field module', pkg('leaky', { module: '../../secret.js' })],
  [
    'the field browser',
    modulePkg(
      'leaky',
      "export * from './own.js'",
      { 'own.js': '' },
      { browser: { './own.js': '../../secret.js' } }
    )
  ],
  [
    'the field browser for a package',
    modulePkg('leaky', "export * from 'tip'", {}, { browser: { tip: '../../secret.js' } })
  ],
  [
    'imports',
    modulePkg('leaky', "export * from '#key'", {}, { imports: { '#key': '../../secret.js' } })
  ],
  ['exports', pkg('leaky', { exports: './../../secret.js' })],
  [
    'new URL()',
    modulePkg('leaky', "export const url = new URL('../../secret.js', import.meta.url)")
  ],
  [
    'a worker',
    modulePkg(
      'leaky',
      "export const work = () => new Worker(new URL('../../secret.js', import.meta.url), { type: 'module' })"
    )
  ],
  ['another package by a path', modulePkg('leaky', "export * from '../tip/unused.js'")]
]

for (const [what, files] of OUT) {
  test(`S91 what is outside of a package is not published: ${what}`, async t => {
    const root = makeProject(
      t,
      placed({
        ...TIP,
        ...secret,
        ...files,
        '/node_modules/tip/unused.js': `export const key = '${SECRET}'`
      })
    )
    const index = 'node_modules/leaky/index.js'
    const text = readFileSync(join(root, index), { encoding: 'utf8', flag: 'a+' })
    writeFileSync(join(root, index), text.replace('/SECRET', withSlashes(join(root, 'secret.js'))))
    const { error } = await buildAt(root, 'leaky')
    t.is(error?.code, 'package-unusable')
    const options = { root, packages: 'leaky', missing: 'ignore' } as const
    const { message = '' } = error ?? {}
    const reason = await t.throwsAsync(run(options))
    t.true(reason.message.includes(what === 'imports' ? 'which is not there' : message))
    t.false(existsSync(join(root, 'public/assets/npm')))
  })
}
