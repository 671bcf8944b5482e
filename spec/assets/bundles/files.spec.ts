// Entries as data and as links, and the other files of a build by the names of their sources.
import { createServer } from 'vite'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { build as buildByEsbuild } from 'esbuild'
import { build } from 'vite'
import webpack from 'webpack'
import { listMounts } from '../../../lib/assets/inspecting/list-mounts.ts'
import { settle } from '../../../lib/assets/settings/settings.ts'
import { AssetError } from '../../../lib/errors.ts'
import { freshAssets } from '../../../lib/vite.ts'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  sha384,
  unhashed
} from '../../support/bundler-project.ts'
import { makeSite } from '../../support/site.ts'

const { root, remove } = makeBundlerProject({
  ...PAGES,
  'src/hero.png': Buffer.alloc(5000, 'hero'),
  'src/with-hero.ts': "import './main.ts'\nimport hero from './hero.png'\ndocument.title = hero",
  'apps/web/assets/images/own.png': 'own',
  'apps/web/assets/src/both.png': 'own'
})
test.after.always(remove)

const VITE = { '/static': { dir: 'vite', manifest: 'vite/.vite/manifest.json' } }
const built = build({
  root,
  configFile: false,
  logLevel: 'error',
  plugins: [freshAssets({ mount: '/static', input: ['src/with-hero.ts', 'src/admin.ts'] })],
  build: { outDir: 'vite' }
})

test('BND-11 entryFiles lists what the tags load, with their attributes', async t => {
  await built
  const { entry, entryFiles } = await pagesOf({ root, apps: false, mounts: VITE })()
  const tags = entry('src/with-hero.ts').split('\n')
  const { scripts, stylesheets, preloads } = entryFiles('src/with-hero.ts')
  const files = [...stylesheets, ...scripts, ...preloads]
  t.true(scripts.length > 0 && stylesheets.length > 1 && preloads.length > 0)
  t.deepEqual(
    files.map(({ href, integrity, crossorigin }) => [href, integrity, crossorigin]),
    tags.map(tag => [
      attribute(tag.startsWith('<link') ? 'href' : 'src', tag),
      attribute('integrity', tag),
      attribute('crossorigin', tag) as 'anonymous'
    ])
  )
  t.deepEqual(
    scripts.map(({ type, nomodule }) => [type, nomodule]),
    [['module', false]]
  )
  t.is(
    scripts[0]?.integrity,
    sha384(join(root, 'vite', scripts[0]?.href.slice('/static/'.length) ?? ''))
  )
  const plain = await pagesOf({ root, apps: false, mounts: VITE, integrity: false })()
  t.deepEqual(plain.entryFiles('src/admin.ts').scripts[0], {
    ...entryFiles('src/admin.ts').scripts[0],
    integrity: undefined,
    crossorigin: undefined
  } as never)
  t.throws(() => entryFiles('src/none.ts'), { code: 'asset-unknown' })
  t.throws(() => Reflect.apply(entryFiles, null, ['src/admin.ts', { nonce: '' }]), {
    message: "unknown option 'entryFiles.nonce': known options: mount"
  })
})

test('BND-12 ctx.preload of an entry names each of its files once, as its tags request them', async t => {
  await built
  const site = await makeSite(
    t,
    {},
    {
      root,
      env: 'production',
      apps: false,
      mounts: VITE,
      routes(ctx) {
        ctx.preload('src/with-hero.ts')
        ctx.preload('src/with-hero.ts', 'src/hero.png')
        ctx.body = ctx.assets.entry('src/with-hero.ts')
      }
    }
  )
  const { headers, text } = await site.ask('/')
  const links = String(headers.link).split(/, (?=<)/)
  const expected = text.split('\n').map(tag => {
    const url = attribute('href', tag) ?? attribute('src', tag)
    const isStyle = / rel="stylesheet"/.test(tag)
    const rel = isStyle ? 'rel=preload; as=style' : 'rel=modulepreload'
    return `<${url}>; ${rel}; integrity="${attribute('integrity', tag)}"; crossorigin`
  })
  t.deepEqual(links.slice(0, -1), expected)
  t.regex(links.at(-1) ?? '', /^<\/static\/assets\/hero-[^>]+>; rel=preload; as=image$/)
})

for (const [bundler, mounts] of [
  ['Vite', VITE],
  ['esbuild', { '/static': { dir: 'esbuild', manifest: 'esbuild/metafile.json' } }],
  ['webpack', { '/static': { dir: 'webpack', manifest: 'webpack/stats.json' } }]
] as const) {
  test(`BND-13 helpers find a file by its source in the manifest of ${bundler}, unless an own asset has the name`, async t => {
    await builds[bundler]()
    const options = { root, mounts, env: 'development', host: 'https://cdn.example' }
    const page = await pagesOf(options)()
    const hero = page.path('src/hero.png')
    t.regex(hero, /^\/static\/(?:assets\/)?hero[-.]\w+\.png$/)
    t.is(page.url('src/hero.png'), `https://cdn.example${hero}`)
    t.is(page.path('src/hero.png?v=1', { mount: '/static' }), `${hero}?v=1`)
    t.true(
      page
        .image('src/hero.png', { mount: '/static', width: 5 })
        .startsWith(`<img src="https://cdn.example${hero}" alt="Hero" width="5"`)
    )
    t.true(page.favicon('src/hero.png').includes(hero))
    t.true(page.preload('src/hero.png').includes(`${hero}>; rel=preload; as=image`))

    t.is(page.path('own.png'), '/assets/own.png')
    t.is(page.path('both.png'), '/assets/both.png')
    t.throws(() => page.path('src/hero.pgn', { mount: '/static' }), {
      instanceOf: AssetError,
      code: 'asset-unknown',
      message: `'src/hero.pgn' is not a source in ${root}/${mounts['/static'].manifest}`
    })
  })
}

const builds = {
  Vite: () => built,
  async esbuild() {
    const { metafile } = await buildByEsbuild({
      absWorkingDir: root,
      entryPoints: ['src/with-hero.ts'],
      outdir: 'esbuild',
      assetNames: '[name]-[hash]',
      entryNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      loader: { '.png': 'file', '.svg': 'file' },
      metafile: true
    })
    writeFileSync(join(root, 'esbuild/metafile.json'), JSON.stringify(metafile))
  },
  async webpack() {
    const compiler = webpack({
      context: root,
      mode: 'production',
      entry: { main: './src/picture.js' },
      output: { path: join(root, 'webpack'), assetModuleFilename: '[name].[contenthash][ext]' },
      module: { rules: [{ test: /\.png$/, type: 'asset/resource' }] }
    })
    mkdirSync(join(root, 'webpack'), { recursive: true })
    writeFileSync(join(root, 'src/picture.js'), "import './hero.png'")
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
      compiler?.run((error, result) => (error ? reject(error) : resolve(result)))
    )
    const json = stats?.toJson({ all: false, entrypoints: true, assets: true, cachedAssets: true })
    writeFileSync(join(root, 'webpack/stats.json'), JSON.stringify(json))
  }
}

test('BND-17 each file of a build is listed with the entries that load it, at once or later', async t => {
  for (const [bundler, at] of [
    ['Vite', 'vite/.vite/manifest.json'],
    ['esbuild', 'esbuild/metafile.json']
  ] as const) {
    await builds[bundler]()
    const mounts = { '/static': { dir: bundler.toLowerCase(), manifest: at } }
    const listed = await listMounts(settle({ root, apps: false, mounts }))
    const files = listed.flatMap(each => each.files)
    const loaded = (part: RegExp) => {
      const { entries, usedBy } = files.find(({ path }) => part.test(path)) ?? {}
      return [entries, usedBy]
    }
    const entry = 'src/with-hero.ts'
    t.deepEqual(loaded(/with-hero[^/]*\.js$/), [[entry], []], bundler)
    t.deepEqual(loaded(/with-hero[^/]*\.css$/), [[entry], []], bundler)
    // To esbuild it is an entry as well.
    t.deepEqual(loaded(/lazy[^/]*\.js$/)[1], [entry], bundler)
    t.deepEqual(loaded(/hero[^/]*\.png$/), [[], [entry]], bundler)
    t.deepEqual(
      files.filter(({ entries, usedBy }) => entries.length + usedBy.length === 0),
      [],
      bundler
    )
  }
})

test('BND-13 with fingerprints an unknown name is an error that names the manifests', async t => {
  await built
  const page = await pagesOf({ root, mounts: VITE, env: 'test', fingerprint: true })()
  t.deepEqual(unhashed([page.path('own.png')]), [page.path('own.png')])
  const error = t.throws(() => page.path('src/nothing.png'), { code: 'asset-unknown' })
  t.true(error?.message.endsWith(`; nor is it a source in ${root}/vite/.vite/manifest.json`))
})

test("BND-13 while Vite's dev server runs, what is below a folder of its root leads to it", async t => {
  await built
  const dev = await createServer({
    root,
    configFile: false,
    logLevel: 'silent',
    base: '/static/',
    server: { middlewareMode: true, ws: false }
  })
  t.teardown(() => dev.close())
  const options = { root, env: 'development', mounts: { '/static': { ...VITE['/static'], dev } } }
  const page = await pagesOf(options)()
  t.is(page.path('src/hero.png'), '/static/src/hero.png')
  t.is(page.path('own.png'), '/assets/own.png')
  t.is(page.path('mistyped.png'), '/assets/mistyped.png')
  t.is(page.path('mistyped.png', { mount: '/static' }), '/static/mistyped.png')
})
