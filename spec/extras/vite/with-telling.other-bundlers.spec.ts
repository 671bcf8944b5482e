import { existsSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Metafile } from 'esbuild'
import { makeShop, run } from '../../publishing/cli/run.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import { helpAt, AssetError } from '../../../lib/runtime/errors.ts'
import { listMounts } from '../../../lib/extras/telling/list.ts'
import { makeBundlerProject, makeProject, makeSite, PAGES, pagesOf } from '../../support/index.ts'
import { serial as test, summary, test as ava, unhashed, words } from '../../support/index.ts'
import { writeFiles } from '../../support/index.ts'

const ENTRY = { isEntry: true, imports: ['_shared.js'] }
const BUNDLE = {
  'src/main.js': {
    ...ENTRY,
    file: 'main-a1.js',
    css: ['main.css'],
    dynamicImports: ['src/lazy.js']
  },
  'src/admin.js': { ...ENTRY, file: 'admin-b2.js' },
  '_shared.js': { file: 'shared-c3.js' },
  'src/lazy.js': { file: 'lazy-d4.js' }
}
const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' }, '/up': 'uploads' }
const config = (options: object) => JSON.stringify({ mounts, ...options })
const MOUNTED = {
  '/assets.config.json': config({ apps: false }),
  '/dist/list.json': JSON.stringify(BUNDLE),
  '/dist/main-a1.js': 'main()',
  '/dist/main-a1.js.gz': gzipSync('main()'),
  '/dist/main.css': 'a{}',
  '/dist/admin-b2.js': 'admin()',
  '/dist/shared-c3.js': 'shared()',
  '/dist/lazy-d4.js': 'lazy()'
}

const done = (stdout: string) => ({ status: 0, stdout, stderr: '' })

test('list, verify and precompile work in a project with only mounts', async t => {
  const root = makeShop(t, MOUNTED)
  const nothing = 'Nothing to compile: this project has no assets of its own.\n'
  t.deepEqual(await run(root, 'precompile'), done(nothing))
  t.like(JSON.parse((await run(root, 'precompile --json')).stdout), { assets: 0 })
  t.false(existsSync(join(root, 'public')))
  const fine = '5 files of builds, 1 copy in mounts, no problems\n'
  t.deepEqual(await run(root, 'verify'), done(fine))
  const shop = makeShop(t, { 'a.txt': 'a', ...MOUNTED, '/assets.config.json': config({}) })
  await run(shop, 'precompile --quiet')
  t.deepEqual(await run(shop, 'verify'), done(`1 asset, ${fine}`))
  rmSync(join(root, 'dist/lazy-d4.js'))
  writeFileSync(join(root, 'dist/main-a1.js.gz'), gzipSync('other()'))
  t.deepEqual(await run(root, 'verify'), {
    status: 1,
    stdout: `5 files of builds, 1 copy in mounts, 2 problems\nSee ${helpAt('troubleshooting.md')}\n`,
    stderr: `/static/lazy-d4.js is missing, and dist/list.json names it
/static/main-a1.js.gz does not decompress to the original
`
  })
  const table = `mount    directory  manifest
/static  dist       dist/list.json
/up      uploads    -

file                  source           size  br  zstd  gzip  entries
/static/admin-b2.js   src/admin.js      7 B   -     -     -  src/admin.js
/static/lazy-d4.js    src/lazy.js   missing   -     -     -
/static/main-a1.js    src/main.js       6 B   -     -  27 B  src/main.js
/static/main.css      -                 3 B   -     -     -  src/main.js
/static/shared-c3.js  _shared.js        8 B   -     -     -  src/main.js, src/admin.js
`
  t.deepEqual(await run(root, 'list'), done(table))
  const [mount, admin, ...others] = JSON.parse((await run(root, 'list --json')).stdout) as object[]
  t.is(others.length, 5)
  const itself = { path: '/static', source: 'dist', target: '/static', mount: '/static' }
  t.deepEqual(mount, { ...itself, directory: 'dist', manifest: 'dist/list.json' })
  const [path, source] = ['/static/admin-b2.js', 'src/admin.js']
  const listed = { path, source, entries: [source], target: path, mount: '/static' }
  t.deepEqual(admin, { ...listed, sizes: { identity: 7 }, size: 7, isMissing: false })
  rmSync(join(root, 'dist/list.json'))
  const { status, stderr } = await run(root, 'verify')
  t.is(status, 1)
  t.regex(stderr, /^\/static has no build: there is no .*dist[\\/]list\.json: build first\n/)
  t.regex((await run(root, 'list')).stdout, /there is no .*list\.json: build first\n/)
})

test('list leaves out the files that the option exclude of a mount names', async t => {
  const manifest = { 'a.ts': { file: 'a.js', isEntry: true }, 'b.ts': { file: 'vendor/b.js' } }
  const root = makeProject(t, { 'dist/manifest.json': JSON.stringify(manifest) })
  const mount = { dir: 'dist', manifest: 'dist/manifest.json', exclude: ['vendor'] }
  for (const env of ['development', 'production']) {
    const site = settleProject({ root, env, apps: false, mounts: { '/x': mount } }, {})
    const [listed] = await listMounts(site)
    t.deepEqual([listed?.files[0]?.path, listed?.files.length], ['/x/a.js', 1])
  }
})

const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'public, max-age=0, must-revalidate'

const { root, remove } = makeBundlerProject(PAGES)
ava.after.always(remove)

const optionsOf = (dir: string, manifest = `${dir}.json`) => ({
  root,
  apps: false as const,
  mounts: { '/static': { dir, manifest } }
})

// What webpack 5 says in its stats; the real thing is in spec/system/building-front-ends.spec.ts.
const SHARED =
  '373.d17e4c999d5d058ac77b.css 843.f4e68083f2419801d135.js 843.a9eb7161a7037e3ec25a.css'
const ADMIN_FILES = words(`runtime.09976318039acc6fd288.js ${SHARED}
  admin.532ad1e55a8288daca54.js admin.7a409150db35650b956c.css`)
const LATER = words(`${SHARED} later.b4ffc06f6f097a031291.js later.0a79f5de0b9675068cfc.css`)
const IMAGE = 'ddcf92db3cefa73102a5.svg'
const group = (names: readonly string[]) => ({ assets: names.map(name => ({ name })) })
const stats = {
  entrypoints: { admin: group(ADMIN_FILES) },
  namedChunkGroups: { admin: group(ADMIN_FILES), later: group(LATER) },
  assets: Array.from(new Set([...ADMIN_FILES, ...LATER, IMAGE]), name => {
    const contenthash = /[0-9a-f]{20}/.exec(name)?.[0]
    const image = name === IMAGE && { sourceFilename: 'src/logo.svg' }
    return { name, info: { immutable: true, contenthash, ...image } }
  })
}
writeFiles(root, {
  ...Object.fromEntries(stats.assets.map(({ name }) => [`webpack/${name}`, name])),
  'webpack.json': JSON.stringify(stats)
})

test("webpack's stats are enough to find a file by its source and to serve it as immutable", async t => {
  const page = await pagesOf(optionsOf('webpack'))()
  t.regex(page.path('src/logo.svg'), /^\/static\/[0-9a-f]{20}\.svg$/)
  const { ask } = await makeSite(t, {}, { ...optionsOf('webpack'), env: 'production' })
  for (const { name } of stats.assets)
    t.is((await ask(`/static/${name}`)).headers['cache-control'], IMMUTABLE, name)
})

test('a file whose hash is only in the query of its tag is not immutable', async t => {
  const hash = '0fc1a5ed7a847a4bcb69'
  const name = `main-c0ffee12.js?${hash}`
  const info = { contenthash: hash, immutable: true, javascriptModule: true }
  const stats = { entrypoints: { main: { assets: [{ name }] } }, assets: [{ name, info }] }
  const files = { 'dist/main-c0ffee12.js': 'main()', 'stats.json': JSON.stringify(stats) }
  const options = { ...optionsOf('dist', 'stats.json'), root: makeProject(t, files) }
  const page = await pagesOf(options)()
  t.deepEqual(summary(page.entry('main')), [`module /static/${name}`])
  const { ask } = await makeSite(t, {}, { ...options, env: 'production' })
  const { status, headers } = await ask(`/static/${name}`)
  t.deepEqual([status, headers['cache-control']], [200, REVALIDATED])
})

test('manifests of webpack plugins and of webpack 4 give the same tags as stats', async t => {
  const of = (extension: string) => ADMIN_FILES.filter(file => file.endsWith(extension))
  const expected = (await pagesOf(optionsOf('webpack'))()).entry('admin')
  const path = (file: string) => `/static/${file}`
  const [js, css] = [of('.js'), of('.css')]
  const shapes = {
    'webpack-assets-manifest': { assets: { js, css } },
    'webpack-assets-manifest with publicPath': { assets: { js: js.map(path), css: css.map(path) } },
    'webpack-manifest-plugin with generate': ADMIN_FILES,
    'webpack 4': { assets: ADMIN_FILES }
  }
  for (const [what, admin] of Object.entries(shapes)) {
    const manifest = { entrypoints: { admin }, 'main.js': path('gone.js') }
    writeFiles(root, { 'plugin.json': JSON.stringify(manifest) })
    t.is((await pagesOf(optionsOf('webpack', 'plugin.json'))()).entry('admin'), expected, what)
  }
})

test('stats of webpack without usable assets are an error at start that gives the reason', async t => {
  const filtered = { ...stats, assets: [{ type: 'assets by status', filteredChildren: 8 }] }
  for (const [shape, message] of [
    [filtered, /cachedAssets: true/],
    [{ entrypoints: { main: { chunks: [1] } } }, /entrypoint main lists no assets/],
    [{ entrypoints: { main: { assets: [], filteredAssets: 3 } } }, /entrypoint main omits some/],
    [{ entrypoints: { main: { assets: ['https://cdn.example/a.js'] } } }, /not a path below/],
    [{ entrypoints: { main: { assets: ['../a.js'] } } }, /not a path below/],
    [{ entrypoints: {} }, /it has no entry/]
  ] as const) {
    writeFiles(root, { 'incomplete.json': JSON.stringify(shape) })
    const start = () => pagesOf(optionsOf('webpack', 'incomplete.json'))
    t.throws(start, { instanceOf: AssetError, code: 'manifest-broken', message })
  }
})

async function runEsbuild(at: string, options: BuildOptions = {}): Promise<Metafile> {
  const { metafile } = await build({
    bundle: true,
    splitting: true,
    format: 'esm',
    loader: { '.svg': 'file' },
    logLevel: 'silent',
    absWorkingDir: root,
    entryPoints: ['main.ts', 'admin.ts', 'other.ts', 'print.css'].map(name =>
      join(root, 'src', name)
    ),
    outdir: at,
    entryNames: '[name]-[hash]',
    ...options,
    metafile: true
  })
  writeFiles(root, { [`${at}.json`]: JSON.stringify(metafile) })
  return metafile
}

const hashed = runEsbuild('site/dist')
const short = (tags: string) => summary(tags).map(tag => tag.replace(/-[A-Z2-7]{8}(?=\.)/, '-HASH'))
const ADMIN = [
  'stylesheet /static/admin-HASH.css',
  'module /static/admin-HASH.js',
  'modulepreload /static/chunk-HASH.js',
  'modulepreload /static/chunk-HASH.js'
]

test('the outputs are found whatever directory esbuild was started in', async t => {
  for (const [at, absWorkingDir, outdir] of [
    ['two/dist', join(root, 'two'), 'dist'],
    ['three/dist', join(root, 'src'), '../three/dist'],
    ['four/dist', join(root, 'four/dist'), '.']
  ] as const) {
    mkdirSync(absWorkingDir, { recursive: true })
    const { outputs } = await runEsbuild(at, { absWorkingDir, outdir })
    const names = Object.values(outputs).map(({ entryPoint = '' }) => entryPoint)
    const name = names.find(each => /(?:^|src\/)admin\.ts$/.test(each)) ?? ''
    t.deepEqual(short((await pagesOf(optionsOf(at))()).entry(name)), ADMIN, at)
  }
})

test("esbuild's files, lazy chunks and images too, are immutable only with a hash in their names", async t => {
  const { outputs } = await hashed
  const names = { entryNames: '[name]', chunkNames: '[name]-[hash]', assetNames: '[name]' }
  await runEsbuild('plain', names)
  const withHash = await makeSite(t, {}, { ...optionsOf('site/dist'), env: 'production' })
  const without = await makeSite(t, {}, { ...optionsOf('plain'), env: 'production' })
  t.true(/lazy.*\.js/.test(Object.keys(outputs).join()))
  for (const path of Object.keys(outputs)) {
    const { headers } = await withHash.ask(path.replace('site/dist', '/static'))
    t.is(headers['cache-control'], IMMUTABLE, path)
  }
  for (const path of ['main.js', 'main.css', 'logo.svg', 'print.css', 'other.js'])
    t.is((await without.ask(`/static/${path}`)).headers['cache-control'], REVALIDATED, path)
})

test('a module or chunk that is imported dynamically may be an entry', async t => {
  await hashed
  const esbuild = (await pagesOf(optionsOf('site/dist'))()).entry('src/lazy.ts')
  const chunk = 'modulepreload /static/chunk-HASH.js'
  const lazy = ['stylesheet /static/lazy-HASH.css', 'module /static/lazy-HASH.js', chunk, chunk]
  t.deepEqual(short(esbuild), lazy)
  const webpack = (await pagesOf(optionsOf('webpack'))()).entry('later')
  t.deepEqual(unhashed(summary(webpack)), [
    ...['373.css', '843.css', 'later.css'].map(name => `stylesheet /static/${name}`),
    ...['843.js', 'later.js'].map(name => `text/javascript defer /static/${name}`)
  ])
})
