// Entries by name and mount, and manifests that cannot be used.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { build } from 'vite'
import { hashedAmong, HASHES, type NamedFile } from '../../../lib/assets/bundles/hashed-names.ts'
import { AssetError } from '../../../lib/errors.ts'
import {
  makeBundlerProject,
  PAGES,
  pagesOf,
  summary,
  unhashed
} from '../../support/bundler-project.ts'
import { growsInProportion } from '../../support/cost.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'
import { warningsAbout } from '../../support/warnings.ts'

const { root, remove } = makeBundlerProject(PAGES)
test.after.always(remove)

const run = (outDir: string, entries: string[]) =>
  build({
    root,
    configFile: false,
    logLevel: 'error',
    build: { outDir, manifest: true, rollupOptions: { input: entries } }
  })
const built = Promise.all([
  run('app', ['src/main.ts', 'src/other.ts']),
  run('back', ['src/admin.ts', 'src/other.ts'])
])

const mount = (dir: string) => ({ dir, manifest: `${dir}/.vite/manifest.json` })
const two = () =>
  pagesOf({ root, mounts: { '/': mount('app'), '/back': mount('back'), '/files': 'src' } })

test('without mount an entry is that of the only mount that has it', async t => {
  await built
  const page = await two()()
  t.regex(page.entry('src/main.ts'), /"\/assets\/main-/)
  t.regex(page.entry('src/admin.ts'), /"\/back\/assets\/admin-/)
})

test('an entry that two mounts have needs { mount }, and the error names both', async t => {
  await built
  const page = await two()()
  t.throws(() => page.entry('src/other.ts'), {
    instanceOf: TypeError,
    message:
      "entry 'src/other.ts' exists in the mounts '/back' and '/': name one, as in { mount: '/back' }"
  })
  t.regex(page.entry('src/other.ts', { mount: '/' }), /"\/assets\/other-/)
  for (const path of ['/back', '/back/']) {
    t.regex((await two()()).entry('src/other.ts', { mount: path }), /"\/back\/assets\/other-/)
  }
  for (const path of ['/files', '/nothing', 'back']) {
    t.throws(() => page.entry('src/other.ts', { mount: path }), {
      instanceOf: TypeError,
      message: `mount must be the URL path of a mount that has a manifest or dev, '/back', '/', got '${path}'`
    })
  }
})

test('BND-04 an unknown entry is an error with the nearest name, or with the list of entries', async t => {
  await built
  const page = await pagesOf({ root, mounts: { '/': mount('app') } })()
  const file = join(root, 'app/.vite/manifest.json')
  for (const [name, hint] of [
    ['src/man.ts', "did you mean 'src/main.ts'?"],
    ['main.ts', "did you mean 'src/main.ts'?"],
    ['styles/everything.scss', 'its entries: src/main.ts, src/other.ts'],
    ['src/lazy.ts', "did you mean 'src/main.ts'?"],
    ['__proto__', 'its entries: src/main.ts, src/other.ts']
  ]) {
    t.throws(() => page.entry(name ?? ''), {
      instanceOf: AssetError,
      code: 'asset-unknown',
      message: `'${name}' is not an entry of ${file}; ${hint}`
    })
  }
})

test('entry() without a mount that has a bundle says what to set', async t => {
  await built
  const page = await pagesOf({ root, mounts: { '/files': 'src' } })()
  t.throws(() => page.entry('src/main.ts'), {
    instanceOf: TypeError,
    message: /^entry\(\) needs a mount with the option manifest, or dev in development/
  })
})

test('wrong options of entry() are TypeErrors', async t => {
  await built
  const page = await two()()
  for (const [options, message] of [
    [{ nonse: 'x' }, "unknown option 'entry.nonse': did you mean 'nonce'?"],
    [
      { q: 1, __keywords: true },
      "unknown option 'entry.q': known options: mount, nonce, reactRefresh, type"
    ],
    [{ nonce: 42 }, 'nonce must be a string, got 42 (entry.nonce)'],
    [{ type: 'defer' }, "type must be 'module' or 'classic', got 'defer' (entry.type)"],
    [{ reactRefresh: 'yes' }, "reactRefresh must be true or false, got 'yes' (entry.reactRefresh)"]
  ] as const) {
    t.throws(() => Reflect.apply(page.entry, null, ['src/main.ts', options]), {
      instanceOf: TypeError,
      message
    })
  }
  t.throws(() => Reflect.apply(page.entry, null, []), {
    instanceOf: TypeError,
    message: /needs the name/
  })
  // Nunjucks adds this key to the object that it makes of keyword arguments.
  t.regex(
    Reflect.apply(page.entry, null, ['src/main.ts', { nonce: 'x', __keywords: true }]) as string,
    / nonce="x"/
  )
})

const broken = (t: ExecutionContext, manifest: string | undefined, files = {}) => {
  const project = makeProject(t, { 'dist/a.js': 'a', ...files })
  if (manifest !== undefined) writeFiles(project, { 'manifest.json': manifest })
  return { root: project, mounts: { '/static': { dir: 'dist', manifest: 'manifest.json' } } }
}

test('BND-04 a missing manifest is an error at start, with the commands that make one', t => {
  const options = broken(t, undefined)
  const error = t.throws(() => pagesOf(options), {
    instanceOf: AssetError,
    code: 'manifest-missing'
  })
  t.is(
    error?.message,
    `there is no manifest ${options.root}/manifest.json: build with Vite (\`vite build\` with build.manifest: true), or write to it what esbuild (metafile: true) or webpack and Rspack (stats.toJson({ all: false, entrypoints: true, assets: true, cachedAssets: true })) return`
  )
})

test('BND-04 a directory or a FIFO in place of the manifest is an error at start as well', t => {
  const options = broken(t, undefined)
  const manifest = join(options.root, 'manifest.json')
  mkdirSync(manifest)
  t.throws(() => pagesOf(options), { instanceOf: AssetError, code: 'manifest-missing' })
  rmSync(manifest, { recursive: true })
  execFileSync('mkfifo', [manifest])
  t.throws(() => pagesOf(options), { instanceOf: AssetError, code: 'manifest-missing' })
})

for (const [what, manifest, reason] of [
  ['half a file', '{ "src/a.ts": { "file": "a.', /JSON/],
  ['an empty file', '', /JSON/],
  ['null', 'null', /no known bundler writes this shape/],
  ['a list', '[]', /no known bundler writes this shape/],
  ['an empty object', '{}', /no known bundler writes this shape/],
  [
    'the manifest of webpack-manifest-plugin, without entrypoints',
    '{ "a.js": "/static/a.js" }',
    /no known bundler writes this shape/
  ],
  ['chunks without an entry', '{ "_a.js": { "file": "a.js" } }', /it has no entry/],
  [
    'a file that leads up',
    '{ "a": { "file": "../a.js", "isEntry": true } }',
    /"\.\.\/a\.js" is not a path below/
  ],
  [
    'a file with an absolute path',
    '{ "a": { "file": "/a.js", "isEntry": true } }',
    /"\/a\.js" is not a path below/
  ],
  [
    'a file with a backslash',
    String.raw`{ "a": { "file": "..\\a.js", "isEntry": true } }`,
    /is not a path below/
  ],
  [
    'a file with a lone surrogate',
    String.raw`{ "a": { "file": "\ud800.js", "isEntry": true } }`,
    /is not a path below/
  ],
  [
    'a list of imports that is none',
    '{ "a": { "file": "a.js", "isEntry": true, "imports": "b" } }',
    /imports of a is not a list/
  ],
  [
    'an import that is missing',
    '{ "a": { "file": "a.js", "isEntry": true, "imports": ["b"] } }',
    /b is imported but missing/
  ],
  ['an output that is no object', '{ "outputs": { "a.js": 1 } }', /output a\.js is not an object/]
] as const) {
  test(`BND-04 ${what} is an error at start that gives the reason`, t => {
    const error = t.throws(() => pagesOf(broken(t, manifest)), {
      instanceOf: AssetError,
      code: 'manifest-broken'
    })
    t.regex(error?.message ?? '', /manifest\.json is not a bundler's manifest \(/)
    t.regex(error?.message ?? '', reason)
  })
}

test('BND-04 a manifest that names a file which is not there is an error at start', t => {
  const options = broken(t, '{ "a": { "file": "b.js", "isEntry": true } }')
  t.throws(() => pagesOf(options), {
    code: 'manifest-broken',
    message: `${options.root}/manifest.json names b.js, which is not in ${options.root}/dist: build again, and let the mount's dir be the bundler's output directory`
  })
})

test('BND-01 imports in a cycle, and a file that imports itself, are followed only once', async t => {
  const chunk = (file: string, imports: string[], more = {}) => ({ file, imports, ...more })
  const manifest = {
    a: chunk('a.js', ['b', 'a'], { isEntry: true, css: ['a.css'] }),
    b: chunk('b.js', ['c'], { css: ['b.css'] }),
    c: chunk('c.js', ['a', 'b'], { css: ['c.css', 'a.css'] })
  }
  const files = Object.fromEntries(
    ['b.js', 'c.js', 'a.css', 'b.css', 'c.css'].map(file => [`dist/${file}`, file])
  )
  const page = await pagesOf(broken(t, JSON.stringify(manifest), files))()
  t.deepEqual(summary(page.entry('a')), [
    'stylesheet /static/c.css',
    'stylesheet /static/a.css',
    'stylesheet /static/b.css',
    'module /static/a.js',
    'modulepreload /static/c.js',
    'modulepreload /static/b.js'
  ])
})

test('S50 entries named like object properties are ordinary entries', async t => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const chunks = names.map(name => `${JSON.stringify(name)}: { "file": "a.js", "isEntry": true }`)
  const pages = pagesOf(broken(t, `{ ${chunks.join(', ')} }`))
  for (const name of names)
    t.deepEqual(summary((await pages()).entry(name)), ['module /static/a.js'])
  t.is(({} as { file?: string }).file, undefined)
  const entrypoints = pagesOf(
    broken(t, '{ "entrypoints": { "__proto__": { "assets": ["a.js"] } } }')
  )
  t.deepEqual(summary((await entrypoints()).entry('__proto__')), [
    'text/javascript defer /static/a.js'
  ])
  t.throws(
    () =>
      Reflect.apply(pagesOf, null, [
        broken(t, '{ "__proto__": { "file": "a.js", "isEntry": 1 } }')
      ]),
    {
      message: /it has no entry/
    }
  )
})

test('S61 a chain of imports costs in proportion to its length, and may be longer than the stack', t => {
  const chain = (length: number) =>
    JSON.stringify(
      Object.fromEntries(
        Array.from({ length }, (_, at) => [
          `c${at}`,
          { file: 'a.js', isEntry: at === 0, imports: at + 1 < length ? [`c${at + 1}`] : [] }
        ])
      )
    )
  const manifests = new Map([1000, 4000, 20_000].map(length => [length, broken(t, chain(length))]))
  const start = (length: number) => pagesOf(manifests.get(length) ?? {})
  t.notThrows(() => start(20_000))
  t.true(growsInProportion(1000, start))
})

test('a project with only mounts needs neither an app nor precompile', async t => {
  await built
  const project = makeProject(t)
  symlinkSync(join(root, 'app'), join(project, 'dist'))
  for (const env of ['production', 'development']) {
    const site = await makeSite(t, {}, { root: project, env, mounts: { '/static': mount('dist') } })
    t.is((await site.ask('/static/.vite/manifest.json')).status, 404)
    const page = await pagesOf({ root: project, env, mounts: { '/static': mount('dist') } })()
    t.true(unhashed(summary(page.entry('src/other.ts'))).includes('module /static/assets/other.js'))
    t.is(page.entry('src/main.ts').includes('integrity='), env === 'production')
  }
  t.deepEqual(warningsAbout(project), [])
})

// Which names are taken for hashed.

const isHashed = (file: string, stem: string | undefined, hash: RegExp) =>
  hashedAmong([[[file, stem]]], hash).has(file)

for (const [file, stem, tool] of [
  ['assets/main-CZTearZk.css', 'main', 'vite'],
  ['assets/logo-WHL-7HyY.svg', 'logo', 'vite'],
  ['assets/shared-BveffPw_.css', 'shared', 'vite'],
  ['js/main.BX3f_9aZ.js', 'main', 'vite'],
  ['assets/main-legacy-DonsPPRv.js', 'main', 'vite'],
  ['assets/index-3f2a9c81d0e4.js', 'index', 'vite'],
  ['main-37S42XUG.js', 'main', 'esbuild'],
  ['main.0fc1a5ed7a847a4bcb69.js', undefined, 'webpack'],
  ['js/main-60312ead.js', undefined, 'webpack'],
  ['205.f07ff05d73c05d76.js', undefined, 'webpack'],
  ['0fc1a5ed7a847a4bcb69.svg', undefined, 'webpack']
] as const) {
  test(`BND-08 ${file} has a hash`, t => {
    t.true(isHashed(file, stem, HASHES[tool]))
  })
}

for (const [file, stem, tool] of [
  ['main.js', 'main', 'vite'],
  ['my-component.js', 'my-component', 'vite'],
  ['my-component.css', 'my', 'vite'],
  ['admin-DataTable.css', 'admin', 'vite'],
  ['data-20240101.json', 'data', 'vite'],
  ['main-Version2.js', 'main', 'vite'],
  ['main-release-candidate-2.js', 'main', 'vite'],
  ['main-a1b2c3.js', 'main', 'vite'],
  ['mainCZTearZk.js', 'main', 'vite'],
  ['CZTearZk.js', 'main', 'vite'],
  ['sw-CZTearZk.js', 'sw', 'vite'],
  ['page-CZTearZk.html', 'page', 'vite'],
  ['site-CZTearZk.webmanifest', 'site', 'vite'],
  ['main-SETTINGS.js', 'main', 'esbuild'],
  ['main-VERSION2.js', 'main', 'esbuild'],
  ['main-37s42xug.js', 'main', 'esbuild'],
  ['main-37S42XU.js', 'main', 'esbuild'],
  ['main-facade12.js', undefined, 'webpack'],
  ['data-20240101.json', undefined, 'webpack'],
  ['main-deadbeef.js', undefined, 'webpack'],
  ['main.0fc1a5.js', undefined, 'webpack']
] as const) {
  test(`BND-08 ${file} has none, when it is called ${stem ?? 'anything'}`, t => {
    t.false(isHashed(file, stem, HASHES[tool]))
  })
}

test('BND-08 a suffix of several files is not a hash, whatever it looks like', t => {
  const files = ['main', 'admin'].map((stem): NamedFile => [`${stem}-CZTearZk.js`, stem])
  t.deepEqual([...hashedAmong([files], HASHES.vite)], [])
})

test('BND-08 where every file has a suffix of its own, even one that could be a word is a hash', t => {
  const files = [
    ['main-SETTINGS.js', 'main'],
    ['main-5FMGWVRF.css', 'main']
  ] as const
  t.is(hashedAmong([files], HASHES.esbuild).size, 2)
  t.is(hashedAmong([[...files, ['other.js', 'other']]], HASHES.esbuild).size, 1)
})

const name = fc.stringMatching(/^[A-Za-z0-9_]+(?:[-.][A-Za-z0-9_]+){0,3}$/)

test('BND-08 a file whose name is the one in its manifest is never taken as hashed', t => {
  fc.assert(
    fc.property(name, fc.constantFrom('vite', 'esbuild'), (stem, tool) => {
      t.false(isHashed(`assets/${stem}.js`, stem, HASHES[tool]))
    })
  )
})

test('no name takes long to look up', t => {
  for (const suffix of ['a'.repeat(64), 'aA'.repeat(32), `${'aa'.repeat(31)}1a`, '-'.repeat(64)]) {
    const start = process.cpuUsage()
    for (let round = 0; round < 1000; round++) {
      for (const tool of ['vite', 'webpack', 'esbuild'] as const) {
        isHashed(`main-${suffix}.js`, 'main', HASHES[tool])
      }
    }
    t.true(process.cpuUsage(start).user < 500_000, suffix)
  }
})
