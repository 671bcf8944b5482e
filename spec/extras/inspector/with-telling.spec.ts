// The page about an asset, or about any path, as explain tells it.
import { randomBytes } from 'node:crypto'
import test from 'ava'
import type { AssetReport } from '../../../lib/extras/inspector/asset-page.ts'
import { treemap } from '../../../lib/extras/inspector/treemap.ts'
import type { WeightReport } from '../../../lib/extras/inspector/weight-page.ts'
import { makeSite } from '../../support/site.ts'
import { json, listOf, makeInspected } from './inspected.ts'

test('INS-01 the page of an asset has the steps of explain, its texts, and a reason for each header', async t => {
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

/** Text that cannot be compressed much. */
const noise = (bytes: number) => randomBytes(bytes / 2).toString('hex')

test('the page about a weight shows each package and source, with areas in proportion, and says what it is from', async t => {
  const site = await makeSite(t, {
    'js/app.js': "import './npm/big/index.js'",
    'js/other.js': '',
    'js/npm/big/index.js': `import './thin.js'; export default '${noise(400)}'`,
    'js/npm/big/thin.js': 'a = 1',
    'css/app.css': 'a { color: red }'
  })
  const { asked, names, weight } = await json<WeightReport>(site, 'weight?json')
  t.deepEqual(asked, ['app'])
  t.true(names.includes('other.js'))
  t.deepEqual(weight?.entries, ['/assets/app.css', '/assets/app.js'])
  const { text } = await site.ask('/assets/-/weight?entry=app')
  t.true(text.includes('estimated from the sources'))
  const labels = Array.from(
    text.matchAll(/aria-label="([^",]+), [\d.]+ k?B, /g),
    ([, name]) => name
  )
  t.deepEqual(labels, ['big', 'the application'])
  const tiles = Array.from(text.matchAll(/class="part">([^<]+)</g), ([, name]) => name)
  t.deepEqual(tiles, ['index.js', 'app.js', 'app.css'])
  t.regex(text, /class="part down">thin\.js</, 'in a narrow area, from the top to the bottom')
  for (const [, id] of text.matchAll(/href="#(of-[^"]+)"/g)) t.true(text.includes(`id="${id}"`), id)
  for (const { path } of weight?.files ?? []) t.true(text.includes(path), path)
  const unknown = await site.ask('/assets/-/weight?entry=%3Cscript%3E')
  t.true(unknown.text.includes('No script or stylesheet has such a name.'))
  t.false(unknown.text.includes('<script>'))
})

test('a treemap fills its area without overlaps, in proportion to sizes', t => {
  const items = [3, 0, 50, 1, 7, 7, 20, 12].map(size => ({ size }))
  const whole = { x: 10, y: 20, width: 200, height: 100 }
  const placed = treemap(items, whole)
  t.is(placed.length, 7)
  for (const { item, width, height } of placed)
    t.true(Math.abs(width * height - item.size * 200) < 1e-6)
  for (const [at, one] of placed.entries()) {
    t.true(one.x >= 10 && one.y >= 20)
    t.true(one.x + one.width <= 210 + 1e-6 && one.y + one.height <= 120 + 1e-6)
    for (const other of placed.slice(at + 1)) {
      const across = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x)
      const down = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y)
      t.true(across < 1e-6 || down < 1e-6)
    }
  }
  t.deepEqual(treemap([{ size: 0 }], whole), [])
})
