import { join } from 'node:path'
import { inspect } from 'node:util'
import test from 'ava'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { AssetError } from '../../../lib/errors.ts'
import { koaAssets } from '../../../lib/koa-assets.ts'
import { makeProject } from '../../support/site.ts'

const start = (options: unknown) => () => settle(options as KoaAssetsOptions, {})

const DIRECTORIES = 'a list of directories'
const HOST = "a scheme and host such as 'https://cdn.example'"
const INTEGRITY = "false, 'sha256', 'sha384', 'sha512' or a list of these"
const COMPILERS = 'a list of { extensions, target, compile }'
const IMPORTS =
  "an object of bare module specifiers, each with a name or an absolute URL, such as { confetti: 'vendor/confetti.js' }"
const WRONG_IMPORTS = [
  { './a': 'a.js' },
  { '/a': 'a.js' },
  { 'node:fs': 'a.js' },
  { 'lib/': 'a.js' },
  { '': 'a.js' },
  { a: '../a.js' },
  { a: '/a.js' },
  { a: 'data:text/javascript,' },
  { a: 1 },
  ['a.js']
]
const SECONDS = 'a number of seconds, 0 or more'
const BYTES = 'a whole number of bytes'
const ENTRIES = 'a whole number of entries, 1 or more'
const SYMLINKS = "'inside', 'follow' or 'deny'"

const WRONG: ReadonlyArray<readonly [options: unknown, message: string]> = [
  [null, 'options must be an object, got null'],
  [[], 'options must be an object, got []'],
  ['public', "options must be an object, got 'public'"],
  [{ root: 42 }, 'root must be a string, got 42'],
  [{ root: '' }, "root must be a string, got ''"],
  [{ root: 'a\0b' }, "root must be a string, got 'a\\x00b'"],
  [{ env: true }, 'env must be a string, got true'],
  [{ serve: 'true' }, "serve must be true or false, got 'true'"],
  [{ public: ['public'] }, "public must be a string or false, got [ 'public' ]"],
  [{ prefix: null }, 'prefix must be a string, got null'],
  [{ prefix: 'assets' }, "prefix must be a path such as '/assets', got 'assets'"],
  [{ prefix: '/' }, "prefix must be a path such as '/assets', got '/'"],
  [{ prefix: '/a//b' }, "prefix must be a path such as '/assets', got '/a//b'"],
  [{ prefix: '/../a' }, "prefix must be a path such as '/assets', got '/../a'"],
  [{ host: 'cdn.example' }, `host must be ${HOST}, got 'cdn.example'`],
  [{ host: 'https://cdn.example/x' }, `host must be ${HOST}, got 'https://cdn.example/x'`],
  [{ apps: ['web'] }, "apps must be an object with at least one app, or false, got [ 'web' ]"],
  [{ apps: { web: 'apps/web' } }, "web must be an object, got 'apps/web' (apps.web)"],
  [{ apps: { web: { dir: 1 } } }, 'dir must be a string, got 1 (apps.web.dir)'],
  [
    { apps: { web: { path: 'admin' } } },
    "path must be a path such as '/admin', got 'admin' (apps.web.path)"
  ],
  [
    { apps: { web: { configure: { test: { compile: 'yes' } } } } },
    "compile must be true or false, got 'yes' (apps.web.configure.test.compile)"
  ],
  [{ apps: { web: { sources: 42 } } }, `sources must be ${DIRECTORIES}, got 42 (apps.web.sources)`],
  [{ sources: [1] }, `sources must be ${DIRECTORIES}, got [ 1 ]`],
  [{ sources: '' }, `sources must be ${DIRECTORIES}, got ''`],
  [{ memory: 64 }, 'memory must be an object, got 64'],
  [{ memory: { maxBytes: -1 } }, `maxBytes must be ${BYTES}, got -1 (memory.maxBytes)`],
  [
    { memory: { maxFileBytes: '1MB' } },
    `maxFileBytes must be ${BYTES}, got '1MB' (memory.maxFileBytes)`
  ],
  [{ index: { max: 0 } }, `max must be ${ENTRIES}, got 0 (index.max)`],
  [{ live: 'on' }, "live must be true, false or an object, got 'on'"],
  [
    { live: { hosts: ['localhost:3000'] } },
    "hosts must be a list of host names without port, such as 'my-machine.local', got [ 'localhost:3000' ] (live.hosts)"
  ],
  [{ live: { host: [] } }, "unknown option 'live.host': did you mean 'hosts'?"],
  [{ revalidate: -1 }, `revalidate must be ${SECONDS}, got -1`],
  [{ revalidate: NaN }, `revalidate must be ${SECONDS}, got NaN`],
  [{ symlinks: true }, `symlinks must be ${SYMLINKS}, got true`],
  [{ compile: 1 }, 'compile must be true or false, got 1'],
  [{ fingerprint: 'yes' }, "fingerprint must be true or false, got 'yes'"],
  [{ integrity: true }, `integrity must be ${INTEGRITY}, got true`],
  [{ integrity: ['md5'] }, `integrity must be ${INTEGRITY}, got [ 'md5' ]`],
  [{ compilers: {} }, `compilers must be ${COMPILERS}, got {}`],
  [
    { compilers: [{ extensions: [], target: '.css', compile: String }] },
    `compilers must be ${COMPILERS}, got [ { extensions: [], target: '.css', compile: [Function: String] } ]`
  ],
  [
    { compilers: [{ extensions: '.css.x', target: '.css', compile: String }] },
    `compilers must be ${COMPILERS}, got [ { extensions: '.css.x', target: '.css', compile: [Function: String] } ]`
  ],
  ...WRONG_IMPORTS.map(
    imports => [{ imports }, `imports must be ${IMPORTS}, got ${inspect(imports)}`] as const
  ),
  [{ missing: 'log' }, "missing must be 'ignore', 'warn' or 'error', got 'log'"],
  [{ tails: 0 }, 'tails must be true or false, got 0'],
  [{ configure: [] }, 'configure must be an object, got []'],
  [
    { configure: { production: true } },
    'production must be an object, got true (configure.production)'
  ],
  [
    { configure: { test: { missing: 1 } } },
    "missing must be 'ignore', 'warn' or 'error', got 1 (configure.test.missing)"
  ]
]

for (const [options, message] of WRONG) {
  test(`SET-11 at start: ${message}`, t => {
    t.throws(start(options), { instanceOf: TypeError, message })
  })
}

const LAYERED = 'compile, fingerprint, sources, integrity, compilers, imports, missing, minify'

for (const [options, message] of [
  [{ fingerprints: true }, "unknown option 'fingerprints': did you mean 'fingerprint'?"],
  [{ source: 'x' }, "unknown option 'source': did you mean 'sources'?"],
  [{ memory: { maxByte: 1 } }, "unknown option 'memory.maxByte': did you mean 'maxBytes'?"],
  [{ index: { entries: 1 } }, "unknown option 'index.entries': known options: max"],
  [{ apps: { web: { dirs: '.' } } }, "unknown option 'apps.web.dirs': did you mean 'dir'?"],
  [
    { configure: { test: { prefix: '/x' } } },
    `unknown option 'configure.test.prefix': known options: ${LAYERED}`
  ],
  [JSON.parse('{"__proto__": 1}'), /^unknown option '__proto__': known options: compile, /],
  [{ constructor: 1 }, /^unknown option 'constructor': known options: compile, /]
] as const) {
  test(`SET-10 ${JSON.stringify(options)} is rejected with the nearest known name`, t => {
    t.throws(start(options), { instanceOf: TypeError, message })
  })
}

test('SET-10 koaAssets() itself rejects it, before the first request', t => {
  const options = { fingerprints: true } as KoaAssetsOptions
  t.throws(() => koaAssets(options), {
    instanceOf: TypeError,
    message: "unknown option 'fingerprints': did you mean 'fingerprint'?"
  })
})

test('SET-11 two apps with the same path are rejected, with the name of the other', t => {
  const root = makeProject(t, { 'apps/a/x': '', 'apps/b/x': '' })
  t.throws(start({ root, apps: { a: { path: '/x' }, b: { path: '/x/' } } }), {
    instanceOf: TypeError,
    message: "path must be different from that of 'b', got '/x' (apps.a.path)"
  })
})

test('SET-11 two apps with the same path are rejected, also with another app between them', t => {
  const root = makeProject(t, { 'apps/a/x': '', 'apps/b/x': '', 'apps/c/x': '' })
  t.throws(start({ root, apps: { a: { path: '/x' }, b: { path: '/y' }, c: { path: '/x' } } }), {
    instanceOf: TypeError,
    message: "path must be different from that of 'c', got '/x' (apps.a.path)"
  })
})

test('SET-11 an empty table of apps is rejected', t => {
  for (const [apps, given] of [
    [{}, '{}'],
    [{ web: undefined }, '{ web: undefined }']
  ] as const) {
    t.throws(start({ apps }), {
      instanceOf: TypeError,
      message: `apps must be an object with at least one app, or false, got ${given}`
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
