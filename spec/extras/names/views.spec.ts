// Names in views that no asset has, found without rendering them.
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { settleForPrecompile, settleProject } from '../../../lib/assets/extras.ts'
import { koaAssets, type KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { checkViews as check } from '../../../lib/extras/names/check-views.ts'
import { literalNames } from '../../../lib/extras/names/literal-names.ts'
import { placed, run } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../../support/site.ts'
import { soakTest } from '../../support/soak.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'
import { checkViews } from './check.ts'

const ASSETS = {
  'css/app.css': 'a{}',
  'js/app.js': 'a()',
  'images/icons/logo.png': 'x',
  '/apps/admin/assets/css/menu.css': ''
}

for (const [language, text, expected] of [
  ['EJS', `<%- assets.stylesheet("main", 'print', { media: 'x' }) %>`, ['main', 'print']],
  ['EJS without a receiver', `<%- javascript('app') %><%= path( 'a.png' ) %>`, ['app', 'a.png']],
  ['Nunjucks', "{{ assets.image('logo.png', { alt: '' }) | safe }}", ['logo.png']],
  ['Pug', "link(rel='icon' href=assets.path('icon.svg'))", ['icon.svg']],
  [
    'TypeScript',
    "ctx.preload('a.css', `a.woff2`)\nstate.assets.url('a.js')",
    ['a.css', 'a.woff2', 'a.js']
  ],
  ['another app', "assets.app('admin').stylesheet('menu')", ['menu']],
  ['escapes', String.raw`assets.path('o\'clock.txt')`, ["o'clock.txt"]],
  ['entries', "assets.entry('a.ts', 'b.ts')\nassets.entryFiles('c.ts')", ['a.ts', 'b.ts', 'c.ts']],
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
    const names = literalNames(text).map(({ name }) => name)
    t.deepEqual(names, [...expected])
  })
}

test('VEW-01 a name that no app has is reported with its line and the nearest name; tails and queries count as names', async t => {
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
  const report = await checkViews({ root }, [
    'apps/web/views/**/*.{ejs,njk}',
    './apps/web/views/*.ts'
  ])
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
  t.like(rest, {
    path: 'apps/web/views/deep/b.njk:2',
    message: "'aplication.js' is not an asset of the app 'web'"
  })
  t.is(report.problems.length, 3)
  // As on a server, which has no sources.
  await run({ root })
  for (const app of ['web', 'admin']) rmSync(join(root, 'apps', app, 'assets'), { recursive: true })
  t.deepEqual(await checkViews({ root }, ['apps/web/views/**/*.{ejs,njk,ts}']), report)
})

test('NAM-01 a view names what each app has whose pages may have it; otherwise it is reported, with the app that has it', async t => {
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
  const isShared = (message: string) => message.replace(';', ', whose pages may have this view;')
  const shared = [webHas('app.css'), adminHas('menu.css'), adminHas('menu.css')].map(message => [
    'views/shared.njk:1',
    isShared(message)
  ])
  const problemsIn = async (options: object) => {
    const { problems } = await checkViews({ root, ...options }, ['{apps/*/views,views}/**/*.njk'])
    return problems.map(({ path, message }) => [path, message])
  }
  t.deepEqual(await problemsIn({}), [...expected, ...shared])
  const apps = { web: { dir: '.' }, admin: { dir: 'apps/admin' } }
  writeFiles(root, { 'assets/stylesheets/app.css': 'a{}' })
  const inAdmin = expected.filter(([path]) => path?.startsWith('apps/admin/'))
  const found = await problemsIn({ apps })
  const foundIn = (folder: string) => found.filter(([path]) => path?.startsWith(folder))
  t.deepEqual(foundIn('apps/admin/'), inAdmin)
  t.deepEqual(foundIn('views/'), shared)
  // As on a server, which has no sources.
  rmSync(join(root, 'assets'), { recursive: true })
  await run({ root })
  for (const app of ['web', 'admin']) rmSync(join(root, 'apps', app, 'assets'), { recursive: true })
  t.deepEqual(await problemsIn({}), [...expected, ...shared])
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
  // The other app has neither of them.
  t.deepEqual([files, names, problems.length], [1000, 40_000, 40_000])
  t.true(user + system < 1e6, `${(user + system) / 1e6} s`)
})

test('SET-11 views that are no globs are an error at start', t => {
  for (const views of [42, ['a', '']]) {
    const expected = { instanceOf: TypeError, message: /^views must be a glob/ }
    t.throws(() => settleProject({ views } as KoaAssetsOptions, {}), expected)
  }
})

test('in development a glob of the option views that matches no file is reported', async t => {
  const root = makeProject(t, { 'views/a.ejs': '', 'apps/web/assets/app.css': '' })
  const views = ['views/*.ejs', 'view/**/*.ejs']
  koaAssets({ root, env: 'development', serve: true, views })
  await until(() => warningsAbout('view/**').length > 0, 'the warning')
  const message = "views: 'view/**/*.ejs' matches no file of the project: correct or remove it"
  t.deepEqual(warningsAbout('matches no file'), [`koa-fresh-assets: ${message}`])
})

test('INL-02 a name that inline() cannot write is reported, before and after precompile, and a function of the application is not', async t => {
  const root = makeProject(t, placed({ 'images/icons/a.svg': '<svg/>', 'images/b.svg': '<svg/>' }))
  const view =
    "<%- assets.inline('icons/a.svg') + assets.inline('b.svg') + inline('c.css') %>\n<%- assets.inline('d.svg') %>"
  writeFiles(root, { 'views/a.ejs': view })
  const options = { root, inline: 'icons/**' }
  const before = await checkViews(options, ['views/*.ejs'])
  t.deepEqual(
    before.problems.map(({ path, name }) => [path, name]),
    [
      ['views/a.ejs:1', 'b.svg'],
      ['views/a.ejs:2', 'd.svg']
    ]
  )
  t.regex(before.problems[0]?.message ?? '', /the option inline does not name it/)
  await run(options)
  const { problems } = await check(settleForPrecompile(options), ['views/*.ejs'], true)
  t.deepEqual(problems, before.problems)
})
