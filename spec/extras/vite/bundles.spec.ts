// Entries by name and mount, and manifests that cannot be used.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Middleware } from 'koa'
import { makeHelpers } from '../../runtime/views/view-helpers-site.ts'
import type { LoadedUrl } from '../../../lib/runtime/views/asset-url.ts'
import type { ViewHelpers } from '../../../lib/runtime/views/view-helpers.ts'
import { AssetError } from '../../../lib/runtime/errors.ts'
import { helpersOf } from '../../../lib/extras/vite/entry.ts'
import { hashedAmong, HASHES } from '../../../lib/extras/vite/manifests/bundle.ts'
import { isWindows, makeProject, makeSite, pagesOf, summary, test } from '../../support/index.ts'
import { viteBuild, viteMount, words, writeFiles } from '../../support/index.ts'
import type { ExecutionContext, Files } from '../../support/index.ts'

/** A project whose mount `/static` has a manifest, and what it names. */
function given(t: ExecutionContext, manifest?: unknown, files: readonly string[] = ['a.js']) {
  const root = makeProject(t, Object.fromEntries(files.map(file => [`dist/${file}`, file])))
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
  if (manifest !== undefined) writeFiles(root, { 'manifest.json': text })
  return { root, mounts: { '/static': { dir: 'dist', manifest: 'manifest.json' } } }
}

const entryAt = (file: string) => ({ file, isEntry: true })

const TWO: Files = {
  'app/main.js': '',
  'app/other.js': '',
  'back/admin.js': '',
  'app/meta.json': JSON.stringify({
    'src/main.ts': entryAt('main.js'),
    'src/other.ts': entryAt('other.js'),
    'src/lazy.ts': { file: 'other.js', isDynamicEntry: true }
  }),
  'back/meta.json': JSON.stringify({
    'src/admin.ts': entryAt('admin.js'),
    'src/other.ts': entryAt('admin.js')
  })
}

const mount = (dir: string) => ({ dir, manifest: `${dir}/meta.json` })

test('an entry needs { mount } only if two mounts have it', async t => {
  const root = makeProject(t, { ...TWO, 'files/a.txt': '' })
  const mounts = { '/': mount('app'), '/back': mount('back'), '/files': 'files' }
  const page = await pagesOf({ root, mounts })()
  t.deepEqual(summary(page.entry('src/main.ts')), ['module /main.js'])
  t.deepEqual(summary(page.entry('src/admin.ts')), ['module /back/admin.js'])
  const message =
    "entry 'src/other.ts' exists in the mounts '/back' and '/': name one, as in { mount: '/back' }"
  t.throws(() => page.entry('src/other.ts'), { instanceOf: TypeError, message })
  t.deepEqual(summary(page.entry('src/other.ts', { mount: '/' })), ['module /other.js'])
  for (const mount of ['/back', '/back/'])
    t.is(page.entryFiles('src/other.ts', { mount }).scripts[0]?.href, '/back/admin.js')
  for (const mount of ['/files', '/nothing', 'back']) {
    const message = `mount must be the URL path of a mount that has a manifest or dev, '/back', '/', got '${mount}'`
    t.throws(() => page.entry('src/other.ts', { mount }), { instanceOf: TypeError, message })
  }
})

test('an unknown entry is an error with the nearest name, or with the list of entries', async t => {
  const root = makeProject(t, TWO)
  const page = await pagesOf({ root, mounts: { '/': mount('app') } })()
  const file = join(root, 'app/meta.json')
  for (const [name, hint] of [
    ['src/man.ts', "did you mean 'src/main.ts'?"],
    ['main.ts', "did you mean 'src/main.ts'?"],
    ['src/lzy.ts', "did you mean 'src/lazy.ts'?"],
    ['styles/everything.scss', 'its entries: src/main.ts, src/other.ts, src/lazy.ts'],
    ['__proto__', 'its entries: src/main.ts, src/other.ts, src/lazy.ts']
  ] as const) {
    const message = `'${name}' is not an entry of ${file}; ${hint}`
    t.throws(() => page.entry(name), { instanceOf: AssetError, code: 'asset-unknown', message })
  }
})

test('a missing manifest is an error at start, with the commands that make one', t => {
  const options = given(t)
  const manifest = join(options.root, 'manifest.json')
  const missing = {
    instanceOf: AssetError,
    code: 'manifest-missing',
    message: `there is no manifest ${manifest}: build with Vite (\`vite build\` with build.manifest: true), or write to it what esbuild (metafile: true) or webpack and Rspack (stats.toJson({ all: false, entrypoints: true, assets: true, cachedAssets: true })) return`
  }
  t.throws(() => pagesOf(options), missing)
  mkdirSync(manifest)
  t.throws(() => pagesOf(options), missing, 'a directory in its place')
  rmSync(manifest, { recursive: true })
  if (isWindows) return
  execFileSync('mkfifo', [manifest])
  t.throws(() => pagesOf(options), missing, 'a FIFO in its place')
})

test('a manifest that is broken is an error at start that gives the reason', t => {
  const shape = /no known bundler writes this shape/
  const below = /is not a path below/
  for (const [manifest, reason] of [
    ['{ "src/a.ts": { "file": "a.', /JSON/],
    ['', /JSON/],
    ['null', shape],
    [[], shape],
    [{}, shape],
    [{ 'a.js': '/static/a.js' }, shape],
    [{ '_a.js': { file: 'a.js' } }, /it has no entry/],
    [{ a: entryAt('../a.js') }, below],
    [{ a: entryAt('/a.js') }, below],
    [{ a: entryAt('..\\a.js') }, below],
    [String.raw`{ "a": { "file": "\ud800.js", "isEntry": true } }`, below],
    [{ a: { ...entryAt('a.js'), imports: 'b' } }, /imports of a is not a list/],
    [{ a: { ...entryAt('a.js'), imports: ['b'] } }, /b is imported but missing/],
    [{ outputs: { 'a.js': 1 } }, /output a\.js is not an object/]
  ] as const) {
    const { message } = t.throws(() => pagesOf(given(t, manifest)), { code: 'manifest-broken' })
    t.regex(message, /manifest\.json is not a bundler's manifest \(/)
    t.regex(message, reason)
  }
  const options = given(t, { a: entryAt('b.js') })
  const [file, dist] = [join(options.root, 'manifest.json'), join(options.root, 'dist')]
  const message = `${file} names b.js, which is not in ${dist}: build again, and let the mount's dir be the bundler's output directory`
  t.throws(() => pagesOf(options), { code: 'manifest-broken', message })
})

test('imports in a cycle, and a file that imports itself, are followed only once', async t => {
  const chunk = (file: string, imports: string[], more = {}) => ({ file, imports, ...more })
  const manifest = {
    a: chunk('a.js', ['b', 'a'], { isEntry: true, css: ['a.css'] }),
    b: chunk('b.js', ['c'], { css: ['b.css'] }),
    c: chunk('c.js', ['a', 'b'], { css: ['c.css', 'a.css'] })
  }
  const files = ['a.js', 'b.js', 'c.js', 'a.css', 'b.css', 'c.css']
  const page = await pagesOf(given(t, manifest, files))()
  t.deepEqual(summary(page.entry('a')), [
    'stylesheet /static/c.css',
    'stylesheet /static/a.css',
    'stylesheet /static/b.css',
    'module /static/a.js',
    'modulepreload /static/c.js',
    'modulepreload /static/b.js'
  ])
})

test('without modern chunks the legacy entry is for every browser', async t => {
  const manifest = {
    '../../vite/legacy-polyfills-legacy': entryAt('polyfills-legacy-CZTearZk.js'),
    'a-legacy.ts': { ...entryAt('a-legacy-BveffPw_.js'), name: 'a', src: 'a-legacy.ts' }
  }
  const files = ['polyfills-legacy-CZTearZk.js', 'a-legacy-BveffPw_.js']
  const page = await pagesOf(given(t, manifest, files))()
  const [first, second] = summary(page.entry('a-legacy.ts'))
  t.is(first, 'text/javascript /static/polyfills-legacy-CZTearZk.js')
  t.is(second, 'text/javascript /static/a-legacy-BveffPw_.js')
})

test('entries named like object properties are ordinary entries', async t => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const chunks = names.map(name => `${JSON.stringify(name)}: { "file": "a.js", "isEntry": true }`)
  const pages = pagesOf(given(t, `{ ${chunks.join(', ')} }`))
  for (const name of names)
    t.deepEqual(summary((await pages()).entry(name)), ['module /static/a.js'])
  t.is(({} as { file?: string }).file, undefined)
  const list = '{ "entrypoints": { "__proto__": { "assets": ["a.js"] } } }'
  const { entry } = await pagesOf(given(t, list))()
  t.deepEqual(summary(entry('__proto__')), ['text/javascript defer /static/a.js'])
})

const isHashed = (file: string, stem: string | undefined, hash: RegExp) =>
  hashedAmong([[file, stem]], hash).has(file)

const HASHED = {
  vite: words(`assets/main-CZTearZk.css assets/logo-WHL-7HyY.svg assets/shared-BveffPw_.css
    js/main.BX3f_9aZ.js assets/main-legacy-DonsPPRv.js assets/index-3f2a9c81d0e4.js`),
  esbuild: words('main-37S42XUG.js'),
  webpack: words(`main.0fc1a5ed7a847a4bcb69.js js/main-60312ead.js 205.f07ff05d73c05d76.js
    0fc1a5ed7a847a4bcb69.svg`)
}
const PLAIN = {
  vite: words(`my-component.css admin-DataTable.css app-settings.js data-20240101.json
    main-Version2.js main-release-candidate-2.js main-a1b2c3.js mainCZTearZk.js CZTearZk.js
    sw-CZTearZk.js page-CZTearZk.html site-CZTearZk.webmanifest`),
  esbuild: words('main-37s42xug.js main-37S42XU.js'),
  webpack: words('main-facade12.js data-20240101.json main-deadbeef.js main.0fc1a5.js')
}

test('hashes in file names are told from words, dates and releases', t => {
  for (const tool of ['vite', 'esbuild', 'webpack'] as const) {
    // webpack does not tell the name of a chunk.
    const stemOf = (file: string) =>
      tool === 'webpack' ? undefined : (/(?:^|\/)([a-z]+)[^/]*$/.exec(file)?.[1] ?? 'main')
    const isTaken = (file: string) => isHashed(file, stemOf(file), HASHES[tool])
    for (const file of HASHED[tool]) t.true(isTaken(file), `${tool}: ${file}`)
    for (const file of PLAIN[tool]) t.false(isTaken(file), `${tool}: ${file}`)
  }
})

test('whether a suffix is a hash also depends on the suffixes of the other files', t => {
  const hashed = (...files: readonly string[]) => {
    const stems = files.map(file => [file, /^\w*/.exec(file)?.[0]] as const)
    return hashedAmong(stems, HASHES.vite).size
  }
  t.is(hashed('main-CZTearZk.js', 'admin-CZTearZk.js'), 0)
  t.is(hashed('main-Cqirnvb4.js', 'main-BveffPw_.css'), 2)
  t.is(hashed('main-Cqirnvb4.js', 'main-BveffPw_.css', 'other.js'), 1)
})

test('a file whose name is the one in its manifest is never taken as hashed', t => {
  const name = fc.stringMatching(/^[A-Za-z0-9_]+(?:[-.][A-Za-z0-9_]+){0,3}$/)
  const property = fc.property(name, fc.constantFrom('vite', 'esbuild'), (stem, tool) => {
    t.false(isHashed(`assets/${stem}.js`, stem, HASHES[tool]))
  })
  fc.assert(property)
})

const script = (as: LoadedUrl['as']): LoadedUrl => ({ url: '/a.js', integrity: ['sha384-a'], as })

const ENTRY: readonly LoadedUrl[] = [
  { url: '/a.css', integrity: ['sha384-c'], as: 'stylesheet' },
  script('module'),
  { url: '/b.js', integrity: ['sha384-b'], as: 'modulepreload' }
]

function pageOf(entries: Readonly<Record<string, readonly LoadedUrl[]>>): ViewHelpers {
  const find = (name: string) => entries[name] ?? ENTRY
  return makeHelpers({}, undefined, [helpersOf(find, () => [])])('web')
}

const GUARDED = 'integrity="sha384-a" crossorigin="anonymous"'

test('the option type makes a script a module or deferred, except one for old browsers', t => {
  for (const [as, type, expected] of [
    ['module', undefined, `type="module" ${GUARDED}`],
    ['module', 'classic', `type="text/javascript" ${GUARDED} defer="defer"`],
    ['classic', undefined, `type="text/javascript" ${GUARDED} defer="defer"`],
    ['classic', 'module', `type="module" ${GUARDED}`],
    ['blocking', undefined, `type="text/javascript" ${GUARDED}`],
    ['nomodule', undefined, `type="text/javascript" ${GUARDED} nomodule="nomodule"`],
    ['nomodule', 'module', `type="text/javascript" ${GUARDED} nomodule="nomodule"`],
    ['nomodule', 'classic', `type="text/javascript" ${GUARDED} nomodule="nomodule"`]
  ] as const) {
    const tag = pageOf({ a: [script(as)] }).entry('a', { type })
    t.is(tag, `<script src="/a.js" ${expected}></script>`, `${as} ${type}`)
  }
  t.notRegex(pageOf({}).entry('a', { type: 'classic' }), /modulepreload/)
})

test('every tag has the nonce, escaped, the preamble included', t => {
  const page = pageOf({ a: [{ url: '/@react-refresh</script>"', as: 'preamble' }, ...ENTRY] })
  const tags = page.entry('a', { nonce: '$&"><script>', reactRefresh: true }).split('\n')
  t.is(tags.length, 4)
  for (const tag of tags) t.true(tag.includes(' nonce="$&amp;&quot;&gt;&lt;script&gt;">'), tag)
  const preamble = tags.find(tag => tag.includes('RefreshReg')) ?? ''
  t.is(preamble.split('</script>').length, 2)
  t.regex(preamble, /from "\/@react-refresh\\u003c\/script\\u003e\\"";/)
})

test('an error page has the tags of its entries although the page that failed had them too', async t => {
  const front: Middleware = async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const { assets, state } = ctx
      ctx.body = `${(error as Error).message} ${assets.entry('a.js')} ${state['assets'] === assets}`
    }
  }
  const routes: Middleware = ctx => {
    throw new Error(ctx.assets.entry('a.js'))
  }
  const options = { env: 'production', apps: false, mounts: { '/static': viteMount() } } as const
  const files = viteBuild('/dist', { 'a.js': 'a.js' })
  const site = await makeSite(t, files, { ...options, front, routes })
  const [, tag = ''] = /^(<script .*<\/script>) \1 true$/.exec((await site.ask('/')).text) ?? []
  t.regex(tag, /src="\/static\/a\.js"/)
})
