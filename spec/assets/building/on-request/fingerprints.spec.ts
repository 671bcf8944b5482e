// A site that is built while it runs: what is broken keeps its last good copy, and the rest goes on.
import test from 'ava'
import { mkdirSync, readdirSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import type { Compiler } from '../../../../lib/assets/compilers/compiler.ts'
import { join } from 'node:path'
import { Fingerprints } from '../../../../lib/assets/building/on-request/fingerprints.ts'
import { settle } from '../../../../lib/assets/settings/settings.ts'
import { Sources } from '../../../../lib/assets/sources/sources.ts'
import { filesBelow, makeFingerprinted, placed } from '../../../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../../../support/site.ts'
import { until } from '../../../support/until.ts'
import { withDigest } from '../../../support/digest.ts'

test('a live site serves the last good version of a broken asset, and recovers when it is fixed', async t => {
  const site = await makeFingerprinted(t, 'live', { 'app.css.scss': 'a { b: c }', 'ok.js': 'ok()' })
  const path = await site.path('app.css')
  await site.edit({ 'app.css.scss': 'a { b: ', 'ok.js': 'better()' })
  t.is(await site.path('app.css'), path)
  t.is((await site.ask(path)).status, 200)
  t.is((await site.ask(await site.path('ok.js'))).text, 'better()')
  await site.edit({ 'app.css.scss': 'a { b: d }' })
  t.not(await site.path('app.css'), path)
})

test('a live site reports a broken asset that has no good version', async t => {
  const site = await makeFingerprinted(t, 'live', {
    'sub/app.css.scss': 'a { b: ',
    'ok.js': 'ok()'
  })
  await t.throwsAsync(() => site.path('app.css'), { code: 'compile-failed' })
  t.is((await site.ask(await site.path('ok.js'))).text, 'ok()')
})

test('a live site serves the other assets when one target cannot be written', async t => {
  const root = makeProject(t)
  mkdirSync(join(root, 'public/assets/bad.js/x'), { recursive: true })
  const site = await makeFingerprinted(t, 'live', { 'bad.js': 'bad()', 'ok.js': 'ok()' }, { root })
  t.is((await site.ask(await site.path('ok.js'))).text, 'ok()')
  await t.throwsAsync(() => site.path('bad.js'), { code: 'publish-failed' })
  t.true(statSync(join(root, 'public/assets/bad.js')).isDirectory())
  t.deepEqual(readdirSync(join(root, 'public/assets/bad.js')), ['x'])
})

for (const [what, change] of Object.entries({
  edited: (file: string) => writeFileSync(file, 'two'),
  removed: (file: string) => unlinkSync(file)
})) {
  test(`a source that is ${what} while a live site is built is no error`, async t => {
    const root = makeProject(t)
    let isDue = false
    const compiler: Compiler = {
      extensions: ['.late'],
      target: '.css',
      compile({ code }) {
        if (isDue) change(join(root, 'apps/web/assets/a.bin'))
        isDue = false
        return { code }
      }
    }
    // Read long before the last one is compiled, and written afterwards.
    const between = Array.from({ length: 60 }, (_, at) => [`b${at}.bin`, `${at}`])
    const files = { 'a.bin': 'one', ...Object.fromEntries(between), 'z.css.late': 'z{}' }
    const options = { root, compilers: [compiler] }
    const site = await makeFingerprinted(t, 'live', files, options)
    isDue = true
    const { status, text } = await site.ask('/assets/a.bin')
    t.deepEqual([status, status === 200 && text], what === 'edited' ? [200, 'two'] : [404, false])
    t.false(isDue)
    t.deepEqual(site.errors, [])
  })
}

test('a deleted source of a live site is 404 at once, and its older fingerprints stay', async t => {
  const site = await makeFingerprinted(t, 'live', { 'x/app.css': 'one', 'x/other.css': 'other' })
  const older = await site.path('app.css')
  await site.edit({ 'x/app.css': 'two' })
  const current = await site.path('app.css')
  const statusOf = async (path: string) => (await site.ask(path)).status
  for (const path of [older, current, '/assets/app.css']) t.is(await statusOf(path), 200, path)
  unlinkSync(site.at('x/app.css'))
  await t.throwsAsync(() => site.path('app.css'), { code: 'asset-unknown' })
  t.is(await statusOf('/assets/app.css'), 404)
  t.is(await statusOf(current), 404)
  t.is(await statusOf(older), 200)
  t.is(await statusOf('/assets/other.css'), 200)
  await site.edit({ 'x/app.css': 'two' })
  t.is(await statusOf(current), 200, 'and back again')
})

for (const first of ['plain', 'current'] as const) {
  test(`a deleted source of a live site is 404 when its ${first} URL is requested first`, async t => {
    const site = await makeFingerprinted(t, 'live', { 'x/app.css': 'one' })
    const paths = { plain: '/assets/app.css', current: await site.path('app.css') }
    for (const path of Object.values(paths)) t.is((await site.ask(path)).status, 200)
    unlinkSync(site.at('x/app.css'))
    await until(async () => (await site.ask(paths[first])).status === 404, 'the event arrives')
    for (const path of Object.values(paths)) t.is((await site.ask(path)).status, 404)
    t.deepEqual(filesBelow(join(site.root, 'public')), [])
  })
}

test('a file that replaced a target by hand stays when the source is removed', async t => {
  const site = await makeFingerprinted(t, 'live', { 'x/app.css': 'one', 'x/b.css': 'b' })
  await site.path('app.css')
  unlinkSync(site.at('x/app.css'))
  writeFiles(site.root, { 'public/assets/app.css': 'by hand' })
  await site.path('b.css')
  t.is((await site.ask('/assets/app.css')).text, 'by hand')
})

test('the manifest of a live site is replaced when something changed, and only then', async t => {
  const root = makeProject(t, placed({ 'one/a.css': 'a{}', 'one/b.js': 'b()' }))
  const settings = settle({ root, env: 'production', compile: true })
  const ignore = () => undefined
  const live = new Fingerprints(settings, new Sources(settings, ignore), ignore, ignore)
  const [app] = settings.apps
  const refreshed = async () => {
    await live.refresh()
    return live.manifest
  }
  const first = await refreshed()
  t.is(await refreshed(), first)
  writeFiles(root, placed({ 'one/b.js': 'changed()' }))
  const second = await refreshed()
  t.not(second, first)
  t.is(await refreshed(), second)
  // The same bytes under the same name, of another folder: other tails.
  mkdirSync(join(root, 'apps/web/assets/two'))
  renameSync(join(root, 'apps/web/assets/one/a.css'), join(root, 'apps/web/assets/two/a.css'))
  const third = await refreshed()
  t.truthy(app && third.find(app, 'two/a.css'))
  t.falsy(app && third.find(app, 'one/a.css'))
  t.is(third.version === second.version, false)
})

test('two processes that find sources removed at the same time withdraw their files', async t => {
  const names = Array.from({ length: 60 }, (_, at) => `css/${at}.css`)
  const files = Object.fromEntries([...names, 'css/kept.css'].map(name => [name, name]))
  const root = makeProject(t, placed(files))
  const settings = settle({ root, env: 'production', compile: true })
  const ignore = () => undefined
  const [one, other] = [1, 2].map(
    () => new Fingerprints(settings, new Sources(settings, ignore), ignore, ignore)
  )
  for (let turns = 0; turns < 40; turns += 4) {
    writeFiles(root, placed(files))
    for (const build of [one, other]) await build?.refresh()
    for (const name of names) unlinkSync(join(root, 'apps/web/assets', name))
    await until(() => !one?.isCurrent && !other?.isCurrent, 'the events arrive')
    const first = one?.refresh()
    // The other is a few steps behind.
    for (let turn = 0; turn < turns; turn++) await new Promise(resolve => setImmediate(resolve))
    await Promise.all([first, other?.refresh()])
    t.deepEqual(
      filesBelow(join(root, 'public/assets')).map(file => file.replace(withDigest(/-DIGEST/), '')),
      ['kept.css', 'kept.css']
    )
  }
})
