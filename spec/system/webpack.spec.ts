// What webpack and Rspack built, by their stats.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  sha384,
  summary,
  unhashed
} from '../support/bundler-project.ts'
import { makeSite } from '../support/site.ts'
import { withStats } from './front-ends.ts'
import { linkPackages, runInProject } from './installed.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'

const SOURCES = {
  'src/named.js': "onclick = () => import(/* webpackChunkName: 'later' */ './lazy.js')",
  ...Object.fromEntries(
    Object.entries(PAGES).map(([path, text]) => [
      path.replace(/\.ts$/, '.js'),
      String(text).replaceAll(/\.ts'/g, ".js'")
    ])
  )
}
// Minifying costs most of a build, and changes no manifest.
const CONFIGURATION = `
  entry: { main: './src/main.js', admin: './src/admin.js', print: './src/print.css', named: './src/named.js' },
  output: {
    filename: '[name].[contenthash].js', cssFilename: '[name].[contenthash].css',
    assetModuleFilename: '[hash][ext]', publicPath: '/static/'
  },
  module: { rules: [{ test: /\\.css$/, type: 'css' }, { test: /\\.svg$/, type: 'asset/resource' }] },
  optimization: { minimize: false, runtimeChunk: 'single', splitChunks: { chunks: 'all', minSize: 0 } }`

const TOOLS = {
  webpack: withStats(
    "import bundle from 'webpack'",
    `experiments: { css: true }, ${CONFIGURATION}`
  ),
  Rspack: withStats("import { rspack as bundle } from '@rspack/core'", CONFIGURATION)
}

interface Stats {
  readonly entrypoints: Record<string, { readonly assets: readonly { readonly name: string }[] }>
  readonly assets: readonly { readonly name: string }[]
}

async function build(t: ExecutionContext, program: object) {
  const { root, remove } = makeBundlerProject({ ...SOURCES, ...program }, linkPackages)
  t.teardown(remove)
  await runInProject(root, ['build.js'])
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/stats.json' } }
  const options = { root, apps: false, mounts } as const
  const stats = JSON.parse(readFileSync(join(root, 'dist/stats.json'), 'utf8')) as Stats
  /** Each file of the tags has the integrity of its bytes. */
  const areWhole = (tags: readonly string[]) => {
    for (const tag of tags) {
      const url = attribute('href', tag) ?? attribute('src', tag) ?? ''
      t.is(attribute('integrity', tag), sha384(join(root, url.replace('/static', 'dist'))))
      t.is(attribute('crossorigin', tag), 'anonymous')
    }
  }
  return { ...stats, options, areWhole, page: pagesOf(options) }
}

for (const [tool, program] of Object.entries(TOOLS)) {
  test(`BND-07 LZY-01 MNT-04 an entrypoint of ${tool} is its stylesheets, then its scripts in their order, with defer; a dynamic import is one as well, and every file with a hash is immutable`, async t => {
    const { entrypoints, assets, options, areWhole, page: open } = await build(t, program)
    const page = await open()
    const tags = page.entry('admin', { nonce: 'r4nd0m' }).split('\n')
    const files = entrypoints['admin']?.assets.map(({ name }) => name) ?? []
    const of = (extension: string) => files.filter(file => file.endsWith(extension))
    t.true(of('.css').length >= 1 && of('.js').length >= 3)
    t.deepEqual(summary(tags.join('\n')), [
      ...of('.css').map(file => `stylesheet /static/${file}`),
      ...of('.js').map(file => `text/javascript defer /static/${file}`)
    ])
    areWhole(tags)
    for (const tag of tags) t.is(attribute('nonce', tag), 'r4nd0m')
    const together = (await open()).entry('main', 'admin').split('\n')
    t.is(new Set(together).size, together.length, 'shared chunks are written once')

    const later = (await open()).entry('later')
    t.true(unhashed(summary(later)).includes('text/javascript defer /static/later.js'))
    t.true(summary(later)[0]?.startsWith('stylesheet '))
    areWhole(later.split('\n'))

    const { ask } = await makeSite(t, {}, { ...options, env: 'production' })
    const image = assets.find(({ name }) => name.endsWith('.svg'))?.name
    t.regex(image ?? '', /^[0-9a-f]+\.svg$/, 'it is named by its hash alone')
    t.is(page.path('src/logo.svg'), `/static/${image}`)
    for (const { name } of assets)
      t.is((await ask(`/static/${name}`)).headers['cache-control'], IMMUTABLE, name)
  })
}
