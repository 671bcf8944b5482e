// What a project meets on Windows, whose names, locks and texts are others; all of it holds on every system.
import { closeSync, openSync } from 'node:fs'
import { normalize } from 'node:path'
import { koaAssets, precompile } from '../lib/koa-assets.ts'
import { isWindows, makeProject, makeSite, readManifest, test } from './support/index.ts'

test('a published file that another program has open for a moment is replaced after that', async t => {
  const site = await makeSite(t, { 'css/app.css': 'old{}' })
  await site.ask('/assets/app.css')
  const open = openSync(site.at('/public/assets/app.css'), 'r')
  site.write('css/app.css', 'new{}', 2_000_000_000)
  const asked = site.ask('/assets/app.css')
  setTimeout(() => closeSync(open), 200)
  t.is((await asked).text, 'new{}')
  t.is(site.read('/public/assets/app.css'), 'new{}')
})

test('on Windows a published file that stays open is an error that names it, until it is closed', async t => {
  const site = await makeSite(t, { 'css/app.css': 'old{}' }, { live: false })
  await site.ask('/assets/app.css')
  const open = openSync(site.at('/public/assets/app.css'), 'r')
  site.write('css/app.css', 'new{}', 2_000_000_000)
  const { status, text } = await site.ask('/assets/app.css')
  if (isWindows) {
    t.is(status, 500)
    t.regex(text, /cannot publish \/assets\/app\.css: rename public\/assets\/app\.css failed/)
    t.regex(text, /another program has it open/)
    t.is(site.read('/public/assets/app.css'), 'old{}')
  } else t.is(text, 'new{}')
  closeSync(open)
  t.is((await site.ask('/assets/app.css')).text, 'new{}')
})

test('a path of more than 260 characters is published and served', async t => {
  const folder = Array(20).fill('a-long-folder-name').join('/')
  const site = await makeSite(t, { [`css/${folder}/app.css`]: 'a{}' })
  t.true(site.at(`css/${folder}/app.css`).length > 260)
  t.is((await site.ask(`/assets/${folder}/app.css`)).text, 'a{}')
  t.is(site.read(`/public/assets/${folder}/app.css`), 'a{}')
})

test('options may have the separators of the system, and the drive in lower case', async t => {
  const root = makeProject(t, {
    'front/src/css/app.css': 'a { background: url(../images/logo.svg) }',
    'front/src/images/logo.svg': '<svg/>',
    'front/src/images/draft.svg': '<svg/>'
  })
  const exclude = [normalize('**/draft.*')]
  const images = { dir: normalize('../src/images'), at: 'images', exclude }
  const options = {
    root: root.replace(/^[A-Z]:/, drive => drive.toLowerCase()),
    apps: { web: { dir: normalize('front/src'), sources: [{ dir: 'css', at: 'css' }, images] } }
  }
  await precompile(options)
  const manifest = readManifest(root)
  const paths = Object.keys(manifest.assets).filter(path => !path.endsWith('.map'))
  t.deepEqual(paths, ['/assets/css/app.css', '/assets/images/logo.svg'])
  t.false(JSON.stringify(manifest).includes('\\'))
  t.notThrows(() => koaAssets({ ...options, env: 'production' }))
})
