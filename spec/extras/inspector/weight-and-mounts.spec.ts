// The inspector's pages about weight and about mounts.
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { test } from '../../support/test.ts'
import type { WeightReport } from '../../../lib/extras/inspector/lists.ts'
import type { ListedMount } from '../../../lib/extras/telling/list.ts'
import { makeSite } from '../../support/site.ts'
import { json } from './inspected.ts'

test("the inspector's page about weight shows each package with its share, and each source with its size", async t => {
  // Text that hardly compresses, so that this package is the largest.
  const noise = randomBytes(200).toString('hex')
  const site = await makeSite(t, {
    'js/app.js': "import './npm/big/index.js'",
    'js/other.js': '',
    'js/npm/big/index.js': `import './thin.js'; export default '${noise}'`,
    'js/npm/big/thin.js': 'a = 1',
    'css/app.css': 'a { color: red }'
  })
  const { asked, weight } = await json<WeightReport>(site, 'weight?json')
  t.deepEqual(asked, ['app'])
  t.deepEqual(weight.entries, ['/assets/app.css', '/assets/app.js'])
  const { text } = await site.ask('/assets/-/weight?entry=app')
  t.true(text.includes('estimated from the sources'))
  const whole = weight.groups.reduce((sum, { size }) => sum + size, 0)
  const [big, own, ...others] = weight.groups.map(({ path }) => path)
  t.deepEqual([big, own, others], ['big', 'the application', []])
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

test("the inspector's page about weight lists icons in the HTML, with their bytes and how often they occur", async t => {
  const icon = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h2"/></svg>'
  const { length } = '<svg><path d="M0 0h2"></path></svg>'
  const files = { 'css/app.css': 'a{}', 'images/icons/a.svg': icon, 'images/icons/b.svg': icon }
  const site = await makeSite(t, files, {
    inline: 'icons/**',
    routes({ assets, path, response }) {
      const all = Array.from({ length: Number(path.slice(1)) }, () => assets.inline('icons/a.svg'))
      response.body = `${all.join('')}${assets.inline('icons/b.svg', { id: 'é' })}`
    }
  })
  const without = await json<WeightReport>(site, 'weight?json')
  t.deepEqual(without.icons, [])
  for (const times of [2, 3, 1]) await site.ask(`/${times}`)
  const { icons, weight } = await json<WeightReport>(site, 'weight?json')
  t.deepEqual(icons, [
    { path: '/assets/icons/a.svg', size: length, times: 3 },
    { path: '/assets/icons/b.svg', size: length + ' id="é"'.length + 1, times: 1 }
  ])
  t.deepEqual(weight, without.weight, 'icons in the HTML add no requests')
  const { text } = await site.ask('/assets/-/weight')
  for (const { path, size, times } of icons)
    for (const each of [path, `${size} B`, `${size * times} B`]) t.true(text.includes(each), each)
})

test('the inspector shows mounts with the files of their bundles, missing files first', async t => {
  const main = { file: 'main-a1.js', isEntry: true }
  const files = {
    '/dist/list.json': JSON.stringify({
      'src/<b>.js': main,
      'src/lazy.js': { file: 'lazy-b2.js' }
    }),
    '/dist/main-a1.js': 'main()',
    '/dist/main-a1.js.gz': gzipSync('main()'),
    '/docs/a.html': 'a'
  }
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' }, '/docs': 'docs' }
  const site = await makeSite(t, files, { mounts })
  const listed = await json<{ mounts: ListedMount[] }>(site, 'mounts?json')
  const [bundle, docs] = listed.mounts
  t.deepEqual(docs, { mount: '/docs', directory: 'docs', files: [] } as unknown as ListedMount)
  t.deepEqual(bundle?.files.at(-1), {
    path: '/static/main-a1.js',
    source: 'src/<b>.js',
    entries: ['src/<b>.js'],
    usedBy: [],
    sizes: { identity: 6, gzip: 27 - 1 }
  })
  const { text } = await site.ask('/assets/-/mounts')
  t.regex(text, /1 of 2 files are missing[^]*lazy-b2\.js[^]*>missing<[^]*main-a1\.js/)
  t.true(text.includes('src/&lt;b&gt;.js'))
  t.false(text.includes('<b>'))
  t.regex((await site.ask('/assets/-/')).text, /<a href="mounts"/)
})
