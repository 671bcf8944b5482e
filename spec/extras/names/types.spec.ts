// Names as types: a mistyped one does not compile, and the file follows the sources.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ava from 'ava'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { run as runCommand } from '../../cli/run.ts'
import { placed } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { complaints, makeTyped, TYPED } from './typed.ts'

const test = ava.serial

test('TYP-01 a mistyped name does not compile, and the error suggests the nearest one', async t => {
  const root = makeTyped(t)
  const mistyped = [
    "assets.stylesheet('ap.css')",
    "assets.javascript('pages/hom', { defer: true })",
    "assets.image('loga.svg', { alt: '' })",
    "assets.path('intr.woff2')",
    "assets.stylesheet('app', 'menus')",
    "assets.app('admn')"
  ]
  const { status, stdout } = await runCommand(root, 'types')
  t.deepEqual([status, stdout], [0, `${join(root, 'assets.d.ts')} was written\n`])
  const fine = [
    "assets.stylesheet('app', 'menu.css', { media: 'print' })",
    "assets.javascript('home', { type: 'module' })",
    "assets.image('logo.svg#leaf', { alt: '' }) + assets.image('https://cdn.example/a.png')",
    "assets.path('images/logo.svg') + assets.path('app.css?v=2', { mount: '/' })",
    "assets.favicon() + assets.favicon('logo.svg') + assets.app('admin').stylesheet('menu')",
    "assets.preload('app', { as: 'style' }) + assets.entry('src/any.tsx')",
    "assets.path(name as AssetName) + assets.stylesheet(name as AssetName<'stylesheet'>)"
  ]
  const said = complaints(root, ...mistyped, ...fine)
  for (const near of ['app.css', 'pages/home', 'logo.svg', 'inter.woff2', 'menu', 'admin']) {
    t.true(said.includes(`"${near}"`), `${near}: ${said}`)
  }
  t.is(said.match(/^server\.ts\(\d+,\d+\): error/gm)?.length, mistyped.length)
  t.regex((await runCommand(root, 'types')).stdout, / is current\n$/)
})

test('NAM-02 the file is the same in every environment, by the command and by the server', async t => {
  const config = { configure: { production: { sources: ['../../more'] } } }
  const root = makeTyped(t, {
    '/more/later.svg': '<svg/>',
    '/assets.config.json': JSON.stringify(config)
  })
  const file = join(root, 'assets.d.ts')
  const texts = []
  for (const env of ['development', 'test', 'production', undefined]) {
    rmSync(file, { force: true })
    const { status, stderr } = await runCommand(root, 'types', { NODE_ENV: env })
    t.is(status, 0, stderr)
    texts.push(readFileSync(file, 'utf8'))
  }
  writeFileSync(file, '')
  koaAssets({ root, env: 'development', live: false, ...config })
  await until(() => readFileSync(file, 'utf8') !== '', 'the server has written it')
  t.deepEqual(new Set([...texts, readFileSync(file, 'utf8')]).size, 1)
  t.true(texts[0]?.includes('"later.svg"'))
})

test('TYP-01 in development the file follows the sources, if it exists, and is written only then', async t => {
  const root = makeProject(t, placed(TYPED))
  const file = join(root, 'assets.d.ts')
  const text = () => readFileSync(file, 'utf8')
  writeFileSync(file, '')
  koaAssets({ root, env: 'development', live: false })
  await until(() => text().includes('"app.css"'), 'it is current soon after the start')
  const [before, { ino }] = [text(), statSync(file)]
  writeFiles(root, placed({ 'stylesheets/app.css.scss': 'b{}', 'images/new.png': '' }))
  await until(() => text().includes('"new.png"'), 'it has the new name')
  t.not(statSync(file).ino, ino)
  rmSync(join(root, 'apps/web/assets/images/new.png'))
  await until(() => text() === before, 'it has the name no more')
  const other = makeProject(t, placed(TYPED))
  koaAssets({ root: other, env: 'development', live: false })
  t.throws(() => statSync(join(other, 'assets.d.ts')), { code: 'ENOENT' })
})
