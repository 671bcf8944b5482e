// Tags for what @vitejs/plugin-legacy built.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import legacy from '@vitejs/plugin-legacy'
import test from 'ava'
import { build } from 'vite'
import { until } from '../../support/until.ts'
import {
  attribute,
  makeBundlerProject,
  pagesOf,
  PAGES,
  sha384,
  summary,
  unhashed
} from '../../support/bundler-project.ts'

const { root, remove } = makeBundlerProject(PAGES)
test.after.always(remove)

async function run(outDir: string, options: Parameters<typeof legacy>[0]): Promise<void> {
  await build({
    root,
    base: '/static/',
    configFile: false,
    logLevel: 'silent',
    plugins: [legacy({ ...options, targets: ['chrome >= 40'], polyfills: ['es.array.at'] })],
    build: { outDir, manifest: true, rollupOptions: { input: ['src/admin.ts', 'src/print.css'] } }
  })
}

const both = run('dist', { modernPolyfills: ['es.array.at'] })
const only = both.then(() => run('only', { renderModernChunks: false }))

function optionsOf(dir: string) {
  return { root, mounts: { '/static': { dir, manifest: `${dir}/.vite/manifest.json` } } }
}

test('BND-07 a legacy entry is SystemJS, then the entry, with nomodule, neither of them deferred', async t => {
  await both
  const page = await pagesOf(optionsOf('dist'))()
  const tags = page.entry('src/admin-legacy.ts', { nonce: 'r4nd0m' })
  t.deepEqual(unhashed(summary(tags)), [
    'text/javascript nomodule /static/assets/polyfills-legacy.js',
    'text/javascript nomodule /static/assets/admin-legacy.js'
  ])
  for (const tag of tags.split('\n')) {
    const file = join(root, 'dist', (attribute('src', tag) ?? '').replace('/static/', ''))
    t.is(attribute('integrity', tag), sha384(file))
    t.is(attribute('nonce', tag), 'r4nd0m')
    t.notRegex(tag, /defer|async|type="module"/)
  }
})

test('BND-07 plain tags are enough: SystemJS imports the script that the parser is at', async t => {
  await both
  const page = await pagesOf(optionsOf('dist'))()
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
    const file = join(root, 'dist', new URL(script.src).pathname.replace('/static/', ''))
    runInNewContext(readFileSync(file, 'utf8'), context)
    script.onload?.()
  }
  for (const url of urls) load({ src: origin + url })
  await until(() => document.title !== '', 'the entry has run')
  t.is(document.title, `shared deep ${origin}/`)
})

test('the modern polyfills come before the module of each entry, and not with a stylesheet', async t => {
  await both
  const pages = pagesOf(optionsOf('dist'))
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
  const page = await pagesOf(optionsOf('only'))()
  t.deepEqual(unhashed(summary(page.entry('src/admin-legacy.ts'))), [
    'text/javascript /static/assets/polyfills-legacy.js',
    'text/javascript /static/assets/admin-legacy.js'
  ])
})
