// Joined modules of several apps, with any names, in cycles.
import test from 'ava'
import { readManifest, run } from '../../../support/fingerprinted.ts'
import { makeProject } from '../../../support/site.ts'
import { ALL, makeShop } from './shop.ts'

test('JOI-09 each app is joined by its own option; what another app or a classic script loads is a file', async t => {
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

test('JOI-09 modules that import each other become one file', async t => {
  const shop = await makeShop(t, ALL, {
    'javascripts/main.js': "import { ping } from './ping.js'\nping(3)",
    'javascripts/ping.js':
      "import { pong } from './pong.js'\nexport const ping = n => n && pong(n - 1)",
    'javascripts/pong.js':
      "import { ping } from './ping.js'\nexport const pong = n => n && ping(n - 1)",
    'javascripts/left.js': "import './right.js'\nexport const left = 1",
    'javascripts/right.js': "import './left.js'\nexport const right = 1"
  })
  const names = shop.scripts()
  t.deepEqual(
    names.filter(name => /main|ping|pong|left|right/.test(name)),
    ['left.js', 'main.js']
  )
})

test('JOI-09 names may have spaces and other letters; what would be lost is an error', async t => {
  const shop = await makeShop(t, ALL, {
    'javascripts/Menü 1.js': "import { a } from './ä b.js'\nconsole.log(a, import('./Später.js'))",
    'javascripts/other.js': "import { a } from './ä b.js'\na()",
    'javascripts/ä b.js': 'export const a = () => document.title',
    'javascripts/Später.js': "export const later = 'later'"
  })
  const names = shop.scripts().map(name => decodeURIComponent(name))
  for (const name of ['Menü 1.js', 'Später.js', 'joined/ä b.js'])
    t.true(names.includes(name), `${name}: ${names.join()}`)
  const { imports, dynamicImports } =
    readManifest(shop.root).assets[`/assets/${encodeURIComponent('Menü 1.js')}`] ?? {}
  t.is(imports?.length, 1)
  t.deepEqual(dynamicImports, [`/assets/${encodeURIComponent('Später.js')}`])
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
