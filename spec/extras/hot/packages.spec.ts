// What an edit does to an open page if packages are built again for it.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from '../../support/test.ts'
import { makeSite } from '../../support/site.ts'
import { warningsAbout } from '../../support/warnings.ts'
import { openTold, type Told } from '../live/tab.ts'
import { pkg } from '../modules/package-files.ts'

const editedIn = (told: Told & { readonly hot?: { readonly edited?: readonly string[] } }) =>
  told.hot?.edited

test('pages are told of a module with the CommonJS built again for it, and the terminal once', async t => {
  const code = 'const make = () => ({ one: 1, two: 2 })\nmodule.exports = make()'
  const site = await makeSite(t, {
    ...pkg('spoken', { main: 'index.js' }, { 'index.js': code }),
    '/package.json': '{ "dependencies": { "spoken": "1" } }',
    'js/app.js': "import { one } from 'spoken'\nconsole.log(one)"
  })
  const names = ['app.js', 'npm/spoken.js'].map(name => `/assets/${name}`)
  for (const name of names) t.is((await site.ask(name)).status, 200, name)
  const tab = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}`)
  const other = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}`)
  const next = Promise.all([tab.next(), other.next()])
  site.write('js/app.js', "import { one, two } from 'spoken'\nconsole.log(one, two)")
  for (const told of await next) t.deepEqual(editedIn(told), names)
  t.deepEqual(warningsAbout('spoken'), [
    'koa-fresh-assets: packages were built again, for which open pages reload unless a module accepts that: /assets/npm/spoken.js'
  ])
  t.regex((await site.ask('/assets/npm/spoken.js')).text, /export \{[^}]*\btwo\b/)
})

test('a script waits for a build that has begun, and has the name of CommonJS that it imports now', async t => {
  const code = 'const make = () => ({ one: 1, two: 2 })\nmodule.exports = make()'
  const site = await makeSite(t, {
    ...pkg('wide', { main: 'index.js' }, { 'index.js': code }),
    '/package.json': '{ "dependencies": { "wide": "1" } }',
    'js/app.js': "import { one } from 'wide'\nconsole.log(one)"
  })
  for (const name of ['app.js', 'npm/wide.js']) await site.ask(`/assets/${name}`)
  site.write('js/app.js', "import { one, two } from 'wide'\nconsole.log(one, two)")
  const begins = new Promise<void>(resolve => {
    const tell = () => resolve()
    subscribe('child_process', tell)
    t.teardown(() => unsubscribe('child_process', tell))
  })
  const page = site.ask('/')
  await begins
  t.regex((await site.ask('/assets/app.js')).text, /\btwo\b/)
  t.regex((await site.ask('/assets/npm/wide.js')).text, /export \{[^}]*\btwo\b/)
  await page
})
