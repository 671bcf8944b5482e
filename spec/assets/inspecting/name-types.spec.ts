// Names of assets as types: a mistyped one does not compile, and the file follows the sources.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { run } from '../../cli/run.ts'
import { placed } from '../../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'

const ASSETS = {
  'stylesheets/app.css.scss': '',
  'javascripts/pages/home.js': '',
  'images/logo.svg': '',
  'fonts/inter.woff2': '',
  '/apps/admin/assets/stylesheets/menu.css': ''
}

/** What TypeScript says about lines in a route; the package is what was built. */
function complaints(root: string, ...lines: readonly string[]): string {
  const text = ["import { koaAssets, type AssetName } from 'koa-fresh-assets/assets'", ...ROUTE]
  writeFileSync(join(root, 'server.ts'), [...text, ...lines, '})'].join('\n'))
  try {
    const words = [resolve('node_modules/typescript/bin/tsc'), '-p', root]
    return execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

const ROUTE = [
  "import Koa from 'koa'",
  'declare const name: string',
  'new Koa().use(koaAssets()).use(({ assets, preload }) => {'
]
const COMPILER = { module: 'nodenext', types: [], strict: true, noEmit: true, skipLibCheck: true }

function makeTyped(t: Parameters<typeof makeProject>[0], files = {}): string {
  const tsconfig = JSON.stringify({ compilerOptions: COMPILER, include: ['*.ts'] })
  const root = makeProject(t, {
    ...placed({ ...ASSETS, ...files }),
    'package.json': '{"type":"module"}',
    'tsconfig.json': tsconfig
  })
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(resolve('.'), join(root, 'node_modules/koa-fresh-assets'))
  symlinkSync(resolve('node_modules/@types'), join(root, 'node_modules/@types'))
  return root
}

test.serial(
  'TYP-01 a mistyped name does not compile, and the error suggests the nearest one',
  async t => {
    const root = makeTyped(t)
    const mistyped = [
      "assets.stylesheet('ap.css')",
      "assets.javascript('pages/hom', { defer: true })",
      "assets.image('loga.svg', { alt: '' })",
      "assets.path('intr.woff2')",
      "assets.stylesheet('app', 'menus')",
      "assets.app('admn')"
    ]
    const { status, stdout } = await run(root, 'types')
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
    t.regex((await run(root, 'types')).stdout, / is current\n$/)
  }
)

test.serial(
  'TYP-01 entries and sources of a build are names; before the first build, no name is refused',
  async t => {
    const config = { mounts: { '/static': { dir: 'dist', manifest: 'dist/manifest.json' } } }
    const root = makeTyped(t, { '/assets.config.json': JSON.stringify(config) })
    await run(root, 'types')
    const lines = [
      "assets.entry('src/mian.tsx')",
      "assets.entry('./src/main.tsx') + assets.image('src/hero.png')"
    ]
    t.is(complaints(root, ...lines), '')
    const manifest = {
      'src/main.tsx': { file: 'main-B1a2C3d4.js', src: 'src/main.tsx', isEntry: true },
      'src/hero.png': { file: 'hero-B1a2C3d4.png', src: 'src/hero.png' }
    }
    writeFiles(root, {
      'dist/manifest.json': JSON.stringify(manifest),
      'dist/main-B1a2C3d4.js': '',
      'dist/hero-B1a2C3d4.png': ''
    })
    await run(root, 'types')
    const said = complaints(root, ...lines)
    t.regex(said, /'"src\/main\.tsx"'/)
    t.is(said.match(/error TS/g)?.length, 1)
  }
)

test('TYP-01 in development the file follows the sources, if it exists, and is written only then', async t => {
  const root = makeProject(t, placed(ASSETS))
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
  const other = makeProject(t, placed(ASSETS))
  koaAssets({ root: other, env: 'development', live: false })
  t.throws(() => statSync(join(other, 'assets.d.ts')), { code: 'ENOENT' })
})
