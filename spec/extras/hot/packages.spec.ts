// What an edit does to an open page if packages are built again for it.
import { test } from '../../support/test.ts'
import { makeSite } from '../../support/site.ts'
import { openTold, type Told } from '../live/tab.ts'
import { pkg } from '../modules/package-files.ts'

const editedIn = (told: Told & { readonly hot?: { readonly edited?: readonly string[] } }) =>
  told.hot?.edited

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
  t.deepEqual(editedIn(await next), names)
  t.regex((await site.ask('/assets/npm/lib.js')).text, /export \{[^}]*\btwo\b/)
})

test('a page is told of an edited package, such as one of a workspace, and while that cannot be built', async t => {
  const file = '/node_modules/kit/index.js'
  const site = await makeSite(t, {
    ...pkg('kit', { module: 'index.js' }, { 'index.js': 'export const one = 1' }),
    '/package.json': '{ "dependencies": { "kit": "1" } }',
    'js/app.js': "import { one } from 'kit'\nconsole.log(one)"
  })
  const names = ['app.js', 'npm/kit.js'].map(name => `/assets/${name}`)
  for (const name of names) t.is((await site.ask(name)).status, 200, name)
  const tab = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}`)
  const edit = (text: string) => {
    const next = tab.next()
    site.write(file, text)
    return next
  }
  t.deepEqual(editedIn(await edit('export const one = 2')), ['/assets/npm/kit.js'])
  t.regex((await site.ask('/assets/npm/kit.js')).text, /one = 2/)
  const [problem] = (await edit('export const one = <')).problems
  t.regex(problem?.reason ?? '', /^node_modules\/kit\/index\.js:1:20 cannot be built/)
  t.deepEqual((await edit('export const one = 3')).problems, [])
})
