// Options in, frozen settings out: SET-01 to SET-13.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import test, { type ExecutionContext } from 'ava'
import { precompile } from '../../../lib/assets/building/precompile.ts'
import { verify } from '../../../lib/assets/inspecting/verify.ts'
import type { MountOptions } from '../../../lib/assets/settings/mount-options.ts'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { type AppSettings, settle } from '../../../lib/assets/settings/settings.ts'
import { AssetError } from '../../../lib/errors.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { makeProject } from '../../support/site.ts'

function webOf(options: KoaAssetsOptions, env: NodeJS.ProcessEnv = {}) {
  const [web, ...others] = settle(options, env).apps
  if (!web || others.length > 0) throw new Error('the spec needs one app')
  return web
}

test('SET-01 without options and NODE_ENV the environment is development: compile, no fingerprints', t => {
  for (const env of [{}, { NODE_ENV: '' }, { NODE_ENV: 'development' }]) {
    const settings = settle(undefined, env)
    t.is(settings.env, 'development')
    t.is(settings.root, process.cwd())
    t.is(settings.publicDir, join(process.cwd(), 'public'))
    t.is(settings.prefix, '/assets')
    t.is(settings.host, undefined)
    t.is(settings.symlinks, 'inside')
    t.deepEqual(settings.memory, { maxBytes: 64 * 1024 * 1024, maxFileBytes: 1024 * 1024 })
    t.deepEqual(settings.index, { max: 10_000 })
    t.deepEqual(
      settings.apps.map(app => [app.compile, app.fingerprint, app.integrity, app.revalidate]),
      settings.apps.map(() => [true, false, [], 0])
    )
  }
})

test('SET-02 compile and fingerprint depend on the environment, by its exact name', t => {
  const root = makeProject(t)
  for (const [name, compile, fingerprint] of [
    ['test', true, false],
    ['production', false, true],
    ['staging', false, false],
    ['Production', false, false],
    ['__proto__', false, false]
  ] as const) {
    for (const app of [webOf({ root }, { NODE_ENV: name }), webOf({ root, env: name })]) {
      t.deepEqual([app.compile, app.fingerprint], [compile, fingerprint], name)
      t.is(app.revalidate, compile ? 0 : 1)
      t.deepEqual(app.integrity, fingerprint ? ['sha384'] : [])
    }
    t.is(settle({ root, env: name }, { NODE_ENV: 'test' }).env, name)
  }
})

test('SET-03 SET-04 serve is on only with SERVE_STATIC_ASSETS=true, and the option overrides it both ways', t => {
  const root = makeProject(t)
  for (const given of ['true', '1', 'True', 'true ', '', undefined]) {
    const env = given === undefined ? {} : { SERVE_STATIC_ASSETS: given }
    t.is(settle({ root }, env).serve, given === 'true', given)
    for (const serve of [true, false]) t.is(settle({ root, serve }, env).serve, serve)
  }
})

test('SET-05 a configure block applies in its environment only', t => {
  const options: KoaAssetsOptions = {
    root: makeProject(t),
    configure: { production: { compile: true } }
  }
  t.true(webOf({ ...options, env: 'production' }).compile)
  t.false(webOf({ ...options, env: 'staging' }).compile)
  t.false(webOf({ ...options, env: 'toString' }).compile)
})

test("SET-06 an app's configure overrides the app, which overrides the top level's configure, which overrides the top level", t => {
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

test('SET-06 an app, an environment or an option that is undefined is not set', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '' })
  const unset = { sources: undefined, compilers: undefined, missing: undefined, dir: undefined }
  const apps = { web: { ...unset, path: undefined, configure: undefined }, admin: undefined }
  const configure = { development: undefined, test: { integrity: undefined } }
  const top = { serve: undefined, public: undefined, apps, configure, tails: undefined }
  const more = { memory: { maxBytes: undefined }, index: { max: undefined }, revalidate: undefined }
  const plain = settle({ root, apps: { web: {} } }, {})
  t.deepEqual(settle({ root, ...top, ...more }, {}), plain)
  const later = { web: { compile: undefined } }
  t.true(webOf({ root, env: 'production', compile: true, apps: later }).compile)
})

const directoriesOf = ({ sources }: AppSettings) => sources.map(({ dir }) => dir)

test('SET-07 sources of the top level, configure and app are appended in that order, each once', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '' })
  for (const name of ['top', 'topConfigure', 'app', 'appConfigure']) mkdirSync(join(root, name))
  symlinkSync(join(root, 'top'), join(root, 'link-to-top'))
  const at = (name: string) => join(root, name)
  const topSources = [at('top')]
  const web = webOf({
    root,
    env: 'production',
    sources: topSources,
    configure: {
      production: { sources: at('topConfigure') },
      test: { sources: at('nowhere') }
    },
    apps: {
      web: {
        sources: [at('app'), at('link-to-top'), at('top')],
        configure: { production: { sources: [at('appConfigure'), at('app')] } }
      }
    }
  })
  t.deepEqual(directoriesOf(web), [
    at('apps/web/assets'),
    at('top'),
    at('topConfigure'),
    at('app'),
    at('appConfigure')
  ])
  t.deepEqual(topSources, [at('top')])
})

test("SET-08 a relative source starts at the app's directory, an absolute one is used as it is", t => {
  const root = makeProject(t, { 'apps/web/more/a.css': '', 'elsewhere/b.css': '' })
  mkdirSync(join(root, 'apps/web/assets'))
  const sources = directoriesOf(webOf({ root, sources: ['more', join(root, 'elsewhere')] }))
  t.deepEqual(
    sources,
    ['apps/web/assets', 'apps/web/more', 'elsewhere'].map(at => join(root, at))
  )
})

test('SET-09 an extra source that is missing is an error at start, where it is read', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/web/file': '' })
  for (const source of ['nowhere', 'file']) {
    t.throws(() => settle({ root, sources: [source] }), {
      instanceOf: AssetError,
      code: 'source-missing',
      message: `sources names ${source}, but ${root}/apps/web/${source} is not a directory: create it, or remove it from sources`
    })
  }
  const options = { root: makeProject(t), sources: ['more'], apps: { web: {} }, env: 'production' }
  const sources = ['assets', 'more'].map(name => join(options.root, 'apps/web', name))
  t.deepEqual(directoriesOf(webOf({ ...options, compile: false })), sources)
  t.throws(() => settle({ ...options, compile: true }), { code: 'source-missing' })
})

test('SET-09 an app without an assets folder is fine, one in a directory that does not exist is an error', t => {
  const root = makeProject(t, { 'apps/web/app.js': '' })
  t.deepEqual(directoriesOf(webOf({ root, apps: { web: {} } })), [join(root, 'apps/web/assets')])
  const { name, path } = webOf({ root: makeProject(t) })
  t.deepEqual([name, path], ['web', '/'])
  t.throws(() => settle({ root, env: 'development', apps: { web: { dir: 'src/web' } } }), {
    instanceOf: AssetError,
    code: 'source-missing',
    message: `apps.web is at ${root}/src/web, which is not a directory: create it, or set apps.web.dir`
  })
})

test('SET-12 settings are frozen; options are neither written to nor read again', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/web/more/a.css': '' })
  const integrity: Array<'sha256' | 'sha512'> = ['sha256']
  const options = {
    root,
    sources: ['more'],
    integrity,
    memory: { maxBytes: 1 },
    apps: { web: { sources: ['more'], configure: { test: { sources: 'more' } } } }
  }
  const before = structuredClone(options)
  const settings = settle(options, { NODE_ENV: 'test' })
  t.deepEqual(options, before)
  options.sources.push('nowhere')
  integrity.push('sha512')
  options.memory.maxBytes = 2
  const [web] = settings.apps
  t.is(web?.sources.length, 2)
  t.deepEqual(web?.integrity, ['sha256'])
  t.is(settings.memory.maxBytes, 1)
  const parts = [settings, settings.apps, settings.memory, settings.index, web, web?.sources]
  for (const part of [...parts, web?.integrity]) t.true(Object.isFrozen(part))
})

test('SET-13 the longest prefix comes first, whatever the order of declaration', t => {
  const root = makeProject(t, { 'apps/web/assets/a.css': '', 'apps/admin/assets/a.css': '' })
  for (const apps of [
    { web: {}, admin: {} },
    { admin: {}, web: {} }
  ]) {
    t.deepEqual(
      settle({ root, apps }, {}).apps.map(({ name, urlPrefix }) => [name, urlPrefix]),
      [
        ['admin', '/assets/admin'],
        ['web', '/assets']
      ]
    )
  }
})

test('every apps/<name> that has an assets folder is an app, mounted at its name', t => {
  const root = makeProject(t, {
    'apps/shop/assets/a.css': '',
    'apps/admin/assets/a.css': '',
    'apps/api/server.js': '',
    'apps/README.md': '',
    'apps/.trash/assets/a.css': ''
  })
  t.deepEqual(
    settle({ root }, {}).apps.map(({ name, path, dir }) => [name, path, dir]),
    [
      ['admin', '/admin', join(root, 'apps/admin')],
      ['shop', '/shop', join(root, 'apps/shop')]
    ]
  )
})

test('without apps/<name>/assets a plain assets folder is that of an app called web', t => {
  const root = makeProject(t, { 'assets/a.css': '', 'more/b.css': '', 'apps/api/server.js': '' })
  const web = webOf({ root, sources: ['more'] })
  t.deepEqual([web.name, web.path, web.dir], ['web', '/', root])
  t.deepEqual(directoriesOf(web), [join(root, 'assets'), join(root, 'more')])
  mkdirSync(join(root, 'apps/shop/assets'), { recursive: true })
  t.deepEqual(directoriesOf(webOf({ root })), [join(root, 'apps/shop/assets')])
})

test('a single app is mounted at /, whatever its name', t => {
  const root = makeProject(t, { 'apps/shop/assets/a.css': '' })
  t.is(webOf({ root }).path, '/')
  t.is(webOf({ root, apps: { shop: { path: '/shop/' } } }).urlPrefix, '/assets/shop')
})

test('LIV-05 there is a live channel only in development, and with serve', t => {
  const root = makeProject(t)
  const isLive = (options: object) => settle({ root, ...options }, {}).live !== undefined
  t.true(isLive({ serve: true }))
  t.true(isLive({ serve: true, live: true }))
  t.true(isLive({ serve: true, live: {} }))
  t.false(isLive({ serve: true, live: false }))
  t.false(isLive({ serve: false, live: true }))
  for (const env of ['production', 'test', 'staging', 'Development']) {
    t.false(isLive({ serve: true, live: true, env }), env)
  }
})

test('the options of live are settled once: absolute directories, hosts in lower case', t => {
  const root = makeProject(t, { 'views/a.ejs': '' })
  const watch = ['views', join(root, 'views')]
  const hosts = ['Box.local', '[FD00::1]']
  const { live } = settle({ root, serve: true, live: { watch, hosts, editor: 'zed' } }, {})
  t.deepEqual(live?.watch, [join(root, 'views'), join(root, 'views')])
  t.deepEqual([...(live?.hosts ?? [])], ['box.local', '[fd00::1]'])
  t.is(live?.editor, 'zed')
  watch.push('more')
  hosts.push('evil.example')
  t.is(live?.watch.length, 2)
  t.is(live?.hosts.size, 2)
})

test('a directory of live.watch that does not exist is an error at start, where it would be watched', t => {
  const root = makeProject(t, { 'views.ejs': '' })
  for (const directory of ['views', 'views.ejs']) {
    const start = (env: string) => () =>
      settle({ root, env, serve: true, live: { watch: [directory] } }, {})
    t.throws(start('development'), {
      instanceOf: AssetError,
      code: 'source-missing',
      message: `live.watch names ${directory}, but ${join(root, directory)} is not a directory: create it, or remove it from live.watch`
    })
    t.notThrows(start('production'))
  }
})

/** Before the first request. */
const start = (options: unknown) => () => koaAssets(options as KoaAssetsOptions)

const PATH = "a path such as '/assets'"
const HOST = "a scheme and host such as 'https://cdn.example'"
const APPS = 'an object with at least one app, or false'
const BYTES = 'a whole number of bytes'
const DIRECTORIES = 'a list of directories, each a path or { dir, at, include, exclude }'
const INTEGRITY = "false, 'sha256', 'sha384', 'sha512' or a list of these"
const COMPILERS = 'a list of { extensions, target, compile }'
const compiler = { extensions: '.x', target: '.css', compile: String }
const IMPORTS =
  "an object of bare module specifiers, each with a name or an absolute URL, such as { confetti: 'vendor/confetti.js' }"
const MISSING = "'ignore', 'warn' or 'error'"
const SECONDS = 'a number of seconds, 0 or more'
const SYMLINKS = "'inside', 'follow' or 'deny'"
const HOSTS = "a list of host names without port, such as 'my-machine.local'"
const HEADERS = "an object such as { 'X-Robots-Tag': 'noindex' }, or a function of the path"
const FIELD = 'text without line breaks'
const NAME = "a file name such as 'index.html'"
const PAGE = "a path such as 'index.html' or a function"
const ORIGIN = "Vite's dev server, its origin such as 'http://localhost:5173', true or false"
const ABSENT = undefined

/** By path; a mount has the directory `.` unless that is the option. */
const WRONG: ReadonlyArray<readonly [path: string, expected: string, ...given: unknown[]]> = [
  ['root', 'a string', 42, '', 'a\0b'],
  ['env', 'a string', true],
  ['serve', 'true or false', 'true'],
  ['public', 'a string or false', ['public']],
  ['prefix', 'a string', null],
  ['prefix', PATH, 'assets', '/', '/a//b', '/../a'],
  ['host', HOST, 'cdn.example', 'https://cdn.example/x'],
  ['apps', APPS, ['web'], {}, { web: undefined }],
  ['views', 'a glob or a list of globs', 42, ['a', '']],
  ['apps.web', 'an object', 'apps/web'],
  ['apps.web.dir', 'a string', 1],
  ['apps.web.path', "a path such as '/admin'", 'admin'],
  ['apps.web.configure.test.compile', 'true or false', 'yes'],
  ['apps.web.sources', DIRECTORIES, 42],
  ['sources', DIRECTORIES, [1], '', { at: 'x' }, { dir: 'x', at: '../y' }, { dir: 'x', glob: '*' }],
  ['memory', 'an object', 64],
  ['memory.maxBytes', BYTES, -1],
  ['memory.maxFileBytes', BYTES, '1MB'],
  ['index.max', 'a whole number of entries, 1 or more', 0],
  ['live', 'true, false or an object', 'on'],
  ['live.hosts', HOSTS, ['localhost:3000']],
  ['revalidate', SECONDS, -1, NaN],
  ['symlinks', SYMLINKS, true],
  ['compile', 'true or false', 1],
  ['fingerprint', 'true or false', 'yes'],
  ['integrity', INTEGRITY, true, ['md5']],
  ['compilers', COMPILERS, {}, [{ ...compiler, extensions: [] }]],
  ['compilers', COMPILERS, [{ ...compiler, extensions: '.css.x' }]],
  ['imports', IMPORTS, { './a': 'a.js' }, { '/a': 'a.js' }, { 'node:fs': 'a.js' }, ['a.js']],
  ['imports', IMPORTS, { 'lib/': 'a.js' }, { '': 'a.js' }, { a: '../a.js' }, { a: '/a.js' }],
  ['imports', IMPORTS, { a: 'data:text/javascript,' }, { a: 1 }],
  ['missing', MISSING, 'log'],
  ['tails', 'true or false', 0],
  ['configure', 'an object', []],
  ['configure.production', 'an object', true],
  ['configure.test.missing', MISSING, 1],
  ['mounts', 'an object', 'dist', ['dist']],
  ['mounts./a', 'a directory or an object', 42, '', null],
  ['mounts./a.dir', 'a string', ABSENT, 1],
  ['mounts./a.manifest', 'a string', true],
  ['mounts./a.index', NAME, true, 'a/index.html', '..'],
  ['mounts./a.extensions', "a list of extensions, such as ['html']", 'html', ['html', '../x']],
  ['mounts./a.fallback', `${PAGE}, or { file, except }`, '../index.html', '/index.html'],
  ['mounts./a.fallback.file', PAGE, ABSENT, '../index.html'],
  ['mounts./a.dev', ORIGIN, 'localhost:5173', 'http://localhost:5173/base'],
  ['mounts./a.immutable', 'true, false, a RegExp or a function of the path', 'assets'],
  ['mounts./a.cacheControl', 'a string, or a function of the path', { maxAge: 1 }],
  ['mounts./a.revalidate', SECONDS, -1],
  ['mounts./a.symlinks', SYMLINKS, true],
  ['mounts./a.headers', HEADERS, []],
  ['headers', HEADERS, 'no', new Map([['X-A', 'b']])],
  ['headers', 'an object of fields', { 'X A': 'b' }],
  ['headers.X-A', FIELD, 1, 'a\r\nX-B: c', '€']
]

function optionsWith(path: string, given: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) return { [name]: given }
  const inside = optionsWith(rest.join('.'), given) as object
  return { [name]: name === '/a' ? { dir: '.', ...inside } : inside }
}

for (const [path, expected, ...all] of WRONG) {
  for (const given of all) {
    const [name = '', ...places] = path.split('.').toReversed()
    const shown = inspect(given, { depth: 1, breakLength: Infinity })
    const where = places.length > 0 ? ` (${path})` : ''
    const message = `${name} must be ${expected}, got ${shown}${where}`
    test(`SET-11 at start: ${message}`, t => {
      t.throws(start(optionsWith(path, given)), { instanceOf: TypeError, message })
    })
  }
}

test('SET-11 a value that is not a table of options is rejected, and so is a field that is computed', t => {
  for (const options of [null, [], 'public']) {
    const message = `options must be an object, got ${inspect(options)}`
    t.throws(start(options), { instanceOf: TypeError, message })
  }
  for (const name of ['ETag', 'content-length']) {
    const message = `headers sets ${name}, which is computed for each response: remove it`
    t.throws(start({ headers: { [name]: '1' } }), { instanceOf: TypeError, message })
  }
  const message =
    "file must be a path such as 'index.html' or a function, got undefined (mounts./a.fallback.file)"
  const fallback = { except: /x/ }
  t.throws(start({ mounts: { '/a': { dir: '.', fallback } } }), { instanceOf: TypeError, message })
})

const LAYERED =
  'compile, fingerprint, sources, packages, integrity, compilers, imports, missing, minify'
const MOUNT =
  'dir, manifest, dev, immutable, cacheControl, headers, index, extensions, fallback, revalidate, symlinks'

for (const [options, message] of [
  [{ fingerprints: true }, "unknown option 'fingerprints': did you mean 'fingerprint'?"],
  [{ source: 'x' }, "unknown option 'source': did you mean 'sources'?"],
  [{ memory: { maxByte: 1 } }, "unknown option 'memory.maxByte': did you mean 'maxBytes'?"],
  [{ index: { entries: 1 } }, "unknown option 'index.entries': known options: max"],
  [{ live: { host: [] } }, "unknown option 'live.host': did you mean 'hosts'?"],
  [{ apps: { web: { dirs: '.' } } }, "unknown option 'apps.web.dirs': did you mean 'dir'?"],
  [
    { configure: { test: { prefix: '/x' } } },
    `unknown option 'configure.test.prefix': known options: ${LAYERED}`
  ],
  [
    { mounts: { '/a': { directory: 'x' } } },
    `unknown option 'mounts./a.directory': known options: ${MOUNT}`
  ],
  [
    { mounts: { '/a': { dir: 'x', imutable: true } } },
    "unknown option 'mounts./a.imutable': did you mean 'immutable'?"
  ],
  [{ mount: { '/a': 'x' } }, "unknown option 'mount': did you mean 'mounts'?"],
  [JSON.parse('{"__proto__": 1}'), /^unknown option '__proto__': known options: compile, /],
  [{ constructor: 1 }, /^unknown option 'constructor': known options: compile, /]
] as const) {
  test(`SET-10 ${JSON.stringify(options)} is rejected with the nearest known name`, t => {
    t.throws(start(options), { instanceOf: TypeError, message })
  })
}

test('SET-11 two apps with the same path are rejected, with the name of the other', t => {
  const root = makeProject(t, { 'apps/a/x': '', 'apps/b/x': '', 'apps/c/x': '' })
  for (const [apps, other] of [
    [{ a: { path: '/x' }, b: { path: '/x/' } }, 'b'],
    [{ a: { path: '/x' }, b: { path: '/y' }, c: { path: '/x' } }, 'c']
  ] as const) {
    t.throws(start({ root, apps }), {
      instanceOf: TypeError,
      message: `path must be different from that of '${other}', got '/x' (apps.a.path)`
    })
  }
})

test('a file as public is rejected at start', t => {
  const root = makeProject(t, { public: 'a file', 'apps/web/assets/a.css': '' })
  t.throws(start({ root }), {
    instanceOf: AssetError,
    code: 'public-unusable',
    message:
      'public must be a directory, but public is a file: move it, or set public to another path'
  })
})

test('special characters of a path are taken literally', t => {
  const root = makeProject(t, { 'apps/a+b(c)[d]/assets/a.css': '' })
  const [app] = settle({ root: join(root), prefix: '/a+b(c)[d]' }, {}).apps
  t.is(app?.urlPrefix, '/a+b(c)[d]')
  t.is(app?.name, 'a+b(c)[d]')
})

// The options of mounts: MNT-03, MNT-04, MNT-07, NBR-02.

const startMounts = (options: unknown) => () => settle(options as KoaAssetsOptions, {})

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
  return startMounts({ root, env: 'production', ...options, mounts })
}

test('MNT-03 a path that is not canonical cannot be that of a mount, and each may be given once', t => {
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
      t.throws(startMounts({ root, env: 'production', ...options, mounts: { '/x': mount } }), {
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
    startMounts({ root, env: 'production', mounts: { '/x': dir } })
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
    t.notThrows(startMounts({ root, env, mounts: { '/x': 'none', '/y': 'none/below' } }))
    if (env !== 'production') t.notThrows(startMounts({ root, env, mounts }))
  }
  t.throws(startMounts({ root, env: 'production', mounts }), {
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
    t.throws(startMounts({ root, env: 'production', mounts }), { code: 'mount-unusable' })
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

test('MNT-03 messages spell the path of a mount in one way, whether or not it was given with a final slash', t => {
  const root = makeProject(t, PROJECT)
  for (const path of ['/x', '/x/']) {
    t.throws(startMounts({ root, env: 'production', mounts: { [path]: '.' } }), {
      message: /^the mount \/x is /
    })
  }
  t.throws(startMounts({ root, env: 'production', mounts: { '/': '.' } }), {
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

test('a mount may be outside the project, in public, public itself, or a parent of public', t => {
  const outside = makeProject(t, { 'a.js': '' })
  const root = makeProject(t, { ...PROJECT, 'site/public/robots.txt': '' })
  mkdirSync(join(root, 'site/public/build'))
  const dirs = [outside, 'site/public/build', 'site/public', 'site', 'dist']
  for (const dir of dirs) {
    t.notThrows(
      startMounts({ root, public: 'site/public', env: 'production', mounts: { '/x': dir } })
    )
  }
})

test('MNT-02 the longest URL path comes first, whatever the order in which mounts are declared', t => {
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

test('MNT-04 immutable: true applies to all but pages, service workers and web app manifests', t => {
  const isImmutable = immutableOf(t, true)
  for (const name of ['a.js', 'a/b.css', 'logo.png', 'answer.js', 'swap.js', 'manifest.js', 'a']) {
    t.true(isImmutable(`/x/${name}`), name)
  }
  const fixed = ['index.html', 'a/page.HTM', 'sw.js', 'service-worker.js', 'serviceworker.js']
  fixed.push('firebase-messaging-sw.js', 'ngsw-worker.js', 'app.webmanifest', 'a/manifest.json')
  for (const name of fixed) t.false(isImmutable(`/x/${name}`), name)
})

test('MNT-04 a RegExp or a function decides alone, and `false` applies to none', t => {
  t.true(immutableOf(t, /./)('/x/sw.js'))
  t.true(immutableOf(t, () => true)('/x/index.html'))
  t.false(immutableOf(t, false)('/x/a-0123abcd.js'))
  t.is(immutableOf(t, undefined)('/x/a.js'), undefined, 'the manifest decides')
  t.is(immutableOf(t, () => undefined)('/x/a.js'), undefined)
})

test('MNT-04 a RegExp matches each path from its beginning, even with the flags g and y or from another realm', t => {
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
