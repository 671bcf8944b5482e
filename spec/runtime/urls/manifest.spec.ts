// The manifest as pages and servers see it: its version, its faults, strange keys.
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { koaHttpCache } from '../../../lib/koa-http-cache.ts'
import type { ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { digestOf, makeFingerprinted, makeProject, makeSite, MODES } from '../../support/index.ts'
import { placed, run, test, withDigest } from '../../support/index.ts'

test('fingerprint mode without a manifest is an error at start', t => {
  const root = makeProject(t, { 'apps/web/assets/app.js': 'go()' })
  t.throws(() => koaAssets({ root, env: 'production' }), {
    instanceOf: AssetError,
    code: 'manifest-missing',
    message: `there is no manifest ${join(root, 'public/assets.json')}: run npx koa-fresh-assets precompile`
  })
})

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
  null: 'null'
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

test('public without any sources keeps the helpers of every app', async t => {
  const files = placed({
    'app.css': 'web',
    'only-web.js': 'go()',
    '/apps/admin/assets/app.css': 'admin',
    '/apps/shop/assets/app.css': 'shop'
  })
  const apps = { web: {}, admin: {}, shop: { path: '/till' } }
  for (const options of [{}, { apps }, { prefix: '/static/files' }, { sources: '../more' }]) {
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

test('a manifest with the names of object properties touches no prototype', async t => {
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

for (const mode of MODES) {
  test(`a page's ETag changes with what is published, through koaHttpCache (${mode})`, async t => {
    const root = makeProject(t, placed({ 'app.css': 'a{}' }))
    const options = { root, env: 'production', revalidate: 0 }
    await run(options)
    const cache = koaHttpCache({ version: ctx => ctx.assets.version })
    const routes: Middleware = ctx =>
      cache(ctx, async () => {
        await ctx.fresh('page')
        ctx.body = ctx.assets.stylesheet('app')
      })
    const live = { configure: { production: { compile: true } } }
    const site = await makeSite(t, {}, { ...options, ...(mode === 'live' && live), routes })
    const etag = (await site.ask('/')).headers.etag ?? ''
    t.regex(etag, /^"/)
    const again = () => site.ask('/', { headers: { 'If-None-Match': etag } })
    t.is((await again()).status, 304)
    site.write('app.css', 'b{}')
    if (mode === 'precompiled') await run(options)
    const next = await again()
    t.is(next.status, 200)
    t.not(next.headers.etag, etag)
    t.true(next.text.includes(digestOf('b{}')), next.text)
  })
}

// Rolling deploys: two replicas, one deploy apart.

const OLD = { 'app.js': 'old()', 'app.css': 'a { background: url(logo.png) }', 'logo.png': 'old' }
const NEW = { ...OLD, 'app.js': 'new()', 'logo.png': 'new', 'more.js': 'more()' }

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
  const site = await makeFingerprinted(t, 'precompiled', OLD, { revalidate: 0 })
  const before = await site.path('app.js')
  const manifest = join(site.root, 'public/assets.json')
  writeFileSync(manifest, '{ "version": 1, "ass')
  t.is(await site.path('app.js'), before)
  renameSync(manifest, `${manifest}.gone`)
  t.is(await site.path('app.js'), before)
  await site.edit(NEW)
  t.not(await site.path('app.js'), before)
})
