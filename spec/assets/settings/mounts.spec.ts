// The options of mounts: MNT-03, MNT-04, MNT-07, NBR-02.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { runInNewContext } from 'node:vm'
import { precompile } from '../../../lib/assets/building/precompile.ts'
import { verify } from '../../../lib/assets/inspecting/verify.ts'
import type { MountOptions } from '../../../lib/assets/settings/mount-options.ts'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { AssetError } from '../../../lib/errors.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { makeProject } from '../../support/site.ts'

const start = (options: unknown) => () => settle(options as KoaAssetsOptions, {})

const COMPUTED = 'which is computed for each response: remove it'

const PROJECT = {
  'package.json': '{}',
  'apps/web/assets/css/app.css': '',
  'dist/app.js': '',
  'a file': '',
  'other/package.json': '{}',
  'library/css/x.css': ''
}

const PACKAGES = {
  'package.json': '{}',
  'node_modules/a/package.json': '{}',
  'node_modules/a/dist/package.json': '{}',
  'node_modules/@scope/b/package.json': '{}',
  'packages/linked/package.json': '{}'
}

function settleIn(t: ExecutionContext, mounts: unknown, options: KoaAssetsOptions = {}) {
  const root = makeProject(t, PROJECT)
  return start({ root, env: 'production', ...options, mounts })
}

test('MNT-03 what is no canonical URL path is none of a mount, and each may be there once', t => {
  const paths = ['static', '', '/a//b', '/a/../b', '/.hidden', '/a\\b', '/a\0b', '/aux', '//a']
  for (const path of paths) {
    t.throws(settleIn(t, { [path]: 'dist' }), {
      instanceOf: TypeError,
      message: `mounts must be an object with URL paths such as '/static', got ${inspect(path)}`
    })
  }
  for (const path of ['/a', '/größe']) {
    t.throws(settleIn(t, { [path]: 'dist', [`${path}/`]: 'dist' }), {
      instanceOf: TypeError,
      message: `mounts must be an object with each URL path once, got '${path}/'`
    })
  }
})

const OTHER = 'everything in a mount is served: mount a directory of its own'
const BUILD_FIRST = 'build it first, or correct the path'

for (const [dir, reason, advice = OTHER, options = {}] of [
  ['a file', 'is not a directory', BUILD_FIRST],
  ['.', "is the project's root, or contains it"],
  ['..', "is the project's root, or contains it"],
  ['root-link', "is the project's root, or contains it"],
  ['other', 'contains a package.json'],
  ['apps', 'contains the source directory apps/web/assets'],
  ['apps/web/assets', 'contains the source directory apps/web/assets'],
  ['apps/web/assets/css', 'is inside the source directory apps/web/assets'],
  ['css-link', 'is inside the source directory apps/web/assets'],
  ['library', 'contains the source directory library', OTHER, { sources: '../../library' }],
  ['node_modules', 'contains all installed packages'],
  ['node_modules/@scope', 'contains all installed packages'],
  ['modules-link', 'contains all installed packages'],
  ['node_modules/linked', 'contains a package.json']
] as ReadonlyArray<readonly [string, string, string?, KoaAssetsOptions?]>) {
  test(`MNT-03 S53 the mount ${dir} is an error at start: it ${reason}`, t => {
    const root = makeProject(t, { ...PROJECT, ...PACKAGES })
    for (const [to, link] of [
      ['.', 'root-link'],
      ['apps/web/assets/css', 'css-link'],
      ['node_modules', 'modules-link'],
      ['../packages/linked', 'node_modules/linked']
    ] as const) {
      symlinkSync(to, join(root, link))
    }
    const message = `the mount /x is ${resolve(root, dir)}, which ${reason}: ${advice}`
    for (const mount of [dir, { dir }, { dir: join(root, dir) }]) {
      t.throws(start({ root, env: 'production', ...options, mounts: { '/x': mount } }), {
        instanceOf: AssetError,
        code: 'mount-unusable',
        message
      })
    }
  })
}

test('MNT-03 an installed package, or a directory in one, may be mounted, but not by a site that is itself installed', t => {
  const root = makeProject(t, { ...PACKAGES, 'node_modules/site/other/package.json': '{}' })
  const mounting = (dir: string, root: string) =>
    start({ root, env: 'production', mounts: { '/x': dir } })
  for (const dir of ['node_modules/a', 'node_modules/@scope/b', 'node_modules/a/dist']) {
    t.notThrows(mounting(dir, root), dir)
  }
  const message = /contains a package\.json/
  t.throws(mounting('other', join(root, 'node_modules/site')), { code: 'mount-unusable', message })
})

test('MNT-03 UPL-02 BND-15 the directory of a mount may be made later, in production only without a manifest', t => {
  const root = makeProject(t, PROJECT)
  const mounts = { '/x': { dir: 'none', manifest: 'none/manifest.json' } }
  for (const env of ['production', 'development', 'test']) {
    t.notThrows(start({ root, env, mounts: { '/x': 'none', '/y': 'none/below' } }))
    if (env !== 'production') t.notThrows(start({ root, env, mounts }))
  }
  t.throws(start({ root, env: 'production', mounts }), {
    code: 'mount-unusable',
    message: `the mount /x is ${root}/none, which is not a directory: build it first, or correct the path`
  })
})

test('MNT-03 while `dev` is in force the manifest is not read', t => {
  const root = makeProject(t)
  for (const dev of [true, 'http://localhost:5173/'] as const) {
    const mounts = { '/x': { dir: 'dist', manifest: 'dist/m.json', dev } }
    const [mount] = settle({ root, env: 'development', mounts }, {}).mounts
    t.is(mount?.dev, dev === true ? true : 'http://localhost:5173')
    t.is(mount?.manifest, undefined)
    t.throws(start({ root, env: 'production', mounts }), { code: 'mount-unusable' })
  }
})

test('MNT-03 `dev: false` and `dev: condition && url` mean that there is no dev server', t => {
  const root = makeProject(t, { 'dist/m.json': '{}' })
  for (const dev of [false, '', undefined] as const) {
    const mounts = { '/x': { dir: 'dist', manifest: 'dist/m.json', dev } }
    const [mount] = settle({ root, env: 'development', mounts }, {}).mounts
    t.is(mount?.dev, undefined)
    t.is(mount?.manifest, join(root, 'dist/m.json'))
  }
})

test('MNT-03 a message spells the path of a mount in one way, with or without a slash at its end', t => {
  const root = makeProject(t, PROJECT)
  for (const path of ['/x', '/x/']) {
    t.throws(start({ root, env: 'production', mounts: { [path]: '.' } }), {
      message: /^the mount \/x is /
    })
  }
  t.throws(start({ root, env: 'production', mounts: { '/': '.' } }), {
    message: /^the mount \/ is /
  })
})

test('MNT-03 precompile and verify run before the directory of a mount is made', async t => {
  const root = makeProject(t, { 'apps/web/assets/css/app.css': 'a{}' })
  const options = { root, mounts: { '/x': { dir: 'later', manifest: 'later/m.json' } } }
  await precompile(options)
  t.deepEqual((await verify(options)).problems, [])
  t.throws(() => koaAssets({ ...options, env: 'production' }), { code: 'mount-unusable' })
})

test('a mount may be outside of the project, in public, public itself, and around public', t => {
  const outside = makeProject(t, { 'a.js': '' })
  const root = makeProject(t, { ...PROJECT, 'site/public/robots.txt': '' })
  mkdirSync(join(root, 'site/public/build'))
  const dirs = [outside, 'site/public/build', 'site/public', 'site', 'dist']
  for (const dir of dirs) {
    t.notThrows(start({ root, public: 'site/public', env: 'production', mounts: { '/x': dir } }))
  }
})

test('MNT-02 the longest URL path comes first, in whatever order mounts are declared', t => {
  const paths = ['/', '/a/b', '/a', '/longer']
  for (const order of [paths, paths.toReversed()]) {
    const mounts = Object.fromEntries(order.map(path => [path, 'dist']))
    const { mounts: settled } = settleIn(t, mounts)()
    t.deepEqual(
      settled.map(({ urlPath }) => urlPath),
      ['/longer', '/a/b', '/a', '']
    )
  }
})

test('SET-12 settings of a mount are frozen, and what was given is neither written to nor read again', t => {
  const headers = { 'X-A': 'a' }
  const given = Object.freeze({ dir: 'dist', headers })
  const { mounts } = settleIn(t, Object.freeze({ '/x': given, '/y': undefined }))()
  headers['X-A'] = 'b'
  t.is(mounts.length, 1, 'undefined is not given')
  t.true(Object.isFrozen(mounts) && mounts.every(Object.isFrozen))
  t.deepEqual(mounts[0]?.headers?.('/x/a.js'), { 'X-A': 'a' })
})

function immutableOf(t: ExecutionContext, immutable: MountOptions['immutable']) {
  const { mounts } = settleIn(t, { '/x': { dir: 'dist', immutable } })()
  return (path: string) => mounts[0]?.isImmutable?.(path)
}

test('MNT-04 immutable: true is for all but pages, service workers and web app manifests', t => {
  const isImmutable = immutableOf(t, true)
  for (const name of ['a.js', 'a/b.css', 'logo.png', 'answer.js', 'swap.js', 'manifest.js', 'a']) {
    t.true(isImmutable(`/x/${name}`), name)
  }
  const fixed = ['index.html', 'a/page.HTM', 'sw.js', 'service-worker.js', 'serviceworker.js']
  fixed.push('firebase-messaging-sw.js', 'ngsw-worker.js', 'app.webmanifest', 'a/manifest.json')
  for (const name of fixed) t.false(isImmutable(`/x/${name}`), name)
})

test('MNT-04 a RegExp or a function decides alone, and `false` is for none', t => {
  t.true(immutableOf(t, /./)('/x/sw.js'))
  t.true(immutableOf(t, () => true)('/x/index.html'))
  t.false(immutableOf(t, false)('/x/a-0123abcd.js'))
  t.is(immutableOf(t, undefined)('/x/a.js'), undefined, 'the manifest decides')
  t.is(immutableOf(t, () => undefined)('/x/a.js'), undefined)
})

test('MNT-04 a RegExp matches each path from its beginning, with the flags g and y and of another realm', t => {
  const foreign = runInNewContext('/-[0-9a-f]{8}\\./g') as RegExp
  for (const pattern of [/-[0-9a-f]{8}\./, /-[0-9a-f]{8}\./g, /\/x\/.*-[0-9a-f]{8}\./y, foreign]) {
    const isImmutable = immutableOf(t, pattern)
    for (let times = 0; times < 3; times++) {
      t.true(isImmutable('/x/a-0123abcd.js'), String(pattern))
      t.true(isImmutable('/x/b-0123abcd.js'), String(pattern))
    }
    t.false(isImmutable('/x/a.js'), String(pattern))
    t.is(pattern.lastIndex, 0)
  }
})

test('MNT-04 MNT-07 what a function returns is checked when it is called', t => {
  const wrong = (options: object) => {
    const { mounts } = settleIn(t, { '/x': { dir: 'dist', ...options } })()
    const [mount] = mounts
    return () => [mount?.isImmutable, mount?.cacheControl, mount?.headers].map(of => of?.('/x/a'))
  }
  for (const [options, message] of [
    [{ immutable: async () => false }, /^immutable must be true or false, got Promise/],
    [{ immutable: () => 1 }, 'immutable must be true or false, got 1 (mounts./x.immutable)'],
    [{ cacheControl: () => 3600 }, /^cacheControl must be a value such as .*, got 3600/],
    [{ cacheControl: () => 'a\nb' }, /^cacheControl must be a value such as .*, got 'a\\nb'/],
    [{ cacheControl: () => '' }, /^cacheControl must be a value such as .*, got ''/],
    [{ cacheControl: async () => 'no-cache' }, /^cacheControl must be a value such as .*Promise/],
    [{ headers: () => ({ 'X-A': ['b'] }) }, /^X-A must be text .* \(mounts\.\/x\.headers\.X-A\)$/],
    [{ headers: async () => ({ 'X-A': 'b' }) }, /^headers must be an object .*Promise/],
    [{ headers: () => null }, /^headers must be an object .*, got null \(mounts\.\/x\.headers\)$/],
    [{ headers: () => ({ Date: 'now' }) }, `mounts./x.headers sets Date, ${COMPUTED}`]
  ] as const) {
    t.throws(wrong(options), { instanceOf: TypeError, message })
  }
  const fallback = { file: 'index.html', except: () => 'no' as unknown as boolean }
  const [excepting] = settleIn(t, { '/x': { dir: 'dist', fallback } })().mounts
  t.throws(() => excepting?.isExcepted?.('/x/a'), {
    instanceOf: TypeError,
    message: "except must be true or false, got 'no' (mounts./x.fallback.except)"
  })
  t.deepEqual(wrong({ headers: () => undefined, cacheControl: () => undefined })(), [
    undefined,
    undefined,
    undefined
  ])
})
