// Names in views that no asset has, found without rendering them.
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { checkViews } from '../../../lib/assets/inspecting/check-views.ts'
import { literalNames } from '../../../lib/assets/inspecting/literal-names.ts'
import { placed, run } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../../support/site.ts'

const namesOf = (text: string) => literalNames(text).map(({ helper, name }) => `${helper} ${name}`)

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
  ['what is computed', "assets.path('img/' + name); assets.path(`${x}.js`); assets.path(name)", []],
  ['the first of several', "assets.javascript('app', script, 'more')", ['app']],
  ['what has other receivers', "router.url('book'); req.path('x'); this.image('a.png')", []],
  ['CSS', "a { background: url('a.png'), url('b.png') } @import url('c.css');", []],
  ['comments of templates', "<%# assets.path('old.js') %>{# assets.path('older.js') #}", []]
] as const) {
  test(`VEW-01 literal names are found: ${language}`, t => {
    t.deepEqual(
      namesOf(text).map(each => each.replace(/^\w+ /, '')),
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

test('VEW-01 a name that no app has is told with its line and the nearest name; tails and queries are names', async t => {
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

test('VEW-01 entries and sources of bundles are names; without a build it is an error that says so', async t => {
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

test('VEW-01 a thousand views are read in less than a second of CPU time', async t => {
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
