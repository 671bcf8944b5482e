// Rolling deploys: two replicas, one deploy apart.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import {
  type FingerprintedSite,
  MODES,
  digestIn,
  digestOf,
  makeFingerprinted,
  placed,
  run
} from '../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'

const OLD = { 'app.js': 'old()', 'app.css': 'a { background: url(logo.png) }', 'logo.png': 'old' }
const NEW = { ...OLD, 'app.js': 'new()', 'logo.png': 'new', 'more.js': 'more()' }

for (const mode of MODES) {
  test(`FPR-19 a page of one replica never gets other bytes from one a deploy behind (${mode})`, async t => {
    const [behind, ahead] = await Promise.all([
      makeFingerprinted(t, mode, OLD),
      makeFingerprinted(t, mode, NEW)
    ])
    for (const [from, to] of [
      [ahead, behind],
      [behind, ahead]
    ] as const) {
      for (const name of ['app.js', 'logo.png', 'app.css']) {
        const path = await from.path(name)
        const { status, headers, text } = await to.ask(path)
        t.is(status, 404, path)
        t.is(headers['cache-control'], 'no-store')
        t.is(text, 'Not Found')
        t.is((await from.ask(path)).status, 200)
      }
    }
  })

  test(`FPR-19 replicas that share the public directory serve each other's pages (${mode})`, async t => {
    const folder = makeProject(t)
    const options = { public: join(folder, 'public') }
    const behind = await makeFingerprinted(t, mode, OLD, { ...options, revalidate: 3600 })
    const old = await pathsOf(behind, Object.keys(OLD))
    const ahead = await makeFingerprinted(t, mode, NEW, options)
    const young = await pathsOf(ahead, Object.keys(NEW))
    for (const site of [behind, ahead]) {
      for (const path of [...old, ...young]) {
        const { status, bytes } = await site.ask(path)
        t.is(status, 200, path)
        t.is(digestOf(bytes), digestIn(path) ?? '', path)
      }
    }
  })
}

const pathsOf = (site: FingerprintedSite, names: readonly string[]) =>
  Promise.all(names.map(name => site.path(name)))

test('FPR-18 BLD-01 the first page after a precompile has the new tags, and asset and page change together', async t => {
  const site = await makeFingerprinted(t, 'precompiled', OLD, { revalidate: 0 })
  const before = await site.path('app.js')
  await site.edit(NEW)
  const after = await site.path('app.js')
  t.not(after, before)
  t.is((await site.ask(after)).text, 'new()')
  t.is((await site.ask(before)).text, 'old()')
  t.is((await site.ask(await site.path('more.js'))).text, 'more()')
})

test('FPR-17b pages of the running release still find what a new manifest has dropped', async t => {
  const files = { 'old/app.css': 'a{}', 'old/gone.js': 'gone()', 'stays.js': 'stays()' }
  const site = await makeFingerprinted(t, 'precompiled', files, { revalidate: 0 })
  const version = () => site.render(assets => assets.version)
  const [gone, app, first] = [
    await site.path('gone.js'),
    await site.path('app.css'),
    await version()
  ]
  rmSync(site.at('old'), { recursive: true })
  await site.edit({ 'new/app.css': 'b{}' })
  const second = await version()
  t.not(second, first)
  t.is(await site.path('gone.js'), gone)
  t.is((await site.ask(gone)).text, 'gone()')
  t.not(await site.path('app.css'), app, 'a tail leads where the new manifest has it lead')
  t.true((await site.render(assets => assets.importMap())).includes(gone))
  const again = await makeSite(
    t,
    {},
    {
      root: site.root,
      env: 'production',
      routes: ctx => void (ctx.body = ctx.assets.path('gone.js'))
    }
  )
  t.is((await again.ask(gone)).text, 'gone()')
  t.is((await again.ask('/page')).status, 500, 'a process that starts later has only the manifest')

  rmSync(join(site.root, 'public', gone))
  await site.edit({ 'stays.js': 'changed()' })
  await t.throwsAsync(() => site.path('gone.js'), { code: 'asset-unknown' })
})

test('FPR-17b releases that keep different entries have different versions', async t => {
  const versions = await Promise.all(
    ['one()', 'two()', undefined].map(async code => {
      const files = { 'app.js': 'app()', ...(code !== undefined && { 'gone.js': code }) }
      const site = await makeFingerprinted(t, 'precompiled', files)
      rmSync(site.at('gone.js'), { force: true })
      await site.edit({ 'app.js': 'next()' })
      return site.render(assets => assets.version)
    })
  )
  t.is(new Set(versions).size, 3)
})

test('FPR-18 when the manifest becomes invalid or is removed, the last good one stays in use', async t => {
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

test('a page that is rendered between two deploys refers only to existing files', async t => {
  const site = await makeFingerprinted(t, 'precompiled', OLD, { revalidate: 0 })
  const state = { running: true }
  const deploys = (async () => {
    for (let number = 0; number < 15; number++) {
      writeFiles(site.root, placed({ 'logo.png': `logo ${number}` }))
      await run({ root: site.root })
    }
    state.running = false
  })()
  let pages = 0
  while (state.running) {
    const css = await site.path('app.css')
    const { status, text, bytes } = await site.ask(css)
    t.is(status, 200, css)
    t.is(digestOf(bytes), digestIn(css) ?? '')
    const [, image = ''] = /url\((.*)\)/.exec(text) ?? []
    const logo = await site.ask(image)
    t.is(logo.status, 200, image)
    t.is(digestOf(logo.bytes), digestIn(image) ?? '')
    pages++
  }
  await deploys
  t.true(pages > 0)
})

test('pages of a live site that are rendered while sources change refer to files with the right bytes', async t => {
  const site = await makeFingerprinted(t, 'live', OLD)
  for (let number = 0; number < 30; number++) {
    const pages = Array.from({ length: 5 }, async () => {
      const path = await site.path('logo.png')
      const { status, bytes } = await site.ask(path)
      t.is(status, 200, path)
      t.is(digestOf(bytes), digestIn(path) ?? '', path)
    })
    writeFiles(site.root, placed({ 'logo.png': `logo ${number}`.repeat(1 + number * 50) }))
    await Promise.all(pages)
  }
  t.deepEqual(site.errors, [])
})
