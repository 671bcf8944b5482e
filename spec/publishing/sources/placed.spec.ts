// Source directories that are published as they are, or in part.
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { precompile } from '../../../lib/index.ts'
import {
  makeFingerprinted,
  makeProject,
  makeSite,
  MODES,
  placed,
  run
} from '../../support/index.ts'
import { removeFolder, test, until, warningsAbout, writeFiles } from '../../support/index.ts'
import type { Files, SiteOptions } from '../../support/index.ts'

const FILES = {
  '/lib/outline/star.svg': 'outline star',
  '/lib/outline/set.css.scss': "@use 'colors'; a { src: url('./star.svg'); color: colors.$red }",
  '/lib/_colors.scss': '$red: red;'
}
const ICONS = { dir: '../../lib', at: 'icons', include: ['outline/**'] }

for (const mode of MODES) {
  test(`Sass in a source directory with include finds its partials and images (${mode})`, async t => {
    const site = await makeFingerprinted(t, mode, FILES, { sources: [ICONS] })
    const set = await site.text('icons/outline/set.css')
    t.true(set.includes(`url("${await site.path('icons/outline/star.svg')}")`), set)
    t.true(set.includes('color: red'), set)
  })
}

test('a name in exclude is not served, even if a file takes the place of the folder', async t => {
  const root = makeProject(t, { 'lib/a.js': 'a', 'lib/node_modules/x/b.js': 'b' })
  const sources = [{ dir: '../../lib', at: 'lib', exclude: ['node_modules'] }]
  const site = await makeSite(t, {}, { root, sources })
  t.is((await site.ask('/assets/lib/a.js')).text, 'a')
  // A name that is not found makes the listing look again.
  removeFolder(join(root, 'lib/node_modules'))
  writeFiles(root, { 'lib/node_modules': 'a file' })
  t.is((await site.ask('/assets/lib/node_modules')).status, 404)
})

test('entries of sources for the app’s own directory exclude files of that together', async t => {
  const files = { 'js/app.js': 'a', 'js/app.test.js': "import 'node:test'", 'js/old.js': '' }
  const excluding = ['*.test.js', 'old.js'].map(exclude => ({ dir: 'assets', exclude }))
  const sources = [{ dir: '../../theme' }, 'assets', ...excluding]
  const root = makeProject(t, { ...placed(files), 'theme/app.js': 'b' })
  t.is((await run({ root, sources })).assets, 1)
  const site = await makeSite(t, {}, { root, sources })
  t.is((await site.ask('/assets/app.js')).text.split('\n')[0], 'a')
  for (const name of ['app.test.js', 'old.js'])
    t.is((await site.ask(`/assets/${name}`)).status, 404)
})

// A page that names an asset without a source: a warning for its developer, never an error in the page.

const routes: Middleware = ctx => {
  if (ctx.path.startsWith('/assets/')) return
  const { assets } = ctx
  const names = ctx.querystring.split('&')
  if (ctx.path === '/map') ctx.body = assets.importMap({ entry: names[0] ?? '' })
  else ctx.body = names.map(name => assets.path(name)).join(' ')
}

const lostIn = (what: string) => `koa-fresh-assets: ${what}, which has no source in apps/web/assets`

const makePages = (t: Parameters<typeof makeSite>[0], files: Files, options: SiteOptions = {}) =>
  makeSite(t, files, { routes, ...options })

test('a name that a browser requests in vain is logged with the nearest name', async t => {
  const files = { 'js/deep/hello.js': '', 'images/Logo.svg': '', '/public/assets/by-hand.js': '' }
  const site = await makePages(t, files)
  const logged = async (name: string, advice: string) => {
    t.is((await site.ask(`/assets/${name}`)).status, 404)
    await until(() => warningsAbout(name).length > 0, `${name} is logged`)
    const asked = lostIn(`a browser asked for /assets/${name}`)
    t.deepEqual(warningsAbout(`/assets/${name}`), [`${asked}; ${advice}`])
  }
  await site.ask('/?Logo.svg')
  t.is((await site.ask('/assets/Logo.svg')).status, 200)
  const long = 'long'.repeat(60)
  for (const name of ['by-hand.js', 'deep/hello.js', 'none.js.map', '-/none.js', long])
    await site.ask(`/assets/${name}`)
  renameSync(site.at('images/Logo.svg'), site.at('images/logo.svg'))
  await logged('Logo.svg', "did you mean 'logo.svg'? It differs in upper and lower case")
  await logged('deep/helo.js', "did you mean 'deep/hello.js'?")
  t.deepEqual(warningsAbout('by-hand.js'), [])
  t.deepEqual(warningsAbout('none.js'), [])
  t.deepEqual(warningsAbout(long), [], 'nobody writes such a name')
})

test('development warns of a page whose URL has a tail of a path, which production lacks', async t => {
  const files = { 'stylesheets/app.css': 'a {}', 'images/a/logo.svg': '' }
  const own = { '/public/assets/own.css': '', '/public/css/own.css': '', '/dist/css/app.css': '' }
  const mounts = { '/static': 'dist', '/': { dir: 'public' } }
  const site = await makePages(t, { ...files, ...own }, { mounts })
  const askedBy = async (from: string | undefined, path: string) => {
    const headers = from === undefined ? {} : { Referer: `http://localhost:3000${from}` }
    t.is((await site.ask(path, { headers })).status, 200, path)
  }
  await askedBy(undefined, '/assets/stylesheets/app.css')
  await askedBy('/assets/app.css', '/assets/a/logo.svg')
  for (const path of ['/assets/app.css', '/assets/own.css', '/css/own.css', '/static/css/app.css'])
    await askedBy('/shop?page=2', path)
  t.deepEqual(warningsAbout('a page asks for'), [])
  for (const page of ['/', '/shop']) await askedBy(page, '/assets/stylesheets/app.css')
  t.deepEqual(warningsAbout('a page asks for'), [
    'koa-fresh-assets: a page asks for /assets/stylesheets/app.css, a 404 in production, which has ' +
      'stylesheets/app.css as /assets/app.css: use a helper'
  ])
})

test('development warns of a link to a file that is left in public without a source', async t => {
  const files = placed({ 'images/old.svg': '', 'images/half-moon.svg': '', 'app.css': '' })
  const root = makeProject(t, files)
  await precompile({ root })
  const images = join(root, 'apps/web/assets/images')
  renameSync(join(images, 'half-moon.svg'), join(images, 'halfmoon.svg'))
  rmSync(join(images, 'old.svg'))
  const site = await makePages(t, { '/public/assets/by-hand.svg': '' }, { root })
  t.is((await site.ask('/?by-hand.svg&half-moon.svg&old.svg')).status, 200)
  await until(() => warningsAbout('old.svg').length > 0, 'it is logged')
  const there =
    'public has a file of that name, from a precompile or put there by hand, but with fingerprints no helper finds it'
  for (const [name, advice] of [
    ['half-moon.svg', "did you mean 'halfmoon.svg'?"],
    ['old.svg', 'write its URL, or move it to the sources'],
    ['by-hand.svg', 'write its URL, or move it to the sources']
  ] as const) {
    const linked = lostIn(`a page links to /assets/${name}`)
    t.deepEqual(warningsAbout(name), [`${linked}: ${there}: ${advice}`])
  }
})

test('a name in a page that has no source is logged once, with the nearest name', async t => {
  const files = {
    'css/dashboard.css': 'a{}',
    'javascripts/shop.js': '',
    'css/deep/known.css.scss': 'a { b: c }',
    '/public/js/jquery.js': '',
    'css/one/twice.css': 'a{}',
    'css/two/twice.css': 'b{}',
    '/apps/admin/assets/images/seal.svg': ''
  }
  const site = await makePages(t, files)
  const known = ['dashboard.css', 'deep/known.css', 'known.css']
  const names = [...known, 'dashbord.css', 'twice.css', 'seal.svg', 'nowhere-else.png']
  const page = await site.ask(`/?${names.join('&')}`)
  const written = names.with(2, 'deep/known.css').map(name => `/assets/${name}`)
  t.is(page.text, written.join(' '), 'a tail is no part of a URL')
  await site.ask('/?dashbord.css&js/jquery.js&last.png')
  t.is((await site.ask('/map?shopp')).status, 200)
  await until(() => warningsAbout('last.png').length > 0, 'the last name is logged')
  const nearest = `${lostIn('a page links to /assets/dashbord.css')}; did you mean 'dashboard.css'?`
  t.deepEqual(warningsAbout('dashbord.css'), [nearest])
  const plain =
    'public has a file of that name, which needs no helper: write /js/jquery.js in the page'
  t.true(warningsAbout('/assets/js/jquery.js')[0]?.endsWith(plain))
  t.regex(warningsAbout('nowhere-else.png')[0] ?? '', /no source in apps\/web\/assets$/)
  const other = "no source in apps/web/assets; 'admin' has it, as in assets.app('admin')"
  t.true(warningsAbout('/assets/seal.svg')[0]?.endsWith(other))
  const [twice, ...more] = warningsAbout('twice.css')
  t.true(twice?.endsWith('use one of css/one/twice.css, css/two/twice.css'))
  t.deepEqual(more, [])
  t.deepEqual([...warningsAbout('known'), ...warningsAbout('/assets/dashboard.css')], [])
  await until(() => warningsAbout('/shopp.js').length > 0, 'the entry of an import map is logged')
  t.regex(warningsAbout('/shopp.js')[0] ?? '', /no source in .*; did you mean 'shop\.js'\?$/)
})

test('the log says to restart if the folder assets was created after the start', async t => {
  const root = makeProject(t, { 'public/robots.txt': '' })
  const found = await makePages(t, {}, { root })
  const named = await makePages(t, {}, { root, apps: { web: { dir: '.' } } })
  writeFiles(root, { 'assets/css/site.css': 'a{}' })
  await found.ask('/?late-site.css')
  await named.ask('/?late-other.css')
  await until(() => warningsAbout('/late-other.css').length > 0, 'the last name is logged')
  const advice =
    'if it is in the folder assets, restart this process, which looked for that folder at its start'
  const linked = lostIn('a page links to /assets/late-site.css')
  t.deepEqual(warningsAbout('/late-site.css'), [`${linked}; ${advice}`])
  t.false(warningsAbout('/late-other.css').some(text => text.includes('restart this process')))
  t.is((await named.ask('/assets/site.css')).status, 200)
})

test('a missing name is logged only in development, once its page is written', async t => {
  for (const env of ['test', 'staging', 'development']) {
    let warned = -1
    const name = `unseen-in-${env}.css`
    const routes: Middleware = ctx => {
      ctx.body = ctx.assets.path(name)
      warned = warningsAbout(name).length
    }
    const site = await makePages(t, {}, { env, routes })
    t.is((await site.ask('/')).text, `/assets/${name}`)
    t.is(warned, 0)
  }
  await until(() => warningsAbout('unseen-in-development').length > 0, 'the name is logged')
  t.deepEqual([...warningsAbout('unseen-in-test'), ...warningsAbout('unseen-in-staging')], [])
})

for (const [from, to, at, apps] of [
  ['its app', 'web', '', { web: {} }],
  ['an app that is not compiled', 'admin', 'admin/', { web: { compile: false }, admin: {} }]
] as const) {
  test(`a page of ${from} finds a stylesheet that moved to another folder`, async t => {
    const routes: Middleware = ctx => {
      if (ctx.path === '/') ctx.body = ctx.assets.stylesheet(`${at}theme`)
    }
    const files = { 'app.css': '', [`/apps/${to}/assets/css/old/theme.css`]: '' }
    const site = await makeSite(t, files, { env: 'test', apps, routes })
    const folder = site.at(`/apps/${to}/assets/css`)
    for (const name of ['old', 'new']) {
      renameSync(join(folder, 'old'), join(folder, name))
      const path = `/assets/${at}${name}/theme.css`
      t.is((await site.ask(path)).status, 200)
      t.regex((await site.ask('/')).text, new RegExp(`"${path}"`))
    }
  })
}

test('in nested source directories a reference leads to the file beside the stylesheet', async t => {
  const files = {
    '/lib/css/a.css': 'a { order: 1 }',
    '/lib/css/theme/a.css': 'a { order: 2 }',
    '/lib/css/main.css.scss': "@import url('theme/a.css');"
  }
  const { ask } = await makeSite(t, files, { sources: ['../../lib', '../../lib/css/theme'] })
  const [, url = ''] = /url\("?'?([^"')]+)/.exec((await ask('/assets/main.css')).text) ?? []
  t.is((await ask(new URL(url, 'http://a/assets/main.css').pathname)).text, 'a { order: 2 }')
})
