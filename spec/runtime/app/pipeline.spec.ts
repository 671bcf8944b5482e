// What the log of a server in production says of a 404 for a file that its own pages name.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFingerprinted, test, warningsAbout } from '../../support/index.ts'

const FILES = { 'app.css': 'a {}', 'menu.css': 'b {}', 'page.css': 'c {}' }

test('a file of the manifest that public lacks is reported, once for a manifest', async t => {
  const site = await makeFingerprinted(t, 'precompiled', FILES)
  const paths = await Promise.all(Object.keys(FILES).map(name => site.path(name)))
  const [app = '', menu = '', page = ''] = paths
  rmSync(join(site.root, 'public', menu))
  writeFileSync(join(site.root, 'public', page), 'other bytes')
  for (const path of [app.replace(/[0-9a-f]{32}/, 'f'.repeat(32)), '/assets/none.css', app])
    await site.ask(path)
  t.deepEqual(paths.flatMap(warningsAbout), [])
  t.is((await site.ask(menu)).status, 404)
  t.is((await site.ask(page)).status, 404)
  t.deepEqual(paths.flatMap(warningsAbout), [
    `koa-fresh-assets: ${menu} is a 404, though the manifest names it: public lacks this file, or has other bytes under its name. npx koa-fresh-assets verify lists all such files`
  ])
  await site.edit({ 'menu.css': 'd {}' })
  const next = await site.path('menu.css')
  rmSync(join(site.root, 'public', next))
  await site.ask(next)
  t.is(warningsAbout(next).length, 1)
})

test('a request for a file of the manifest is reported once while serving is off', async t => {
  const site = await makeFingerprinted(t, 'precompiled', { 'off.css': 'e {}' }, { serve: false })
  const path = await site.path('off.css')
  await site.ask(path, { method: 'POST' })
  await site.ask('/assets/off.css')
  t.deepEqual(warningsAbout(path), [])
  for (const method of ['HEAD', 'GET']) t.is((await site.ask(path, { method })).status, 404)
  t.deepEqual(warningsAbout(path), [
    `koa-fresh-assets: ${path} is a 404, as serve is off: set SERVE_STATIC_ASSETS=true or serve: true, or let the web server in front send public`
  ])
})
