// Tags for what @vitejs/plugin-legacy built.
import { join } from 'node:path'
import legacy from '@vitejs/plugin-legacy'
import { test } from '../support/test.ts'
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
import { visit, type View } from './page.ts'

const MOUNT = { dir: 'dist', manifest: 'dist/.vite/manifest.json' }

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

test('a legacy entry is SystemJS, then the entry, with nomodule, neither of them deferred', async t => {
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

test('plain tags are enough: SystemJS imports the script that the parser has reached', async t => {
  // As a browser does that knows neither modules nor this attribute.
  const view: View = ({ assets }) =>
    assets.entry('src/admin-legacy.ts').replaceAll(' nomodule="nomodule"', '')
  const options = { root: legacyRoot, mounts: { '/static': MOUNT } }
  const { page, url } = await visit(t, { ...options, env: 'production', view })
  await until(() => page.evaluate<boolean>("document.title !== 'page'"), 'the entry has run')
  t.is(await page.evaluate('document.title'), `shared deep ${url}`)
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
