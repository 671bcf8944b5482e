// The overview of a server that starts in development.
import test from 'ava'
import { settleProject } from '../../../lib/assets/extras.ts'
import { overview, printOverview } from '../../../lib/extras/telling/overview.ts'
import { koaAssets, type KoaAssetsOptions } from '../../../lib/koa-assets.ts'
import { makeProject } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'

const PROJECT = {
  'apps/web/assets/css/app.css': 'a{}',
  'apps/admin/assets/css/app.css': 'a{}',
  'lib/assets/a.css': 'a{}',
  'dist/index.html': ''
}

test('UPL-02 the block names apps, their directories, and mounts, unless nothing is served', t => {
  const root = makeProject(t, PROJECT)
  const apps = { web: {}, admin: { sources: '../../lib/assets' } }
  const options = { root, apps, mounts: { '/docs': 'dist' }, serve: true, live: false }
  t.is(
    overview(settleProject(options), 'development'),
    `koa-fresh-assets: development, in ${root}
  /assets/admin/…  apps/admin/assets, lib/assets
  /assets/…        apps/web/assets
  /docs/…          dist
  This process serves them, and everything in public.`
  )
  const silent = overview(settleProject({ root, env: 'development', prefix: '/d\u00e4ta' }, {}), '')
  t.regex(silent, /^  \/däta\/admin\/…  apps\/admin\/assets$/m)
  t.regex(
    silent,
    /^  .* does not serve them \(serve is off\): a front web server must serve public\.$/m
  )
  const none = overview(settleProject({ root, mounts: { '/uploads': 'a\u001b[2J\n' } }, {}), '')
  t.regex(none, /^  \/uploads\/… +a\\u001b\[2J\\u000a, which does not exist yet$/m)
})

/** The headings of the blocks that these instances print. */
async function printedBy(all: readonly KoaAssetsOptions[], processEnv: NodeJS.ProcessEnv = {}) {
  const printed: string[] = []
  for (const options of all) {
    const settings = settleProject({ serve: true, ...options }, processEnv)
    await printOverview(settings, { processEnv, print: text => printed.push(text) })
  }
  return printed.map(block => block.split('\n')[0])
}

test('the block is printed once for the same settings, and says why the environment is development', async t => {
  const root = makeProject(t, PROJECT)
  const heading = `koa-fresh-assets: development, as NODE_ENV is not set, in ${root}`
  t.deepEqual(await printedBy([{ root }, { root }, { root, prefix: '/a' }]), [heading, heading])
  const named = `koa-fresh-assets: development, in ${root}`
  t.deepEqual(await printedBy([{ root }], { NODE_ENV: 'development' }), [named])
})

test('no block is printed under test, in production, and with live: false', async t => {
  const root = makeProject(t, PROJECT)
  for (const [options, processEnv] of [
    [{ env: 'development' }, { NODE_ENV: 'test' }],
    [{}, { NODE_TEST_CONTEXT: 'child-v8' }],
    [{ fingerprint: false }, { NODE_ENV: 'production' }],
    [{ live: false }, {}]
  ] as const) {
    t.deepEqual(await printedBy([{ root, ...options }], processEnv), [])
  }
})

test.serial('koaAssets() prints the block as a warning', async t => {
  const root = makeProject(t, PROJECT)
  process.env.NODE_ENV = 'development'
  t.teardown(() => (process.env.NODE_ENV = 'test'))
  koaAssets({ root, serve: true })
  await until(() => warningsAbout(`development, in ${root}`).length > 0, 'the block')
  t.pass()
})

test('PRV-02 the overview says what is served, and what is not', t => {
  const root = makeProject(t, { 'dist/app.js': '' })
  const common = { root, env: 'development', live: false, apps: false } as const
  const mounts = { '/static': 'dist' }
  for (const [options, expected] of [
    [{ serve: true }, 'serves everything in public.'],
    [{ serve: true, mounts }, 'serves them, and everything in public.'],
    [{ serve: true, mounts, public: false }, 'serves them, and nothing else.'],
    [
      { serve: false, mounts, public: false },
      'does not serve them (serve is off): a front web server must do so.'
    ]
  ] as const) {
    const lines = overview(settleProject({ ...common, ...options }, {}), '').split('\n')
    const served = 'mounts' in options ? ['  /static/…  dist'] : []
    t.deepEqual(lines.slice(1), [...served, `  This process ${expected}`])
  }
})

test('PRV-02 the overview speaks of no apps where there are none', t => {
  const root = makeProject(t, { 'dist/app.js': '' })
  for (const env of ['development', 'test', 'staging', 'production']) {
    for (const more of [{}, { public: false }] as const) {
      const options = { root, env, serve: true, apps: false, mounts: { '/x': 'dist' }, ...more }
      const block = overview(settleProject(options as KoaAssetsOptions, {}), env).replace(root, '')
      t.notRegex(block, /\bapps?\b/i)
    }
  }
})
