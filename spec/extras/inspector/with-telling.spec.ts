// The page about an asset, or about any path, as explain tells it.
import { randomBytes } from 'node:crypto'
import { test } from '../../support/test.ts'
import type { AssetReport } from '../../../lib/extras/inspector/pages.ts'
import type { WeightReport } from '../../../lib/extras/inspector/lists.ts'
import { makeSite } from '../../support/site.ts'
import { json, listOf, makeInspected } from './inspected.ts'

test('the page of an asset has the steps of explain, its texts, and a reason for each header', async t => {
  const site = await makeInspected(t)
  await site.ask('/assets/app.css')
  const report = await json<AssetReport>(site, 'asset?path=/assets/app.css&json')
  t.deepEqual(
    report.explanation.steps?.map(({ subject }) => subject),
    ['settings', 'path', 'app', 'sources', 'helpers', 'file']
  )
  t.is(report.explanation.outcome, '200, its target, which is current')
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

test('a path that is not an asset is explained; a tail and a name find their asset', async t => {
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

test('the reason that a fingerprinted file may be stored is its name', async t => {
  const site = await makeSite(t, { 'css/app.css': 'a{}' }, { fingerprint: true })
  const { assets } = await listOf(site)
  const byUrl = await json<AssetReport>(site, `asset?json&path=${assets[0]?.url}`)
  t.regex(byUrl.representations[0]?.headers[2]?.reason ?? '', /fingerprint is their digest/)
})

/** Text that cannot be compressed much. */
const noise = (bytes: number) => randomBytes(bytes / 2).toString('hex')

test('the page about a weight shows each package and source, with its share, and says what it is from', async t => {
  const site = await makeSite(t, {
    'js/app.js': "import './npm/big/index.js'",
    'js/other.js': '',
    'js/npm/big/index.js': `import './thin.js'; export default '${noise(400)}'`,
    'js/npm/big/thin.js': 'a = 1',
    'css/app.css': 'a { color: red }'
  })
  const { asked, weight } = await json<WeightReport>(site, 'weight?json')
  t.deepEqual(asked, ['app'])
  t.deepEqual(weight.entries, ['/assets/app.css', '/assets/app.js'])
  const { text } = await site.ask('/assets/-/weight?entry=app')
  t.true(text.includes('estimated from the sources'))
  const whole = weight.groups.reduce((sum, { size }) => sum + size, 0)
  t.deepEqual(
    weight.groups.map(({ path }) => path),
    ['big', 'the application']
  )
  for (const { path, size, parts } of weight.groups) {
    const share = ((100 * size) / whole).toFixed(1)
    const row = `>${path}</td>[^]*?<meter max="${whole}" value="${size}"></meter>\\s+${share} %`
    t.regex(text, new RegExp(row), path)
    for (const part of parts) t.true(text.includes(`${part.path}</code> ${part.size} B`), part.path)
  }
  for (const { path } of weight.files) t.true(text.includes(path), path)
  const unknown = await site.ask('/assets/-/weight?entry=%3Cscript%3E')
  t.true(unknown.text.includes('No script or stylesheet has such a name.'))
  t.false(unknown.text.includes('<script>'))
})
