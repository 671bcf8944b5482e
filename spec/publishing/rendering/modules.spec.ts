// What modules refer to, under fingerprints.
import { SourceMap, type SourceMapPayload } from 'node:module'
import { encode } from '@jridgewell/sourcemap-codec'
import { PrecompileError } from '../../../lib/runtime/errors.ts'
import type { Compiler } from '../../../lib/runtime/settings/compiler.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { digestIn, digestOf, makeFingerprinted, makeProject } from '../../support/index.ts'
import { makeSite, MODES, placed, readPublic, run, targetOf, test } from '../../support/index.ts'
import { warningsAbout, words, type ExecutionContext } from '../../support/index.ts'
import type { FingerprintedSite } from '../../support/index.ts'

const mapIn = (tag: string) =>
  JSON.parse(/>(.*)</.exec(tag)?.[1] ?? '{}') as Record<string, Record<string, string>>

/** What a precompile refuses. */
async function problemsOf(t: ExecutionContext, root: string, more: KoaAssetsOptions = {}) {
  const error = await t.throwsAsync(run({ root, ...more }), { instanceOf: PrecompileError })
  return error.problems.map(({ message }) => message)
}

const pathsOf = (site: FingerprintedSite, names: string) =>
  Promise.all(words(names).map(name => site.path(`${name}.js`)))

const emptyFiles = (names: string) => Object.fromEntries(words(names).map(name => [name, '']))

for (const mode of MODES) {
  test(`modules that import each other keep plain names, which importMap() resolves (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, {
      '(a).js': "import './b.js'; import './leaf.js'",
      'b.js': "import('./(a).js')",
      'leaf.js': 'export {}',
      'self.js': "import * as self from './self.js'",
      'app.js': "import './(a).js'"
    })
    const [a = '', b = '', self = '', leaf] = await pathsOf(site, '(a) b self leaf')
    t.is(await site.text('(a).js'), `import "/assets/b.js"; import "${leaf}"`)
    t.is(await site.text('b.js'), 'import("/assets/%28a%29.js")')
    t.is(await site.text('self.js'), 'import * as self from "/assets/self.js"')
    t.is(await site.text('app.js'), `import "${a}"`)
    const map = await site.render(assets => assets.importMap())
    for (const [plain, path] of Object.entries({ '%28a%29': a, b, self })) {
      const { bytes, headers } = await site.ask(path)
      t.is(digestIn(path), digestOf(bytes))
      t.regex(headers['cache-control'] ?? '', /immutable/)
      t.true(map.includes(`"/assets/${plain}.js":"${path}"`))
    }
  })

  test(`every module of a page has integrity, by modulepreload or by importMap() (${mode})`, async t => {
    const files = {
      'app.js': "import './a.js'; import './b.js'; import('./later.js')",
      'a.js': "import './b.js'",
      'b.js': "import sheet from './s.css' with { type: 'css' }",
      's.css': 'a{}',
      'later.js': "import './deep.js'",
      'deep.js': 'export {}',
      'other.js': "import './b.js'"
    }
    const imports = { deep: 'deep.js', other: 'other.js', cdn: 'https://cdn.example/x.js' }
    const site = await makeFingerprinted(t, mode, files, { imports })
    const tags = await site.render(assets =>
      assets.javascript('app', { type: 'module', modulepreload: true, nonce: 'n' })
    )
    const links = tags.split('\n')
    const script = links.pop() ?? ''
    const [app, a, b, deep, later] = await pathsOf(site, 'app a b deep later')
    t.true(script.startsWith(`<script src="${app}" type="module" integrity="sha384-`))
    t.false(script.includes('modulepreload'))
    const rest = 'rel="modulepreload" integrity="…" crossorigin="anonymous" nonce="n">'
    const written = links.map(link => link.replace(/sha384-[^"]+/, '…'))
    t.deepEqual(written, [`<link href="${b}" ${rest}`, `<link href="${a}" ${rest}`])
    const map = mapIn(await site.render(assets => assets.importMap({ entry: 'app' })))
    t.deepEqual(Object.keys(map), ['integrity'])
    t.deepEqual(Object.keys(map['integrity'] ?? {}), [deep, later])
    t.is(await site.render(assets => assets.importMap({ entry: 'app', integrity: false })), '')
    t.is(await site.render(assets => assets.importMap({ entry: ['deep.js', 'other'] })), '')
    const unknown = site.render(assets => assets.importMap({ entry: 'ap' }))
    await t.throwsAsync(unknown, { code: 'asset-unknown', message: /did you mean 'a.js'/ })
  })

  test(`importMap({ entry }) has only names that published URLs did not replace (${mode})`, async t => {
    const files = {
      'app.js': "import './a.js'; import 'confetti'",
      'a.js': 'export {}',
      'confetti.js': 'export {}',
      'outside.js': "import 'cdn'; import 'unknown'",
      'cycle.js': "import './other.js'; import './a.js'",
      'other.js': "import './cycle.js'",
      'open.js': "import './a.js'; import('./' + 'confetti.js')",
      'broken.js': 'import d, { "a-b" as c } from "./a.js"',
      '/apps/admin/assets/menu.mjs': 'export {}'
    }
    const site = await makeFingerprinted(t, mode, files, {
      missing: 'ignore',
      imports: { confetti: 'confetti.js', cdn: 'https://cdn.example/x.js', elsewhere: '//x/x.js' }
    })
    const [a = '', confetti = '', open = ''] = await pathsOf(site, 'a confetti open')
    const [cycle = '', other = ''] = await pathsOf(site, 'cycle other')
    const map = (entry: string, more = {}) =>
      site.render(assets => assets.importMap({ entry, ...more }))
    t.is(await map('app'), '')
    t.is(await site.text('app.js'), `import "${a}"; import "${confetti}"`)
    t.deepEqual(mapIn(await map('outside')), { imports: { cdn: 'https://cdn.example/x.js' } })
    const inCycle = { '/assets/cycle.js': cycle, '/assets/other.js': other }
    t.deepEqual(mapIn(await map('cycle')), { imports: inCycle })
    const { imports, integrity } = mapIn(await map('open'))
    t.like(imports, { '/assets/a.js': a, confetti })
    t.deepEqual(Object.keys(integrity ?? {}).toSorted(), [a, open].toSorted())
    t.is(mapIn(await map('broken')).imports?.['cdn'], 'https://cdn.example/x.js')
    const inline = mapIn(await map('app', { imports: { party: 'cycle' } }))
    t.is(inline.imports?.['party'], cycle)
    const printed = [cycle, other].toSorted()
    t.deepEqual(Object.keys(inline.integrity ?? {}).toSorted(), printed, 'no tag has it')
    // Without entry a script in the page may import any module.
    const whole = mapIn(await site.render(assets => assets.importMap()))
    t.like(whole.imports, { '/assets/a.js': a, '/assets/confetti.js': confetti, confetti })
    t.regex(whole.imports?.['/assets/admin/menu.mjs'] ?? '', /menu-/, 'of every app')
    t.is(Object.keys(whole.imports ?? {}).length, 12)
  })
}

test('there is no warning about mapped imports, URLs, types and files of packages', async t => {
  const imports = { lit: 'https://cdn.example/lit.js', dial: 'dial.js' }
  const urls = "import 'https://cdn.example/x.js'; import 'data:text/javascript,'"
  const app = `import 'lit'; import('dial'); ${urls}`
  const files = {
    'app.js': app,
    'dial.js': '',
    'types.js.ts': "import type { A } from 'types'\nexport const a = 1 as unknown as A",
    '/node_modules/tip/dist/tip.js': "import 'top'"
  }
  const root = makeProject(t, placed(files))
  const { warnings } = await run({ root, imports, sources: ['../../node_modules/tip/dist'] })
  t.deepEqual(warnings, [])
  const site = await makeSite(t, {}, { root, imports })
  t.is((await site.ask('/assets/app.js')).text, app.replace("'dial'", '"/assets/dial.js"'))
  t.deepEqual(warningsAbout('web/assets/app.js:1:8'), [])
})

test('a dynamic import of a package that no option maps is only a warning of precompile', async t => {
  const root = makeProject(t, placed({ 'app.js': "import('lit').catch(() => {})" }))
  const [warning = '', ...others] = (await run({ root })).warnings
  t.regex(warning, /^apps\/web\/assets\/app\.js:1:8 imports 'lit', which/)
  t.deepEqual(others, [])
})

test('a missing file in the option imports is an error of precompile, imported or not', async t => {
  const root = makeProject(t, {
    'apps/web/assets/javascripts/app.js': '',
    'apps/web/assets/javascripts/vendor/dial.js': '',
    'apps/admin/assets/javascripts/admin.js': ''
  })
  const imports = { dial: 'vendor/dial.js', dail: 'vendor/dail', lit: 'https://cdn.example/lit.js' }
  const told =
    "the option imports leads 'dail' to vendor/dail.js, which was not found: did you mean 'vendor/dial.js'?"
  const error = await t.throwsAsync(run({ root, imports }), { instanceOf: PrecompileError })
  const problems = error.problems.map(({ code, message }) => `${code}: ${message}`)
  t.deepEqual(problems, [`reference-missing: ${told}`])
  t.deepEqual((await run({ root, imports, missing: 'warn' })).warnings[0], told)
  for (const quiet of [{ missing: 'ignore' }, { fingerprint: false }] as const)
    t.deepEqual((await run({ root, imports, ...quiet })).warnings, [])
})

test('a missing import is an error of precompile, with its file, line and column', async t => {
  const root = makeProject(t, {
    'assets/javascripts/lib/app.js':
      "import './there.js'\n  import { a } from './lost.js'\nimport('/assets/x.js')\nimport 'there.js'; import 'fs'",
    'assets/javascripts/lib/there.js': "new URL('./lost.png', import.meta.url); import 'mapped'",
    'assets/javascripts/store.js': '',
    'assets/javascripts/lib/typed.js.ts': "let x: number = 1\nexport { a } from './store.js'"
  })
  const imports = { mapped: 'vendor/lost' }
  const lost = [
    'app.js:2:21 refers to ./lost.js, which was not found',
    'app.js:3:8 refers to /assets/x.js, which was not found',
    "app.js:4:8 imports 'there.js', which no option maps, so a browser does not find it: did you mean './there.js'?",
    "app.js:4:27 imports 'fs', a module of Node, which browsers do not have: name an asset or a URL in imports: { 'fs': … }",
    'there.js:1:9 refers to ./lost.png, which was not found',
    'there.js:1:48 refers to mapped (vendor/lost.js by the option imports), which was not found',
    "typed.js.ts:2:19 refers to ./store.js, which was not found: did you mean '../store.js'?"
  ].map(told => `assets/javascripts/lib/${told}`)
  t.deepEqual(await problemsOf(t, root, { imports }), lost)
  t.deepEqual((await run({ root, missing: 'warn', imports })).warnings, lost)
  t.deepEqual(await problemsOf(t, root, { imports, fingerprint: false }), lost)
  t.deepEqual((await run({ root, imports, missing: 'ignore' })).warnings, [])
  const path = targetOf(root, '/assets/lib/typed.js')
  t.is(String(readPublic(root, path)), 'let x = 1;\nexport { a } from "./store.js";\n')
})

test('the error for a missing reference suggests the nearest path as it is to be written', async t => {
  const near = (path: string, more = '') => `: did you mean '${path}'?${more}`
  const isCase = ' It differs in upper and lower case'
  const rows = {
    '../images/logo.png': near('../images/logo.svg'),
    '../images/icon.svg': near('../images/Icon.svg', isCase),
    'image/Icon.svg': near('../images/Icon.svg'),
    '/assets/lago.svg': near('/assets/logo.svg'),
    './menu.scss': near('./menu.css', ' stylesheets/menu.scss is published under that name'),
    './fonts/none.woff2': ''
  }
  const modules = {
    './Money.js': near('./money.js', isCase),
    './mony.ts': near('./money.ts'),
    './money.tsx': near('./money.ts'),
    './nothing.mts': '',
    '../javascripts/lib/cart.js': near('lib/card.js')
  }
  const lines = (of: object, line: (path: string) => string) => Object.keys(of).map(line).join('\n')
  const root = makeProject(t, {
    'assets/stylesheets/app.css': lines(rows, path => `@import "${path}";`),
    'assets/javascripts/app.js': lines(modules, path => `import '${path}'`),
    ...emptyFiles('assets/stylesheets/menu.scss assets/javascripts/money.ts'),
    ...emptyFiles('assets/javascripts/lib/card.js assets/images/logo.svg assets/images/Icon.svg')
  })
  const all = Object.entries({ ...modules, ...rows })
  const expected = all.map(([path, advice]) => `${path}, which was not found${advice}`)
  const found = (await problemsOf(t, root)).map(each => each.replace(/^.* refers to /, ''))
  t.deepEqual(found.toSorted(), expected.toSorted())
})

test('precompile names the modules of a cycle, each cycle once', async t => {
  const root = makeProject(t, {
    'assets/a.js': "import './b.js'; import './c.js'",
    'assets/b.js': "import './c.js'",
    'assets/c.js': "import './a.js'",
    'assets/x.js': "import './y.js'",
    'assets/y.js': 'export {}',
    'assets/a.css': '@import "b.css"',
    'assets/b.css': '@import "a.css"'
  })
  const [warning = '', ...others] = (await run({ root })).warnings
  t.deepEqual(others, [])
  const cycle = 'modules refer to each other: /assets/a.js, /assets/b.js, /assets/c.js; '
  t.true(warning.startsWith(cycle) && warning.includes('importMap()'), warning)
})

/** A text of one line behind an import, and its map as a compiler writes it. */
function makeMapped(comment: string) {
  const source = "import './lib/a.js'\nfirst()\nlast()\n"
  const code = "import './lib/a.js';first();last();"
  const columns = ['import', 'first', 'last'].map(word => code.indexOf(word))
  const mappings = encode([columns.map((column, line) => [column, 0, line, 0])])
  const map = { version: 3, sources: ['app.src.js'], sourcesContent: [source], names: [], mappings }
  return { code: `${code}\n${comment}`, map: JSON.stringify(map) }
}

for (const mode of MODES) {
  test(`the source map that a module comes with leads to its source (${mode})`, async t => {
    const linked = makeMapped('//# sourceMappingURL=linked.js.map\n')
    const { map } = linked
    const data = `data:application/json;charset=utf-8;base64,${Buffer.from(map).toString('base64')}`
    const site = await makeFingerprinted(t, mode, {
      'js/lib/a.js': 'export {}',
      'js/linked.js': linked.code,
      'js/linked.js.map': map,
      'js/inline.js': makeMapped(`//# sourceMappingURL=${data}`).code,
      'js/broken.js': `import './lib/a.js'\n//# sourceMappingURL=broken.js.map`,
      'js/broken.js.map': ')]}{'
    })
    for (const name of ['linked.js', 'inline.js']) {
      const text = await site.text(name)
      t.true(text.includes(await site.path('lib/a.js')))
      const [, url = ''] = /sourceMappingURL=(\S+)/.exec(text) ?? []
      const isData = url.startsWith('data:')
      const inline = Buffer.from(url.slice(url.indexOf(',')), 'base64')
      const json = String(isData ? inline : (await site.ask(url)).text)
      if (!isData) t.is(digestIn(url), digestOf(json))
      const entries = new SourceMap(JSON.parse(json) as SourceMapPayload)
      const lines = ['import', 'first', 'last'].map(word =>
        entries.findEntry(0, text.indexOf(word))
      )
      t.like(lines, [{ originalLine: 0 }, { originalLine: 1 }, { originalLine: 2 }], name)
      t.like(entries.findEntry(0, text.indexOf('first') - 1), { originalLine: 0 })
    }
    t.is(await site.text('broken.js.map'), ')]}{')
  })
}

test('a module that cannot be parsed is an error or a warning with its place, as missing says', async t => {
  const files = {
    'javascripts/app.js': `let a\nimport d, { "a-b" as c } from './dep.js'; console.log(d, c)`,
    'javascripts/dep.js': 'export default 1; const x = 1; export { x as "a-b" }',
    'javascripts/typed.js.ts': `import d, { "a-b" as c } from './dep.js'; console.log(d, c)`,
    'javascripts/classic.js': "var text = 'not closed // from here on"
  }
  const remedy =
    "cannot be parsed as a module, so its imports are not rewritten: write them in another way, or set missing: 'ignore'"
  const places = ['app.js:2:24', 'typed.js.ts']
  const told = places.map(place => `apps/web/assets/javascripts/${place} ${remedy}`)
  const root = makeProject(t, placed(files))
  t.deepEqual(await problemsOf(t, root), told)
  t.deepEqual((await run({ root, missing: 'warn' })).warnings, told)
  t.deepEqual((await run({ root, missing: 'ignore' })).warnings, [])
  const site = await makeFingerprinted(t, 'live', files)
  t.true((await site.text('app.js')).includes("from './dep.js'"))
  const logged = told.map(message => `koa-fresh-assets: ${message}`)
  t.deepEqual(warningsAbout(remedy), logged)
})

test('an import that browsers refuse is reported with its place and what to write', async t => {
  const whole = ', and the whole module with it: '
  const inPage = "write stylesheet('look') in the page in its place, or"
  const css = `${whole}${inPage} import … from './look.css' with { type: 'css' }`
  const json = `${whole}write import … from './data.json' with { type: 'json' }`
  const later = `: ${inPage} import('./look.css', { with: { type: 'css' } })`
  const url = `${whole}write new URL('./logo.svg', import.meta.url)`
  const worker = `${whole}write new Worker(new URL('./job.js', import.meta.url), { type: 'module' })`
  const sheet = `${whole}write import … from './look.css' with { type: 'css' }`
  const text = `${whole}write await (await fetch(new URL('./a.txt', import.meta.url))).text()`
  const compiler = `${whole}it needs a compiler: add one to the option compilers`
  const plugin = `${whole}a plugin of another tool makes it: write a module in its place`
  const node = `${whole}it is a module of Node, which browsers do not have: leave it to the server`
  const lines = [
    ["import './look.css'", 8, css],
    ["import logo from './logo.svg'", 18, url],
    ["import start from './a.wasm'", 19, url.replace('logo.svg', 'a.wasm')],
    ["export * from './data.json'", 15, json],
    ["import 'look.css'", 8, css],
    ["import './grid.scss'", 8, css.replace('look', 'grid').replace('look.css', 'grid.scss')],
    ["import data from './data.json' with { type: 'json' }"],
    ['import sheet from \'./look.css\' with { "type": "css" }'],
    ["import text from './look.css' with { type: 'text' }"],
    ["import './job.js'"],
    ["import wrong from './data.json' with { type: 'css' }", 19, json],
    ["import('./look.css')", 8, later],
    ["import('./data.json', { with: { type: 'json' } })"],
    ["import 'https://cdn.test/x.css'"],
    ["import a from './logo.svg?url'", 15, `${url}.href`],
    ["import b from './logo.svg?inline'", 15, `${url}.href`],
    ["import c from './look.css?inline'", 15, sheet],
    ["import d from './a.txt?raw'", 15, text],
    ["import E from './job.js?worker'", 15, worker],
    ["import F from './task.ts?worker'", 15, worker.replace('job', 'task')],
    ["import g from './theme.scss?inline'", 15, sheet.replace('look', 'theme')],
    ["import H from './App.vue'", 15, compiler],
    ["import I from './App.svelte'", 15, compiler],
    ["import 'virtual:pages'", 8, plugin],
    ["import 'node:fs'", 8, node],
    ["import '~kit/a'", 8, `${whole}write 'kit/a'`],
    ["import './a.md'"],
    ["import './job.js?v=1'"],
    ["import '~/mapped'"],
    ["import '~mapped'"],
    ["export const written = 'virtual:pages'"]
  ] as const
  const told = lines.flatMap(([code, column, remedy], at) => {
    const path = /'.*?'/.exec(code)?.[0]
    const place = `apps/web/assets/foreign.js:${at + 1}:${column}`
    return remedy ? `${place} imports ${path}, which browsers refuse${remedy}` : []
  })
  const inTyped =
    "apps/web/assets/foreign.ts.js.ts:2:8 imports './data.json', which browsers refuse"
  const inCss = "1:18 refers to ~kit/a.png, which was not found: write 'kit/a.png'"
  told.push(`${inTyped}${json}`, `apps/web/assets/foreign.css:${inCss}`)
  const typed =
    "let n: number = 1\nimport './data.json'\nimport s from './look.css' with { type: 'css' }\ns"
  const files = {
    'foreign.js': lines.map(([code]) => code).join('\n'),
    'foreign.ts.js.ts': typed,
    'foreign.css': 'a { src: url(    ~kit/a.png) }',
    'data.json': '{}',
    ...emptyFiles('look.css grid.scss theme.scss logo.svg a.wasm a.txt a.md job.js task.ts'),
    ...emptyFiles('App.vue App.svelte')
  }
  const root = makeProject(t, placed(files))
  const toScript: Compiler = { extensions: 'md', target: '.js', compile: () => ({ code: '' }) }
  const options = { imports: { '~mapped': 'job', '~/mapped': 'job' }, compilers: [toScript] }
  const fatal = told.filter(each => !each.endsWith(later))
  t.deepEqual((await problemsOf(t, root, options)).toSorted(), fatal.toSorted())
  const { warnings } = await run({ root, ...options, missing: 'warn' })
  t.deepEqual(warnings.toSorted(), told.toSorted())
  const site = await makeSite(t, {}, { root, ...options, missing: 'warn' })
  for (const name of ['foreign.js', 'foreign.ts.js', 'foreign.css'])
    await site.ask(`/assets/${name}`)
  const logged = warningsAbout('assets/foreign').map(each => each.replace(/^koa-\S+ /, ''))
  t.deepEqual(logged.toSorted(), told.toSorted())
})
