// The page about an asset, or about any path, as explain tells it.
import test from 'ava'
import type { AssetReport } from '../../../lib/extras/inspector/asset-page.ts'
import { settleSite } from '../../../lib/assets/site.ts'
import { overview } from '../../../lib/extras/telling/overview.ts'
import { makeProject, makeSite } from '../../support/site.ts'
import { json, listOf, makeInspected } from './inspected.ts'

test('INS-01 the page of an asset has the steps of explain, its texts, and a reason for each header', async t => {
  const site = await makeInspected(t)
  await site.ask('/assets/app.css')
  const report = await json<AssetReport>(site, 'asset?path=/assets/app.css&json')
  t.deepEqual(
    report.explanation.steps?.map(({ subject }) => subject),
    ['settings', 'path', 'app', 'sources', 'helpers', 'file']
  )
  t.is(report.explanation.outcome, '200, after publishing its source, if that has changed')
  t.deepEqual(report.asset?.dependencies, ['apps/web/assets/css/_colors.scss'])
  const { source, compiled, published } = report.texts
  t.true(source?.text.startsWith("@use 'colors'"))
  t.true(compiled?.text.startsWith('a {\n  color: red;'))
  t.true(published?.text.startsWith('a {\n  color: red;'))
  t.is(source?.file, 'apps/web/assets/css/app.css.scss')
  const { headers } = await site.ask('/assets/app.css')
  const [identity] = report.representations
  t.true((identity?.headers.length ?? 0) > 5)
  for (const { name, value, reason } of identity?.headers ?? []) {
    t.is(headers[name.toLowerCase()], value, name)
    t.true(reason.length > 10)
  }
  await site.ask('/assets/user/menu.css')
  for (const [name, labels] of [
    ['app.css', ['Source', 'Compiled', 'Published']],
    ['user/menu.css', ['Source, published unchanged']],
    ['admin/menu.css', ['Source']]
  ] as const) {
    const { text } = await site.ask(`/assets/-/asset?path=${name}`)
    t.deepEqual(text.match(/(?<=<h3>)[\w ,]+\b/g), [...labels], name)
    t.notRegex(text, /<dd>\s*<\/dd>/)
  }
})

test('INS-01 a path that is not an asset is explained; a tail and a name find their asset', async t => {
  const site = await makeInspected(t)
  const nothing = await site.ask('/assets/-/asset?path=/assets/ap.css')
  t.is(nothing.status, 404)
  t.true(nothing.text.includes('did you mean'))
  for (const path of ['app.css', 'css/app.css', 'http://localhost/assets/app.css?v=1']) {
    const { asset } = await json<AssetReport>(site, `asset?json&path=${encodeURIComponent(path)}`)
    t.is(asset?.path, '/assets/app.css', path)
  }
  for (const path of ['', '/', '/%', '/assets/../..', '/assets.json', '%00', '/assets/-/']) {
    const { status } = await site.ask(`/assets/-/asset?path=${encodeURIComponent(path)}`)
    t.is(status, 404, path)
  }
})

test('INS-01 the reason that a fingerprinted file may be stored is its name', async t => {
  const site = await makeSite(t, { 'css/app.css': 'a{}' }, { fingerprint: true })
  const { assets } = await listOf(site)
  const byUrl = await json<AssetReport>(site, `asset?json&path=${assets[0]?.url}`)
  t.regex(byUrl.representations[0]?.headers[2]?.reason ?? '', /fingerprint is their digest/)
})

test('what a server in development prints says where the pages are, unless they are off', t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const options = { root, env: 'development', prefix: '/d\u00e4ta', serve: true }
  const last = (more: object) =>
    overview(settleSite({ ...options, ...more }), '')
      .split('\n')
      .at(-1)
  t.is(last({}), '  To inspect them, open /d%C3%A4ta/-/ on this server.')
  t.is(last({ live: false }), '  This process serves them, and everything in public.')
})
