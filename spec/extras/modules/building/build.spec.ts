// What a build makes of packages, and what it refuses.
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { mkdtempSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namedFiles } from '../../../../lib/extras/modules/building/package-files.ts'
import { buildApart, directoryFor } from '../../../../lib/extras/modules/building/build-process.ts'
import { restoreBuild } from '../../../../lib/extras/modules/building/build-process.ts'
import { buildPackages } from '../../../../lib/extras/modules/building/build.ts'
import { Packages } from '../../../../lib/extras/modules/packages.ts'
import { loadRolldown } from '../../../../lib/extras/modules/rolldown.ts'
import { withSlashes } from '../../../../lib/runtime/files/paths.ts'
import { makeProject, placed, removeProject, run, test } from '../../../support/index.ts'
import { writeFiles } from '../../../support/index.ts'
import { buildIn, makePage, modulePkg, pkg, runModule, TIP, wantedOf } from '../package-files.ts'

const require = createRequire(import.meta.url)
const COMMONJS = {}
const SECOND = { main: 'c.js', version: '2.0.0' }
const CLAIM = { name: 'preact', version: '10.27.0', module: 'index.js' }
const STORE = '/node_modules/.pnpm/tip@1.0.0/node_modules/tip'

const PACKAGES = {
  ...modulePkg('a', "export { default } from 'c'"),
  ...modulePkg('b', "import c from 'c'\nimport d from 'd'\nexport default [c, d]"),
  ...modulePkg('d', "export { default } from 'c'"),
  ...pkg('c', { module: 'c.js' }, { 'c.js': "export default 'one'" }),
  ...pkg('b/node_modules/c', SECOND, { 'c.js': "module.exports = 'two'" }),
  ...pkg('d/node_modules/c', SECOND, { 'c.js': "module.exports = 'two'" }),
  ...pkg('state', {}, { 'index.js': 'exports.seen = []' }),
  ...modulePkg('one', "import { seen } from 'state'\nseen.push('one')\nexport * from 'two'"),
  ...modulePkg('two', "import { seen } from 'state'\nseen.push('two')\nexport { seen }"),
  ...pkg('named', COMMONJS, {
    'index.js': "exports.one = 1\nmodule.exports = { ...exports, ...require('./more') }",
    'more.js': 'exports.two = 2'
  }),
  ...pkg('all', {}, { 'index.js': "for (const name of ['given', 'other']) exports[name] = name" }),
  ...pkg('compiled', {}, { 'index.js': "exports.__esModule = true\nexports.default = 'five'" }),
  ...modulePkg(
    'urls',
    `export const url = new URL('./data/a.wasm?v=1', import.meta.url).href
export const plain = () => new Worker(new URL('./classic.js', import.meta.url))
export const work = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })`,
    {
      'data/a.wasm': 'wasm',
      'classic.js': "importScripts('a.js')",
      'worker.js': "import { told } from './told.js'\npostMessage(told)",
      'told.js': "export const told = 'told'"
    }
  ),
  ...modulePkg('chart', "export const a = 'chart'"),
  ...modulePkg('chart.js', "export const a = 'chart.js'", { 'auto.js': "export const a = 'auto'" }),
  ...modulePkg('mapping', "import 'mapped'"),
  ...modulePkg(
    'optional',
    "import('gone').catch(() => 0)\nimport('./none.js').catch(() => 0)\nimport './old.cjs'",
    { 'old.cjs': "try { require('gone') } catch {}\nmodule.exports = require('fs')" }
  ),
  ...pkg('evil', CLAIM, { 'index.js': "export default 'evil'", 'a.css': 'a {}' }),
  ...pkg('evil/node_modules/x', CLAIM, { 'index.js': 'export {}' }),
  ...pkg('preact', CLAIM, { 'index.js': "export default 'preact'" }),
  ...modulePkg('user', "export { default } from 'preact'"),
  ...modulePkg('user/node_modules/preact', "export default 'copy'", {}, { version: '10.27.0' })
}

const SPECIFIERS = [
  ...['a', 'b', 'one', 'two', 'state', 'named', 'all', 'compiled', 'urls', 'mapping', 'chart'],
  ...['chart.js', 'chart.js/auto', 'optional', 'preact', 'user', 'linked', 'tip/more']
]

const top = realpathSync(mkdtempSync(join(tmpdir(), 'koa-fresh-assets-')))
const root = join(top, 'sites/shop')
let built: Awaited<ReturnType<typeof buildIn>>

// One build of all in a workspace: packages are above the root, one in a store, and one of the workspace.
test.before(async () => {
  const tip = Object.fromEntries(
    Object.entries(TIP).map(([path, text]) => [path.replace('/node_modules/tip', STORE), text])
  )
  const workspace = {
    '/package.json': '{"type":"module"}',
    '/packages/linked/package.json': '{"name":"linked"}',
    '/packages/linked/index.js': 'export { base as linked } from "tip"',
    '/sites/shop/package.json': '{"type":"module"}'
  }
  writeFiles(top, placed({ ...PACKAGES, ...tip, ...workspace }))
  symlinkSync(join(top, STORE), join(top, 'node_modules/tip'))
  symlinkSync(join(top, 'packages/linked'), join(top, 'node_modules/linked'))
  built = await buildIn(wantedOf(root, SPECIFIERS, { mapped: ['mapped'] }))
})
test.after.always(() => removeProject(top))

test('each importer gets the version installed for it, loaded once for all that share it', async t => {
  t.is(built.message, '')
  t.is((await built.load('a'))['default'], 'one')
  t.deepEqual((await built.load('b'))['default'], ['two', 'two'])
  t.deepEqual((await built.load('one'))['seen'], ['two', 'one'])
})

test('a CommonJS package can be imported by the names of its exports and as a default', async t => {
  t.like(await built.load('named'), { one: 1, two: 2, default: { one: 1, two: 2 } })
  // `wantedOf` says that the app imports the name `given`.
  const all = { given: 'given', other: 'other' }
  t.deepEqual({ ...(await built.load('all')) }, { given: 'given', default: all })
  t.is((await built.load('compiled'))['default'], 'five')
})

test('the built files of CommonJS packages stay the same when a package is added', async t => {
  const commonJs = (name: string, code: string) => pkg(name, {}, { 'index.js': code })
  const files = {
    ...commonJs('core', 'exports.core = 1'),
    ...commonJs('core-dom', "exports.dom = require('core')"),
    ...commonJs('added', "exports.added = 'added'")
  }
  const project = makeProject(t, placed(files))
  const loaded = await loadRolldown('', project)
  const textsOf = async (...names: readonly string[]) => {
    const { built } = await buildPackages(loaded, wantedOf(project, names))
    const all = [...(built?.texts ?? [])].filter(([name]) => name.endsWith('.js'))
    return Object.fromEntries(all)
  }
  const before = await textsOf('core', 'core-dom')
  t.true(Object.keys(before).some(name => name.startsWith('npm/-/core-')))
  const { 'npm/added.js': added, ...rest } = await textsOf('added', 'core', 'core-dom')
  t.regex(added ?? '', /\badded\b/)
  t.deepEqual(rest, before)
})

test('files and workers to which a package refers by import.meta.url are published', async t => {
  t.regex(String((await built.load('urls'))['url']), /\/npm\/urls\/data\/a\.wasm\?v=1$/)
  for (const path of ['data/a.wasm', 'classic.js'])
    t.true(built.kept?.files.some(({ name }) => name === `npm/urls/${path}`))
  const { files = [] } = built.kept ?? {}
  const worker = files.find(({ name }) => /worker-[\da-f]+\.js$/.test(name))?.name ?? ''
  t.true(readFileSync(built.fileOf('urls'), 'utf8').includes(worker.replace('npm/', '')))
  t.regex(readFileSync(join(built.kept?.directory ?? '', worker), 'utf8'), /"told"/)
})

test('each import leads to its own package, also with similar names and those that the app maps', async t => {
  for (const name of ['chart', 'chart.js']) t.is((await built.load(name))['a'], name)
  t.is((await built.load('chart.js/auto'))['a'], 'auto')
  t.is(built.kept?.imports.names.get('chart'), 'npm/-/chart.js')
  t.regex(readFileSync(built.fileOf('mapping'), 'utf8'), /import ["']mapped["']/)
})

test('source maps name the packages, not the folders in which these lie', t => {
  const maps = built.kept?.files.filter(({ name }) => name.endsWith('.map')) ?? []
  const sources = maps.flatMap(({ file }) => {
    const text = readFileSync(file, 'utf8')
    return (JSON.parse(text) as { sources: string[] }).sources
  })
  const named = sources.filter(source => !source.includes('\0'))
  t.true(named.includes('/node_modules/-/tip@1.0.0/tip/dist/esm/_base.js'), 'in a store')
  t.true(named.includes('/node_modules/linked/index.js'))
  const isOutside = (source: string) => !source.startsWith('/node_modules/') || /\.\./.test(source)
  t.deepEqual(named.filter(isOutside), [])
})

test('a build that cannot be kept beside the packages is kept elsewhere', async t => {
  const project = makeProject(t, placed(TIP))
  // This file has the name of the folder that `buildIn` would make.
  writeFiles(project, { 'built-development': '' })
  const { kept, fileOf } = await buildIn(wantedOf(project, ['tip/more']))
  t.not(kept?.directory, await directoryFor(project, '', ''))
  t.true(existsSync(fileOf('tip/more')))
  await removeProject(kept?.directory ?? '')
})

test('processes that build at the same time each get a whole build', async t => {
  const project = makeProject(t, placed({ ...TIP, ...PACKAGES }))
  const directory = join(project, 'kept')
  const jobs = [['tip'], ['tip/more', 'chart']].map(each => wantedOf(project, each))
  const outcomes = await Promise.all(jobs.map(wanted => buildApart({ wanted, directory, key: '' })))
  const restored = await restoreBuild({ directory, key: '' })
  const all = outcomes.flatMap(each => ('failure' in each ? [] : each))
  t.is(all.length, 2)
  t.true(all.some(each => each.directory === restored?.directory))
  for (const { file } of all.flatMap(({ files }) => files)) t.true(statSync(file).size > 0, file)
  t.is(readdirSync(directory).length, 3, 'two builds, and the list')
  // The next build removes one that is old.
  const old = readdirSync(directory).find(name => name !== 'list') ?? ''
  utimesSync(join(directory, old), 0, 0)
  const wanted = wantedOf(project, ['one'])
  // As in a server that `node --watch` restarts.
  process.env['WATCH_REPORT_DEPENDENCIES'] = '1'
  t.teardown(() => Reflect.deleteProperty(process.env, 'WATCH_REPORT_DEPENDENCIES'))
  await buildApart({ wanted, directory, key: '' })
  t.true((await restoreBuild({ directory, key: '' }))?.imports.names.has('one'))
  t.false(existsSync(join(directory, old)))
})

/** Rolldown, around whose first build something happens. */
const WRAPPED = pkg(
  'rolldown',
  { version: '99.0.0', main: 'index.js' },
  {
    'index.js': `const real = require(${JSON.stringify(require.resolve('rolldown'))})
const { before, after } = require('../../meanwhile.cjs')
let isFirst = true
exports.rolldown = async input => {
  const build = await real.rolldown(input)
  const generate = async output => {
    const [first, then] = isFirst ? [before, after] : []
    isFirst = false
    first?.()
    return build.generate(output).finally(() => then?.())
  }
  return { generate, close: () => build.close(), get watchFiles() { return build.watchFiles } }
}`,
    'parseAst.js': `module.exports = require(${JSON.stringify(require.resolve('rolldown/parseAst'))})`,
    'utils.js': `module.exports = require(${JSON.stringify(require.resolve('rolldown/utils'))})`
  }
)
const TIP_ONE = "import './lib/more.js'\nexport const tip = 'one'"
const MOVE = "(from, to) => fs.renameSync(__dirname + '/' + from, __dirname + '/' + to)"
for (const [what, meanwhile] of [
  [
    'away',
    "before: () => move('node_modules/tip', 'away'), after: () => move('away', 'node_modules/tip')"
  ],
  [
    'partly away',
    "before: () => move('node_modules/tip/lib', 'away'), after: () => move('away', 'node_modules/tip/lib')"
  ],
  ['edited', "after: () => move('next/index.js', 'node_modules/tip/index.js')"],
  ['replaced', "after: () => (move('node_modules/tip', 'old'), move('next', 'node_modules/tip'))"]
] as const)
  test(`a package that is ${what} while it is built is built as it is afterwards`, async t => {
    const root = makeProject(t, {
      ...placed({ ...modulePkg('tip', TIP_ONE, { 'lib/more.js': '' }), ...WRAPPED }),
      'next/package.json': JSON.stringify({ name: 'tip', version: '2.0.0', module: 'index.js' }),
      'next/index.js': "export const tip = 'two'",
      'meanwhile.cjs': `const fs = require('node:fs')\nconst move = ${MOVE}\nmodule.exports = { ${meanwhile} }`
    })
    const { load, message } = await buildIn(wantedOf(root, ['tip']))
    t.is(message, '')
    t.is((await load('tip'))['tip'], what.includes('away') ? 'one' : 'two')
  })

test('a dependency that is only loaded in some environments may be missing', async t => {
  t.is((await built.load('optional'))['default'], undefined)
  const { message } = await buildIn(wantedOf(root, ['optional', 'lost']))
  t.regex(message, /^the option packages names the package lost, which is not installed/)
})

test('a package that claims the name and the version of another never takes its place', async t => {
  t.is((await built.load('preact'))['default'], 'preact')
  t.is((await built.load('user'))['default'], 'copy')
  const named = { packages: [{ evil: ['a.css'] }], dir: root }
  const files = await namedFiles(named, new Packages(root))
  t.deepEqual(files[0]?.name, 'npm/evil/a.css')
})

const BROKEN = {
  ...TIP,
  ...modulePkg('lacks', "import 'gone'"),
  ...modulePkg('outdated', "import 'tip/index.js'"),
  ...modulePkg('for-node', "import { readFile } from 'node:fs'\nexport const read = readFile"),
  ...modulePkg('styled', "import './a.css'\nimport './b.css'", { 'a.css': '', 'b.css': '' }),
  ...modulePkg('short', "export * from './part'"),
  ...modulePkg('wrong', 'export const a = 1\nexport const b = {'),
  ...pkg('types-only', { exports: { '.': { types: './a.d.ts' } } }),
  ...pkg('unreadable', {}, { 'package.json': '{' })
}

const THOUGH = 'though the option packages names it'

test('the error of a build says of each package how to repair it', async t => {
  const project = makeProject(t, placed(BROKEN))
  for (const told of [
    {
      'unheard-of': 'the package unheard-of, which is not installed: run npm install unheard-of',
      'tipp/more': "did you mean 'tip', which is? If not, run npm install tipp",
      '@pop/cor': "package @pop/cor, which is not installed: did you mean '@pop/core', which is?",
      'tip/mor': `has no export './mor' for browsers, ${THOUGH}: did you mean './more'?`,
      'types-only': `has no module for browsers, ${THOUGH}: name files of it, packages: { 'types-only': […] }, or bundle it`,
      unreadable: 'package.json cannot be read: '
    },
    {
      lacks:
        "node_modules/lacks/index.js imports 'gone', which is not installed: run npm install gone",
      outdated:
        "'tip/index.js', which is not installed, or not exported by the installed version (see npm ls tip): run npm install tip",
      'for-node':
        "for-node/index.js imports 'node:fs', a module of Node, which browsers do not have",
      styled:
        "styled/index.js imports './a.css', a stylesheet, which browsers do not accept as a module: use another module of the package, or remove the import if the package is yours, and @import the stylesheet in one of the app",
      short: "short/index.js imports './part', which does not exist: install the package again"
    },
    { wrong: 'node_modules/wrong/index.js:2:19 cannot be built: ' }
  ]) {
    const { message } = await buildIn(wantedOf(project, Object.keys(told)))
    for (const text of Object.values(told)) t.true(message.includes(text), message)
    t.false(message.includes('b.css'), 'a package has one stylesheet or a hundred')
  }
})

const deep = (depth: number) => '{"import":'.repeat(depth) + '"./i.js"' + '}'.repeat(depth)
const many = Array.from({ length: 40_000 }, (_, at) => `"./${at}/${'k'.repeat(20)}":"./x"`)
const NO_MODULE = {
  'exports-20000-deep': `"exports":${deep(20_000)}`,
  'nul-in-exports': '"exports":"./a\\u0000.js"',
  'nul-in-main': '"main":"a\\u0000.js","module":"\\u0000"',
  'megabyte-of-keys': `"exports":{${many.join()}}`
}
const NOT_FOUND = {
  'own-imports': ['#x', '"imports":{"#x":"#x"}'],
  circle: ['#y', '"imports":{"#y":"#z","#z":"#y"}'],
  'nul-in-imports': ['#n', '"imports":{"#n":"./\\u0000.js"}'],
  'imports-nul': ['a\0b', '"version":"1.0.0"'],
  'imports-path': ['@a/../b', '"version":"1.0.0"']
} as const

// Serial: its processor time is that of the process.
test.serial('a hostile package.json or import soon leads to an error that names it', async t => {
  const hostile = (name: string, json: string, code = '') =>
    pkg(name, {}, { 'package.json': `{"name":"${name}","version":"1.0.0",${json}}`, 'i.js': code })
  const project = makeProject(t)
  for (const [name, json] of Object.entries(NO_MODULE))
    writeFiles(project, placed(hostile(name, json)))
  for (const [name, [specifier, json]] of Object.entries(NOT_FOUND))
    writeFiles(project, placed(hostile(name, `"module":"i.js",${json}`, `import '${specifier}'`)))
  const before = process.cpuUsage()
  const first = await buildIn(wantedOf(project, Object.keys(NO_MODULE)))
  for (const name of Object.keys(NO_MODULE))
    t.true(first.message.includes(`- ${name} 1.0.0 has no module for browsers`), first.message)
  const second = await buildIn(wantedOf(project, Object.keys(NOT_FOUND)))
  for (const [name, [specifier]] of Object.entries(NOT_FOUND)) {
    const shown = specifier.replace('\0', '\\u0000')
    const told = `node_modules/${name}/i.js imports '${shown}', which does not exist: install`
    t.true(second.message.includes(told), second.message)
  }
  t.true(process.cpuUsage(before).user < 30_000_000, 'linear')
})

const OTHER = '../../other/node_modules/tip/secret.js'
const REFUSED = /outside of its package|which does not exist|has no module|begins with a dot/
const URL_OF = "new URL('../../secret.js', import.meta.url)"
const OUT: [what: string, code: string, json?: Readonly<Record<string, unknown>>][] = [
  ['an import', "export * from '../../secret.js'"],
  ['an import()', "export const key = () => import('../../secret.js')"],
  ['a path of the disk', "export * from '/SECRET'"],
  ['require', "module.exports = require('../../secret.cjs')", { module: undefined }],
  ['the field module', '', { module: '../../secret.js' }],
  ['the field browser', "export * from './a.js'", { browser: { './a.js': '../../secret.js' } }],
  ['the same for a package', "export * from 'tip'", { browser: { tip: '../../secret.js' } }],
  ['imports', "export * from '#key'", { imports: { '#key': '../../secret.js' } }],
  ['exports', '', { exports: './../../secret.js' }],
  ['new URL()', `export const url = ${URL_OF}`],
  ['a worker', `export const work = () => new Worker(${URL_OF}, { type: 'module' })`],
  ['another package by a path', "export * from '../tip/unused.js'"],
  ['another project', "export * from './a.js'", { browser: { './a.js': OTHER } }],
  ['a hidden file of its own', "export * from './.secret.js'"],
  ['a hidden file of another package', "export * from 'bare/.secret.js'"],
  ['a hidden file by exports', '', { exports: './.secret.js' }]
]

test('only visible files of a package itself are published, whatever it refers to', async t => {
  const key = "export const key = 'the key of the application'"
  const secrets = { '/secret.js': key, '/secret.cjs': '', '/node_modules/tip/unused.js': key }
  const others = {
    '/other/node_modules/tip/secret.js': key,
    ...modulePkg('bare', '', { '.secret.js': key })
  }
  const project = makeProject(t, placed({ ...TIP, ...secrets, ...others }))
  const secret = withSlashes(join(project, 'secret.js'))
  for (const [at, [what, code, json]] of OUT.entries()) {
    const name = `leaky${at}`
    const written = code.replace('/SECRET', secret)
    writeFiles(project, placed(modulePkg(name, written, { 'a.js': '', '.secret.js': key }, json)))
    const { message } = await buildIn(wantedOf(project, [name]))
    t.regex(message, REFUSED, what)
    const reason = await t.throwsAsync(run({ root: project, packages: name, missing: 'ignore' }))
    t.true(reason.message.includes(what === 'imports' ? 'which does not exist' : message), what)
    t.false(existsSync(join(project, 'public/assets/npm')), what)
  }
})

test('a namespace of CommonJS has the members that a module asks for, as in Node', async t => {
  const code =
    'const all = {}\nfor (const name of ["add", "less", "more", "$"]) all[name] = name\nmodule.exports = all'
  const app = `import * as $all from 'named'\nconst { less, more: most } = $all
export default [$all.add, less, most, $all?.$, $all.gone]`
  const files = {
    ...pkg('named', {}, { 'index.js': code }),
    '/package.json': '{ "dependencies": { "named": "1" } }',
    'js/app.js': app
  }
  const page = await makePage(t, files, {}, assets => assets.importMap({ entry: 'app' }))
  const { exported } = await runModule(page, '/assets/app.js', await page.imports())
  t.deepEqual(exported?.['default'], ['add', 'less', 'more', '$', undefined])
})

test('precompile says what to write for a stylesheet of a package that a module imports by its file', async t => {
  const files = {
    ...modulePkg('boot', '', { 'dist/boot.css': '' }),
    '/package.json': '{ "dependencies": { "boot": "1" } }',
    'js/app.js': "import 'boot/dist/boot.css'"
  }
  const root = makeProject(t, placed(files))
  const { message } = await t.throwsAsync(run({ root, bundle: true }))
  t.regex(message, /js\/app\.js imports 'boot\/dist\/boot\.css', a stylesheet: write @import/)
})
