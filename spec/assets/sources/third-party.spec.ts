import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { assetSources } from '../../../lib/index.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'
import { moduleFile } from '../../support/typescript.ts'

// The list is the process's, so each spec asks for names of its own.

test('SET-14 a directory appended before koaAssets() is searched by every app', async t => {
  const vendor = makeProject(t, { 'scripts/before.js': 'before()' })
  assetSources.append(vendor)
  const site = await makeSite(t, { 'a.css': '', '/apps/admin/assets/b.css': '' })
  t.is((await site.ask('/assets/before.js')).text, 'before()')
  t.is((await site.ask('/assets/admin/before.js')).text, 'before()')
})

test('SET-14 a directory appended after koaAssets() is searched as well', async t => {
  const site = await makeSite(t, { 'a.css': '' })
  t.is((await site.ask('/assets/after.js')).status, 404)
  assetSources.append([makeProject(t, { 'scripts/after.js': 'after()' })])
  t.is((await site.ask('/assets/after.js')).text, 'after()')
})

test('SET-14 a directory appended twice is in the list once, where it was first', t => {
  const [one, two] = [makeProject(t), makeProject(t)]
  const before = assetSources.list()
  assetSources.append([one, two, one])
  assetSources.append(`${one}/`)
  assetSources.append(join(two, 'x', '..'))
  t.deepEqual(assetSources.list(), [...before, one, two])
})

for (const [given, shown] of [
  ['vendor/assets', "'vendor/assets'"],
  ['', "''"],
  [42, '42'],
  [undefined, 'undefined'],
  [[['/nested']], "[ [ '/nested' ] ]"]
] as const) {
  test(`SET-14 append(${shown}) is a TypeError, and nothing is appended`, t => {
    const before = assetSources.list()
    t.throws(() => assetSources.append(['/fine', given] as string[]), {
      instanceOf: TypeError,
      message: `assetSources.append expects absolute paths, got ${shown}: build them from import.meta.dirname`
    })
    t.deepEqual(assetSources.list(), before)
  })
}

test('SET-14 the list that is given out is a copy', t => {
  const list = assetSources.list() as string[]
  list.push('/nowhere')
  t.false(assetSources.list().includes('/nowhere'))
  t.true(Object.isFrozen(assetSources))
})

test('SET-15 two copies of the library in one process share one list', async t => {
  const copy = `${pathToFileURL(moduleFile('lib/assets/sources/third-party.ts')).href}?another-copy`
  const other = (await import(copy)) as { assetSources: typeof assetSources }
  t.not(other.assetSources, assetSources)
  const vendor = makeProject(t, { 'scripts/other-copy.js': 'copy()' })
  other.assetSources.append(vendor)
  t.true(assetSources.list().includes(vendor))
  const site = await makeSite(t, { 'a.css': '' })
  t.is((await site.ask('/assets/other-copy.js')).text, 'copy()')
})

test('PUB-15 PUB-16 an extra source comes between the app and the third parties, of which the first wins', async t => {
  assetSources.append(makeProject(t, { 's/e1.css': '3{}', 's/e2.css': '3{}', 's/e3.css': '3{}' }))
  assetSources.append(makeProject(t, { 's/e3.css': '4{}' }))
  const site = await makeSite(
    t,
    { 's/e1.css': '1{}', '/apps/web/more/s/e1.css': '2{}', '/apps/web/more/s/e2.css': '2{}' },
    {}
  )
  const extended = await makeSite(t, {}, { root: site.root, sources: ['more'] })
  t.is((await extended.ask('/assets/e1.css')).text, '1{}')
  t.is((await extended.ask('/assets/e2.css')).text, '2{}')
  t.is((await extended.ask('/assets/e3.css')).text, '3{}')
})

test('PUB-15 an exact name of a third party comes before a tail of the app', async t => {
  assetSources.append(makeProject(t, { 'styles/exact.css': 'theirs{}' }))
  const site = await makeSite(t, { 'stylesheets/deep/exact.css': 'ours{}' })
  t.is((await site.ask('/assets/exact.css')).text, 'theirs{}')
})

test("SET-14 a third party's directory that goes away and comes back is searched again", async t => {
  const vendor = makeProject(t)
  const directory = join(vendor, 'later')
  assetSources.append(directory)
  const site = await makeSite(t, { 'a.css': '' })
  t.is((await site.ask('/assets/comes-later.css')).status, 404)
  await site.ask('/assets/a.css')
  writeFiles(directory, { 'styles/comes-later.css': 'x{}' })
  t.is((await site.ask('/assets/comes-later.css')).text, 'x{}')
})
