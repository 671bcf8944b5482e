import type { KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { makeProject, placed, readManifest, readMapped, readPublic } from '../../support/index.ts'
import { run, targetOf, test, type ExecutionContext, type Files } from '../../support/index.ts'

/** Precompiles, and returns the text of each stylesheet by name, without digests and white space that means nothing. */
async function sheetsOf(t: ExecutionContext, files: Files, options: KoaAssetsOptions = {}) {
  const root = makeProject(t, placed(files))
  const report = await run({ root, env: 'production', bundle: true, minify: true, ...options })
  const { assets } = readManifest(root)
  const text = (path: string) => {
    const whole = readPublic(root, targetOf(root, path))
      .toString()
      .replaceAll(/-[0-9a-f]{32}/g, '')
    return whole.replace(/\n?\/\*# source.*\*\/\n/, '').trim()
  }
  const paths = Object.keys(assets).filter(path => path.endsWith('.css'))
  const sheets = Object.fromEntries(paths.map(path => [path.slice(8), text(path)]))
  return { report, assets, root, sheets }
}

test('a precompiled stylesheet contains what it imports, in the order of the cascade', async t => {
  const files = {
    'css/app.css': `@import "base/reset.css" layer(base); @import url(print.css) print;
      @import 'grid.css' supports(display: grid); .app { color: oklch(0.5 0.2 30) }`,
    'css/base/reset.css': '@import "../base/fonts.css"; * { margin: 0 }',
    'css/base/fonts.css': '@font-face { font-family: a; src: url("../a.woff2") }',
    'css/print.css': 'a { color: #000 }',
    'css/grid.css': '.grid { background: url(../images/missing.png#x) }',
    'css/a.woff2': 'font'
  }
  const { sheets, report, assets } = await sheetsOf(t, files, { missing: 'warn' })
  t.deepEqual(sheets, {
    'app.css':
      '@layer base{@font-face{font-family:a;src:url(/assets/a.woff2)}}@layer base{*{margin:0}}@media print{a{color:#000}}' +
      '@supports (display: grid){.grid{background:url(/images/missing.png#x)}}.app{color:oklch(.5 .2 30)}'
  })
  t.deepEqual(report.sheets, { files: 1, imports: 4 })
  const names = ['app', 'base/fonts', 'base/reset', 'grid', 'print']
  const sources = names.map(name => `/assets/${name}.css`)
  t.deepEqual(assets['/assets/app.css']?.sources?.toSorted(), sources)
})

test('an imported stylesheet keeps a file of its own only if a view or a script needs it, too', async t => {
  const { sheets } = await sheetsOf(t, {
    '/views/page.ejs': "<%- assets.stylesheet('app', 'theme') %>",
    'css/app.css': '@import "theme.css"; @import "shared.css"; @import "last.css"; a {}',
    'css/theme.css': '.theme { color: red }',
    'css/shared.css': '.shared { color: red }',
    'css/last.css': '@import "only.css"; .last { color: red }',
    'css/only.css': '.only { color: red }',
    'js/app.js': "import sheet from './shared.css' with { type: 'css' }; use(sheet)"
  })
  const all = ['theme', 'shared', 'only', 'last'].map(name => `.${name}{color:red}`)
  t.deepEqual(sheets, { 'app.css': all.join(''), 'theme.css': all[0], 'shared.css': all[1] })
})

test('imports that cannot be joined stay in order: of other sites, with queries or in cycles', async t => {
  const { sheets } = await sheetsOf(t, {
    'css/app.css': `@import "a.css"; /* @import "x" */ @import "https://cdn.example/x.css"; @import "b.css";`,
    'css/query.css': '@import "a.css?v=1"; @import "b.css"; .query { color: red }',
    'css/deep.css': '@import "b.css"; @import "app.css"; .deep { color: red }',
    'css/one.css': '@import "two.css"; .one { color: red }',
    'css/two.css': '@import "one.css"; .two { color: red }',
    'css/a.css': '.a { color: red }',
    'css/b.css': '.b { color: red }',
    'css/remote.css': '@import "remote-only.css"; .remote { color: red }',
    'css/remote-only.css': '@import "https://cdn.example/y.css";'
  })
  t.is(sheets['remote.css'], '@import"/assets/remote-only.css";.remote{color:red}')
  t.is(sheets['app.css'], '@import"/assets/a.css";@import"https://cdn.example/x.css";.b{color:red}')
  t.is(sheets['query.css'], '@import"/assets/a.css?v=1";.b{color:red}.query{color:red}')
  t.is(sheets['deep.css'], '@import"/assets/b.css";@import"/assets/app.css";.deep{color:red}')
  t.regex(sheets['one.css'] ?? '', /^@import"\/assets\/two\.css\?\w+";\.one\{color:red\}$/)
})

test("bundle: 'packages' joins stylesheets of packages, but none of the app", async t => {
  const pkg = {
    '/node_modules/kit/package.json': '{ "name": "kit", "version": "1.0.0" }',
    '/node_modules/kit/all.css': '@import "./part.css"; .all { color: red }',
    '/node_modules/kit/part.css': '.part { color: red }',
    '/node_modules/kit/unused.css': ''
  }
  const own = {
    'css/app.css': '@import "npm/kit/all.css"; @import "own.css"; .app { color: red }',
    'css/own.css': '.own { color: red }'
  }
  const options = { packages: { kit: 'all.css' }, bundle: 'packages' } as const
  const { sheets } = await sheetsOf(t, { ...pkg, ...own }, options)
  t.is(sheets['npm/kit/all.css'], '.part{color:red}.all{color:red}')
  const app = '@import"/assets/npm/kit/all.css";@import"/assets/own.css";.app{color:red}'
  t.is(sheets['app.css'], app)
  const { sheets: apart } = await sheetsOf(t, { ...pkg, ...own }, { ...options, bundle: false })
  t.regex(apart['npm/kit/all.css'] ?? '', /^@import"\/assets\/npm\/kit\/part\.css"/)
  const brought = ['npm/kit/all.css', 'npm/kit/part.css']
  t.deepEqual(Object.keys(apart), ['app.css', ...brought, 'own.css'], 'nothing else')
})

test('the source map of a joined stylesheet leads to each source, also in Sass', async t => {
  const { root } = await sheetsOf(t, {
    'css/app.css': '@import "part.css";\n.app { color: red }',
    'css/part.css.scss': '.part {\n  b { color: red }\n}'
  })
  t.deepEqual(readMapped(root, '/assets/app.css').map.sources, ['part.css.scss', 'app.css'])
})
