// Names in views that no asset has, found without rendering them.
import { rmSync, symlinkSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkViews } from './check.ts'
import { run as runCommand } from '../../publishing/cli/run.ts'
import { settleForPrecompile, settleProject } from '../../../lib/runtime/app/extras.ts'
import { checkViews as check } from '../../../lib/extras/names/check.ts'
import { literalNames } from '../../../lib/extras/names/views.ts'
import { koaAssets, type KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { makeFingerprinted, makeProject, MODES, placed, readManifest } from '../../support/index.ts'
import { run, test, until, viteBuild, viteMount, writeFiles } from '../../support/index.ts'
import { complaints, makeTyped, TYPED } from './typed.ts'

const ASSETS = {
  'css/app.css': 'a{}',
  'js/app.js': 'a()',
  'images/icons/logo.png': 'x',
  '/apps/admin/assets/css/menu.css': ''
}

const LITERAL = [
  ['EJS', `<%- assets.stylesheet("main", 'print', { media: 'x' }) %>`, ['main', 'print']],
  ['EJS without a receiver', `<%- javascript('app') %><%= path( 'a.png' ) %>`, ['app', 'a.png']],
  ['Nunjucks', "{{ assets.image('logo.png', { alt: '' }) | safe }}", ['logo.png']],
  ['Pug', "link(rel='icon' href=assets.path('icon.svg'))", ['icon.svg']],
  ['TypeScript', "ctx.preload('a.css', `b.css`)\nassets.url('c')", ['a.css', 'b.css', 'c']],
  ['a state', "state.assets.url('a.js')", ['a.js']],
  ['another app', "assets.app('admin').stylesheet('menu')", ['menu']],
  ['escapes', String.raw`assets.path('o\'clock.txt')`, ["o'clock.txt"]],
  ['entries', "assets.entry('a.ts', 'b.ts')\nassets.entryFiles('c.ts')", ['a.ts', 'b.ts', 'c.ts']],
  ['the default of favicon()', 'assets.favicon( ) app.use(favicon())', ['favicon.ico']],
  ['a favicon', "assets.favicon('a.png')", ['a.png']],
  ['what is computed', "assets.path('img/' + name); assets.path(`${x}.js`); assets.path(name)", []],
  ['the first of several', "assets.javascript('app', script, 'more')", ['app']],
  ['what has other receivers', "router.url('book'); req.path('x'); this.image('a.png')", []],
  ['CSS', "a { background: url('a.png'), url('b.png') } @import url('c.css');", []],
  ['comments of templates', "<%# assets.path('old.js') %>{# assets.path('older.js') #}", []]
] as const

test('literal names are found in views of any language', t => {
  for (const [what, text, expected] of LITERAL) {
    const names = literalNames(text).map(({ name }) => name)
    t.deepEqual(names, [...expected], what)
  }
})

test('a name in a view that no app has is reported with its line and the nearest name', async t => {
  const root = makeProject(t, placed(ASSETS))
  writeFiles(root, {
    'apps/web/views/a.ejs':
      "<%- assets.stylesheet('app', 'ap') %>\n\n<%- assets.image('logo.png?v=2') %>",
    'apps/web/views/deep/b.njk':
      "\n{{ assets.javascript('aplication') }}{{ app('admin').stylesheet('menu') }}",
    'apps/web/views/c.ts':
      "assets.path('https://cdn.example/x.js'); assets.path('/app.css'); path('/users')",
    'apps/web/views/node_modules/x/d.ejs': "assets.path('none.js')",
    'other.ejs': "assets.path('none.js')"
  })
  symlinkSync('deep', join(root, 'apps/web/views/folder.ejs'))
  const globs = ['apps/web/views/**/*.{ejs,njk}', './apps/web/views/*.ts']
  const report = await checkViews({ root }, globs)
  t.deepEqual([report.files, report.names], [3, 8])
  const [ap, app, rest] = report.problems
  t.deepEqual(ap, {
    path: 'apps/web/views/a.ejs:1',
    name: 'ap',
    near: 'app.css',
    message: "'ap.css' is not an asset of the app 'web'; did you mean 'app.css'?"
  })
  t.is(app?.path, 'apps/web/views/c.ts:1')
  t.regex(app?.message ?? '', /no leading or trailing slash.*got '\/app\.css'$/)
  const message = "'aplication.js' is not an asset of the app 'web'"
  t.like(rest, { path: 'apps/web/views/deep/b.njk:2', message })
  t.is(report.problems.length, 3)
  // As on a server, which has no sources.
  await run({ root })
  for (const app of ['web', 'admin']) rmSync(join(root, 'apps', app, 'assets'), { recursive: true })
  t.deepEqual(await checkViews({ root }, ['apps/web/views/**/*.{ejs,njk,ts}']), report)
})

test('a name that only another app has is reported with that app', async t => {
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
    `apps/admin/views/c.njk:1 ${adminHas('menu.css')}`,
    `apps/admin/views/deep/b.njk:1 ${webHas('app.css')}`,
    `apps/web/views/a.njk:1 ${adminHas('menu.css')}`,
    `apps/web/views/a.njk:1 ${adminHas('menu.css')}`,
    "apps/web/views/d.njk:1 'admni' is not an app; did you mean 'admin'?",
    "apps/web/views/d.njk:1 'ap.css' is not an asset of the app 'web'; did you mean 'app.css'?"
  ]
  const shared = [webHas('app.css'), adminHas('menu.css'), adminHas('menu.css')].map(
    message => `views/shared.njk:1 ${message.replace(';', ', whose pages may have this view;')}`
  )
  const { problems } = await checkViews({ root }, ['{apps/*/views,views}/**/*.njk'])
  const told = problems.map(({ path, message }) => `${path} ${message}`)
  t.deepEqual(told, [...expected, ...shared])
})

test('a value of the option views that is no glob is an error at start', t => {
  for (const views of [42, ['a', '']]) {
    const expected = { instanceOf: TypeError, message: /^views must be a glob/ }
    t.throws(() => settleProject({ views } as KoaAssetsOptions, {}), expected)
  }
})

test('a name that inline() cannot write is reported, before and after precompile', async t => {
  const root = makeProject(t, placed({ 'images/icons/a.svg': '<svg/>', 'images/b.svg': '<svg/>' }))
  const view = `<%- assets.inline('icons/a.svg') + assets.inline('b.svg') + inline('c.css') %>
<%- assets.inline('d.svg') %>`
  writeFiles(root, { 'views/a.ejs': view })
  const options = { root, inline: 'icons/**' }
  const before = await checkViews(options, ['views/*.ejs'])
  const found = before.problems.map(({ path, name }) => `${path} ${name}`)
  t.deepEqual(found, ['views/a.ejs:1 b.svg', 'views/a.ejs:2 d.svg'])
  t.regex(before.problems[0]?.message ?? '', /the option inline does not name it/)
  await run(options)
  const { problems } = await check(settleForPrecompile(options), ['views/*.ejs'], true)
  t.deepEqual(problems, before.problems)
  // The pages of each app may have this view.
  writeFiles(root, { 'apps/admin/assets/icons/a.svg': '<svg/>' })
  const apps = { web: {}, admin: { inline: 'marks/**' } }
  t.is((await checkViews({ ...options, apps }, ['views/*.ejs'])).problems.length, 3)
})

test.serial('a mistyped name is an error of TypeScript that suggests the nearest one', async t => {
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
    "assets.entry('src/any.tsx')",
    "assets.path(name as AssetName) + assets.stylesheet(name as AssetName<'stylesheet'>)"
  ]
  const said = complaints(root, ...mistyped, ...fine)
  for (const near of ['app.css', 'pages/home', 'logo.svg', 'inter.woff2', 'menu', 'admin'])
    t.true(said.includes(`"${near}"`), `${near}: ${said}`)
  t.is(said.match(/^server\.ts\(\d+,\d+\): error/gm)?.length, mistyped.length)
  t.regex((await runCommand(root, 'types')).stdout, / is current\n$/)
})

test.serial('the command and a server write the same types in every environment', async t => {
  const config = { configure: { production: { sources: ['../../more'] } } }
  const given = { '/more/later.svg': '', '/assets.config.json': JSON.stringify(config) }
  const root = makeTyped(t, given)
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
})

test.serial('in development an existing assets.d.ts follows the sources', async t => {
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
  t.throws(() => statSync(join(other, 'assets.d.ts')), { code: 'ENOENT' }, 'none is made')
})

const FILES = {
  'app.js': "import './count.js'",
  'count.js': 'let counted = 0\nexport const count = () => ++counted',
  'confetti.js': "import './paper.js'",
  'paper.js': 'export {}',
  'unused.js': 'export {}'
}
const CDN = 'https://cdn.example/x.js'
const OPTIONS = { imports: { confetti: 'confetti.js', unused: 'unused.js', cdn: CDN } }
const SCRIPT = `import { count } from '/assets/count.js'
import 'confetti'
import('cdn')
import 'unknown'`

for (const mode of MODES) {
  for (const [path, text] of Object.entries({
    'views/page.ejs': `<script nonce="<%= nonce %>" type="module">${SCRIPT}</script>`,
    'apps/web/views/page.pug': `script(type='module').\n  ${SCRIPT.replaceAll('\n', '\n  ')}`,
    'templates/page.tsx': `<script type="module" dangerouslySetInnerHTML={{ __html: \`${SCRIPT}\` }} />`
  })) {
    test(`importMap({ entry }) has what a script in a view imports: ${path} (${mode})`, async t => {
      const base = path.endsWith('.ejs') ? '/shop' : ''
      const files = { ...FILES, [`/${path}`]: text.replace('/assets/', `${base}/assets/`) }
      const site = await makeFingerprinted(t, mode, files, { ...OPTIONS, base })
      const [count, confetti = '', paper = ''] = await Promise.all(
        ['count', 'confetti', 'paper'].map(name => site.path(`${name}.js`))
      )
      const tag = await site.render(assets => assets.importMap({ entry: 'app' }))
      type ImportMap = Record<'imports' | 'integrity', object>
      const { imports, integrity } = JSON.parse(/>(.*)</.exec(tag)?.[1] ?? '{}') as ImportMap
      t.deepEqual(imports, { [`${base}/assets/count.js`]: count, cdn: CDN, confetti })
      t.deepEqual(Object.keys(integrity), [confetti, paper].toSorted(), 'no tag has it')
    })
  }

  test(`importMap({ entry }) writes no tag if no script in a view imports by name (${mode})`, async t => {
    const page = `<% const { x } = await import('confetti') %>
<script type="module" src="<%= assets.path('app.js') %>"></script>
<script type="module">import x from '<%= assets.path('count.js') %>'</script>`
    const site = await makeFingerprinted(t, mode, { ...FILES, '/views/page.ejs': page }, OPTIONS)
    t.is(await site.render(assets => assets.importMap({ entry: 'app' })), '')
  })
}

const inViews = ({ root }: { readonly root: string }) =>
  (readManifest(root) as { inViews?: readonly string[] }).inViews

test('assets and declarations of types are no views, though a glob matches them', async t => {
  const files = { ...FILES, 'shop.ts': "import 'confetti'", '/assets.d.ts': "import('cdn')" }
  const given = { ...OPTIONS, views: '**/*.ts', bundle: true }
  const site = await makeFingerprinted(t, 'precompiled', files, given)
  t.is(inViews(site), undefined)
  await site.edit({ '/page.ts': "import 'confetti'" })
  t.deepEqual(inViews(site), ['confetti'])
})

const BUILD = viteBuild('dist', {
  'src/main.tsx': 'main-B1a2C3d4.js',
  'src/hero.png': 'hero-B1a2C3d4.png'
})
const mounts = { '/static': viteMount() }

const BUNDLED = {
  'apps/web/assets/app.css': 'a{}',
  ...BUILD,
  'views/a.ejs': `<%- assets.entry('./src/main.tsx') %><%- assets.image('src/hero.png') %>
<% ctx.preload('src/main.tsx') %><%- assets.entry('src/mian.tsx') %>`
}
const inProduction = (root: string) => checkViews({ root, mounts, env: 'production' }, ['views/*'])

test('a view may name entries and sources of a bundle, with or without assets of an app', async t => {
  const root = makeProject(t, BUNDLED)
  const message = "'src/mian.tsx' is not an entry; did you mean 'src/main.tsx'?"
  const mistyped = { path: 'views/a.ejs:2', name: 'src/mian.tsx', near: 'src/main.tsx', message }
  t.deepEqual((await inProduction(root)).problems, [mistyped])
  rmSync(join(root, 'apps'), { recursive: true })
  t.deepEqual((await inProduction(root)).problems, [mistyped])
})

test('an entry in a view is reported where no mount has a manifest', async t => {
  const root = makeProject(t, {
    ...BUNDLED,
    'views/a.ejs': "<%- assets.entry('a') %><%- entry('b') %>"
  })
  const { problems } = await checkViews({ root }, ['views/*'])
  const messages = problems.map(({ message }) => message)
  t.deepEqual(messages, ["'a' is not an entry: no mount has a manifest"])
})

test.serial(
  'without the build of a bundle precompile says that the names in views are not checked',
  async t => {
    const root = makeProject(t, {
      'apps/web/assets/app.css': 'a{}',
      'views/a.ejs': "<%- assets.entry('src/main.tsx') %>",
      'assets.config.json': JSON.stringify({ views: 'views/*', mounts })
    })
    const { status, stderr } = await runCommand(root, 'precompile')
    t.is(status, 0)
    t.regex(stderr, /names are not checked: .*manifest\.json/)
  }
)

test.serial(
  'entries and sources of a build are checked by their types from the first build on',
  async t => {
    const root = makeTyped(t, { '/assets.config.json': JSON.stringify({ mounts }) })
    await runCommand(root, 'types')
    const lines = [
      "assets.entry('src/mian.tsx')",
      "assets.entry('./src/main.tsx') + assets.image('src/hero.png')"
    ]
    t.is(complaints(root, ...lines), '')
    writeFiles(root, BUILD)
    await runCommand(root, 'types')
    const said = complaints(root, ...lines)
    t.regex(said, /'"src\/main\.tsx"'/)
    t.is(said.match(/error TS/g)?.length, 1)
  }
)
