import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import Koa from 'koa'
import supertest from 'supertest'
import { koaAssets } from '../../lib/index.ts'
import { filesBelow } from '../support/fingerprinted.ts'
import { makeProject } from '../support/site.ts'
import { run } from './run.ts'

const ASSETS = [
  'apps/web/assets/favicon.ico',
  'apps/web/assets/images/logo.svg',
  'apps/web/assets/javascripts/app.js',
  'apps/web/assets/stylesheets/app.css'
]
const SERVE = 'SERVE_STATIC_ASSETS=true\n'
const IGNORED = 'public/assets\npublic/assets.json\n'

const ENV = ['.env.development', '.env.test']

test('init gives a new project its assets, its configuration and the lines of its dotfiles', async t => {
  const root = makeProject(t, { 'package.json': '{ "type": "module" }' })
  const { status, stdout, stderr } = await run(root, 'init')
  t.deepEqual([status, stderr], [0, ''])
  t.true(stdout.includes("import options from './assets.config.js'"))
  const files = [...ENV, '.gitignore', ...ASSETS, 'assets.config.js', 'package.json']
  t.deepEqual(filesBelow(root).toSorted(), files.toSorted())
  for (const path of ENV) t.is(readFileSync(join(root, path), 'utf8'), SERVE)
  t.is(readFileSync(join(root, '.gitignore'), 'utf8'), IGNORED)
})

test('what init gives can be served, precompiled and verified as it is', async t => {
  const root = makeProject(t)
  await run(root, 'init --quiet')
  const { default: options } = await import(join(root, 'assets.config.mjs'))
  t.deepEqual(options, { root })
  const app = new Koa()
  app.use(koaAssets({ ...options, serve: true, env: 'development' }))
  app.use(ctx => (ctx.body = [ctx.assets.stylesheet('app'), ctx.assets.favicon()].join('\n')))
  const client = supertest(app.callback())
  for (const name of ['favicon.ico', 'logo.svg', 'app.js', 'app.css']) {
    t.is((await client.get(`/assets/${name}`)).status, 200, name)
  }
  t.is((await run(root, 'precompile --quiet')).status, 0)
  t.is((await run(root, 'verify')).stdout, '4 assets, no problems\n')
})

for (const [type, config] of [
  ['module', 'assets.config.ts'],
  ['commonjs', 'assets.config.mts']
]) {
  test(`init gives a TypeScript project of type ${type} an ${config} that the command reads`, async t => {
    const root = makeProject(t, {
      'package.json': `{ "type": "${type}" }`,
      'tsconfig.json': '{}'
    })
    const { stdout } = await run(root, 'init')
    t.true(
      stdout.includes(
        `import options from './${config}' // for tsc and tsx: ${config}`.replace(/ts$/, 'js')
      )
    )
    t.regex(
      stdout,
      /^Start it with: node --env-file=\.env\.development (?:--import tsx )?server\.ts$/m
    )
    const text = readFileSync(join(root, config ?? ''), 'utf8')
    t.regex(text, /root: import\.meta\.dirname\n\} satisfies KoaAssetsOptions\n$/)
  })
}

test('S74 init writes nothing through a link that leads out of the project', async t => {
  const outside = makeProject(t, { '.env': 'PORT=1\n', 'apps/.keep': '' })
  const root = makeProject(t, { real: 'x\n' })
  symlinkSync(join(outside, '.env'), join(root, '.env.development'))
  symlinkSync(join(outside, 'none'), join(root, '.env.test'))
  symlinkSync(join(outside, 'apps'), join(root, 'apps'))
  symlinkSync('real', join(root, '.gitignore'))
  const { status, stdout } = await run(root, 'init --json')
  t.is(status, 0)
  const { steps } = JSON.parse(stdout) as { steps: { path: string; action: string }[] }
  t.deepEqual(
    steps.map(({ path, action }) => [path, action]),
    [
      ...ASSETS.map(path => [path, 'skip']),
      ['assets.config.mjs', 'create'],
      ['.env.development', 'skip'],
      ['.env.test', 'skip'],
      ['.gitignore', 'add']
    ]
  )
  t.deepEqual(filesBelow(outside).toSorted(), ['.env', 'apps/.keep'])
  t.is(readFileSync(join(outside, '.env'), 'utf8'), 'PORT=1\n')
  t.is(readFileSync(join(root, 'real'), 'utf8'), `x\n${IGNORED}`)
})

test('init overwrites nothing, adds only the lines that are missing, and a second run changes nothing', async t => {
  const own = {
    'apps/shop/assets/app.css': '',
    'assets.config.ts': 'export default {}',
    '.env.development': 'export SERVE_STATIC_ASSETS = false\nPORT=1',
    '.env.test': 'PORT=2',
    '.gitignore': 'node_modules\r\n/public/assets/\r\n'
  }
  const root = makeProject(t, own)
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  const { stdout } = await run(root, 'init --json')
  t.deepEqual((JSON.parse(stdout) as { steps: unknown }).steps, [
    { path: 'assets.config.ts', action: 'keep' },
    { path: '.env.development', action: 'keep' },
    { path: '.env.test', action: 'add', lines: ['SERVE_STATIC_ASSETS=true'] },
    { path: '.gitignore', action: 'add', lines: ['public/assets.json'] }
  ])
  const after = {
    ...own,
    '.env.test': `PORT=2\n${SERVE}`,
    '.gitignore': 'node_modules\r\n/public/assets/\r\npublic/assets.json\n'
  }
  for (let times = 0; times < 2; times++) {
    t.deepEqual(filesBelow(root).toSorted(), Object.keys(after).toSorted())
    for (const [path, content] of Object.entries(after)) t.is(text(path), content, path)
    await run(root, 'init')
  }
})

test('init --dry-run writes nothing', async t => {
  const root = makeProject(t)
  const { status, stdout } = await run(root, 'init --dry-run')
  t.is(status, 0)
  t.true(stdout.includes(ASSETS[0] ?? '') && stdout.endsWith('Nothing was written.\n'))
  t.deepEqual(filesBelow(root), [])
})

test('init takes another directory, which must exist', async t => {
  const root = makeProject(t, { 'server/x': '' })
  t.is((await run(root, 'init --root server --quiet')).status, 0)
  t.true(existsSync(join(root, 'server/apps/web/assets/favicon.ico')))
  const { status, stderr } = await run(root, 'init --root none')
  t.deepEqual([status, stderr], [2, 'koa-fresh-assets: --root: no such directory: none\n'])
})
