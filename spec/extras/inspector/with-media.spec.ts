import { test } from '../../support/test.ts'
import type { WeightReport } from '../../../lib/extras/inspector/lists.ts'
import { makeSite } from '../../support/site.ts'
import { json } from './inspected.ts'

const icon = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h2"/></svg>'
const WRITTEN = '<svg><path d="M0 0h2"></path></svg>'

test('the page about a weight has the icons in the HTML, with their bytes, and how often the page has each that has the most', async t => {
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
    { path: '/assets/icons/a.svg', size: WRITTEN.length, times: 3 },
    { path: '/assets/icons/b.svg', size: WRITTEN.length + ' id="é"'.length + 1, times: 1 }
  ])
  t.deepEqual(weight, without.weight, 'they are no requests of a visit')
  const { text } = await site.ask('/assets/-/weight')
  for (const { path, size, times } of icons)
    for (const each of [path, `${size} B`, `${size * times} B`]) t.true(text.includes(each), each)
})
