// What is said at the start of a server: settings under which nothing is served, and the overview in development.
// And about names: those in views that no asset has, and those that do not compile.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { checkViews } from '../../support/told.ts'
import { literalNames } from '../../../lib/extras/names/literal-names.ts'
import { noticesAtStart, overview, printOverview } from '../../../lib/assets/inventory/at-start.ts'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { settleSite } from '../../../lib/assets/site.ts'
import { AssetError } from '../../../lib/errors.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { run as runCommand } from '../../cli/run.ts'
import { placed, run } from '../../support/fingerprinted.ts'
import { type Files, makeProject, writeFiles } from '../../support/site.ts'
import { soakTest } from '../../support/soak.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'

const FILES: Files = { 'apps/web/assets/stylesheets/app.css': 'a{}', 'dist/index.html': '' }
const OTHER: Files = { 'src/app.css': 'a{}' }

/** Of a project with these files; undefined for nothing to report. */
type Row = readonly [options: KoaAssetsOptions, expected?: string | undefined, variable?: string]

function testNotices(title: string, files: Files, rows: readonly Row[]): void {
  test(title, t => {
    const root = makeProject(t, files)
    for (const [given, expected, variable] of rows) {
      const options = { root, env: 'development', ...given }
      const processEnv = variable === undefined ? {} : { SERVE_STATIC_ASSETS: variable }
      const found = noticesAtStart(settleSite(options, processEnv), options, processEnv)
      t.is(found.join('\n').replaceAll(root, 'ROOT'), expected ?? '', JSON.stringify(given))
    }
  })
}

const served = { serve: true } as const
const NO_APP =
  'no app was found: ROOT contains neither apps/<name>/assets nor assets. Create apps/web/assets, or set the option root or apps'

testNotices('a project without any app is reported, with the folders that were searched', OTHER, [
  [{}, NO_APP],
  [{ env: 'test', ...served }, NO_APP],
  [{ ...served, sources: '../../src' }],
  [{ ...served, apps: { web: { dir: 'src' } } }]
])
const PUBLIC = { 'public/robots.txt': 'x' }
testNotices('a project that only serves its public is not reported', PUBLIC, [[served]])

const neither = (env: string, key = env) =>
  `neither compile nor fingerprint is on in the environment '${env}', so no source is published (apps: web). Set configure: { ${key}: { compile: true } }, or precompile and set configure: { ${key}: { fingerprint: true } }`

testNotices('SET-02 neither compile nor fingerprint is reported, with the remedy', FILES, [
  [{ env: 'staging', ...served }, neither('staging')],
  [{ env: 'Production', ...served }, neither('Production')],
  [{ env: 'pre-prod\u001b', ...served }, neither('pre-prod\\x1B', "'pre-prod\\x1B'")],
  [{ env: 'staging', compile: true }],
  [{ env: 'staging', apps: { web: { fingerprint: true } } }],
  [{ env: 'staging', configure: { staging: { compile: false } } }],
  [{ env: 'staging', apps: { web: { configure: { staging: {} } } } }],
  [{ env: 'test', compile: false, ...served }],
  [{ env: 'production', fingerprint: false, ...served }]
])

const notServed = (what: string, reason = 'is not set') =>
  `${what} not served, because SERVE_STATIC_ASSETS ${reason}. Set it to 'true' or set serve: true; if a front web server serves them, set serve: false`
const MOUNT = { apps: false, mounts: { '/x': 'dist' } } as const

testNotices('SET-03 what is not served is reported, with what the variable is', FILES, [
  [{}, notServed('assets are')],
  [{}, notServed('assets are'), ''],
  [{}, notServed('assets are', "is '1', not 'true'"), '1'],
  [{}, notServed('assets are', "is 'TRUE', not 'true'"), 'TRUE'],
  [{}, undefined, 'true'],
  [{ serve: false }],
  [{ env: 'test' }],
  [{ env: 'production', compile: true }, undefined, '1'],
  ...['development', 'test', 'staging', 'production'].flatMap((env): Row[] => [
    [{ ...MOUNT, env }, notServed('mounts are'), ''],
    [{ ...MOUNT, env }, undefined, 'true'],
    [{ ...MOUNT, env, serve: false }],
    [{ apps: false, env }]
  ]),
  [{ ...MOUNT, mounts: { '/x': { dir: 'dist', dev: true } } }],
  [{ ...MOUNT, env: 'production' }, undefined, '1'],
  [{ mounts: { '/x': 'dist' } }, notServed('assets and mounts are')]
])

const UPLOADS =
  'the directory data/uploads of the mount /up does not exist: its files are a 404 until it does'
const FALLBACK =
  'the mount /admin has the fallback app.html, but there is no file dist/app.html: until it is built, navigations end in a 404'
const APP = { dir: 'dist', fallback: 'app.html' }
const UNBUILT = { dir: 'build', manifest: 'build/.vite/manifest.json' }

testNotices(
  'MNT-06 UPL-02 a directory or a fallback that is not there is reported, where it would be served',
  FILES,
  [
    [{ ...served, mounts: { '/up/': 'data/uploads' } }, UPLOADS],
    [{ ...served, mounts: { '/admin': APP } }, FALLBACK],
    [{ serve: false, mounts: { '/admin': APP, '/up/': 'data/uploads' } }],
    [{ ...served, mounts: { '/site': { dir: 'dist', fallback: 'index.html' }, '/plain': 'dist' } }],
    [{ ...served, mounts: { '/admin': { ...APP, dev: true } } }],
    [{ ...served, mounts: { '/admin': UNBUILT } }]
  ]
)

test('koaAssets() prints the warning once', t => {
  const root = makeProject(t)
  koaAssets({ root, env: 'development', serve: true })
  const [notice, ...others] = warningsAbout(root)
  t.deepEqual(others, [])
  t.true(notice?.startsWith('koa-fresh-assets: no app was found'))
})

test('a root that does not exist is an error at start', async t => {
  const root = makeProject(t, { file: '' })
  for (const at of [`${root}/nowhere`, `${root}/file`, `${root}/file/below`]) {
    const message = `root is ${at}, which is not a directory: set root to the project's directory, as in root: import.meta.dirname`
    const expected = { instanceOf: AssetError, code: 'root-missing', message }
    t.throws(() => koaAssets({ root: at }), expected)
    await t.throwsAsync(run({ root: at }), expected)
  }
})

const PROJECT = {
  'apps/web/assets/css/app.css': 'a{}',
  'apps/admin/assets/css/app.css': 'a{}',
  'lib/assets/a.css': 'a{}',
  'dist/index.html': ''
}

test('UPL-02 the block names apps, their directories, mounts, and the inspector, unless nothing is served', t => {
  const root = makeProject(t, PROJECT)
  const apps = { web: {}, admin: { sources: '../../lib/assets' } }
  const options = { root, apps, mounts: { '/docs': 'dist' }, env: 'development', serve: true }
  t.is(
    overview(settleSite(options), 'development'),
    `koa-fresh-assets: development, in ${root}
  /assets/admin/…  apps/admin/assets, lib/assets
  /assets/…        apps/web/assets
  /docs/…          dist
  This process serves them, and everything in public.
  To inspect them, open /assets/-/ on this server.`
  )
  const silent = overview(settleSite({ root, env: 'development', prefix: '/d\u00e4ta' }, {}), '')
  const lines = silent.split('\n')
  t.is(lines[1], '  /d\u00e4ta/admin/…  apps/admin/assets')
  t.is(
    lines.at(-1),
    '  This process does not serve them (serve is off): a front web server must serve public.'
  )
  const none = overview(settleSite({ root, mounts: { '/uploads': 'a\u001b[2J\n' } }, {}), '')
  t.regex(none, /^  \/uploads\/… +a\\u001b\[2J\\u000a, which does not exist yet$/m)
})

/** The headings of the blocks that these instances print. */
async function printedBy(all: readonly KoaAssetsOptions[], processEnv: NodeJS.ProcessEnv = {}) {
  const printed: string[] = []
  for (const options of all) {
    const settings = settleSite({ serve: true, ...options }, processEnv)
    await printOverview(settings, options, { processEnv, print: text => printed.push(text) })
  }
  return printed.map(block => block.split('\n')[0])
}

test('the block is printed once for the same settings, and says why the environment is development', async t => {
  const root = makeProject(t, PROJECT)
  const heading = `koa-fresh-assets: development, as NODE_ENV is not set, in ${root}`
  t.deepEqual(await printedBy([{ root }, { root }, { root, prefix: '/a' }]), [heading, heading])
  const named = `koa-fresh-assets: development, in ${root}`
  t.deepEqual(await printedBy([{ root }], { NODE_ENV: 'development' }), [named])
})

test('no block is printed under test, in production, and with live: false', async t => {
  const root = makeProject(t, PROJECT)
  for (const [options, processEnv] of [
    [{ env: 'development' }, { NODE_ENV: 'test' }],
    [{}, { NODE_TEST_CONTEXT: 'child-v8' }],
    [{ fingerprint: false }, { NODE_ENV: 'production' }],
    [{ live: false }, {}]
  ] as const) {
    t.deepEqual(await printedBy([{ root, ...options }], processEnv), [])
  }
})

test.serial('koaAssets() prints the block as a warning', async t => {
  const root = makeProject(t, PROJECT)
  process.env.NODE_ENV = 'development'
  t.teardown(() => (process.env.NODE_ENV = 'test'))
  koaAssets({ root, serve: true })
  await until(() => warningsAbout(`development, in ${root}`).length > 0, 'the block')
  t.pass()
})

// Names in views that no asset has, found without rendering them.

for (const [language, text, expected] of [
  ['EJS', `<%- assets.stylesheet("main", 'print', { media: 'x' }) %>`, ['main', 'print']],
  [
    'EJS without a receiver',
    `<%- javascript('app') %><%= path( 'a/b.png' ) %>`,
    ['app', 'a/b.png']
  ],
  ['Nunjucks', "{{ assets.image('logo.png', { alt: '' }) | safe }}", ['logo.png']],
  ['Pug', "link(rel='icon' href=assets.path('icon.svg'))", ['icon.svg']],
  [
    'TypeScript',
    "ctx.preload('app.css', `a.woff2`)\nctx.state.assets.url('a.js')",
    ['app.css', 'a.woff2', 'a.js']
  ],
  ['another app', "assets.app('admin').stylesheet('menu')", ['menu']],
  ['escapes', String.raw`assets.path('o\'clock.txt')`, ["o'clock.txt"]],
  [
    'entries',
    "assets.entry('src/a.tsx', 'src/b.tsx')\nassets.entryFiles('src/c.tsx')",
    ['src/a.tsx', 'src/b.tsx', 'src/c.tsx']
  ],
  [
    'the default of favicon()',
    "assets.favicon( ) assets.favicon('a.png') app.use(favicon())",
    ['favicon.ico', 'a.png']
  ],
  ['what is computed', "assets.path('img/' + name); assets.path(`${x}.js`); assets.path(name)", []],
  ['the first of several', "assets.javascript('app', script, 'more')", ['app']],
  ['what has other receivers', "router.url('book'); req.path('x'); this.image('a.png')", []],
  ['CSS', "a { background: url('a.png'), url('b.png') } @import url('c.css');", []],
  ['comments of templates', "<%# assets.path('old.js') %>{# assets.path('older.js') #}", []]
] as const) {
  test(`VEW-01 literal names are found: ${language}`, t => {
    t.deepEqual(
      literalNames(text).map(({ name }) => name),
      [...expected]
    )
  })
}

const ASSETS = {
  'css/app.css': 'a{}',
  'js/app.js': 'a()',
  'images/icons/logo.png': 'x',
  '/apps/admin/assets/css/menu.css': ''
}

test('VEW-01 a name that no app has is reported with its line and the nearest name; tails and queries count as names', async t => {
  const root = makeProject(t, placed(ASSETS))
  writeFiles(root, {
    'views/a.ejs': "<%- assets.stylesheet('app', 'ap') %>\n\n<%- assets.image('logo.png?v=2') %>",
    'views/deep/b.njk':
      "\n{{ assets.javascript('aplication') }}{{ app('admin').stylesheet('menu') }}",
    'views/c.ts':
      "assets.path('https://cdn.example/x.js'); assets.path('/app.css'); path('/users')",
    'views/node_modules/x/d.ejs': "assets.path('none.js')",
    'other.ejs': "assets.path('none.js')"
  })
  symlinkSync('deep', join(root, 'views/folder.ejs'))
  const report = await checkViews({ root }, ['views/**/*.{ejs,njk}', './views/*.ts'])
  t.deepEqual([report.files, report.names], [3, 8])
  const [ap, app, rest] = report.problems
  t.deepEqual(ap, {
    path: 'views/a.ejs:1',
    name: 'ap',
    near: 'app.css',
    message: "'ap.css' is not an asset; did you mean 'app.css'?"
  })
  t.is(app?.path, 'views/c.ts:1')
  t.regex(app?.message ?? '', /no leading or trailing slash.*got '\/app\.css'$/)
  t.like(rest, { path: 'views/deep/b.njk:2', message: "'aplication.js' is not an asset" })
  t.is(report.problems.length, 3)
  // As on a server, which has no sources.
  await run({ root })
  for (const app of ['web', 'admin']) rmSync(join(root, 'apps', app), { recursive: true })
  t.deepEqual(await checkViews({ root }, ['views/**/*.{ejs,njk,ts}']), report)
})

test('NAM-01 a view of one app that names an asset of another is reported, with the app that has it', async t => {
  const root = makeProject(t, placed(ASSETS))
  const views =
    "{{ assets.stylesheet('app') }}{{ assets.stylesheet('menu') }}{{ preload('menu.css') }}"
  writeFiles(root, {
    'apps/web/views/a.njk': views,
    'apps/admin/views/deep/b.njk': views,
    'views/shared.njk': views,
    'apps/admin/views/c.njk':
      "{{ assets.app('web').stylesheet('app') }}{{ app('web').path('menu.css') }}",
    'apps/web/views/d.njk': "{{ app('admni').path('menu.css') }}{{ assets.stylesheet('ap') }}"
  })
  const webHas = (name: string) =>
    `'${name}' is not an asset of the app 'admin'; 'web' has it, as in assets.app('web')`
  const adminHas = (name: string) =>
    `'${name}' is not an asset of the app 'web'; 'admin' has it, as in assets.app('admin')`
  const expected = [
    ['apps/admin/views/c.njk:1', adminHas('menu.css')],
    ['apps/admin/views/deep/b.njk:1', webHas('app.css')],
    ['apps/web/views/a.njk:1', adminHas('menu.css')],
    ['apps/web/views/a.njk:1', adminHas('menu.css')],
    ['apps/web/views/d.njk:1', "'admni' is not an app; did you mean 'admin'?"],
    ['apps/web/views/d.njk:1', "'ap.css' is not an asset of the app 'web'; did you mean 'app.css'?"]
  ]
  const problemsIn = async (options: object) => {
    const { problems } = await checkViews({ root, ...options }, ['{apps/*/views,views}/**/*.njk'])
    return problems.map(({ path, message }) => [path, message])
  }
  t.deepEqual(await problemsIn({}), expected)
  const apps = { web: { dir: '.' }, admin: { dir: 'apps/admin' } }
  const fromRoot = { 'assets/stylesheets/app.css': 'a{}' }
  writeFiles(root, fromRoot)
  const inAdmin = expected.filter(([path]) => path?.startsWith('apps/admin/'))
  const found = await problemsIn({ apps })
  t.deepEqual(
    found.filter(([path]) => path?.startsWith('apps/admin/')),
    inAdmin
  )
  t.deepEqual(
    found.filter(([path]) => path?.startsWith('views/')),
    []
  )
  // As on a server, which has no sources.
  rmSync(join(root, 'assets'), { recursive: true })
  await run({ root })
  for (const app of ['web', 'admin']) rmSync(join(root, 'apps', app, 'assets'), { recursive: true })
  t.deepEqual(await problemsIn({}), expected)
})

test('VEW-01 entries and sources of bundles are names; without a build there is an error that says so', async t => {
  const manifest = {
    'src/main.tsx': { file: 'main-B1a2C3d4.js', src: 'src/main.tsx', isEntry: true },
    'src/hero.png': { file: 'hero-B1a2C3d4.png', src: 'src/hero.png' }
  }
  const root = makeProject(t, {
    ...placed(ASSETS),
    'dist/.vite/manifest.json': JSON.stringify(manifest),
    'dist/main-B1a2C3d4.js': '',
    'dist/hero-B1a2C3d4.png': '',
    'views/a.ejs':
      "<%- assets.entry('./src/main.tsx') %><%- assets.image('src/hero.png') %><% ctx.preload('src/main.tsx') %>\n<%- assets.entry('src/mian.tsx') %>"
  })
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }
  const { problems } = await checkViews({ root, mounts, env: 'production' }, ['views/*'])
  t.deepEqual(problems, [
    {
      path: 'views/a.ejs:2',
      name: 'src/mian.tsx',
      near: 'src/main.tsx',
      message: "'src/mian.tsx' is not an entry; did you mean 'src/main.tsx'?"
    }
  ])
  rmSync(join(root, 'apps'), { recursive: true })
  const withoutAssets = await checkViews({ root, mounts, env: 'production' }, ['views/*'])
  t.deepEqual(withoutAssets.problems, problems)
  rmSync(join(root, 'dist'), { recursive: true })
  await t.throwsAsync(checkViews({ root, mounts, env: 'production' }, ['views/*']), {
    message: /manifest\.json/
  })
})

soakTest('VEW-01 a thousand views are read in less than a second of CPU time', async t => {
  const view =
    "<p>text</p>\n<%- assets.stylesheet('app') %><%- assets.image('lgo.png') %>\n".repeat(20)
  const views = Array.from({ length: 1000 }, (_, at) => [`views/${at % 40}/${at}.ejs`, view])
  const images = Array.from({ length: 1000 }, (_, at) => [`images/photo-${at}.png`, 'x'])
  const root = makeProject(t, { ...placed(ASSETS), ...placed(Object.fromEntries(images)) })
  writeFiles(root, Object.fromEntries(views))
  const before = process.cpuUsage()
  const { files, names, problems } = await checkViews({ root }, ['views/**/*.ejs'])
  const { user, system } = process.cpuUsage(before)
  t.deepEqual([files, names, problems.length], [1000, 40_000, 20_000])
  t.true(user + system < 1e6, `${(user + system) / 1e6} s`)
})

// Names as types: a mistyped one does not compile, and the file follows the sources.

const TYPED = {
  'stylesheets/app.css.scss': '',
  'javascripts/pages/home.js': '',
  'images/logo.svg': '',
  'fonts/inter.woff2': '',
  '/apps/admin/assets/stylesheets/menu.css': ''
}

/** What TypeScript says about lines in a route; the package is what was built. */
function complaints(root: string, ...lines: readonly string[]): string {
  const text = ["import { koaAssets, type AssetName } from 'koa-fresh-assets/assets'", ...ROUTE]
  writeFileSync(join(root, 'server.ts'), [...text, ...lines, '})'].join('\n'))
  try {
    const words = [resolve('node_modules/typescript/bin/tsc'), '-p', root]
    return execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

const ROUTE = [
  "import Koa from 'koa'",
  'declare const name: string',
  'new Koa().use(koaAssets()).use(({ assets, preload }) => {'
]
const COMPILER = { module: 'nodenext', types: [], strict: true, noEmit: true, skipLibCheck: true }

function makeTyped(t: Parameters<typeof makeProject>[0], files = {}): string {
  const tsconfig = JSON.stringify({ compilerOptions: COMPILER, include: ['*.ts'] })
  const root = makeProject(t, {
    ...placed({ ...TYPED, ...files }),
    'package.json': '{"type":"module"}',
    'tsconfig.json': tsconfig
  })
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(resolve('.'), join(root, 'node_modules/koa-fresh-assets'))
  symlinkSync(resolve('node_modules/@types'), join(root, 'node_modules/@types'))
  return root
}

test.serial(
  'TYP-01 a mistyped name does not compile, and the error suggests the nearest one',
  async t => {
    const root = makeTyped(t)
    const mistyped = [
      "assets.stylesheet('ap.css')",
      "assets.javascript('pages/hom', { defer: true })",
      "assets.image('loga.svg', { alt: '' })",
      "assets.path('intr.woff2')",
      "assets.stylesheet('app', 'menus')",
      "assets.app('admn')"
    ]
    const { status, stdout } = await runCommand(root, 'types')
    t.deepEqual([status, stdout], [0, `${join(root, 'assets.d.ts')} was written\n`])
    const fine = [
      "assets.stylesheet('app', 'menu.css', { media: 'print' })",
      "assets.javascript('home', { type: 'module' })",
      "assets.image('logo.svg#leaf', { alt: '' }) + assets.image('https://cdn.example/a.png')",
      "assets.path('images/logo.svg') + assets.path('app.css?v=2', { mount: '/' })",
      "assets.favicon() + assets.favicon('logo.svg') + assets.app('admin').stylesheet('menu')",
      "assets.preload('app', { as: 'style' }) + assets.entry('src/any.tsx')",
      "assets.path(name as AssetName) + assets.stylesheet(name as AssetName<'stylesheet'>)"
    ]
    const said = complaints(root, ...mistyped, ...fine)
    for (const near of ['app.css', 'pages/home', 'logo.svg', 'inter.woff2', 'menu', 'admin']) {
      t.true(said.includes(`"${near}"`), `${near}: ${said}`)
    }
    t.is(said.match(/^server\.ts\(\d+,\d+\): error/gm)?.length, mistyped.length)
    t.regex((await runCommand(root, 'types')).stdout, / is current\n$/)
  }
)

test.serial(
  'TYP-01 entries and sources of a build are names; before the first build, no name is refused',
  async t => {
    const config = { mounts: { '/static': { dir: 'dist', manifest: 'dist/manifest.json' } } }
    const root = makeTyped(t, { '/assets.config.json': JSON.stringify(config) })
    await runCommand(root, 'types')
    const lines = [
      "assets.entry('src/mian.tsx')",
      "assets.entry('./src/main.tsx') + assets.image('src/hero.png')"
    ]
    t.is(complaints(root, ...lines), '')
    const manifest = {
      'src/main.tsx': { file: 'main-B1a2C3d4.js', src: 'src/main.tsx', isEntry: true },
      'src/hero.png': { file: 'hero-B1a2C3d4.png', src: 'src/hero.png' }
    }
    writeFiles(root, {
      'dist/manifest.json': JSON.stringify(manifest),
      'dist/main-B1a2C3d4.js': '',
      'dist/hero-B1a2C3d4.png': ''
    })
    await runCommand(root, 'types')
    const said = complaints(root, ...lines)
    t.regex(said, /'"src\/main\.tsx"'/)
    t.is(said.match(/error TS/g)?.length, 1)
  }
)

test.serial(
  'NAM-02 the file is the same in every environment, by the command and by the server',
  async t => {
    const config = { configure: { production: { sources: ['../../more'] } } }
    const root = makeTyped(t, {
      '/more/later.svg': '<svg/>',
      '/assets.config.json': JSON.stringify(config)
    })
    const file = join(root, 'assets.d.ts')
    const texts = []
    for (const env of ['development', 'test', 'production', undefined]) {
      rmSync(file, { force: true })
      const { status, stderr } = await runCommand(root, 'types', { NODE_ENV: env })
      t.is(status, 0, stderr)
      texts.push(readFileSync(file, 'utf8'))
    }
    writeFileSync(file, '')
    koaAssets({ root, env: 'development', live: false, ...config })
    await until(() => readFileSync(file, 'utf8') !== '', 'the server has written it')
    t.deepEqual(new Set([...texts, readFileSync(file, 'utf8')]).size, 1)
    t.true(texts[0]?.includes('"later.svg"'))
  }
)

test('TYP-01 in development the file follows the sources, if it exists, and is written only then', async t => {
  const root = makeProject(t, placed(TYPED))
  const file = join(root, 'assets.d.ts')
  const text = () => readFileSync(file, 'utf8')
  writeFileSync(file, '')
  koaAssets({ root, env: 'development', live: false })
  await until(() => text().includes('"app.css"'), 'it is current soon after the start')
  const [before, { ino }] = [text(), statSync(file)]
  writeFiles(root, placed({ 'stylesheets/app.css.scss': 'b{}', 'images/new.png': '' }))
  await until(() => text().includes('"new.png"'), 'it has the new name')
  t.not(statSync(file).ino, ino)
  rmSync(join(root, 'apps/web/assets/images/new.png'))
  await until(() => text() === before, 'it has the name no more')
  const other = makeProject(t, placed(TYPED))
  koaAssets({ root: other, env: 'development', live: false })
  t.throws(() => statSync(join(other, 'assets.d.ts')), { code: 'ENOENT' })
})
