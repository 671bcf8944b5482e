// The manifest as pages and servers see it: its version, its faults, strange keys.
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import type { ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { digestOf, makeFingerprinted, makeProject, makeSite, MODES } from '../../support/index.ts'
import { placed, run, test, until, warningsAbout, withDigest } from '../../support/index.ts'

const ENTRY = { target: '/assets/a', source: 'a', integrity: [], size: 1 }
const withEntry = (entry: object, key = '/assets/a.js') =>
  JSON.stringify({ version: 1, assets: { [key]: entry } })
const withApps = (apps: unknown) => JSON.stringify({ version: 1, apps, assets: {} })

for (const [what, text] of Object.entries({
  'half a manifest': '{ "version": 1, "assets": { "/assets/app',
  'a manifest of another version': '{ "version": 2, "assets": {} }',
  'a manifest whose assets are a list': '{ "version": 1, "assets": [] }',
  'a manifest whose apps are a list': withApps(['web']),
  'an app without a path': withApps({ web: {} }),
  'an app whose path leads out of the prefix': withApps({ web: { path: '/../x' } }),
  'an app whose path is a list': withApps({ web: { path: ['/a'] } }),
  'an entry without target': withEntry({ size: 1 }),
  'an entry whose imports are not a list': withEntry({ ...ENTRY, imports: 'b' }),
  'an entry whose imports are not paths': withEntry({ ...ENTRY, dynamicImports: [1] }),
  'a key that is not a path': withEntry(ENTRY, '/assets/%'),
  'a manifest that is null': 'null'
})) {
  test(`${what} is an error at start`, t => {
    const root = makeProject(t, { 'public/assets.json': text })
    t.throws(() => koaAssets({ root, env: 'production' }), {
      instanceOf: AssetError,
      code: 'manifest-broken',
      message:
        /public[\\/]assets\.json is not a manifest \(.+\): run npx koa-fresh-assets precompile$/s
    })
  })
}

test('a deploy of public without the sources keeps the URLs of every app', async t => {
  const files = placed({
    'app.css': 'web',
    'only-web.js': 'go()',
    '/apps/admin/assets/app.css': 'admin',
    '/apps/shop/assets/app.css': 'shop'
  })
  const apps = { web: {}, admin: {}, shop: { path: '/till' } }
  for (const options of [{}, { apps }, { prefix: '/static/files', sources: '../more' }]) {
    const whole = makeProject(t, { ...files, 'apps/more/images/more.png': 'more' })
    const { manifest } = await run({ root: whole, ...options })
    const bytes = readFileSync(manifest)
    await run({ root: whole, ...options })
    t.deepEqual(readFileSync(manifest), bytes)
    const image = makeProject(t)
    cpSync(join(whole, 'public'), join(image, 'public'), { recursive: true })
    const linked = async (root: string, more: KoaAssetsOptions) => {
      const routes: Middleware = ctx => {
        const { assets } = ctx
        ctx.body = `${assets.stylesheet('app')} ${assets.app('web').path('only-web.js')}`
      }
      const site = await makeSite(t, {}, { root, env: 'production', routes, ...more })
      const paths = ['/', '/admin', '/admin/x', '/shop', '/till', '/adminx']
      const pages = await Promise.all(paths.map(async path => (await site.ask(path)).text))
      const [href = ''] = /\/[^"]+(?=" type)/.exec(pages[1] ?? '') ?? []
      return { pages, admin: (await site.ask(href)).text }
    }
    const before = await linked(whole, options)
    const { prefix, sources } = options as KoaAssetsOptions
    t.is(before.admin, 'admin')
    t.deepEqual(await linked(image, { prefix, sources }), before)
  }
})

test('a manifest without apps belongs to the app web', async t => {
  const root = makeProject(t, placed({ 'app.css': 'web' }))
  const { manifest } = await run({ root })
  const { apps, ...rest } = JSON.parse(readFileSync(manifest, 'utf8')) as { apps: unknown }
  t.deepEqual(apps, { web: { path: '/' } })
  writeFileSync(manifest, JSON.stringify(rest))
  rmSync(join(root, 'apps'), { recursive: true })
  const routes: Middleware = ctx => void (ctx.body = ctx.assets.path('app.css'))
  const site = await makeSite(t, {}, { root, env: 'production', routes })
  t.regex((await site.ask('/')).text, withDigest(/^\/assets\/app-DIGEST\.css$/))
})

test('a name such as __proto__ in a manifest pollutes no prototype', async t => {
  const entry = JSON.stringify(ENTRY)
  const keys = ['__proto__', 'constructor', 'toString', '/assets/__proto__']
  const assets = keys.map(key => `${JSON.stringify(key)}: ${entry}`).join(', ')
  const text = `{ "version": 1, "__proto__": { "polluted": 1 }, "assets": { ${assets} } }`
  const root = makeProject(t, { 'public/assets.json': text })
  let assetsOfPage: ViewHelpers | undefined
  const routes: Middleware = ctx => void (assetsOfPage = ctx.assets)
  await (await makeSite(t, {}, { root, env: 'production', routes })).ask('/')
  t.is(assetsOfPage?.path('__proto__'), ENTRY.target)
  for (const name of ['constructor', 'toString', 'hasOwnProperty'])
    t.throws(() => assetsOfPage?.path(name), { code: 'asset-unknown' })
  for (const name of ['polluted', 'target']) t.false(name in {}, name)
})

for (const mode of MODES) {
  test(`assets and apps named like object properties are ordinary ones (${mode})`, async t => {
    const names = ['constructor', 'toString', 'valueOf', '__defineGetter__', '__proto__']
    const files = Object.fromEntries(names.map(name => [`images/${name}`, `the file ${name}`]))
    const site = await makeFingerprinted(t, mode, files)
    for (const name of names) {
      const { text, headers } = await site.ask(`/assets/${name}`)
      t.deepEqual(
        [text, headers['content-type']],
        [files[`images/${name}`], 'application/octet-stream']
      )
      t.is(await site.path(name), `/assets/${name}-${digestOf(text)}`)
    }
    t.is((await site.ask('/assets/hasOwnProperty')).status, 404)
    const app = { '/apps/__proto__/assets/x/app.css': 'an app' }
    const folder = { 'images/__proto__.d/polluted': 'a folder' }
    const other = await makeFingerprinted(t, mode, { ...app, ...folder })
    t.is((await other.ask('/assets/__proto__/app.css')).text, 'an app')
    t.is((await other.ask('/assets/__proto__.d/polluted')).text, 'a folder')
    for (const name of ['target', 'polluted']) t.false(name in {}, name)
  })
}

// A manifest that is replaced while the process runs.

test('pages of the running release still find what a new manifest has dropped', async t => {
  const files = { 'old/app.css': 'a{}', 'old/gone.js': 'gone()', 'stays.js': 'stays()' }
  const site = await makeFingerprinted(t, 'precompiled', files, { revalidate: 0 })
  const version = () => site.render(assets => assets.version)
  const [gone, app] = [await site.path('gone.js'), await site.path('app.css')]
  const first = await version()
  rmSync(site.at('old'), { recursive: true })
  await site.edit({ 'new/app.css': 'b{}' })
  const second = await version()
  t.not(second, first)
  t.is(await site.path('gone.js'), gone)
  t.is((await site.ask(gone)).text, 'gone()')
  t.not(await site.path('app.css'), app, 'a tail leads where the new manifest has it lead')
  t.true((await site.render(assets => assets.javascript('gone'))).includes(gone))
  const routes: Middleware = ctx => void (ctx.body = ctx.assets.path('gone.js'))
  const again = await makeSite(t, {}, { root: site.root, env: 'production', routes })
  t.is((await again.ask(gone)).text, 'gone()')
  t.is((await again.ask('/page')).status, 500, 'a process that starts later has only the manifest')

  rmSync(join(site.root, 'public', gone))
  await site.edit({ 'stays.js': 'changed()' })
  await t.throwsAsync(() => site.path('gone.js'), { code: 'asset-unknown' })
})

test('when the manifest becomes invalid or is removed, the last good one stays in use', async t => {
  const site = await makeFingerprinted(t, 'precompiled', { 'app.js': 'old()' }, { revalidate: 0 })
  const before = await site.path('app.js')
  const manifest = join(site.root, 'public/assets.json')
  writeFileSync(manifest, '{ "version": 1, "ass')
  t.is(await site.path('app.js'), before)
  renameSync(manifest, `${manifest}.gone`)
  t.is(await site.path('app.js'), before)
  await site.edit({ 'app.js': 'new()' })
  t.not(await site.path('app.js'), before)
})

// What the log of a server in production says of a 404 for a file that its own pages name.

const NAMED = { 'app.css': 'a {}', 'menu.css': 'b {}', 'page.css': 'c {}' }

test('of the 404s for files that a manifest names, only the first is logged', async t => {
  const site = await makeFingerprinted(t, 'precompiled', NAMED)
  const paths = await Promise.all(Object.keys(NAMED).map(name => site.path(name)))
  const [app = '', menu = '', page = ''] = paths
  rmSync(join(site.root, 'public', menu))
  writeFileSync(join(site.root, 'public', page), 'other bytes')
  for (const path of [app.replace(/[0-9a-f]{32}/, 'f'.repeat(32)), '/assets/none.css', app])
    await site.ask(path)
  t.deepEqual(paths.flatMap(warningsAbout), [])
  t.is((await site.ask(menu)).status, 404)
  t.is((await site.ask(page)).status, 404)
  t.deepEqual(paths.flatMap(warningsAbout), [
    `koa-fresh-assets: ${menu} is a 404, though the manifest names it: public lacks this file, or has other bytes under its name. npx koa-fresh-assets verify lists all such files`
  ])
  await site.edit({ 'menu.css': 'd {}' })
  const next = await site.path('menu.css')
  rmSync(join(site.root, 'public', next))
  await site.ask(next)
  t.is(warningsAbout(next).length, 1)
})

test('a request for a file of the manifest is reported once while serving is off', async t => {
  const site = await makeFingerprinted(t, 'precompiled', { 'off.css': 'e {}' }, { serve: false })
  const path = await site.path('off.css')
  await site.ask(path, { method: 'POST' })
  await site.ask('/assets/off.css')
  t.deepEqual(warningsAbout(path), [])
  for (const method of ['HEAD', 'GET']) t.is((await site.ask(path, { method })).status, 404)
  t.deepEqual(warningsAbout(path), [
    `koa-fresh-assets: ${path} is a 404, as serve is off: set SERVE_STATIC_ASSETS=true or serve: true, or let the web server in front send public`
  ])
})

// Names that look like fingerprinted ones, precompiled and built on request.

const IMMUTABLE = 'public, max-age=31536000, immutable'
const other = '0123456789abcdef'.repeat(2)

for (const mode of MODES) {
  const revalidated = mode === 'live' ? 'no-cache' : 'public, max-age=0, must-revalidate'

  test(`a name that ends in 32 other hex characters is an ordinary name (${mode})`, async t => {
    const [logo, twin] = [`logo-${other}.png`, `app-${other}.css`]
    const site = await makeFingerprinted(t, mode, {
      [logo]: 'logo',
      'app.css': 'a{}',
      [twin]: `b { background: url(${logo}) }`,
      [`/public/assets/upload-${other}.jpg`]: 'upload',
      [`/public/uploads/photo-${other}.jpg`]: 'photo'
    })
    const fingerprinted = `/assets/logo-${other}-${digestOf('logo')}.png`
    t.is(await site.path(logo), fingerprinted)
    t.is((await site.ask(fingerprinted)).headers['cache-control'], IMMUTABLE)
    for (const [path, text] of [
      [`/assets/${logo}`, 'logo'],
      [`/assets/${twin}`, `b { background: url(${fingerprinted}) }`],
      [`/assets/upload-${other}.jpg`, 'upload'],
      [`/uploads/photo-${other}.jpg`, 'photo']
    ] as const) {
      for (let asked = 0; asked < 2; asked++) {
        const response = await site.ask(path)
        t.deepEqual([response.status, response.text], [200, text], path)
        t.is(response.headers['cache-control'], revalidated, path)
      }
    }
    await site.edit({ [logo]: 'newer' })
    await until(async () => (await site.ask(`/assets/${logo}`)).text === 'newer', 'the new logo')
    t.is((await site.ask(fingerprinted)).text, 'logo', 'what an open page asks for')
  })
}
