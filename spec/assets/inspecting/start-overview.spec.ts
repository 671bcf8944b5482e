// The block on the console at the start of a server in development.
import { execFile } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import test from 'ava'
import { overview, printOverview } from '../../../lib/assets/inspecting/start-notices.ts'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { makeProject } from '../../support/site.ts'
import { LOADER, moduleFile } from '../../support/typescript.ts'

const FILES = {
  'apps/web/assets/css/app.css': 'a{}',
  'apps/admin/assets/css/app.css': 'a{}',
  'lib/assets/a.css': 'a{}',
  'dist/index.html': ''
}

test('the block names apps, their directories, mounts, and the inspector', t => {
  const root = makeProject(t, FILES)
  const apps = { web: {}, admin: { sources: '../../lib/assets' } }
  const options = { root, apps, mounts: { '/docs': 'dist' }, env: 'development', serve: true }
  t.is(
    overview(settle(options), 'development'),
    `koa-fresh-assets: development, in ${root}
  /assets/admin/…  apps/admin/assets, lib/assets
  /assets/…        apps/web/assets
  /docs/…          dist
  This process serves them, and everything in public.
  To inspect them, open /assets/-/ on this server.`
  )
  const [, line] = overview(settle({ root, env: 'development', prefix: '/d\u00e4ta' }), '').split(
    '\n'
  )
  t.is(line, '  /d\u00e4ta/admin/…  apps/admin/assets')
})

test('the block says that nothing is served, and names no inspector then', t => {
  const root = makeProject(t, { 'assets/app.css': 'a{}' })
  const settings = settle({ root, env: 'development', serve: false })
  const lines = overview(settings, 'development').split('\n')
  t.deepEqual(lines.slice(1), [
    '  /assets/…  assets',
    '  This process does not serve them (serve is off): a front web server must serve public.'
  ])
})

test('a name with control characters is printed escaped', t => {
  const root = makeProject(t, { 'a\u001b[2J\n/app.css': 'a{}' })
  const settings = settle({ root, sources: `${root}/a\u001b[2J\n`, apps: { web: {} } })
  t.true(overview(settings, 'development').includes('a\\u001b[2J\\u000a'))
})

/** The headings of the blocks that these instances print. */
async function printedBy(all: readonly KoaAssetsOptions[], processEnv: NodeJS.ProcessEnv = {}) {
  const printed: string[] = []
  for (const options of all) {
    const settings = settle({ serve: true, ...options }, processEnv)
    printOverview(settings, options, processEnv, text => printed.push(text))
  }
  await setImmediate()
  return printed.map(block => block.split('\n')[0])
}

test('the block is printed once for the same settings, and says why it is development', async t => {
  const root = makeProject(t, FILES)
  const heading = `koa-fresh-assets: development, as NODE_ENV is not set, in ${root}`
  t.deepEqual(await printedBy([{ root }, { root }, { root, prefix: '/a' }]), [heading, heading])
  const named = `koa-fresh-assets: development, in ${root}`
  t.deepEqual(await printedBy([{ root }], { NODE_ENV: 'development' }), [named])
})

for (const [what, options, processEnv] of [
  ['under test', { env: 'development' }, { NODE_ENV: 'test' }],
  ['by a spec of node:test', {}, { NODE_TEST_CONTEXT: 'child-v8' }],
  ['in production', { fingerprint: false }, { NODE_ENV: 'production' }],
  ['with live: false', { live: false }, {}]
] as const) {
  test(`no block is printed ${what}`, async t => {
    const root = makeProject(t, FILES)
    t.deepEqual(await printedBy([{ root, ...options }], processEnv), [])
  })
}

test('koaAssets() prints the block on standard error', async t => {
  const root = makeProject(t, FILES)
  const lib = JSON.stringify(moduleFile('lib/koa-assets.ts'))
  const code = `(await import(${lib})).koaAssets(${JSON.stringify({ root, serve: true })})`
  const { NODE_ENV: _, ...env } = process.env
  const flags = [...LOADER, '--input-type=module', '--eval', code]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { env })
  t.is(stdout, '')
  t.true(stderr.startsWith('koa-fresh-assets: development, as NODE_ENV is not set'))
})
