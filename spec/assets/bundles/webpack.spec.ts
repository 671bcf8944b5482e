// Tags for what webpack and Rspack built, by their stats and by manifests that plugins make of them.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Configuration as RspackConfiguration, rspack } from '@rspack/core'
import test from 'ava'
import { build, type BuildOptions } from 'esbuild'
import webpack, { type Configuration } from 'webpack'
import { AssetError } from '../../../lib/errors.ts'
import { ask } from '../../support/ask.ts'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  sha384,
  summary
} from '../../support/bundler-project.ts'
import { makeSite, writeFiles } from '../../support/site.ts'

const { root, remove } = makeBundlerProject(
  Object.fromEntries(
    Object.entries(PAGES).map(([path, text]) => [
      path.replace(/\.ts$/, '.js'),
      String(text).replaceAll(/\.ts'/g, ".js'")
    ])
  )
)
test.after.always(remove)

const LISTED = { all: false, entrypoints: true, assets: true, cachedAssets: true }

interface Stats {
  readonly entrypoints?: Record<string, { readonly assets?: readonly { readonly name: string }[] }>
  readonly assets?: readonly { readonly name: string }[]
}

function configure(dir: string, output: object = {}) {
  return {
    mode: 'production',
    context: root,
    entry: { main: './src/main.js', admin: './src/admin.js', print: './src/print.css' },
    output: {
      path: join(root, dir),
      filename: '[name].[contenthash].js',
      cssFilename: '[name].[contenthash].css',
      assetModuleFilename: '[hash][ext]',
      publicPath: '/static/',
      ...output
    },
    module: {
      rules: [
        { test: /\.css$/, type: 'css' },
        { test: /\.svg$/, type: 'asset/resource' }
      ]
    },
    // Minifying costs most of a build, and changes no manifest.
    optimization: {
      minimize: false,
      runtimeChunk: 'single',
      splitChunks: { chunks: 'all', minSize: 0 }
    }
  } as const
}

async function write(
  dir: string,
  stats: { hasErrors(): boolean; toString(): string; toJson(options: object): unknown }
): Promise<Stats> {
  if (stats.hasErrors()) throw new Error(stats.toString())
  const json = stats.toJson(LISTED) as Stats
  writeFiles(root, { [`${dir}.json`]: JSON.stringify(json) })
  return json
}

const withWebpack = (dir: string, output?: object) =>
  new Promise<Stats>((resolve, reject) => {
    const experiments = { css: true, outputModule: output !== undefined && 'module' in output }
    webpack(
      { ...configure(dir, output), experiments } as unknown as Configuration,
      (error, stats) => {
        if (stats) resolve(write(dir, stats))
        else reject(error ?? new Error('no stats'))
      }
    )
  })

const withRspack = (dir: string) =>
  new Promise<Stats>((resolve, reject) => {
    rspack(configure(dir) as unknown as RspackConfiguration, (error, stats) => {
      if (stats) resolve(write(dir, stats))
      else reject(error ?? new Error('no stats'))
    })
  })

const builds = { webpack: withWebpack('webpack'), rspack: withRspack('rspack') }
const optionsOf = (dir: string, manifest = `${dir}.json`) => ({
  root,
  mounts: { '/static': { dir, manifest } }
})

for (const tool of ['webpack', 'rspack'] as const) {
  test(`BND-07 an entrypoint of ${tool} is its stylesheets, then its scripts in their order, with defer`, async t => {
    const { entrypoints } = await builds[tool]
    const page = await pagesOf(optionsOf(tool))()
    const tags = page.entry('admin', { nonce: 'r4nd0m' }).split('\n')
    const files = entrypoints?.['admin']?.assets?.map(({ name }) => name) ?? []
    const of = (extension: string) => files.filter(file => file.endsWith(extension))
    t.true(of('.css').length >= 1)
    t.true(of('.js').length >= 3)
    t.deepEqual(summary(tags.join('\n')), [
      ...of('.css').map(file => `stylesheet /static/${file}`),
      ...of('.js').map(file => `text/javascript defer /static/${file}`)
    ])
    for (const tag of tags) {
      const url = attribute('href', tag) ?? attribute('src', tag) ?? ''
      t.is(attribute('integrity', tag), sha384(join(root, tool, url.replace('/static/', ''))))
      t.is(attribute('crossorigin', tag), 'anonymous')
      t.is(attribute('nonce', tag), 'r4nd0m')
    }
  })

  test(`BND-03 entrypoints of ${tool} that share chunks write each once, in one call and in several`, async t => {
    await builds[tool]
    const pages = pagesOf(optionsOf(tool))
    const [one, several] = [await pages(), await pages()]
    const together = one.entry('main', 'admin').split('\n')
    t.is(new Set(together).size, together.length)
    t.deepEqual(
      [several.entry('main'), several.entry('admin')].join('\n').split('\n').toSorted(),
      together.toSorted()
    )
  })

  test(`MNT-04 every file with a hash of ${tool}'s is immutable, whatever its name`, async t => {
    const { assets = [] } = await builds[tool]
    const site = await makeSite(t, {}, { ...optionsOf(tool), env: 'production' })
    t.true(
      assets.some(({ name }) => /^[0-9a-f]+\.svg$/.test(name)),
      'one is named by its hash alone'
    )
    for (const { name } of assets) {
      const answer = await ask(site.port, `/static/${name}`)
      t.is(answer.headers['cache-control'], 'public, max-age=31536000, immutable', name)
    }
  })
}

test('BND-08 a hash in the query does not make the path immutable, and is in the tag', async t => {
  await builds.webpack
  await withWebpack('query', {
    filename: '[name]-c0ffee12.js?[contenthash]',
    chunkFilename: '[name].js?[contenthash]',
    cssFilename: '[name].css?[contenthash]',
    assetModuleFilename: '[name][ext]'
  })
  const site = await makeSite(t, {}, { ...optionsOf('query'), env: 'production' })
  const page = await pagesOf(optionsOf('query'))()
  const tags = summary(page.entry('admin')).map(tag => tag.replace(/\?[0-9a-f]{20}$/, '?HASH'))
  t.true(tags.includes('text/javascript defer /static/admin-c0ffee12.js?HASH'))
  for (const tag of summary((await pagesOf(optionsOf('query'))()).entry('admin'))) {
    const answer = await ask(site.port, tag.split(' ').at(-1) ?? '')
    t.is(answer.status, 200)
    t.is(answer.headers['cache-control'], 'public, max-age=0, must-revalidate', tag)
  }
  t.is(
    (await ask(site.port, '/static/logo.svg')).headers['cache-control'],
    'public, max-age=0, must-revalidate'
  )
})

test('scripts of output.module are modules', async t => {
  await builds.webpack
  await withWebpack('module', { module: true })
  const page = await pagesOf(optionsOf('module'))()
  const scripts = summary(page.entry('admin')).filter(tag => tag.includes('.js'))
  t.true(scripts.length >= 3)
  t.true(scripts.every(tag => tag.startsWith('module ')))
})

test('manifests of plugins that list entrypoints are read as well', async t => {
  const { entrypoints } = await builds.webpack
  const files = entrypoints?.['admin']?.assets?.map(({ name }) => name) ?? []
  const of = (extension: string) => files.filter(file => file.endsWith(extension))
  const expected = (await pagesOf(optionsOf('webpack'))()).entry('admin')
  const path = (file: string) => `/static/${file}`
  const shapes = {
    'webpack-assets-manifest': { admin: { assets: { js: of('.js'), css: of('.css') } } },
    'webpack-assets-manifest with publicPath': {
      admin: { assets: { js: of('.js').map(path), css: of('.css').map(path) } }
    },
    'webpack-manifest-plugin with generate': { admin: files },
    'webpack 4': { admin: { assets: files } }
  }
  for (const [what, shape] of Object.entries(shapes)) {
    writeFiles(root, {
      'plugin.json': JSON.stringify({ entrypoints: shape, 'main.js': path('gone.js') })
    })
    t.is((await pagesOf(optionsOf('webpack', 'plugin.json'))()).entry('admin'), expected, what)
  }
})

test('BND-04 stats that leave assets out are an error at start that says what to set', async t => {
  const stats = await builds.webpack
  for (const [shape, message] of [
    [
      { ...stats, assets: [{ type: 'assets by status', filteredChildren: 8 }] },
      /cachedAssets: true/
    ],
    [{ entrypoints: { main: { chunks: [1] } } }, /entrypoint main lists no assets/],
    [{ entrypoints: { main: { assets: [], filteredAssets: 3 } } }, /entrypoint main omits some/],
    [{ entrypoints: { main: { assets: ['https://cdn.example/a.js'] } } }, /not a path below/],
    [{ entrypoints: { main: { assets: ['../a.js'] } } }, /not a path below/],
    [{ entrypoints: {} }, /it has no entry/]
  ] as const) {
    writeFiles(root, { 'incomplete.json': JSON.stringify(shape) })
    const error = t.throws(() => pagesOf(optionsOf('webpack', 'incomplete.json')), {
      instanceOf: AssetError,
      code: 'manifest-broken'
    })
    t.regex(error?.message ?? '', message)
  }
})

// Tags for what esbuild built, by its metafile.

const { root: esbuildRoot, remove: removeEsbuild } = makeBundlerProject(PAGES)
test.after.always(removeEsbuild)

const entryPoints = ['src/main.ts', 'src/admin.ts', 'src/other.ts', 'src/print.css']

const BUILD = {
  bundle: true,
  splitting: true,
  format: 'esm',
  loader: { '.svg': 'file' },
  metafile: true,
  logLevel: 'silent'
} as const satisfies BuildOptions

async function run(outdir: string, options: BuildOptions = {}): Promise<void> {
  const { metafile } = await build({
    ...BUILD,
    absWorkingDir: esbuildRoot,
    entryPoints,
    outdir,
    ...options,
    metafile: true
  })
  writeFiles(esbuildRoot, { [`${outdir}.json`]: JSON.stringify(metafile) })
}

const esbuildOptionsOf = (dir: string) => ({
  root: esbuildRoot,
  mounts: { '/static': { dir, manifest: `${dir}.json` } }
})

const hashed = run('site/dist', { entryNames: '[name]-[hash]' })
const short = (tags: string) => summary(tags).map(tag => tag.replace(/-[A-Z2-7]{8}(?=\.)/, '-HASH'))

test('BND-07 an entry of the metafile is its stylesheet, its module, and a preload for each import', async t => {
  await hashed
  const pages = pagesOf(esbuildOptionsOf('site/dist'))
  t.deepEqual(short((await pages()).entry('src/admin.ts')), [
    'stylesheet /static/admin-HASH.css',
    'module /static/admin-HASH.js',
    'modulepreload /static/chunk-HASH.js',
    'modulepreload /static/chunk-HASH.js'
  ])
  t.deepEqual(short((await pages()).entry('src/print.css')), ['stylesheet /static/print-HASH.css'])
  const page = await pages()
  const tags = page.entry('src/main.ts', 'src/admin.ts', 'src/other.ts').split('\n')
  t.is(new Set(tags).size, tags.length)
  t.false(
    tags.some(tag => tag.includes('lazy')),
    'dynamic imports are not loaded'
  )
  for (const tag of tags) {
    const url = attribute('href', tag) ?? attribute('src', tag) ?? ''
    t.is(
      attribute('integrity', tag),
      sha384(join(esbuildRoot, 'site/dist', url.replace('/static/', '')))
    )
  }
})

test('the outputs are found whatever directory esbuild was started in', async t => {
  await hashed
  const expected = short((await pagesOf(esbuildOptionsOf('site/dist'))()).entry('src/admin.ts'))
  for (const [at, absWorkingDir, outdir] of [
    ['one/dist', esbuildRoot, 'one/dist'],
    ['two/dist', join(esbuildRoot, 'two'), 'dist'],
    ['three/dist', join(esbuildRoot, 'src'), '../three/dist'],
    ['four/dist', join(esbuildRoot, 'four/dist'), '.']
  ] as const) {
    mkdirSync(absWorkingDir, { recursive: true })
    const { metafile } = await build({
      ...BUILD,
      absWorkingDir,
      entryPoints: entryPoints.map(path => join(esbuildRoot, path)),
      outdir,
      entryNames: '[name]-[hash]'
    })
    writeFiles(esbuildRoot, { [`${at}.json`]: JSON.stringify(metafile) })
    const names = Object.values(metafile.outputs).map(({ entryPoint }) => entryPoint ?? '')
    const page = await pagesOf(esbuildOptionsOf(at))()
    const name = names.find(each => each.endsWith('src/admin.ts') || each === 'admin.ts') ?? ''
    t.deepEqual(short(page.entry(name)), expected, at)
  }
})

test('type: classic loads an IIFE with defer; without it, it is a module', async t => {
  await hashed
  await run('classic', { splitting: false, format: 'iife' })
  const pages = pagesOf(esbuildOptionsOf('classic'))
  t.deepEqual(summary((await pages()).entry('src/other.ts', { type: 'classic' })), [
    'stylesheet /static/other.css',
    'text/javascript defer /static/other.js'
  ])
  t.deepEqual(summary((await pages()).entry('src/other.ts')), [
    'stylesheet /static/other.css',
    'module /static/other.js'
  ])
})

test('BND-08 only names with a hash are immutable, those of lazy chunks and images too', async t => {
  await hashed
  await run('plain', { entryNames: '[name]', chunkNames: '[name]-[hash]', assetNames: '[name]' })
  const [withHash, without] = await Promise.all(
    ['site/dist', 'plain'].map(dir =>
      makeSite(t, {}, { ...esbuildOptionsOf(dir), env: 'production' })
    )
  )
  const cacheControl = async (site: typeof withHash, path: string) =>
    (await ask(site?.port ?? 0, path)).headers['cache-control']
  const { outputs } = (
    await import(join(esbuildRoot, 'site/dist.json'), { with: { type: 'json' } })
  ).default as {
    outputs: Record<string, unknown>
  }
  t.true(Object.keys(outputs).some(path => /lazy.*\.js$/.test(path)))
  t.true(Object.keys(outputs).some(path => path.endsWith('.svg')))
  for (const path of Object.keys(outputs)) {
    const url = path.replace('site/dist', '/static')
    t.is(await cacheControl(withHash, url), 'public, max-age=31536000, immutable', path)
  }
  for (const path of ['main.js', 'main.css', 'logo.svg', 'print.css', 'other.js']) {
    t.is(await cacheControl(without, `/static/${path}`), 'public, max-age=0, must-revalidate', path)
  }
})
