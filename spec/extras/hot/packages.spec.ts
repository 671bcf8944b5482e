// What an edit does to an open page if packages are built again for it.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, makeSite, test, warningsAbout } from '../../support/index.ts'
import type { ExecutionContext, Site, SiteOptions } from '../../support/index.ts'
import { openTold, type Told } from '../live/tab.ts'
import { dependencies, modulePkg, pkg } from '../modules/package-files.ts'

const editedIn = (told: Told & { readonly hot?: { readonly edited?: readonly string[] } }) =>
  told.hot?.edited

/** A site with a module that imports a name of CommonJS, and another one once it is edited. */
async function importing(t: ExecutionContext, name: string, files = {}, options: SiteOptions = {}) {
  const code = 'const make = () => ({ one: 1, two: 2 })\nmodule.exports = make()'
  const all = {
    ...pkg(name, { main: 'index.js' }, { 'index.js': code }),
    '/package.json': dependencies(name),
    'js/app.js': `import { one } from '${name}'\nconsole.log(one)`,
    ...files
  }
  const site = await makeSite(t, all, options)
  const edited = `import { one, two } from '${name}'\nconsole.log(one, two)`
  return { ...site, edit: () => site.write('js/app.js', edited) }
}

test('each open page, and once the terminal, is told of CommonJS that an edit builds again', async t => {
  const site = await importing(t, 'spoken')
  const names = ['app.js', 'npm/spoken.js'].map(name => `/assets/${name}`)
  for (const name of names) t.is((await site.ask(name)).status, 200, name)
  const tab = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}`)
  const other = await openTold(t, site.port, `use=${names.map(encodeURIComponent).join()}`)
  const next = Promise.all([tab.next(), other.next()])
  site.edit()
  for (const told of await next) t.deepEqual(editedIn(told), names)
  t.deepEqual(warningsAbout('spoken'), [
    'koa-fresh-assets: packages were built again, so open pages reload unless a module accepts the change: /assets/npm/spoken.js'
  ])
  t.regex((await site.ask('/assets/npm/spoken.js')).text, /export \{[^}]*\btwo\b/)
})

test('requests during a build of packages wait for it, so a script finds the exports it imports', async t => {
  const site = await importing(t, 'wide')
  for (const name of ['app.js', 'npm/wide.js']) await site.ask(`/assets/${name}`)
  site.edit()
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

const NAMES = ['app.js', 'npm/kit.js'].map(name => `/assets/${name}`)
const APP = {
  '/package.json': dependencies('kit'),
  'js/app.js': "import { one } from 'kit'\nconsole.log(one)"
}

/** Edits the module of the package `kit` while a page is open that imports it. */
async function editKit(t: ExecutionContext, site: Site, file: string): Promise<void> {
  for (const name of NAMES) t.is((await site.ask(name)).status, 200, name)
  const tab = await openTold(t, site.port, `use=${NAMES.map(encodeURIComponent).join()}`)
  const edit = (text: string) => {
    const next = tab.next()
    site.write(file, text)
    return next
  }
  t.deepEqual(editedIn(await edit('export const one = 2')), ['/assets/npm/kit.js'])
  t.regex((await site.ask('/assets/npm/kit.js')).text, /one = 2/)
  const [problem] = (await edit('export const one = <')).problems
  t.regex(problem?.reason ?? '', /kit\/index\.js:1:20 cannot be built/)
  const corrected = await edit('export const one = 3')
  t.deepEqual(corrected.problems, [])
  t.deepEqual(editedIn(corrected), ['/assets/npm/kit.js'])
}

for (const [which, options] of [
  ['dependency', {}],
  ['package that the options name', { packages: ['kit'] }]
] as const)
  test(`an open page is told of each edit of a ${which}, with its error if it cannot be built`, async t => {
    const site = await makeSite(t, { ...modulePkg('kit', 'export const one = 1'), ...APP }, options)
    await editKit(t, site, '/node_modules/kit/index.js')
  })

test('an open page is told of an edited package of a workspace', async t => {
  const root = makeProject(t)
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(join(root, 'packages/kit'), join(root, 'node_modules/kit'), 'dir')
  const kit = {
    '/packages/kit/package.json': '{ "name": "kit", "version": "1.0.0", "module": "index.js" }',
    '/packages/kit/index.js': 'export const one = 1'
  }
  await editKit(t, await makeSite(t, { ...kit, ...APP }, { root }), '/packages/kit/index.js')
})
