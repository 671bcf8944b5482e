// What webpack and Rspack built, by their stats.
import { join } from 'node:path'
import { rspack } from '@rspack/core'
import test, { type ExecutionContext } from 'ava'
import webpack from 'webpack'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  sha384,
  summary,
  unhashed
} from '../support/bundler-project.ts'
import { makeSite, writeFiles } from '../support/site.ts'
import { linkPackages } from './installed.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'

const NAMED = "onclick = () => import(/* webpackChunkName: 'later' */ './lazy.js')"
const { root, remove } = makeBundlerProject(
  Object.fromEntries([
    ['src/named.js', NAMED],
    ...Object.entries(PAGES).map(([path, text]) => [
      path.replace(/\.ts$/, '.js'),
      String(text).replaceAll(/\.ts'/g, ".js'")
    ])
  ]),
  linkPackages
)
test.after.always(remove)

const optionsOf = (dir: string) => ({
  root,
  apps: false as const,
  mounts: { '/static': { dir, manifest: `${dir}.json` } }
})

/** Each file of the tags has the integrity of its bytes. */
function areOf(t: ExecutionContext, dir: string, tags: readonly string[]): void {
  for (const tag of tags) {
    const url = attribute('href', tag) ?? attribute('src', tag) ?? ''
    t.is(attribute('integrity', tag), sha384(join(root, url.replace('/static', dir))))
    t.is(attribute('crossorigin', tag), 'anonymous')
  }
}

interface Stats {
  readonly entrypoints?: Record<string, { readonly assets?: readonly { readonly name: string }[] }>
  readonly assets?: readonly { readonly name: string }[]
}

interface Compiled {
  hasErrors(): boolean
  toString(): string
  toJson(options: object): unknown
}

type Tool = (configuration: object, done: (error: unknown, stats?: Compiled) => void) => unknown

const TOOLS: Readonly<Record<'webpack' | 'rspack', Tool>> = {
  webpack: (configuration, done) => webpack({ ...configuration, experiments: { css: true } }, done),
  rspack
}

async function compile(tool: keyof typeof TOOLS): Promise<Stats> {
  const configuration = {
    mode: 'production',
    context: root,
    entry: {
      main: './src/main.js',
      admin: './src/admin.js',
      print: './src/print.css',
      named: './src/named.js'
    },
    output: {
      path: join(root, tool),
      filename: '[name].[contenthash].js',
      cssFilename: '[name].[contenthash].css',
      assetModuleFilename: '[hash][ext]',
      publicPath: '/static/'
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
  }
  const stats = await new Promise<Compiled>((resolve, reject) =>
    TOOLS[tool](configuration, (error, result) => (result ? resolve(result) : reject(error)))
  )
  if (stats.hasErrors()) throw new Error(stats.toString())
  const listed = {
    ...{ all: false, entrypoints: true, chunkGroups: true },
    ...{ assets: true, cachedAssets: true }
  }
  const json = stats.toJson(listed) as Stats
  writeFiles(root, { [`${tool}.json`]: JSON.stringify(json) })
  return json
}

const builds = { webpack: compile('webpack'), rspack: compile('rspack') }

for (const tool of ['webpack', 'rspack'] as const) {
  test(`BND-07 MNT-04 an entrypoint of ${tool} is its stylesheets, then its scripts in their order, with defer; every file with a hash is immutable`, async t => {
    const { entrypoints, assets = [] } = await builds[tool]
    const pages = pagesOf(optionsOf(tool))
    const [page, other] = [await pages(), await pages()]
    const tags = page.entry('admin', { nonce: 'r4nd0m' }).split('\n')
    const files = entrypoints?.['admin']?.assets?.map(({ name }) => name) ?? []
    const of = (extension: string) => files.filter(file => file.endsWith(extension))
    t.true(of('.css').length >= 1 && of('.js').length >= 3)
    t.deepEqual(summary(tags.join('\n')), [
      ...of('.css').map(file => `stylesheet /static/${file}`),
      ...of('.js').map(file => `text/javascript defer /static/${file}`)
    ])
    areOf(t, tool, tags)
    for (const tag of tags) t.is(attribute('nonce', tag), 'r4nd0m')
    const together = other.entry('main', 'admin').split('\n')
    t.is(new Set(together).size, together.length, 'shared chunks are written once')

    const { ask } = await makeSite(t, {}, { ...optionsOf(tool), env: 'production' })
    const image = assets.find(({ name }) => name.endsWith('.svg'))?.name
    t.regex(image ?? '', /^[0-9a-f]+\.svg$/, 'it is named by its hash alone')
    t.is(page.path('src/logo.svg'), `/static/${image}`)
    for (const { name } of assets)
      t.is((await ask(`/static/${name}`)).headers['cache-control'], IMMUTABLE, name)
  })

  test(`LZY-01 ${tool}: entry takes a module that is imported dynamically, with its stylesheets`, async t => {
    await builds[tool]
    const page = await pagesOf(optionsOf(tool))()
    const tags = page.entry('later')
    t.true(unhashed(summary(tags)).includes('text/javascript defer /static/later.js'))
    t.true(summary(tags)[0]?.startsWith('stylesheet '))
    areOf(t, tool, tags.split('\n'))
  })
}
