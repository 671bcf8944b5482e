// Joined modules of several apps, with any names, in cycles, on any machine.
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { test } from '../../../support/test.ts'
import { withSlashes } from '../../../../lib/runtime/files/paths.ts'
import { readManifest, run } from '../../../support/fingerprinted.ts'
import { makeProject } from '../../../support/site.ts'
import { ALL, makeShop, pkg } from './shop.ts'

test('each app is joined by its own option; what another app or a classic script loads is a file', async t => {
  const root = makeProject(t, {
    'apps/web/assets/js/app.js':
      "import { one } from './one.js'\nimport { two } from './two.js'\nimport './own.js'\none(two)",
    'apps/web/assets/js/own.js': 'own()',
    'apps/web/assets/js/one.js': 'export const one = console.log',
    'apps/web/assets/js/two.js': 'export const two = 2',
    'apps/web/assets/js/old.js': "document.onclick = () => import('./two.js')",
    'apps/admin/assets/js/admin.js':
      "import { one } from '/assets/one.js'\nimport './part.js'\none()",
    'apps/admin/assets/js/part.js': 'export {}'
  })
  const { warnings } = await run({
    root,
    bundle: true,
    apps: { web: {}, admin: { bundle: false } }
  })
  t.deepEqual(warnings, [])
  const { assets } = readManifest(root)
  const scripts = Object.keys(assets).filter(path => path.endsWith('.js'))
  t.deepEqual(scripts, [
    '/assets/admin/admin.js',
    '/assets/admin/part.js',
    '/assets/app.js',
    '/assets/old.js',
    '/assets/one.js',
    '/assets/two.js'
  ])
  t.deepEqual(assets['/assets/admin/admin.js']?.imports, [
    '/assets/one.js',
    '/assets/admin/part.js'
  ])
  t.deepEqual(assets['/assets/old.js']?.dynamicImports, ['/assets/two.js'])
})

test('modules that import each other become one file; names may have spaces and other letters', async t => {
  const shop = await makeShop(t, ALL, {
    'javascripts/main.js': "import { ping } from './ping.js'\nping(3)",
    'javascripts/ping.js':
      "import { pong } from './pong.js'\nexport const ping = n => n && pong(n - 1)",
    'javascripts/pong.js':
      "import { ping } from './ping.js'\nexport const pong = n => n && ping(n - 1)",
    'javascripts/left.js': "import './right.js'\nexport const left = 1",
    'javascripts/right.js': "import './left.js'\nexport const right = 1",
    'javascripts/Menü 1.js': "import { a } from './ä b.js'\nconsole.log(a, import('./Später.js'))",
    'javascripts/other.js': "import { a } from './ä b.js'\na()",
    'javascripts/ä b.js': 'export const a = () => document.title',
    'javascripts/Später.js': "export const later = 'later'"
  })
  const names = shop.scripts().map(name => decodeURIComponent(name))
  t.deepEqual(
    names.filter(name => /main|ping|pong|left|right/.test(name)),
    ['left.js', 'main.js']
  )
  for (const name of ['Menü 1.js', 'Später.js', 'joined/ä b.js'])
    t.true(names.includes(name), `${name}: ${names.join()}`)
  const { imports, dynamicImports } =
    readManifest(shop.root).assets[`/assets/${encodeURIComponent('Menü 1.js')}`] ?? {}
  t.is(imports?.length, 1)
  t.deepEqual(dynamicImports, [`/assets/${encodeURIComponent('Später.js')}`])
})

test('what would be lost is an error', async t => {
  const twins = {
    'javascripts/Same.js': 'export const a = 1',
    'javascripts/same.js': 'export const b = 2'
  }
  await t.throwsAsync(makeShop(t, ALL, twins), {
    message: /[Ss]ame\.js: another module has this name, but/
  })
  const there = { 'javascripts/joined/big.js': "document.title = 'mine'" }
  await t.throwsAsync(makeShop(t, ALL, there), {
    message: /would be \/assets\/joined\/big\.js, which is there/
  })
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
  test(`a package that asks where it is, or for the environment, gets what a browser has, and no path is published: ${bundle}`, async t => {
    const packages = [...ALL.packages, 'machine', 'finder']
    const { root, text, scripts } = await makeShop(
      t,
      { ...ALL, bundle, packages },
      {
        'javascripts/main.js': `import { url, dir } from 'finder'
import { mode, place, home, load } from 'machine'
export const all = [mode, place, home, load, url, dir]`,
        ...pkg('machine', MACHINE, { type: 'commonjs', main: 'index.js', sideEffects: true }),
        ...pkg('finder', FINDER, { exports: './index.js' })
      }
    )
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
