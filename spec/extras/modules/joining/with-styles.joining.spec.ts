// Modules that are joined when they are precompiled.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { withSlashes } from '../../../../lib/runtime/files/paths.ts'
import { PrecompileError } from '../../../../lib/koa-assets.ts'
import { makeProject, placed, readManifest, readMapped, run } from '../../../support/index.ts'
import { targetOf, test, words, writeFiles, type ExecutionContext } from '../../../support/index.ts'
import type { Files } from '../../../support/index.ts'
import { ALL, makeShop, pkg, SHOP, type Shop } from './shop.ts'

const EXPORTED = { exports: './index.js' }

/** A shop whose module `main.js` imports one more package. */
const makeWith = (t: ExecutionContext, name: string, main: string, files: Files) => {
  const packages = [...ALL.packages, name]
  return makeShop(t, { ...ALL, packages }, { 'javascripts/main.js': main, ...files })
}

/** What a module of the site exports, run here: its imports are made those of files. */
async function runModule(shop: Shop, name: string): Promise<Record<string, unknown>> {
  const base = pathToFileURL(join(shop.root, 'public')).href
  for (const script of shop.scripts()) {
    const text = shop.text(script).replaceAll(/(["'`])(\/assets\/[^"'`]+\.js)\1/g, `"${base}$2"`)
    writeFiles(shop.root, { [join('public', targetOf(shop.root, `/assets/${script}`))]: text })
  }
  return (await import(base + targetOf(shop.root, `/assets/${name}`))) as Record<string, unknown>
}

test('precompile joins modules and packages into fewer, smaller files that work the same', async t => {
  const shop = await makeShop(t)
  const { root, text } = shop
  const { imports, dynamicImports } = readManifest(root).assets['/assets/app.js'] ?? {}
  t.deepEqual(imports?.toSorted(), ['/assets/joined/big.js', '/assets/joined/count.js'])
  t.deepEqual(dynamicImports, ['/assets/later.js'])
  t.true(text('app.js').includes(targetOf(root, '/assets/worker.js')))
  t.true(text('joined/big.js').includes('used'))
  t.false(text('joined/big.js').includes('not called'))
  const joinedNames = words('joined/big.js joined/count.js joined/tiny.js')
  const own = words('admin.js app.js classic.js later.js worker.js')
  t.deepEqual(shop.scripts(), [...own, ...joinedNames].toSorted())
  const { assets } = readManifest(root)
  t.deepEqual(assets['/assets/app.js']?.sources, ['/assets/app.js', '/assets/widgets/picture.js'])
  t.is(assets['/assets/app.js']?.source, 'javascripts/app.js')
  const sources = words('/assets/npm/big.js /assets/npm/big/low.js /assets/npm/wee.js')
  t.deepEqual(assets['/assets/joined/big.js']?.sources?.toSorted(), sources)
  t.is(assets['/assets/classic.js']?.sources, undefined)
  const { joined } = shop.report
  t.like(joined, { modules: 10, files: 7 })
  t.true((joined?.bytes ?? 0) < (joined?.insteadOf ?? 0))
  const { shown, later } = await runModule(shop, 'app.js')
  const [low, wee, count, star] = shown as unknown[]
  t.deepEqual([low, wee, count], ['low used', 'wee tiny', 1])
  // On Windows it is below the drive of the module.
  t.true(String(star).endsWith(targetOf(root, '/assets/star.svg')))
  // A module that several entries share runs once.
  const { late } = await (later as () => Promise<{ late: unknown }>)()
  t.deepEqual(late, ['tiny', 2])
  t.deepEqual((await runModule(shop, 'admin.js'))['admin'], 3)
})

test('modules are joined if Rolldown is new enough, which is required only with bundle: true', async t => {
  const shop = await makeShop(t, { packages: ALL.packages, bundle: undefined })
  t.false(shop.scripts().includes('count.js'))
  const files = {
    'app.js': "import './part.js'",
    'part.js': 'console.log(1)',
    ...pkg('rolldown', { 'index.js': '' }, { version: '1.2.18' })
  }
  const root = makeProject(t, placed(files))
  await run({ root, bundle: undefined })
  t.deepEqual(Object.keys(readManifest(root).assets), ['/assets/app.js', '/assets/part.js'])
  const message = /needs rolldown 1\.2\.19 or newer, and 1\.2\.18 is installed/
  await t.throwsAsync(run({ root, bundle: true }), { message })
})

test("bundle: 'packages' joins modules of packages, but none of the app", async t => {
  const shop = await makeShop(t, { packages: ALL.packages })
  const own = shop.scripts().filter(name => !/^(?:joined|npm)\//.test(name))
  const files = 'admin.js app.js classic.js count.js later.js widgets/picture.js worker.js'
  t.deepEqual(own, words(files))
  const count = 'let counted = 0;\nconst count = () => ++counted;\n\nexport { count };\n'
  t.true(shop.text('count.js').startsWith(count))
  const imported = words('/assets/count.js /assets/joined/big.js /assets/widgets/picture.js')
  t.deepEqual(readManifest(shop.root).assets['/assets/app.js']?.imports, imported)
  t.false(shop.text('joined/big.js').includes('not called'))
})

test('a package that no module imports keeps all its exports, for scripts in pages', async t => {
  const old = { 'index.js': "exports.one = 1\nexports.two = 'two'" }
  const options = { ...ALL, packages: [...ALL.packages, 'old', 'older'] }
  const main = "import { two } from 'old'\nexport const told = [two, import.meta.url !== '']"
  const shop = await makeShop(t, options, {
    'javascripts/app.js': '',
    'javascripts/main.js': main,
    ...pkg('old', old, { type: 'commonjs' }),
    ...pkg('older', old, { type: 'commonjs' })
  })
  t.deepEqual(Object.keys(await runModule(shop, 'npm/big.js')), ['unused', 'used'])
  t.is(readManifest(shop.root).assets['/assets/npm/big/low.js'], undefined)
  t.deepEqual((await runModule(shop, 'main.js'))['told'], ['two', true])
  t.deepEqual(Object.keys(await runModule(shop, 'npm/older.js')), ['default', 'one', 'two'])
})

for (const bundle of [true, 'packages'] as const) {
  test(`a build in any folder gives a new URL only to the file that was edited, bundle: ${bundle}`, async t => {
    const options = { ...ALL, bundle, minify: true }
    const shop = await makeShop(t, options)
    const before = (await makeShop(t, options)).targets()
    t.deepEqual(shop.targets(), before)
    for (const name of shop.scripts()) t.false(shop.text(name).includes(shop.root), name)
    const edited = `${String(SHOP['javascripts/app.js'])}\nconsole.log('edited')`
    writeFiles(shop.root, placed({ 'javascripts/app.js': edited }))
    await run({ root: shop.root, ...options })
    const after = shop.targets()
    const changed = Object.keys(after).filter(path => after[path] !== before[path])
    t.deepEqual(changed, ['/assets/app.js'])
  })
}

test('source maps of joined modules lead to the sources, also in TypeScript and in packages', async t => {
  const files = {
    'javascripts/typed.ts':
      "interface A { b: string }\nexport const typed = (a: A): string => a.b + ' typed'",
    'javascripts/main.js': "import { typed } from './typed.js'\nconsole.log(typed({ b: 'main' }))"
  }
  const { root } = await makeShop(t, { ...ALL, minify: true }, files)
  const main = readMapped(root, '/assets/main.js')
  t.deepEqual(main.map.sources.toSorted(), ['main.js', 'typed.ts'])
  t.is(main.origin(' typed').source, 'typed.ts')
  t.regex(main.origin(' typed').code, /' typed'/)
  const { map } = readMapped(root, '/assets/joined/big.js')
  const sources = words('../npm/big/index.js ../npm/big/low.js ../npm/wee/index.js')
  t.deepEqual(map.sources.toSorted(), sources)
})

test('modules that use their URL, files loaded by URL, JSON and scripts are not joined', async t => {
  const shop = await makeShop(t, ALL, {
    'javascripts/main.js': `import { page } from './pages.js'
import data from './data.json' with { type: 'json' }
page(data)`,
    'javascripts/data.json': '{ "told": "by JSON" }',
    'javascripts/pages.js':
      "import './pages/a.js'\nexport const page = to => import(`./pages/${to}.js`)",
    'javascripts/pages/a.js': "export const a = 'a'",
    'javascripts/sum.js':
      "import './locales/en.js'\nexport const to = at => import('./locales/' + at)",
    'javascripts/locales/en.js': 'export const hello = 1',
    'javascripts/resolves.js':
      "import './own.js'\nexport const url = import.meta.resolve('./own.js')",
    'javascripts/own.js': 'export const own = 1',
    // A method of that name is none, nor is a comment.
    'javascripts/uses.js': "import { Loader } from './loader.js'\nLoader.import(document.title)",
    'javascripts/loader.js': `export class Loader { static import(name) { return name } }
// Unlike import(name), and import.meta.url`,
    'javascripts/waits.js': "import { here } from './here.js'\nawait here",
    'javascripts/here.js': 'export const here = import.meta.url'
  })
  for (const file of ['pages.js', 'pages/a.js', 'locales/en.js', 'own.js', 'here.js'])
    t.true(shop.scripts().includes(file), file)
  t.false(shop.scripts().includes('loader.js'))
  t.true(shop.text('here.js').includes('import.meta.url'))
  t.is(shop.text('classic.js'), String(SHOP['javascripts/classic.js']))
  const json = targetOf(shop.root, '/assets/data.json')
  t.true(shop.text('main.js').includes(`from "${json}" with { type: "json" }`))
})

test('modules in an import cycle all keep their files if one of them is not joined', async t => {
  const main = "import { at } from 'finder'\nexport const found = at()"
  const finder = {
    'index.js':
      "export * from './root.js'\nimport { base } from './base.js'\nimport { at as more } from './more.js'\nexport function at() { return more(base) }",
    'base.js': "import { root } from './index.js'\nexport const base = root(import.meta.url)",
    'more.js': 'export const at = place => place',
    'root.js': "import { cut } from './cut.js'\nexport const root = url => cut(url)",
    'cut.js': 'export const cut = url => new URL(url).protocol'
  }
  const shop = await makeWith(t, 'finder', main, pkg('finder', finder, EXPORTED))
  const { assets } = readManifest(shop.root)
  const below = new Set(assets['/assets/npm/finder/base.js']?.imports)
  for (const path of below) for (const to of assets[path]?.imports ?? []) below.add(to)
  const names = ['base', 'more', 'root'].map(name => `/assets/npm/finder/${name}.js`)
  const kept = ['/assets/joined/finder/shared.js', '/assets/npm/finder.js', ...names]
  t.deepEqual([...below].toSorted(), kept)
  t.false(shop.text('joined/finder/shared.js').includes('import'))
  t.true(shop.text('npm/finder.js').includes('function at'))
})

test('an import of a name that a package does not export is an error with file, line and column', async t => {
  const wrong = { 'javascripts/wrong.js': "import { used, nothing } from 'big'\nused(nothing)" }
  const error = await t.throwsAsync(makeShop(t, ALL, wrong), { instanceOf: PrecompileError })
  const told = 'javascripts/wrong.js:1:16: "nothing" is not exported by "node_modules/big/index.js"'
  t.true(withSlashes(error?.message ?? '').includes(told))
})

const SHEETS = { 'a.css': '', 'b.css': 'p { color: red }' }

test('a package that imports a module of Node is an error with its file, unless that is unused', async t => {
  const main = "import { half } from 'server'\nexport const halves = half()"
  const make = (code: string, other = '') => {
    const files = { 'index.js': code, 'other.js': other, ...SHEETS }
    return makeWith(t, 'server', main, pkg('server', files, EXPORTED))
  }
  const lost = "import lost from 'fs'\nlost()\nexport const half = () => 0.5"
  const error = await t.throwsAsync(make(lost))
  const told = "server/index.js: imports 'fs', a module of Node"
  t.true(withSlashes(error.message).includes(told), error.message)
  const unused = ['fs', 'not-there', './a.css'].map((lost, at) => `import l${at} from '${lost}'`)
  const { text } = await make(
    `export { other } from './other.js'\nimport sheet from './b.css' with { type: 'css' }\nexport const half = () => sheet`,
    `${unused.join('\n')}\nexport const other = () => [l0, l1, l2]`
  )
  t.notRegex(text('joined/server.js'), /\bfs\b|not-there/)
  const sheet = /import \w+ from ?".*b-[\da-f]{32}\.css" ?with ?\{ ?type: ?"css" ?\}/
  t.regex(text('joined/server.js'), sheet)
})

test('joining leaves what is loaded later (import(), import defer, URLs) alone, even if missing', async t => {
  const code = `export const none = () => import('./none.js')
export const url = new URL('./gone.wasm', import.meta.url)
export const optional = () => import('optional').catch(() => 0)`
  const files = pkg('lazy', { 'index.js': code }, EXPORTED)
  const main =
    "import * as lazy from 'lazy'\nimport defer * as late from './count.js'\nlazy.none(late, lazy.url)"
  const packages = [...ALL.packages, 'lazy']
  for (const bundle of [true, 'packages'] as const) {
    const options = { packages, bundle, missing: 'error' } as const
    const shop = await makeShop(t, options, { 'javascripts/main.js': main, ...files })
    t.deepEqual(shop.report.warnings, [])
    t.regex(shop.scripts().map(shop.text).join('\n'), /import\("\.\/none\.js"\)/)
    t.regex(shop.text('main.js'), /import defer \* as late from "\/assets\/count-/)
  }
})
