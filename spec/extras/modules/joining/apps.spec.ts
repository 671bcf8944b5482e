// Joined modules of several apps, with any names, on any machine.
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { withSlashes } from '../../../../lib/runtime/files/paths.ts'
import { makeProject, makeSite, readManifest, run, test, words } from '../../../support/index.ts'
import { ALL, makeShop, pkg, scriptsIn } from './shop.ts'

test('an app’s option joins its modules, but none that another app or a classic script loads', async t => {
  const root = makeProject(t, {
    'apps/web/assets/js/app.js':
      "import { one } from './one.js'\nimport { two } from './two.js'\nimport './own.js'\none(two)",
    'apps/web/assets/js/own.js': "own(() => import('./two.js'))",
    'apps/web/assets/js/one.js': 'export const one = console.log',
    'apps/web/assets/js/two.js': 'export const two = 2',
    'apps/web/assets/js/old.js': "document.onclick = () => import('./two.js')",
    'apps/admin/assets/js/admin.js':
      "import { one } from '/assets/one.js'\nimport './part.js'\none()",
    'apps/admin/assets/js/part.js': 'export {}'
  })
  const apps = { web: {}, admin: { bundle: false } }
  t.deepEqual((await run({ root, bundle: true, apps })).warnings, [])
  t.deepEqual(scriptsIn(root), words('admin/admin.js admin/part.js app.js old.js one.js two.js'))
  const { assets } = readManifest(root)
  const imported = words('/assets/one.js /assets/admin/part.js')
  t.deepEqual(assets['/assets/admin/admin.js']?.imports, imported)
  t.deepEqual(assets['/assets/old.js']?.dynamicImports, ['/assets/two.js'])
})

test('the names of joined modules may have spaces and accents', async t => {
  const shop = await makeShop(t, ALL, {
    'javascripts/Menü 1.js': "import { a } from './ä b.js'\nconsole.log(a, import('./Später.js'))",
    'javascripts/other.js': "import { a } from './ä b.js'\na()",
    'javascripts/ä b.js': 'export const a = () => document.title',
    'javascripts/Später.js': "export const later = 'later'"
  })
  const names = shop.scripts().map(name => decodeURIComponent(name))
  for (const name of ['Menü 1.js', 'Später.js', 'joined/ä b.js'])
    t.true(names.includes(name), `${name}: ${names.join()}`)
  const menu = readManifest(shop.root).assets[`/assets/${encodeURIComponent('Menü 1.js')}`]
  t.is(menu?.imports?.length, 1)
  t.deepEqual(menu?.dynamicImports, [`/assets/${encodeURIComponent('Später.js')}`])
})

test('modules that nothing but each other imports are published as one file', async t => {
  const shop = await makeShop(t, ALL, {
    'javascripts/left.js': "import './right.js'\nexport const left = 1",
    'javascripts/right.js': "import './left.js'\nexport const right = 1"
  })
  t.deepEqual(
    shop.scripts().filter(name => /left|right/.test(name)),
    ['left.js']
  )
})

test('a build removes what development published of a joined module, unless a release had it', async t => {
  const site = await makeSite(t, {
    'js/app.ts': "import { part } from './part'\nconsole.log(part)",
    'js/part.ts': "export const part: string = 'part' // secret"
  })
  const partAfter = async (bundle: boolean) => {
    t.regex((await site.ask('/assets/part.js')).text, /sourceMappingURL=data:/)
    await run({ root: site.root, bundle })
    return site.read('/public/assets/part.js')
  }
  t.is(await partAfter(true), undefined)
  t.is(await partAfter(false), 'export const part = "part";\n')
  t.not(await partAfter(true), undefined)
})

test('a joined module that would take the place of another file is an error', async t => {
  const there = { 'javascripts/joined/big.js': "document.title = 'mine'" }
  const taken = /would be \/assets\/joined\/big\.js, which is there/
  await t.throwsAsync(makeShop(t, ALL, there), { message: taken })
})

const MACHINE = {
  'index.js': `exports.mode = process.env.NODE_ENV
exports.place = () => typeof __dirname === 'undefined' ? '' : __dirname
exports.home = () => process.env.HOME
exports.load = name => require(name)`
}
const FINDER = {
  'index.js': 'export const url = import.meta.url\nexport const dir = import.meta.dirname'
}

for (const bundle of [true, 'packages'] as const) {
  test(`no published file contains a path of the build machine, with bundle: ${bundle}`, async t => {
    const options = { ...ALL, bundle, packages: [...ALL.packages, 'machine', 'finder'] }
    const { root, text, scripts } = await makeShop(t, options, {
      'javascripts/main.js': `import { url, dir } from 'finder'
import { mode, place, home, load } from 'machine'
export const all = [mode, place, home, load, url, dir]`,
      ...pkg('machine', MACHINE, { type: 'commonjs', main: 'index.js', sideEffects: true }),
      ...pkg('finder', FINDER, { exports: './index.js' })
    })
    const joined = text('joined/machine.js')
    t.regex(joined, /exports\.mode = "production"/)
    t.true(joined.includes('process.env.HOME'))
    t.true(joined.includes('__dirname'))
    t.true(text('npm/finder.js').includes('import.meta.url'))
    t.true(scripts().includes('npm/finder.js'))
    const published = join(root, 'public')
    for (const path of readdirSync(published, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:js|map|json)$/.test(path)) continue
      const content = readFileSync(join(published, path), 'utf8')
      for (const told of [root, process.cwd()]) {
        for (const written of [told, withSlashes(told), told.replaceAll('\\', '\\\\')])
          t.false(content.includes(`${written}${sep}`) || content.includes(`${written}/`), path)
      }
    }
  })
}
