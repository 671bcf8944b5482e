// Modules that are joined when they are precompiled.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { withSlashes } from '../../../../lib/files/paths.ts'
import { PrecompileError } from '../../../../lib/koa-assets.ts'
import { placed, readManifest, run, targetOf } from '../../../support/fingerprinted.ts'
import { type Files, writeFiles } from '../../../support/site.ts'
import { readMapped } from '../../../support/source-map.ts'
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
  const isScript = ([path]: readonly [string, string]) => path.endsWith('.js')
  for (const [, target] of Object.entries(shop.targets()).filter(isScript)) {
    const file = join(shop.root, 'public', target)
    const text = readFileSync(file, 'utf8').replaceAll(
      /(["'`])(\/assets\/[^"'`]+\.js)\1/g,
      `"${base}$2"`
    )
    writeFiles(shop.root, { [join('public', target)]: text })
  }
  return (await import(base + targetOf(shop.root, `/assets/${name}`))) as Record<string, unknown>
}

test('JOI-01 modules become the ones that nothing imports, and files of the packages that the same ones load, without what nothing uses; what is imported lazily, and a worker, are files of their own', async t => {
  const shop = await makeShop(t)
  const { root, text } = shop
  const { imports, dynamicImports } = readManifest(root).assets['/assets/app.js'] ?? {}
  t.deepEqual(imports?.toSorted(), ['/assets/joined/big.js', '/assets/joined/count.js'])
  t.deepEqual(dynamicImports, ['/assets/later.js'])
  t.true(text('app.js').includes(targetOf(root, '/assets/worker.js')))
  t.true(text('joined/big.js').includes('used'))
  t.false(text('joined/big.js').includes('not called'))
  t.deepEqual(shop.scripts(), [
    'admin.js',
    'app.js',
    'classic.js',
    'joined/big.js',
    'joined/count.js',
    'joined/packages.js',
    'later.js',
    'worker.js'
  ])
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

test('JOI-01 what a worker needs is not in the file of a large package that needs it too', async t => {
  const { root, text } = await makeShop(t, ALL, {
    '/node_modules/big/index.js': `/* ${'x'.repeat(160_000)} */\nimport { tiny } from 'tiny'\nexport const used = () => tiny`
  })
  t.deepEqual(readManifest(root).assets['/assets/worker.js']?.imports, [
    '/assets/joined/packages.js'
  ])
  t.false(text('joined/packages.js').includes('import'))
  t.deepEqual(readManifest(root).assets['/assets/joined/big.js']?.imports, [
    '/assets/joined/packages.js'
  ])
})

test("JOI-02 with 'packages' modules of the app stay files, and name those of packages", async t => {
  const shop = await makeShop(t, { ...ALL, bundle: 'packages' })
  const own = shop.scripts().filter(name => !/^(?:joined|npm)\//.test(name))
  t.deepEqual(own, [
    'admin.js',
    'app.js',
    'classic.js',
    'count.js',
    'later.js',
    'widgets/picture.js',
    'worker.js'
  ])
  t.regex(
    shop.text('count.js'),
    /^let counted = 0;\nconst count = \(\) => \+\+counted;\n\nexport \{ count \};\n/
  )
  t.deepEqual(readManifest(shop.root).assets['/assets/app.js']?.imports, [
    '/assets/count.js',
    '/assets/joined/big.js',
    '/assets/widgets/picture.js'
  ])
  t.false(shop.text('joined/big.js').includes('not called'))
})

test('JOI-02 a package that no module imports has all its exports at its own name, for scripts in pages', async t => {
  const shop = await makeShop(t, ALL, { 'javascripts/app.js': '' })
  t.deepEqual(Object.keys(await runModule(shop, 'npm/big.js')), ['unused', 'used'])
  t.is(readManifest(shop.root).assets['/assets/npm/big/low.js'], undefined)
})

test('JOI-02 CommonJS has the names of its exports there as well, and for modules that stay files', async t => {
  const old = { 'index.js': "exports.one = 1\nexports.two = 'two'" }
  const main = "import { two } from 'old'\nexport const told = [two, import.meta.url !== '']"
  const shop = await makeWith(t, 'old', main, pkg('old', old, { type: 'commonjs' }))
  t.deepEqual((await runModule(shop, 'main.js'))['told'], ['two', true])
  const alone = await makeWith(t, 'old', 'export {}', pkg('old', old, { type: 'commonjs' }))
  t.deepEqual(Object.keys(await runModule(alone, 'npm/old.js')), ['default', 'one', 'two'])
})

test('JOI-02 where Rolldown can be loaded, packages are joined without a word; false leaves all as it is', async t => {
  const { bundle: _, ...options } = ALL
  const usual = await makeShop(t, options)
  t.deepEqual(usual.targets(), (await makeShop(t, { ...ALL, bundle: 'packages' })).targets())
  const none = await makeShop(t, { ...ALL, bundle: false })
  t.true(none.scripts().includes('npm/big.js'))
  t.false(none.scripts().some(name => name.startsWith('joined/')))
})

for (const bundle of [true, 'packages'] as const) {
  test(`JOI-03 an edit of the application leaves the bytes of packages alone: ${bundle}`, async t => {
    const options = { ...ALL, bundle, minify: true }
    const shop = await makeShop(t, options)
    const before = shop.targets()
    const edited = `${String(SHOP['javascripts/app.js'])}\nconsole.log('edited')`
    writeFiles(shop.root, placed({ 'javascripts/app.js': edited }))
    await run({ root: shop.root, ...options })
    const after = shop.targets()
    const changed = Object.keys(after).filter(path => after[path] !== before[path])
    t.deepEqual(changed, ['/assets/app.js', '/assets/app.js.map'])
  })

  test(`JOI-03 unchanged sources give the same bytes wherever they are: ${bundle}`, async t => {
    const [one, other] = await Promise.all(
      [true, true].map(minify => makeShop(t, { ...ALL, bundle, minify }))
    )
    t.deepEqual(one?.targets(), other?.targets())
    for (const name of one?.scripts() ?? []) t.false(one?.text(name).includes(one.root), name)
  })
}

test('JOI-04 source maps lead to the sources, those of TypeScript as well', async t => {
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
  const sources = ['big/index.js', 'big/low.js', 'wee/index.js']
  t.deepEqual(
    map.sources.toSorted(),
    sources.map(source => `../npm/${source}`)
  )
})

test('JOI-05 what a module does by its own URL keeps it a file of its own', async t => {
  const { scripts, text } = await makeShop(t, ALL, {
    'javascripts/main.js': "import { page } from './pages.js'\npage('a')",
    'javascripts/pages.js': 'export const page = name => import(`./pages/${name}.js`)',
    'javascripts/pages/a.js': "export const a = 'a'",
    'javascripts/uses.js': "import { Loader } from './loader.js'\nLoader.import(document.title)",
    'javascripts/loader.js':
      'export class Loader { static import(name) { return name } }\n// Unlike import(name), and import.meta.url'
  })
  t.true(scripts().includes('pages.js'))
  // A method of that name is none, nor is a comment.
  t.false(scripts().includes('loader.js'))
  t.true(text('pages.js').includes('import('))
})

test('JOI-05 so does one that a package or a page with a top-level await imports', async t => {
  const own = { 'javascripts/own.js': 'export const own = import.meta.url' }
  const main = "import { at } from 'finder'\nimport { own } from './own.js'\nawait at(own)"
  const finder = {
    'index.js':
      "import { base } from './base.js'\nconsole.log(base)\nexport const at = name => new URL(name, base)",
    'base.js': 'export const base = import.meta.url'
  }
  const options = { sideEffects: true, ...EXPORTED }
  const { text } = await makeWith(t, 'finder', main, {
    ...pkg('finder', finder, options),
    ...own
  })
  t.true(text('own.js').includes('import.meta.url'))
  t.true(text('npm/finder/base.js').includes('import.meta.url'))
  t.true(text('joined/finder.js').includes('new URL('))
})

/** A package with a module that stays a file, and what that imports, at whatever distance. */
async function makeFinder(t: ExecutionContext, base: string) {
  const main = "import { at } from 'finder'\nexport const found = at()"
  const finder = {
    'index.js':
      "export * from './root.js'\nimport { base } from './base.js'\nimport { at as more } from './more.js'\nexport function at() { return more(base) }",
    'base.js': `${base}\nexport const base = root(import.meta.url)`,
    'more.js': 'export const at = place => place',
    'root.js': "import { cut } from './cut.js'\nexport const root = url => cut(url)",
    'cut.js': 'export const cut = url => new URL(url).protocol'
  }
  const shop = await makeWith(t, 'finder', main, pkg('finder', finder, EXPORTED))
  const { assets } = readManifest(shop.root)
  const below = new Set(assets['/assets/npm/finder/base.js']?.imports)
  for (const path of below) for (const to of assets[path]?.imports ?? []) below.add(to)
  return { shop, below: [...below].toSorted() }
}

test('JOI-05 what it imports is not in a file that imports it, and so runs before it', async t => {
  const { shop, below } = await makeFinder(t, "import { root } from './root.js'")
  t.deepEqual(below, ['/assets/joined/finder/shared.js', '/assets/npm/finder/root.js'])
  t.is((await runModule(shop, 'main.js'))['found'], 'file:')
})

test('JOI-05 modules that it imports, and that import it, stay files as well; the file of others imports none of them', async t => {
  const { shop, below } = await makeFinder(t, "import { root } from './index.js'")
  const names = ['base', 'more', 'root'].map(name => `/assets/npm/finder/${name}.js`)
  t.deepEqual(below, ['/assets/joined/finder/shared.js', '/assets/npm/finder.js', ...names])
  t.false(shop.text('joined/finder/shared.js').includes('import'))
  t.true(shop.text('npm/finder.js').includes('function at'))
})

test('JOI-05 JSON and what is no module stay what they were', async t => {
  const shop = await makeShop(t, ALL, {
    'javascripts/main.js':
      "import data from './data.json' with { type: 'json' }\nexport const told = data.told",
    'javascripts/data.json': '{ "told": "by JSON" }'
  })
  t.is(shop.text('classic.js'), String(SHOP['javascripts/classic.js']))
  const json = targetOf(shop.root, '/assets/data.json')
  t.true(shop.text('main.js').includes(`from "${json}" with { type: "json" }`))
})

for (const [what, main, file] of [
  [
    'a query',
    "import './count.js'\nimport './count.js?v=3'\nimport { count } from './count.js#a'",
    'count.js'
  ],
  ['a query, of what no other module imports', "import './alone.js?v=3'", 'alone.js'],
  ['an export with a query', "export * from './count.js?v=3'", 'count.js'],
  ['an absolute path with a query', "import '/assets/count.js?v=3'", 'count.js'],
  [
    'an expression',
    "import './locales/en.js'\nexport const load = name => import(`./locales/${name}.js`)",
    'locales/en.js'
  ],
  [
    'a sum',
    "import './locales/en.js'\nexport const load = name => import('./locales/' + name)",
    'locales/en.js'
  ],
  [
    'import.meta.resolve',
    "import './count.js'\nexport const url = import.meta.resolve('./count.js')",
    'count.js'
  ],
  [
    'new URL',
    "import './count.js'\nexport const url = new URL('./count.js', import.meta.url)",
    'count.js'
  ],
  [
    'a worker',
    "import './worker.js'\nexport const work = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })",
    'worker.js'
  ]
] as const) {
  test(`JOI-11 what is referred to by a URL is a file, whoever imports it besides: ${what}`, async t => {
    const shop = await makeShop(t, ALL, {
      'javascripts/main.js': main,
      'javascripts/alone.js': 'globalThis.alone = 1',
      'javascripts/locales/en.js': 'export const hello = 1'
    })
    t.true(shop.scripts().includes(file))
    t.false(shop.scripts().includes(`joined/${file}`))
    const { assets } = readManifest(shop.root)
    for (const name of shop.scripts()) {
      for (const [, path = ''] of shop.text(name).matchAll(/["'`](\/assets\/[^"'`?#]+\.js)/g)) {
        const isThere =
          path in assets || Object.values(assets).some(({ target }) => target === path)
        t.true(isThere, `${name}: ${path}`)
      }
    }
  })
}

test('JOI-06 an import that a package does not have is an error at its place, and nothing is published', async t => {
  const wrong = { 'javascripts/wrong.js': "import { used, nothing } from 'big'\nused(nothing)" }
  const error = await t.throwsAsync(makeShop(t, ALL, wrong), { instanceOf: PrecompileError })
  t.regex(
    withSlashes(error?.message ?? ''),
    /javascripts\/wrong\.js:1:16: "nothing" is not exported by "node_modules\/big\/index\.js"/
  )
})

for (const lost of ['fs', 'node:crypto', 'not-there']) {
  test(`JOI-06 a package that needs '${lost}' in a browser is an error with its file, if that is used`, async t => {
    const main = "import { half } from 'server'\nexport const halves = half()"
    const other = `import lost from '${lost}'\nexport const other = () => lost`
    const make = (index: string) =>
      makeWith(t, 'server', main, pkg('server', { 'index.js': index, 'other.js': other }, EXPORTED))
    const half = 'export const half = () => 0.5'
    const error = await t.throwsAsync(make(`import lost from '${lost}'\nlost()\n${half}`))
    t.regex(
      withSlashes(error.message),
      new RegExp(`server/index\\.js: imports '${lost}', which is`)
    )
    const { text } = await make(`export { other } from './other.js'\n${half}`)
    t.false(text('joined/server.js').includes(lost))
  })
}

test("JOI-06 a package that imports a stylesheet is an error with its file, unless it says with { type: 'css' }", async t => {
  const main = "import { styled } from 'styled'\nexport const shown = styled()"
  const css = { 'a.css': 'p { color: red }' }
  const exported = { sideEffects: true, exports: { '.': './index.js', './a.css': './a.css' } }
  const make = (index: string) =>
    makeWith(t, 'styled', main, pkg('styled', { 'index.js': index, ...css }, exported))
  const error = await t.throwsAsync(make("import './a.css'\nexport const styled = () => 1"))
  t.regex(
    withSlashes(error.message),
    /styled\/index\.js: imports '.*a\.css', which is a stylesheet/
  )
  const typed =
    "import sheet from './a.css' with { type: 'css' }\nexport const styled = () => sheet"
  const imported = /import \w+ from ?".*a-[\da-f]{32}\.css" ?with ?\{ ?type: ?"css" ?\}/
  t.regex((await make(typed)).text('joined/styled.js'), imported)
})

test('JOI-07 the manifest says which sources a file was made of, the report what was saved', async t => {
  const { root } = await makeShop(t)
  const { assets } = JSON.parse(readFileSync(join(root, 'public/assets.json'), 'utf8')) as {
    assets: Record<string, { sources?: string[]; source: string }>
  }
  t.deepEqual(assets['/assets/app.js']?.sources, ['/assets/app.js', '/assets/widgets/picture.js'])
  t.is(assets['/assets/app.js']?.source, 'javascripts/app.js')
  t.deepEqual(assets['/assets/joined/big.js']?.sources?.toSorted(), [
    '/assets/npm/big.js',
    '/assets/npm/big/low.js',
    '/assets/npm/wee.js'
  ])
  t.is(assets['/assets/classic.js']?.sources, undefined)
  const { joined } = await run({ root, ...ALL })
  t.is(joined?.modules, 10)
  t.is(joined?.files, 7)
  t.true((joined?.bytes ?? 0) < (joined?.insteadOf ?? 0))
})
