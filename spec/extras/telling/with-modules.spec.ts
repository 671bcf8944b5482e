import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { overview } from '../../../lib/extras/telling/overview.ts'
import { makeShop, run } from '../../publishing/cli/run.ts'
import { makeProject, test } from '../../support/index.ts'
import { pkg } from '../modules/package-files.ts'
import { explain } from './told.ts'

test('the block at start names the packages of an app once', t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const packages = ['tip', { '@fonts/inter': ['400.css'] }, { tip: ['more.js'] }]
  const block = overview(settleProject({ root, env: 'development', packages }, {}), '')
  t.regex(block, /^  \/assets\/… +apps\/web\/assets, npm: tip, @fonts\/inter$/m)
})

test.serial(
  'list and explain still tell of a precompile whose packages and sources are gone',
  async t => {
    const root = makeShop(t, {
      'css/app.css': 'a{}',
      '/assets.config.json': JSON.stringify({ packages: [{ tip: 'dist/tip.css' }] }),
      ...pkg('tip', {}, { 'dist/tip.css': 'b{}' })
    })
    await run(root, 'precompile')
    for (const path of ['apps', 'node_modules/tip']) rmSync(join(root, path), { recursive: true })
    const absent = 'the option packages names the package tip, which is not installed'
    const explained = await run(root, 'explain npm/tip/dist/tip.css --env production')
    t.is(explained.status, 0, explained.stderr)
    t.true(explained.stdout.includes(absent))
    t.regex(explained.stdout, /^helpers +emit \/assets\/npm\/tip\/dist\/tip-\w+\.css$/m)
    const listed = await run(root, 'list')
    t.is(listed.status, 0, listed.stderr)
    t.regex(listed.stdout, /^\/assets\/npm\/tip\/dist\/tip\.css /m)
    rmSync(join(root, 'public'), { recursive: true })
    t.true((await run(root, 'list')).stderr.includes(absent))
  }
)

test('explain knows a file of a package that a stylesheet refers to, before anything is rendered', async t => {
  const root = makeProject(t, {
    'package.json': '{ "dependencies": { "kit": "1" } }',
    'apps/web/assets/css/app.css': "@import 'kit';",
    'node_modules/kit/package.json': '{ "style": "a.css" }',
    'node_modules/kit/a.css': '.a { src: url(f.woff2) }',
    'node_modules/kit/f.woff2': 'font',
    'node_modules/kit/other.woff2': 'font'
  })
  for (const env of ['development', 'production']) {
    for (const name of ['a.css', 'f.woff2']) {
      const { source } = await explain(`npm/kit/${name}`, { root, env, compile: true })
      t.is(source, `node_modules/kit/${name}`)
    }
    t.is((await explain('npm/kit/other.woff2', { root, env, compile: true })).source, undefined)
  }
})
