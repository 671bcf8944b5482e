// What an edit of data that a module imports does to an open page.
import { makeSite, test } from '../../support/index.ts'
import { openTold, type Told } from '../live/tab.ts'

test('data that was edited after a page loaded it is told as an edit when the page connects', async t => {
  const site = await makeSite(t, {
    'js/app.js': "import data from './data.json' with { type: 'json' }\nimport.meta.hot?.accept()",
    'js/data.json': '1'
  })
  const names = ['/assets/app.js', '/assets/data.json']
  for (const name of names) t.is((await site.ask(name)).status, 200, name)
  site.write('js/data.json', '2')
  const tab = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}&age=60000`)
  const [told] = tab.told() as readonly (Told & { hot?: { edited?: readonly string[] } })[]
  t.deepEqual(told?.hot?.edited, ['/assets/data.json'])
})
