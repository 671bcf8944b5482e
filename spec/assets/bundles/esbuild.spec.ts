// Tags for what esbuild built, by its metafile.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { build, type BuildOptions } from 'esbuild'
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

const { root, remove } = makeBundlerProject(PAGES)
test.after.always(remove)

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
    absWorkingDir: root,
    entryPoints,
    outdir,
    ...options,
    metafile: true
  })
  writeFiles(root, { [`${outdir}.json`]: JSON.stringify(metafile) })
}

const optionsOf = (dir: string) => ({
  root,
  mounts: { '/static': { dir, manifest: `${dir}.json` } }
})

const hashed = run('site/dist', { entryNames: '[name]-[hash]' })
const short = (tags: string) => summary(tags).map(tag => tag.replace(/-[A-Z2-7]{8}(?=\.)/, '-HASH'))

test('BND-07 an entry of the metafile is its stylesheet, its module, and a preload for each import', async t => {
  await hashed
  const pages = pagesOf(optionsOf('site/dist'))
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
    t.is(attribute('integrity', tag), sha384(join(root, 'site/dist', url.replace('/static/', ''))))
  }
})

test('the outputs are found wherever esbuild was started', async t => {
  await hashed
  const expected = short((await pagesOf(optionsOf('site/dist'))()).entry('src/admin.ts'))
  for (const [at, absWorkingDir, outdir] of [
    ['one/dist', root, 'one/dist'],
    ['two/dist', join(root, 'two'), 'dist'],
    ['three/dist', join(root, 'src'), '../three/dist'],
    ['four/dist', join(root, 'four/dist'), '.']
  ] as const) {
    mkdirSync(absWorkingDir, { recursive: true })
    const { metafile } = await build({
      ...BUILD,
      absWorkingDir,
      entryPoints: entryPoints.map(path => join(root, path)),
      outdir,
      entryNames: '[name]-[hash]'
    })
    writeFiles(root, { [`${at}.json`]: JSON.stringify(metafile) })
    const names = Object.values(metafile.outputs).map(({ entryPoint }) => entryPoint ?? '')
    const page = await pagesOf(optionsOf(at))()
    const name = names.find(each => each.endsWith('src/admin.ts') || each === 'admin.ts') ?? ''
    t.deepEqual(short(page.entry(name)), expected, at)
  }
})

test('type: classic loads an IIFE with defer; without it, it is a module', async t => {
  await hashed
  await run('classic', { splitting: false, format: 'iife' })
  const pages = pagesOf(optionsOf('classic'))
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
    ['site/dist', 'plain'].map(dir => makeSite(t, {}, { ...optionsOf(dir), env: 'production' }))
  )
  const cacheControl = async (site: typeof withHash, path: string) =>
    (await ask(site?.port ?? 0, path)).headers['cache-control']
  const { outputs } = (await import(join(root, 'site/dist.json'), { with: { type: 'json' } }))
    .default as {
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
