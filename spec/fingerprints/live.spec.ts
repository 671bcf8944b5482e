// A site that is built while it runs: what is broken keeps its last good copy, and the rest goes on.
import test from 'ava'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFingerprinted } from '../support/fingerprinted.ts'
import { makeProject } from '../support/site.ts'

test('a live site keeps the last good copy of what cannot be published, and mends itself', async t => {
  const site = await makeFingerprinted(t, 'live', { 'app.css.scss': 'a { b: c }', 'ok.js': 'ok()' })
  const path = await site.path('app.css')
  await site.edit({ 'app.css.scss': 'a { b: ', 'ok.js': 'better()' })
  t.is(await site.path('app.css'), path)
  t.is((await site.ask(path)).status, 200)
  t.is((await site.ask(await site.path('ok.js'))).text, 'better()')
  await site.edit({ 'app.css.scss': 'a { b: d }' })
  t.not(await site.path('app.css'), path)
})

test('a live site names what is broken where there is no good copy', async t => {
  const site = await makeFingerprinted(t, 'live', {
    'sub/app.css.scss': 'a { b: ',
    'ok.js': 'ok()'
  })
  await t.throwsAsync(() => site.path('app.css'), { code: 'compile-failed' })
  t.is((await site.ask(await site.path('ok.js'))).text, 'ok()')
})

test('a live site with a target that cannot be written serves the others', async t => {
  const root = makeProject(t)
  mkdirSync(join(root, 'public/assets/bad.js/x'), { recursive: true })
  const site = await makeFingerprinted(t, 'live', { 'bad.js': 'bad()', 'ok.js': 'ok()' }, { root })
  t.is((await site.ask(await site.path('ok.js'))).text, 'ok()')
  await t.throwsAsync(() => site.path('bad.js'), { code: 'publish-failed' })
  t.true(statSync(join(root, 'public/assets/bad.js')).isDirectory())
  t.deepEqual(readdirSync(join(root, 'public/assets/bad.js')), ['x'])
})
