import { join } from 'node:path'
import { noticesAtStart } from '../../../lib/extras/warnings/notices.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { makeProject, run, test, warningsAbout, type Files } from '../../support/index.ts'

const FILES: Files = { 'apps/web/assets/stylesheets/app.css': 'a{}', 'dist/index.html': '' }
const OTHER: Files = { 'src/app.css': 'a{}' }

/** Of a project with these files; undefined for nothing to report. */
type Row = readonly [options: KoaAssetsOptions, expected?: string | undefined, variable?: string]

function testNotices(title: string, files: Files, rows: readonly Row[]): void {
  test(title, t => {
    const root = makeProject(t, files)
    for (const [given, expected, variable] of rows) {
      const options = { root, env: 'development', ...given }
      const processEnv = variable === undefined ? {} : { SERVE_STATIC_ASSETS: variable }
      const found = noticesAtStart(settleProject(options, processEnv), processEnv)
      t.is(found.join('\n').replaceAll(root, 'ROOT'), expected ?? '', JSON.stringify(given))
    }
  })
}

const served = { serve: true } as const
const NO_APP =
  'no app was found: ROOT contains neither apps/<name>/assets nor assets. Create apps/web/assets, or set the option root or apps'

testNotices('a project without any app is reported, with the folders that were searched', OTHER, [
  [{}, NO_APP],
  [{ env: 'test', ...served }, NO_APP],
  [{ ...served, sources: '../../src' }],
  [{ ...served, apps: { web: { dir: 'src' } } }]
])
testNotices('a project that only serves its public is not reported', { 'public/a.txt': '' }, [
  [served]
])

const neither = (env: string, key = env, advice = 'Set') =>
  `neither compile nor fingerprint is on in the environment '${env}', so no source is published (apps: web). ${advice} configure: { ${key}: { compile: true } }, or precompile and set configure: { ${key}: { fingerprint: true } }`

const MEANT = "Did you mean 'production'? Otherwise set"

testNotices('an environment without compile and fingerprint is reported, with the remedy', FILES, [
  [{ env: 'staging', ...served }, neither('staging')],
  [{ env: 'Production', ...served }, neither('Production', 'Production', MEANT)],
  [{ env: 'prod', ...served }, neither('prod', 'prod', MEANT)],
  [{ env: 'pre-prod\u001b', ...served }, neither('pre-prod\\x1B', "'pre-prod\\x1B'")],
  [{ env: 'staging', compile: true }],
  [{ env: 'staging', apps: { web: { fingerprint: true } } }],
  [{ env: 'staging', configure: { staging: { compile: false } } }],
  [{ env: 'staging', apps: { web: { configure: { staging: {} } } } }],
  [{ env: 'test', compile: false, ...served }],
  [{ env: 'production', fingerprint: false, ...served }]
])

const notServed = (what: string, reason = 'is not set', env = 'development') =>
  `${what} not served, because SERVE_STATIC_ASSETS ${reason}. Set it to 'true' or set serve: true; if a front web server serves them, ${env === 'development' ? 'set serve: false' : "set it to 'false'"}`
const inProduction = (what: string, reason: string) => notServed(what, reason, 'production')
const MOUNT = { apps: false, mounts: { '/x': 'dist' } } as const
const BUILT = { ...MOUNT, env: 'production' }
const COMPILED = { env: 'production', compile: true }

testNotices('what is not served is reported, with the value of SERVE_STATIC_ASSETS', FILES, [
  [{}, notServed('assets are')],
  [{}, notServed('assets are'), ''],
  [{}, notServed('assets are', "is '1', not 'true'"), '1'],
  [{}, notServed('assets are', "is 'TRUE', not 'true'"), 'TRUE'],
  [{}, undefined, 'true'],
  [{ serve: false }],
  [{ env: 'test' }],
  [COMPILED, inProduction('assets are', "is '1', not 'true'"), '1'],
  [COMPILED, inProduction('assets are', "is 'True', not 'true'"), 'True'],
  [COMPILED],
  ...['false', 'False', '0', 'off'].map((no): Row => [BUILT, undefined, no]),
  ...['development', 'test', 'staging', 'production'].flatMap((env): Row[] => [
    [{ ...MOUNT, env }, notServed('mounts are', undefined, env), ''],
    [{ ...MOUNT, env }, undefined, 'true'],
    [{ ...MOUNT, env, serve: false }],
    [{ apps: false, env }]
  ]),
  [BUILT, inProduction('mounts are', "is '1', not 'true'"), '1'],
  [{ mounts: { '/x': 'dist' } }, notServed('assets and mounts are')]
])

const UPLOADS =
  'the directory data/uploads of the mount /up does not exist in ROOT: its files are a 404 until it does'
const FALLBACK =
  'the mount /admin has the fallback app.html, but there is no file dist/app.html: until it is built, navigations end in a 404'
const APP = { dir: 'dist', fallback: 'app.html' }

testNotices('the missing directory or fallback of a mount is reported where it is served', FILES, [
  [{ ...served, mounts: { '/up/': 'data/uploads' } }, UPLOADS],
  [{ ...served, mounts: { '/admin': APP } }, FALLBACK],
  [{ serve: false, mounts: { '/admin': APP, '/up/': 'data/uploads' } }],
  [{ ...served, mounts: { '/site': { dir: 'dist', fallback: 'index.html' }, '/plain': 'dist' } }]
])

test('koaAssets() prints the warning about a project without any app once', t => {
  const root = makeProject(t)
  koaAssets({ root, env: 'development', serve: true })
  const [notice, ...others] = warningsAbout(root)
  t.deepEqual(others, [])
  t.true(notice?.startsWith('koa-fresh-assets: no app was found'))
})

test('a root that is not a directory is an error at start', async t => {
  const root = makeProject(t, { file: '' })
  for (const at of ['nowhere', 'file', 'file/below'].map(path => join(root, path))) {
    const message = `root is ${at}, which is not a directory: set root to the project's directory, as in root: import.meta.dirname`
    const expected = { instanceOf: AssetError, code: 'root-missing', message }
    t.throws(() => koaAssets({ root: at }), expected)
    await t.throwsAsync(run({ root: at }), expected)
  }
})
