// Tags for what Vite built: React, Vue and plain TypeScript, several entries, shared chunks.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import legacy from '@vitejs/plugin-legacy'
import react from '@vitejs/plugin-react'
import vue from '@vitejs/plugin-vue'
import test from 'ava'
import { build } from 'vite'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { ask } from '../../support/ask.ts'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  sha384,
  summary,
  unhashed
} from '../../support/bundler-project.ts'
import { makeSite } from '../../support/site.ts'
import { until } from '../../support/until.ts'

const { root, remove } = makeBundlerProject({
  ...PAGES,
  'index.html': '<!doctype html><script type="module" src="/src/main.ts"></script>',
  'src/react.tsx':
    "import { createRoot } from 'react-dom/client'\nimport { shared } from './shared.ts'\n" +
    'createRoot(document.body).render(<h1>{shared()}</h1>)',
  'src/vue.ts':
    "import { createApp } from 'vue'\nimport App from './App.vue'\ncreateApp(App).mount('body')",
  'src/App.vue':
    "<script setup>\nimport { deep } from './deep.ts'\n</script>\n<template><h1>{{ deep() }}</h1></template>\n" +
    '<style scoped>h1 { color: red }</style>',
  'src/a b/(group)/né.ts': "import { deep } from '../../deep.ts'\nconsole.log(deep())"
})
test.after.always(remove)

const input = {
  main: 'src/main.ts',
  admin: 'src/admin.ts',
  other: 'src/other.ts',
  print: 'src/print.css',
  html: 'index.html',
  react: 'src/react.tsx',
  vue: 'src/vue.ts',
  'a b/(group)/né': 'src/a b/(group)/né.ts'
}

async function run(
  outDir: string,
  options: object = {},
  entries: Record<string, string> = input
): Promise<void> {
  await build({
    root,
    base: '/static/',
    configFile: false,
    logLevel: 'error',
    plugins: [react(), vue()],
    build: {
      outDir,
      manifest: true,
      // It costs most of a build, and changes no manifest.
      minify: false,
      rollupOptions: { input: entries, ...options },
      assetsInlineLimit: 0
    }
  })
}

function optionsOf(dir: string, more: KoaAssetsOptions = {}): KoaAssetsOptions {
  const manifest = `${dir}/.vite/manifest.json`
  return { root, mounts: { '/static': { dir, manifest } }, ...more }
}

const hashed = run('dist')
const names = {
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  assetFileNames: '[name][extname]'
}
const plain = hashed.then(() => run('plain', { output: names }))

test('BND-01 an entry is the stylesheets of its whole static graph, its module, and a preload for each import', async t => {
  await hashed
  const page = await pagesOf(optionsOf('dist'))()
  t.deepEqual(unhashed(summary(page.entry('src/main.ts'))), [
    'stylesheet /static/assets/deep.css',
    'stylesheet /static/assets/shared.css',
    'stylesheet /static/assets/main.css',
    'module /static/assets/main.js',
    'modulepreload /static/assets/deep.js',
    'modulepreload /static/assets/shared.js'
  ])
})

test('BND-01 stylesheets and preloads are those of the page that Vite writes, in its order', async t => {
  await hashed
  const html = readFileSync(join(root, 'dist/index.html'), 'utf8')
  const page = await pagesOf(optionsOf('dist'))()
  const ours = page.entry('index.html')
  for (const rel of ['stylesheet', 'modulepreload']) {
    const written = [...html.matchAll(/<link rel="(\w+)" crossorigin href="([^"]*)">/g)]
    const urls = written.filter(([, each]) => each === rel).map(([, , url]) => `${rel} ${url}`)
    t.true(urls.length >= 2)
    t.deepEqual(
      summary(ours).filter(tag => tag.startsWith(rel)),
      urls
    )
  }
})

test('BND-01 an entry of React, of Vue, and one that is a stylesheet', async t => {
  await hashed
  const tags = async (name: string) =>
    unhashed(summary((await pagesOf(optionsOf('dist'))()).entry(name)))
  t.deepEqual(
    (await tags('src/react.tsx')).filter(tag => tag.startsWith('module ')),
    ['module /static/assets/react.js']
  )
  const vueTags = await tags('src/vue.ts')
  t.true(vueTags.includes('stylesheet /static/assets/vue.css'))
  t.true(vueTags.includes('modulepreload /static/assets/deep.js'))
  t.deepEqual(await tags('src/print.css'), ['stylesheet /static/assets/print.css'])
})

test('BND-02 each tag has the integrity of the bytes on disk, crossorigin once, and the nonce', async t => {
  await hashed
  const page = await pagesOf(optionsOf('dist'))()
  const tags = page.entry('src/main.ts', 'src/print.css', { nonce: 'a"b' }).split('\n')
  t.is(tags.length, 7)
  for (const tag of tags) {
    const url = attribute('href', tag) ?? attribute('src', tag) ?? ''
    t.is(attribute('integrity', tag), sha384(join(root, 'dist', url.replace('/static/', ''))))
    t.is(tag.split('crossorigin').length, 2)
    t.is(attribute('crossorigin', tag), 'anonymous')
    t.is(attribute('nonce', tag), 'a&quot;b')
  }
})

test('BND-02 integrity may have several algorithms, or none', async t => {
  await hashed
  const page = await pagesOf(optionsOf('dist', { integrity: ['sha256', 'sha512'] }))()
  t.regex(
    page.entry('src/print.css'),
    /integrity="sha256-[^" ]+ sha512-[^" ]+" crossorigin="anonymous">$/
  )
  const without = await pagesOf(optionsOf('dist', { integrity: false }))()
  t.regex(without.entry('src/print.css'), /^<link href="[^"]+" type="text\/css" rel="stylesheet">$/)
})

test('BND-03 entries with common chunks, and entries that import each other, write no tag twice', async t => {
  await hashed
  const pages = pagesOf(optionsOf('dist'))
  const [one, several] = [await pages(), await pages()]
  const together = one
    .entry('src/main.ts', 'src/admin.ts', 'src/print.css', 'index.html')
    .split('\n')
  t.is(
    new Set(together.map(tag => attribute('href', tag) ?? attribute('src', tag))).size,
    together.length
  )
  const calls = ['src/main.ts', 'src/admin.ts', 'src/print.css', 'index.html', 'src/main.ts']
  const apart = calls.map(name => several.entry(name)).filter(Boolean)
  t.deepEqual(apart.join('\n').split('\n').toSorted(), together.toSorted())
  t.is(one.entry('src/main.ts'), '')
  t.is(one.app('web').entry('src/admin.ts'), '', 'the helpers of an app are of the same page')
  t.not((await pages()).entry('src/main.ts'), '', 'another page has none of them yet')
})

test('BND-03 a chunk that an earlier call preloads is still loaded as a script by its own entry', async t => {
  await hashed
  const page = await pagesOf(optionsOf('dist'))()
  t.true(
    unhashed(summary(page.entry('index.html'))).includes('modulepreload /static/assets/main.js')
  )
  t.deepEqual(unhashed(summary(page.entry('src/main.ts'))), ['module /static/assets/main.js'])
})

test('an entry may be asked for with a leading slash or dot', async t => {
  await hashed
  const page = await pagesOf(optionsOf('dist'))()
  const tags = page.entry('/src/other.ts')
  t.regex(tags, /other/)
  t.is((await pagesOf(optionsOf('dist'))()).entry('./src/other.ts'), tags)
})

test('host stands before the URL of each tag', async t => {
  await hashed
  const page = await pagesOf(optionsOf('dist', { host: 'https://cdn.example' }))()
  for (const tag of page.entry('src/main.ts').split('\n'))
    t.regex(tag, /"https:\/\/cdn\.example\/static\//)
})

test('URLs are encoded as a browser encodes the imports in the modules, and each of them is served', async t => {
  await hashed
  const site = await makeSite(t, {}, { ...optionsOf('dist'), env: 'production' })
  const page = await pagesOf(optionsOf('dist'))()
  const name = 'src/a b/(group)/né.ts'
  const script = summary(page.entry(name)).find(tag => tag.startsWith('module '))
  const url = script?.replace('module ', '') ?? ''
  t.regex(url, /^\/static\/assets\/a%20b\/\(group\)\/n%C3%A9-[\w-]{8}\.js$/)
  t.is(new URL(decodeURI(url), 'http://localhost').pathname, url)
  for (const name of ['src/main.ts', 'src/a b/(group)/né.ts']) {
    for (const tag of summary((await pagesOf(optionsOf('dist'))()).entry(name))) {
      const answer = await ask(site.port, tag.split(' ').at(-1) ?? '')
      t.is(answer.status, 200, tag)
      t.is(answer.headers['cache-control'], 'public, max-age=31536000, immutable', tag)
    }
  }
})

test('MNT-04 what the manifest names is immutable, lazy chunks and images too; nothing else is', async t => {
  await hashed
  const site = await makeSite(t, {}, { ...optionsOf('dist'), env: 'production' })
  const manifest = JSON.parse(
    readFileSync(join(root, 'dist/.vite/manifest.json'), 'utf8')
  ) as Record<string, { file: string; css?: string[] }>
  const files = Object.values(manifest).flatMap(({ file, css = [] }) => [file, ...css])
  t.true(files.some(file => file.includes('lazy')) && files.some(file => file.endsWith('.svg')))
  for (const file of new Set(files)) {
    const answer = await ask(site.port, `/static/${encodeURI(file)}`)
    t.is(answer.headers['cache-control'], 'public, max-age=31536000, immutable', file)
  }
  const html = await ask(site.port, '/static/index.html')
  t.is(html.status, 200)
  t.is(html.headers['cache-control'], 'public, max-age=0, must-revalidate')
  t.is((await ask(site.port, '/static/.vite/manifest.json')).status, 404)
})

test('BND-08 without hashes in the names nothing is immutable, and the tags are the same', async t => {
  await plain
  const site = await makeSite(t, {}, { ...optionsOf('plain'), env: 'production' })
  const tags = summary((await pagesOf(optionsOf('plain'))()).entry('src/main.ts'))
  t.deepEqual(tags, [
    'stylesheet /static/deep.css',
    'stylesheet /static/shared.css',
    'stylesheet /static/main.css',
    'module /static/main.js',
    'modulepreload /static/deep.js',
    'modulepreload /static/shared.js'
  ])
  for (const path of ['/main.js', '/deep.js', '/deep.css', '/lazy.js', '/logo.svg', '/print.css']) {
    const answer = await ask(site.port, `/static${path}`)
    t.is(answer.status, 200, path)
    t.is(answer.headers['cache-control'], 'public, max-age=0, must-revalidate', path)
  }
})

test('BND-08 names that look hashed to a person or a pattern but are not', async t => {
  const entries = {
    'admin-DataTable': 'src/admin.ts',
    'main-component': 'src/main.ts',
    'shared-20240101': 'src/shared.ts',
    'deep-Ab3dEf9x': 'src/deep.ts',
    'print-ABCDEFGH': 'src/print.css'
  }
  await plain
  await run('likely', { output: names }, entries)
  // Every name has the same suffix, as that of a release.
  await run(
    'release',
    { output: { ...names, entryFileNames: '[name]-Ab3dEf9x.js' } },
    { main: 'src/main.ts', admin: 'src/admin.ts' }
  )
  for (const dir of ['likely', 'release']) {
    const site = await makeSite(t, {}, { ...optionsOf(dir), env: 'production' })
    const manifest = JSON.parse(
      readFileSync(join(root, dir, '.vite/manifest.json'), 'utf8')
    ) as Record<string, { file: string; css?: string[] }>
    const files = Object.values(manifest).flatMap(({ file, css = [] }) => [file, ...css])
    t.true(files.length >= 5)
    for (const file of files) {
      const answer = await ask(site.port, `/static/${file}`)
      t.is(answer.headers['cache-control'], 'public, max-age=0, must-revalidate', `${dir}/${file}`)
    }
  }
})

test('with build.cssCodeSplit: false every entry has the only stylesheet', async t => {
  await plain
  await build({
    root,
    base: '/static/',
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: 'one-css',
      cssCodeSplit: false,
      minify: false,
      manifest: true,
      rollupOptions: { input: ['src/other.ts', 'src/admin.ts'] }
    }
  })
  const page = await pagesOf(optionsOf('one-css'))()
  t.deepEqual(unhashed(summary(page.entry('src/other.ts'))), [
    'stylesheet /static/assets/style.css',
    'module /static/assets/other.js',
    'modulepreload /static/assets/deep.js'
  ])
})

// Tags for what @vitejs/plugin-legacy built.

const { root: legacyRoot, remove: removeLegacy } = makeBundlerProject(PAGES)
test.after.always(removeLegacy)

async function buildLegacy(outDir: string, options: Parameters<typeof legacy>[0]): Promise<void> {
  await build({
    root: legacyRoot,
    base: '/static/',
    configFile: false,
    logLevel: 'silent',
    plugins: [legacy({ ...options, targets: ['chrome >= 40'], polyfills: ['es.array.at'] })],
    build: {
      outDir,
      manifest: true,
      minify: false,
      rollupOptions: { input: ['src/admin.ts', 'src/print.css'] }
    }
  })
}

const both = buildLegacy('dist', { modernPolyfills: ['es.array.at'] })
const only = both.then(() => buildLegacy('only', { renderModernChunks: false }))

function legacyOptionsOf(dir: string) {
  return {
    root: legacyRoot,
    mounts: { '/static': { dir, manifest: `${dir}/.vite/manifest.json` } }
  }
}

test('BND-07 a legacy entry is SystemJS, then the entry, with nomodule, neither of them deferred', async t => {
  await both
  const page = await pagesOf(legacyOptionsOf('dist'))()
  const tags = page.entry('src/admin-legacy.ts', { nonce: 'r4nd0m' })
  t.deepEqual(unhashed(summary(tags)), [
    'text/javascript nomodule /static/assets/polyfills-legacy.js',
    'text/javascript nomodule /static/assets/admin-legacy.js'
  ])
  for (const tag of tags.split('\n')) {
    const file = join(legacyRoot, 'dist', (attribute('src', tag) ?? '').replace('/static/', ''))
    t.is(attribute('integrity', tag), sha384(file))
    t.is(attribute('nonce', tag), 'r4nd0m')
    t.notRegex(tag, /defer|async|type="module"/)
  }
})

test('BND-07 plain tags are enough: SystemJS imports the script that the parser has reached', async t => {
  await both
  const page = await pagesOf(legacyOptionsOf('dist'))()
  const urls = page
    .entry('src/admin-legacy.ts')
    .split('\n')
    .map(tag => attribute('src', tag) ?? '')
  const origin = 'http://old.example'
  const scripts: { src: string }[] = []
  const document = {
    readyState: 'loading',
    baseURI: `${origin}/`,
    title: '',
    head: { appendChild: (script: { src?: string; onload?: () => void }) => load(script) },
    createElement: () => ({
      addEventListener(event: string, run: () => void) {
        Object.assign(this, { [`on${event}`]: run })
      }
    }),
    querySelector: () => null,
    querySelectorAll: (selector: string) => (selector === 'script[src]' ? scripts : []),
    addEventListener: () => undefined
  }
  const browser = {
    document,
    location: new URL(origin),
    URL,
    setTimeout,
    console,
    addEventListener: () => undefined
  }
  const context = Object.assign(browser, { window: browser, self: browser })
  const load = (script: { src?: string; onload?: () => void }): void => {
    if (script.src === undefined) return
    scripts.push({ src: script.src })
    const file = join(legacyRoot, 'dist', new URL(script.src).pathname.replace('/static/', ''))
    runInNewContext(readFileSync(file, 'utf8'), context)
    script.onload?.()
  }
  for (const url of urls) load({ src: origin + url })
  await until(() => document.title !== '', 'the entry has run')
  t.is(document.title, `shared deep ${origin}/`)
})

test('the modern polyfills come before the module of each entry, and not with a stylesheet', async t => {
  await both
  const pages = pagesOf(legacyOptionsOf('dist'))
  t.deepEqual(
    unhashed(summary((await pages()).entry('src/admin.ts'))).filter(tag =>
      tag.startsWith('module ')
    ),
    ['module /static/assets/polyfills.js', 'module /static/assets/admin.js']
  )
  t.deepEqual(unhashed(summary((await pages()).entry('src/print.css'))), [
    'stylesheet /static/assets/print.css'
  ])
})

test('without modern chunks the legacy entry is for every browser', async t => {
  await only
  const page = await pagesOf(legacyOptionsOf('only'))()
  t.deepEqual(unhashed(summary(page.entry('src/admin-legacy.ts'))), [
    'text/javascript /static/assets/polyfills-legacy.js',
    'text/javascript /static/assets/admin-legacy.js'
  ])
})
