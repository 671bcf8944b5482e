// What an edit does to an open page if packages are built again for it.
import { test } from '../../support/test.ts'
import { makeSite } from '../../support/site.ts'
import { openTold } from '../live/tab.ts'
import { pkg } from '../modules/package-files.ts'

test('a page is told of a module together with the CommonJS that was built again for its names', async t => {
  const code = 'const make = () => ({ one: 1, two: 2 })\nmodule.exports = make()'
  const site = await makeSite(t, {
    ...pkg('lib', { main: 'index.js' }, { 'index.js': code }),
    '/package.json': '{ "dependencies": { "lib": "1" } }',
    'js/app.js': "import { one } from 'lib'\nconsole.log(one)"
  })
  const names = ['app.js', 'npm/lib.js'].map(name => `/assets/${name}`)
  for (const name of names) t.is((await site.ask(name)).status, 200, name)
  const tab = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}`)
  const next = tab.next()
  site.write('js/app.js', "import { one, two } from 'lib'\nconsole.log(one, two)")
  const told = (await next) as { readonly hot?: { readonly edited?: readonly string[] } }
  t.deepEqual(told.hot?.edited, names)
  t.regex((await site.ask('/assets/npm/lib.js')).text, /export \{[^}]*\btwo\b/)
})
