// Tags for what @vitejs/plugin-legacy and @vitejs/plugin-vue built.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import legacy from '@vitejs/plugin-legacy'
import vue from '@vitejs/plugin-vue'
import test from 'ava'
import { build } from 'vite'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  sha384,
  summary,
  unhashed
} from '../support/bundler-project.ts'
import { until } from '../support/until.ts'
import { linkPackages } from './installed.ts'

const MOUNT = { dir: 'dist', manifest: 'dist/.vite/manifest.json' }

test('BND-01 an entry of Vue has the stylesheet of its component, and a preload for what this imports', async t => {
  const files = {
    'src/deep.ts': "import './deep.css'\nexport const deep = () => 'deep'",
    'src/deep.css': '.deep { color: red }',
    'src/other.ts': "import { deep } from './deep.ts'\nconsole.log(deep())",
    'src/vue.ts':
      "import { createApp } from 'vue'\nimport App from './App.vue'\ncreateApp(App).mount('body')",
    'src/App.vue':
      "<script setup>\nimport { deep } from './deep.ts'\n</script>\n<template><h1>{{ deep() }}</h1></template>\n" +
      '<style scoped>h1 { color: red }</style>'
  }
  const { root, remove } = makeBundlerProject(files, linkPackages)
  t.teardown(remove)
  await build({
    ...{ root, base: '/static/', configFile: false, logLevel: 'error', plugins: [vue()] },
    build: {
      ...{ manifest: true, minify: false },
      rollupOptions: { input: ['src/vue.ts', 'src/other.ts'] }
    }
  })
  const page = await pagesOf({ root, mounts: { '/static': MOUNT } })()
  const tags = unhashed(summary(page.entry('src/vue.ts')))
  t.true(tags.includes('stylesheet /static/assets/vue.css'))
  t.true(tags.includes('modulepreload /static/assets/deep.js'))
})

const { root: legacyRoot, remove: removeLegacy } = makeBundlerProject(PAGES, linkPackages)
test.after.always(removeLegacy)

const polyfills = ['es.array.at']

test.before(() =>
  build({
    root: legacyRoot,
    base: '/static/',
    configFile: false,
    logLevel: 'silent',
    plugins: [legacy({ targets: ['chrome >= 40'], polyfills, modernPolyfills: polyfills })],
    build: {
      manifest: true,
      minify: false,
      rollupOptions: { input: ['src/admin.ts', 'src/print.css'] }
    }
  })
)

const legacyPages = () => pagesOf({ root: legacyRoot, mounts: { '/static': MOUNT } })

test('BND-07 a legacy entry is SystemJS, then the entry, with nomodule, neither of them deferred', async t => {
  const page = await legacyPages()()
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
  const page = await legacyPages()()
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
  const pages = legacyPages()
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
