// Tags for what webpack and Rspack built, by their stats and by manifests that plugins make of them.
import { join } from 'node:path'
import { rspack, type Configuration as RspackConfiguration } from '@rspack/core'
import test from 'ava'
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
    optimization: { runtimeChunk: 'single', splitChunks: { chunks: 'all', minSize: 0 } }
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
