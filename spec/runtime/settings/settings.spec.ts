// Options in, frozen settings out.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import { MOUNT, LAYERED, TOP } from '../../../lib/runtime/settings/table.ts'
import type { MountOptions, KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { type AppSettings, settle } from '../../../lib/runtime/settings/settings.ts'
import type { Expectation } from '../../../lib/runtime/check-options.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import { koaAssets, precompile } from '../../../lib/koa-assets.ts'
import { makeFingerprinted, makeProject, makeSite, MODES, test } from '../../support/index.ts'
import { words, type ExecutionContext } from '../../support/index.ts'

function webOf(options: KoaAssetsOptions, env: NodeJS.ProcessEnv = {}) {
  const [web, ...others] = settle(options, env).apps
  if (!web || others.length > 0) throw new Error('the spec needs one app')
  return web
}

test('without options and NODE_ENV the settings are those of development', t => {
  for (const env of [{}, { NODE_ENV: '' }, { NODE_ENV: 'development' }]) {
    const settings = settle(undefined, env)
    t.like(settings, {
      ...{ env: 'development', root: process.cwd(), publicDir: join(process.cwd(), 'public') },
      ...{ prefix: '/assets', host: undefined, symlinks: 'inside', index: { max: 10_000 } },
      memory: { maxBytes: 64 * 1024 * 1024, maxFileBytes: 1024 * 1024 }
    })
    for (const { compile, fingerprint, integrity, revalidate, missing } of settings.apps)
      t.deepEqual(
        [compile, fingerprint, integrity, revalidate, missing],
        [true, false, [], 0, 'error']
      )
  }
})

test('compile and fingerprint depend on the exact name of the environment, and on its configure', t => {
  const root = makeProject(t)
  const configure = { staging: { compile: true } }
  for (const [env, compile, fingerprint, options = {}] of [
    ['test', true, false],
    ['production', false, true],
    ['staging', false, false],
    ['staging', true, false, { configure }],
    ['test', true, false, { configure }],
    ['Production', false, false],
    ['__proto__', false, false],
    ['toString', false, false, { configure }]
  ] as const) {
    const [byProcess, given] = [{ NODE_ENV: env }, { root, env, ...options }]
    for (const app of [webOf({ root, ...options }, byProcess), webOf(given)]) {
      t.deepEqual([app.compile, app.fingerprint], [compile, fingerprint], env)
      t.is(app.revalidate, compile ? 0 : 1)
      t.deepEqual(app.integrity, env === 'test' ? [] : ['sha384'])
    }
    t.is(settle({ root, env }, { NODE_ENV: 'test' }).env, env)
  }
})

test('the default of serve is true only with SERVE_STATIC_ASSETS=true', t => {
  const root = makeProject(t)
  for (const given of ['true', '1', 'True', 'true ', '', undefined]) {
    const env = given === undefined ? {} : { SERVE_STATIC_ASSETS: given }
    t.is(settle({ root }, env).serve, given === 'true', given)
    for (const serve of [true, false]) t.is(settle({ root, serve }, env).serve, serve)
  }
})

test("an app's configure comes before the app, the top level's configure, and the top level", t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '' })
  const layers: KoaAssetsOptions[] = [
    { integrity: 'sha256' },
    { configure: { staging: { integrity: 'sha384' } } },
    { apps: { web: { integrity: 'sha512' } } },
    { apps: { web: { integrity: 'sha512', configure: { staging: { integrity: false } } } } }
  ]
  const expected = [['sha256'], ['sha384'], ['sha512'], []]
  layers.forEach((_, at) => {
    const options = Object.assign({ root, env: 'staging' }, ...layers.slice(0, at + 1))
    t.deepEqual(webOf(options).integrity, expected[at] as never)
  })
})

const directoriesOf = ({ sources }: AppSettings) => sources.map(({ dir }) => dir)

test('sources of the top level, configure and app are joined in that order, each once', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/web/more/a.css': '' })
  for (const name of ['top', 'topConfigure', 'app', 'appConfigure']) mkdirSync(join(root, name))
  const at = (name: string) => join(root, name)
  const web = {
    sources: ['more', at('app'), at('top')],
    configure: { production: { sources: [at('appConfigure'), at('app')] } }
  }
  const [production, test] = [{ sources: at('topConfigure') }, { sources: at('nowhere') }]
  const configure = { production, test }
  const options = { root, env: 'production', sources: [at('top')], configure, apps: { web } }
  const expected = words('apps/web/assets top topConfigure apps/web/more app appConfigure')
  t.deepEqual(directoriesOf(webOf(options)), expected.map(at))
})

test('an option that names a missing directory or a file is an error where a directory is needed', t => {
  const root = makeProject(t, { 'apps/web/app.js': '', 'apps/web/file': '', 'views.ejs': '' })
  const missing = (option: string, given: string, path: string) =>
    `${option} names ${given}, but ${join(root, path)} is not a directory: create it, or correct ${option}`
  const watching = (path: string) => ({ serve: true, live: { watch: [path] } })
  for (const [message, options] of [
    [missing('sources', 'none', 'apps/web/none'), { sources: ['none'] }],
    [missing('sources', 'file', 'apps/web/file'), { sources: ['file'] }],
    [missing('apps.web.dir', join(root, 'src'), 'src'), { apps: { web: { dir: 'src' } } }],
    [missing('live.watch', 'views', 'views'), watching('views')],
    [missing('live.watch', 'views.ejs', 'views.ejs'), watching('views.ejs')]
  ] as const) {
    const start = () => settle({ root, ...options, env: 'development' })
    t.throws(start, { instanceOf: AssetError, code: 'source-missing', message })
    t.notThrows(() => settle({ root, ...options, env: 'production' }))
  }
  const message = /^the option public is views\.ejs, which is not a directory: /
  const unusable = { instanceOf: AssetError, code: 'public-unusable', message }
  t.throws(() => settle({ root, public: 'views.ejs' }), unusable)
  t.deepEqual(directoriesOf(webOf({ root, apps: { web: {} } })), [join(root, 'apps/web/assets')])
})

test('koaAssets neither changes its options nor follows later changes of them', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/web/more/a.css': '' })
  const headers = { 'X-A': 'a' }
  const options = {
    root,
    sources: ['more'],
    integrity: ['sha256'] as Array<'sha256' | 'sha512'>,
    memory: { maxBytes: 1 },
    apps: { web: { sources: ['more'], configure: { test: { sources: 'more' } } } },
    mounts: Object.freeze({ '/x': Object.freeze({ dir: 'dist', headers }), '/y': undefined })
  }
  const before = structuredClone(options)
  const settings = settle(options, { NODE_ENV: 'test' })
  t.deepEqual(options, before)
  options.sources.push('nowhere')
  options.integrity.push('sha512')
  options.memory.maxBytes = 2
  headers['X-A'] = 'b'
  const [web] = settings.apps
  t.is(web?.sources.length, 2)
  t.deepEqual(web?.integrity, ['sha256'])
  t.is(settings.memory.maxBytes, 1)
  const [mount, ...others] = settings.mounts
  t.deepEqual([mount?.headers?.('/x/a.js'), others], [{ 'X-A': 'a' }, []])
  const parts = [settings, settings.apps, settings.memory, settings.index, settings.mounts, mount]
  for (const part of [...parts, web, web?.sources, web?.integrity]) t.true(Object.isFrozen(part))
})

test('each apps/<name> with an assets folder is an app: web at /, others at their names', t => {
  const files = words(`apps/web/assets/a.css apps/admin/assets/a.css apps/api/server.js
    apps/README.md apps/.trash/assets/a.css`)
  const root = makeProject(t, Object.fromEntries(files.map(at => [at, ''])))
  for (const apps of [undefined, { web: {}, admin: {} }, { admin: {}, web: {} }]) {
    const [admin, web, ...others] = settle({ root, apps }, {}).apps
    t.like(admin, { name: 'admin', path: '/admin', dir: join(root, 'apps/admin') })
    t.is(admin?.urlPrefix, '/assets/admin')
    t.like(web, { name: 'web', path: '/', urlPrefix: '/assets', dir: join(root, 'apps/web') })
    t.deepEqual(others, [])
  }
})

test('by default the only app of a project is at /, be it apps/<name> or a plain assets folder', t => {
  const root = makeProject(t, { 'assets/a.css': '', 'more/b.css': '', 'apps/api/server.js': '' })
  const web = webOf({ root, sources: ['more'] })
  t.deepEqual([web.name, web.path, web.dir], ['web', '/', root])
  t.deepEqual(directoriesOf(web), [join(root, 'assets'), join(root, 'more')])
  mkdirSync(join(root, 'apps/shop/assets'), { recursive: true })
  t.like(webOf({ root }), { name: 'shop', path: '/', dir: join(root, 'apps/shop') })
  t.is(webOf({ root, apps: { shop: { path: '/shop/' } } }).urlPrefix, '/assets/shop')
  t.like(webOf({ root: makeProject(t) }), { name: 'web', path: '/' })
})

test('live reload is on only in development and with serve', t => {
  const root = makeProject(t, { 'views/a.ejs': '' })
  for (const [isLive, options] of [
    [true, { serve: true }],
    [true, { serve: true, live: true }],
    [true, { serve: true, live: {} }],
    [false, { serve: true, live: false }],
    [false, { serve: false, live: true }],
    [false, { serve: true, live: true, env: 'test' }],
    [false, { serve: true, live: true, env: 'Development' }]
  ] as const) {
    t.is(settle({ root, ...options }, {}).live !== undefined, isLive, inspect(options))
  }
  const watch = ['views', join(root, 'views')]
  const hosts = ['Box.local', '[FD00::1]']
  const { live } = settle({ root, serve: true, live: { watch, hosts, editor: 'zed' } }, {})
  watch.push('more')
  hosts.push('evil.example')
  t.deepEqual(live?.watch, [join(root, 'views'), join(root, 'views')])
  t.deepEqual([...(live?.hosts ?? [])], ['box.local', '[fd00::1]'])
  t.is(live?.editor, 'zed')
})

/** Before the first request. */
const start = (options: unknown) => () => koaAssets(options as KoaAssetsOptions)

const compiler = { extensions: '.x', target: '.css', compile: String }
const ABSENT = undefined
const COMPUTED = 'which is computed for each response: remove it'

/** By path; a mount has the directory `.` unless that is the option. */
const WRONG: ReadonlyArray<readonly [path: string, ...given: unknown[]]> = [
  ['root', 42, '', 'a\0b'],
  ['env', true, ''],
  ['serve', 'true'],
  ['public', ['public']],
  ['prefix', null],
  ['base', 'shop', '/shop/', '/', '/a/../b', '/..', '//shop', "/a'b", '/a b', '/ü', 7],
  ['host', 'cdn.example', 'https://cdn.example/x', 'https://cdn.example:99999', '//%zz'],
  ['apps', ['web'], {}, { web: undefined }],
  ['apps.web', 'apps/web'],
  ['apps.web.dir', 1],
  ['apps.web.configure.test.compile', 'yes'],
  ['apps.web.sources', 42],
  ['sources', [1], '', { at: 'x' }, { dir: 'x', at: '../y' }, { dir: 'x', glob: '*' }],
  ['memory', 64],
  ['memory.maxBytes', -1, 0.5],
  ['memory.maxFileBytes', '1MB'],
  ['index.max', 0, -1],
  ['live', 'on'],
  ['live.hosts', ['localhost:3000'], [42]],
  ['revalidate', -1, NaN, '1'],
  ['symlinks', true],
  ['integrity', true, ['md5']],
  ['compilers', {}, ['x'], ...[[], '.css.x'].map(extensions => [{ ...compiler, extensions }])],
  ['imports', { './a': 'a.js' }, { '/a': 'a.js' }, { 'node:fs': 'a.js' }, ['a.js']],
  ['imports', { 'lib/': 'a.js' }, { '': 'a.js' }, { a: '../a.js' }, { a: '/a.js' }, { a: 1 }],
  ['imports', { a: 'data:text/javascript,' }, { a: 'https://' }, { a: '//a:b' }],
  ['missing', 'log'],
  ['configure', []],
  ['configure.production', true],
  ['mounts', 'dist', ['dist']],
  ['mounts./a', 42, '', null],
  ['mounts./a.dir', ABSENT, 1],
  ['mounts./a.index', true, 'a/index.html', '..'],
  ['mounts./a.extensions', 'html', ['html', '../x']],
  ['mounts./a.fallback', '../index.html', '/index.html'],
  ['mounts./a.fallback.file', ABSENT, '../index.html'],
  ['mounts./a.immutable', 'assets'],
  ['mounts./a.cacheControl', { maxAge: 1 }, 'max-age: 60', 'public; max-age=60', ' , ', 'a\nb'],
  ['mounts./a.cacheControl', 'max-age=ten', 'public, max-age', 's-maxage="60"', 'stale-if-error='],
  ['mounts./a.cacheControl', 'maxage=60', 'max_age=60', 'nocache', 'pubic', 's-max-age=60'],
  ['mounts./a.headers', []],
  ['headers', 'no', new Map([['X-A', 'b']])]
]

/** What the table says that an option must be. */
function expectedOf(path: string): string {
  let option: Expectation = { expected: '', holds: Boolean, fields: TOP }
  for (const name of path.split('.')) option = (option.fields?.[name] ?? option.each) as Expectation
  return option.expected
}

function optionsWith(path: string, given: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) return { [name]: given }
  const inside = optionsWith(rest.join('.'), given) as object
  return { [name]: name === '/a' ? { dir: '.', ...inside } : inside }
}

function requireError(t: ExecutionContext, path: string, expected: string, given: unknown) {
  const [name = '', ...places] = path.split('.').toReversed()
  const shown = inspect(given, { depth: 1, breakLength: Infinity })
  const message = `${name} must be ${expected}, got ${shown}${places.length > 0 ? ` (${path})` : ''}`
  t.throws(start(optionsWith(path, given)), { instanceOf: TypeError, message })
}

test('a wrong value is an error at start that names the option and what it must be', t => {
  for (const [path, ...all] of WRONG)
    for (const given of all) requireError(t, path, expectedOf(path), given)
  for (const [path, expected, ...all] of [
    ['prefix', "a path such as '/assets'", 'assets', '/', '/a//b', '/../a'],
    ['prefix', "a path such as '/assets', not percent-encoded", '/a%20b'],
    ['apps.web.path', "a path such as '/admin'", 'admin'],
    ['symlinks', "'inside', 'follow' or 'deny'", 1],
    ['headers.X-A', 'Latin-1 text without line breaks', 1, 'a\r\nX-B: c', '€']
  ] as const) {
    for (const given of all) requireError(t, path, expected, given)
  }
  for (const base of ['', '/a/b-c', '/caf%C3%A9', undefined]) t.notThrows(start({ base }))
  for (const options of [null, [], 'public']) {
    const message = `options must be an object, got ${inspect(options)}`
    t.throws(start(options), { instanceOf: TypeError, message })
  }
  for (const name of ['X A', '', 'X-Ä']) {
    const expected = 'an object of fields, their names of letters, digits and hyphens'
    const message = `headers must be ${expected}, got ${inspect(name)}`
    t.throws(start({ headers: { [name]: '1' } }), { instanceOf: TypeError, message })
  }
  for (const name of ['ETag', 'content-length']) {
    const message = `headers sets ${name}, ${COMPUTED}`
    t.throws(start({ headers: { [name]: '1' } }), { instanceOf: TypeError, message })
  }
})

const listed = (table: object) => Object.keys(table).join(', ')

test('an unknown option, at any depth, is rejected with the nearest known name, else with all', t => {
  for (const [options, message] of [
    [{ fingerprints: true }, "'fingerprints': did you mean 'fingerprint'?"],
    [{ memory: { MAXBITS: 1 } }, "'memory.MAXBITS': did you mean 'maxBytes'?"],
    [{ index: { entries: 1 } }, "'index.entries': known options: max"],
    [{ live: { host: [] } }, "'live.host': did you mean 'hosts'?"],
    [{ apps: { web: { dirs: '.' } } }, "'apps.web.dirs': did you mean 'dir'?"],
    [
      { configure: { x: { prefix: '/' } } },
      `'configure.x.prefix': known options: ${listed(LAYERED)}`
    ],
    [{ mounts: { '/a': { path: 'x' } } }, `'mounts./a.path': known options: ${listed(MOUNT)}`],
    [{ mounts: { '/a': { imutable: 1 } } }, "'mounts./a.imutable': did you mean 'immutable'?"],
    [JSON.parse('{"__proto__": 1}'), `'__proto__': known options: ${listed(TOP)}`],
    [{ constructor: 1 }, `'constructor': known options: ${listed(TOP)}`],
    [{ gzip: true }, "'gzip': compressed copies are sent wherever they are beside a file"]
  ] as const) {
    t.throws(start(options), { instanceOf: TypeError, message: `unknown option ${message}` })
  }
})

test('configure for a misspelled environment is rejected with the one that is meant', t => {
  for (const [name, near] of [
    ['prodction', 'production'],
    ['Production', 'production'],
    ['developement', 'development'],
    ['devlopmet', 'development'],
    ['tets', 'test']
  ] as const) {
    const configure = { [name]: {} }
    for (const [options, place] of [
      [{ configure }, 'configure'],
      [{ apps: { web: { configure } } }, 'apps.web.configure']
    ] as const) {
      const message = `unknown environment '${place}.${name}': did you mean '${near}'?`
      t.throws(start(options), { instanceOf: TypeError, message })
    }
    t.notThrows(start({ configure, env: name }))
  }
  const others = words('staging prod dev ci e2e testing production-eu preproduction')
  t.notThrows(start({ configure: Object.fromEntries(others.map(name => [name, {}])) }))
})

test('two apps with the same path are rejected, with the name of the other', t => {
  const root = makeProject(t, { 'apps/a/x': '', 'apps/b/x': '', 'apps/c/x': '' })
  for (const [other, apps] of [
    ['b', { a: { path: '/x' }, b: { path: '/x/' } }],
    ['c', { a: { path: '/x' }, b: { path: '/y' }, c: { path: '/x' } }]
  ] as const) {
    const message = `path must be different from that of '${other}', got '/x' (apps.a.path)`
    t.throws(start({ root, apps }), { instanceOf: TypeError, message })
  }
})

// The options of mounts.

const startMounts = (options: unknown) => () => settle(options as KoaAssetsOptions, {})

const PROJECT = {
  ...{ 'package.json': '{}', 'other/package.json': '{}', 'a file': '' },
  ...{ 'apps/web/assets/css/app.css': '', 'library/css/x.css': '', 'dist/app.js': '' }
}

const PACKAGES = Object.fromEntries(
  words(`package.json node_modules/a/package.json node_modules/a/dist/package.json
    node_modules/@scope/b/package.json packages/linked/package.json`).map(path => [path, '{}'])
)

function settleIn(t: ExecutionContext, mounts: unknown, options: KoaAssetsOptions = {}) {
  const root = makeProject(t, PROJECT)
  return startMounts({ root, env: 'production', ...options, mounts })
}

test('a mount needs a canonical path that no other mount has', t => {
  const paths = ['static', '', '/a//b', '/a/../b', '/.hidden', '/a\\b', '/a\0b', '/aux', '//a']
  const refuses = (given: readonly string[], reason: string) => {
    const mounts = Object.fromEntries(given.map(path => [path, 'dist']))
    const message = `mounts must be an object with ${reason}, got ${inspect(given.at(-1))}`
    t.throws(settleIn(t, mounts), { instanceOf: TypeError, message })
  }
  for (const path of paths) refuses([path], "URL paths such as '/static'")
  for (const path of ['/a', '/größe']) refuses([path, `${path}/`], 'each URL path once')
})

const OTHER = 'everything in it is served, so it needs a directory of its own'

type Exposed = readonly [dir: string, reason: string, advice?: string]

const EXPOSED: readonly Exposed[] = [
  ['a file', 'is not a directory', 'build it first, or correct the path'],
  ['.', "is the project's root, or contains it"],
  ['..', "is the project's root, or contains it"],
  ['other', 'contains a package.json'],
  ['apps', 'contains the source directory apps/web/assets'],
  ['apps/web/assets', 'contains the source directory apps/web/assets'],
  ['apps/web/assets/css', 'is inside the source directory apps/web/assets'],
  ['library', 'contains the source directory library'],
  ['node_modules', 'contains all installed packages'],
  ['node_modules/@scope', 'contains all installed packages']
]

const LINKS = [
  ['.', 'root-link'],
  ['apps', 'apps-link'],
  ['apps/web/assets/css', 'css-link'],
  ['node_modules', 'modules-link'],
  ['../packages/linked', 'node_modules/linked']
] as const
const EXPOSED_BY_LINKS: readonly Exposed[] = [
  ['root-link', "is the project's root, or contains it"],
  ['css-link', 'is inside the source directory apps/web/assets'],
  ['apps-link/web', 'contains the source directory apps/web/assets'],
  ['modules-link', 'contains all installed packages'],
  ['node_modules/linked', 'contains a package.json']
]

async function checkRefused(t: ExecutionContext, root: string, exposed: readonly Exposed[]) {
  for (const [dir, reason, advice = OTHER] of exposed) {
    const message = `the mount /x is ${resolve(root, dir)}, which ${reason}: ${advice}`
    const options = { root, env: 'production', sources: dir === 'library' ? '../../library' : [] }
    for (const mount of [dir, { dir: join(root, dir) }])
      for (const path of ['/x', '/x/']) {
        const start = startMounts({ ...options, mounts: { [path]: mount } })
        t.throws(start, { instanceOf: AssetError, code: 'mount-unusable', message })
      }
    if (advice !== OTHER || reason.includes('packages')) continue
    const exposed = `the option public is ${dir}, which ${reason}: ${advice}`
    const expected = { instanceOf: AssetError, code: 'public-unusable', message: exposed }
    const inPublic = { ...options, public: dir, compile: false, fingerprint: false }
    t.throws(() => koaAssets(inPublic), expected)
    await t.throwsAsync(precompile(inPublic), expected)
  }
}

test('a mount or a public that would expose the project is an error at start', async t => {
  const root = makeProject(t, { ...PROJECT, ...PACKAGES })
  await checkRefused(t, root, EXPOSED)
  t.throws(startMounts({ root, mounts: { '/': '.' } }), { message: /^the mount \/ is / })
  for (const dir of ['later/web', 'apps/web/assets-public'])
    t.notThrows(startMounts({ root, public: dir }), dir)
})

test('a link that would expose the project is an error at start', async t => {
  const root = makeProject(t, { ...PROJECT, ...PACKAGES })
  for (const [to, link] of LINKS) symlinkSync(to, join(root, link))
  await checkRefused(t, root, EXPOSED_BY_LINKS)
})

test('of directories with a package.json, only installed packages may be mounted', t => {
  const root = makeProject(t, { ...PACKAGES, 'node_modules/site/other/package.json': '{}' })
  const mounting = (dir: string, root: string) =>
    startMounts({ root, env: 'production', mounts: { '/x': dir } })
  for (const dir of ['node_modules/a', 'node_modules/@scope/b', 'node_modules/a/dist'])
    t.notThrows(mounting(dir, root), dir)
  const message = /contains a package\.json/
  t.throws(mounting('other', join(root, 'node_modules/site')), { code: 'mount-unusable', message })
})

function immutableOf(t: ExecutionContext, immutable: MountOptions['immutable']) {
  const { mounts } = settleIn(t, { '/x': { dir: 'dist', immutable } })()
  return (path: string) => mounts[0]?.isImmutable?.(path)
}

test('immutable: true applies to all but pages, service workers and web app manifests', t => {
  const isImmutable = immutableOf(t, true)
  for (const name of ['a.js', 'a/b.css', 'logo.png', 'answer.js', 'swap.js', 'manifest.js', 'a'])
    t.true(isImmutable(`/x/${name}`), name)
  const fixed = ['index.html', 'a/page.HTM', 'sw.js', 'service-worker.js', 'serviceworker.js']
  fixed.push('firebase-messaging-sw.js', 'ngsw-worker.js', 'app.webmanifest', 'a/manifest.json')
  for (const name of fixed) t.false(isImmutable(`/x/${name}`), name)
  t.true(immutableOf(t, /./)('/x/sw.js'))
  t.true(immutableOf(t, () => true)('/x/index.html'))
  t.false(immutableOf(t, false)('/x/a-0123abcd.js'))
  t.is(immutableOf(t, undefined)('/x/a.js'), undefined, 'the manifest decides')
  t.is(immutableOf(t, () => undefined)('/x/a.js'), undefined)
})

test('a wrong value that a function in the options of a mount returns is an error', t => {
  const wrong = (options: object) => {
    const { mounts } = settleIn(t, { '/x': { dir: 'dist', ...options } })()
    const [mount] = mounts
    return () => [mount?.isImmutable, mount?.cacheControl, mount?.headers].map(of => of?.('/x/a'))
  }
  for (const [options, message] of [
    [{ immutable: async () => false }, /^immutable must be true or false, got Promise/],
    [{ immutable: () => 1 }, 'immutable must be true or false, got 1 (mounts./x.immutable)'],
    [{ cacheControl: () => 3600 }, /^cacheControl must be directives, such as .*, got 3600/],
    [{ cacheControl: () => 'a\nb' }, /^cacheControl must be directives, such as .*, got 'a\\nb'/],
    [
      { cacheControl: () => 'max-age=ten' },
      /^cacheControl must be directives, .*, got 'max-age=ten'/
    ],
    [{ cacheControl: () => '' }, /^cacheControl must be directives, such as .*, got ''/],
    [
      { cacheControl: async () => 'no-cache' },
      /^cacheControl must be directives, such as .*Promise/
    ],
    [
      { headers: () => ({ 'X-A': ['b'] }) },
      /^X-A must be Latin-1 text .* \(mounts\.\/x\.headers\.X-A\)$/
    ],
    [{ headers: async () => ({ 'X-A': 'b' }) }, /^headers must be an object .*Promise/],
    [{ headers: () => null }, /^headers must be an object .*, got null \(mounts\.\/x\.headers\)$/],
    [{ headers: () => ({ Date: 'now' }) }, `mounts./x.headers sets Date, ${COMPUTED}`]
  ] as const) {
    t.throws(wrong(options), { instanceOf: TypeError, message })
  }
  const fallback = { file: 'index.html', except: () => 'no' as unknown as boolean }
  const [excepting] = settleIn(t, { '/x': { dir: 'dist', fallback } })().mounts
  const message = "except must be true or false, got 'no' (mounts./x.fallback.except)"
  t.throws(() => excepting?.isExcepted?.('/x/a'), { instanceOf: TypeError, message })
  const unsaid = wrong({ headers: () => undefined, cacheControl: () => undefined })()
  t.true(unsaid.every(value => value === undefined))
})

const FILES = {
  'stylesheets/app.css': 'a { background: url(logo.png) } b { background: url(/assets/logo.png) }',
  'images/logo.png': 'logo',
  'javascripts/app.js': "import { go } from './go.js'; go()",
  'javascripts/go.js': 'export function go() {}'
}

for (const mode of MODES) {
  test(`every emitted URL has base, which a front server has to remove: ${mode}`, async t => {
    const site = await makeFingerprinted(t, mode, FILES, { base: '/shop' })
    const page = await site.render(({ path, url, stylesheet, javascript, importMap }) => {
      const tags = [stylesheet('app'), javascript('app', { type: 'module' }), importMap()]
      return [path('app.css'), url('app.css'), ...tags].join(' ')
    })
    const urls = page.match(/[^"'<>\\; ]*\/assets\/[^"'<>\\; ]+/g) ?? []
    t.true(urls.length >= 6)
    for (const url of urls) {
      t.true(url.startsWith('/shop/assets/'), url)
      t.is((await site.ask(url)).status, 404, url)
      t.is((await site.ask(url.slice('/shop'.length))).status, 200, url)
    }
    const stylesheet = await site.ask((await site.path('app.css')).slice('/shop'.length))
    const url = `url(${await site.path('logo.png')})`
    t.is(stylesheet.text, `a { background: ${url} } b { background: ${url} }`)
    const script = await site.ask((await site.path('app.js')).slice('/shop'.length))
    t.true(script.text.startsWith(`import { go } from "${await site.path('go.js')}"`))
  })
}

test('base is the beginning of every path, with or without a host', async t => {
  const options = { base: '/shop', host: 'https://cdn.example/' }
  const site = await makeFingerprinted(t, 'precompiled', FILES, options)
  const path = await site.path('logo.png')
  t.true(path.startsWith('/shop/assets/logo-'))
  t.is(await site.render(({ url }) => url('logo.png')), `https://cdn.example${path}`)
  const tag = await site.render(({ stylesheet }) => stylesheet('app'))
  t.regex(tag, /href="https:\/\/cdn\.example\/shop\/assets\/app-/)
})

test('plain names in stylesheets and the redirect of a folder have base', async t => {
  const files = { ...FILES, '/docs/guide/index.html': 'guide' }
  const site = await makeSite(t, files, {
    base: '/shop',
    mounts: { '/docs': { dir: 'docs', index: 'index.html' } },
    routes(ctx) {
      if (ctx.path === '/') ctx.body = ctx.assets.path('app.css')
    }
  })
  t.is((await site.ask('/')).text, '/shop/assets/app.css')
  const { text } = await site.ask('/assets/app.css')
  // As it is written, the first one leads to the image, wherever the stylesheet is.
  t.is(text, 'a { background: url(logo.png) } b { background: url(/shop/assets/logo.png) }')
  const { status, headers } = await site.ask('/docs/guide?page=2')
  t.deepEqual([status, headers['location']], [301, '/shop/docs/guide/?page=2'])
})

test('the constants of scripts are those of the environment, and those that an app defines', t => {
  const root = makeProject(t)
  const constants = (options: KoaAssetsOptions, isPrecompile = false) =>
    settle({ root, ...options }, {}, isPrecompile).publicApp.constants
  const own = (MODE: string, DEV: boolean, BASE_URL = '/') => {
    return { MODE, DEV, PROD: !DEV, SSR: false, BASE_URL }
  }
  for (const [options, isPrecompile, mode, env] of [
    [{}, false, 'development', own('development', true)],
    [{ env: 'test' }, false, 'development', own('test', true)],
    [{ env: 'staging', base: '/shop' }, false, 'production', own('staging', false, '/shop/')],
    [{}, true, 'production', own('production', false)],
    [{ env: 'development' }, true, 'production', own('development', false)]
  ] as const) {
    const { 'import.meta.env': whole, ...each } = constants(options, isPrecompile)
    const named = Object.entries(env).map(([name, value]) => [`import.meta.env.${name}`, value])
    t.deepEqual(whole, env)
    const isServed = !isPrecompile && (options.env ?? 'development') === 'development'
    const hot = isServed ? {} : { 'import.meta.hot': undefined }
    t.deepEqual(each, { 'process.env.NODE_ENV': mode, ...hot, ...Object.fromEntries(named) })
  }
  const define = { __A__: undefined, 'a.b': [1], 'import.meta.env.VITE_A': null }
  const defined = constants({ define, configure: { test: { define: { c: 1 } } } })
  t.deepEqual([defined['a.b'], defined['import.meta.env.VITE_A']], [[1], null])
  t.deepEqual(defined['import.meta.env'], { ...own('development', true), VITE_A: null })
  t.false('__A__' in defined)
})

test('define takes every JSON value but texts that other tools would take for code', t => {
  const root = makeProject(t)
  const settled = (define: unknown) => settle({ root, define } as KoaAssetsOptions, {})
  const good = ['', '1.0', 'a "b" c', '[x]', 5, false, null, { a: [1] }, []]
  for (const value of good) t.notThrows(() => settled({ __A__: value }), inspect(value))
  const circle: unknown[] = []
  circle.push(circle)
  const bad: unknown[] = [JSON.stringify('1.0'), 'false', '{"a":1}', '["a"]', () => 1, Symbol('a')]
  bad.push(NaN, 10n, [Infinity], { a: [1n] }, circle)
  for (const value of bad)
    t.throws(() => settled({ __A__: value }), { message: /stands for itself/ }, inspect(value))
  // A variable of the environment is a text, and may say so.
  for (const name of ['import.meta.env.VITE_FLAG', 'process.env.FLAG'])
    for (const value of ['true', 'false', 'null']) t.notThrows(() => settled({ [name]: value }))
  for (const name of words('a $a a.b importer process.env import.meta.env import.meta.env.A'))
    t.notThrows(() => settled({ [name]: 1 }), name)
  for (const name of ['', 'a b', '1', 'a.1', 'a.', 'import', 'import.meta', 'a()', "a['b']"])
    t.throws(() => settled({ [name]: 1 }), { message: /^define must be/ }, name)
  t.throws(() => settled([]), { message: /^define must be/ })
})
