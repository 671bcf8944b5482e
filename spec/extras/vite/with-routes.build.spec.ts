// What Vite built: the tags, links and URLs of its entries, files and lazy modules; the last of its dev server as well.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import type { Middleware } from 'koa'
import { build } from 'vite'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { areOf, attribute, makeBundlerProject, makeProject, makeSite } from '../../support/index.ts'
import { PAGES, pagesOf, sha384, summary, test, unhashed, until } from '../../support/index.ts'
import { urlIn, viteMount, warningsAbout, writeFiles } from '../../support/index.ts'
import { startVite } from '../../support/vite-server.ts'

const { root, remove } = makeBundlerProject({
  ...PAGES,
  'index.html': '<!doctype html><script type="module" src="/src/main.ts"></script>',
  'src/hero.png': Buffer.alloc(5000, 'hero'),
  'src/react.tsx':
    "import { createRoot } from 'react-dom/client'\nimport { shared } from './shared.ts'\n" +
    "import hero from './hero.png'\ncreateRoot(document.body).render(<img src={hero} alt={shared()} />)",
  'src/a b/(group)/né.ts': "import { deep } from '../../deep.ts'\nconsole.log(deep())",
  'apps/web/assets/images/own.png': 'own',
  'apps/web/assets/src/both.png': 'own',
  'apps/admin/assets/src/print.css': 'own'
})
test.after.always(remove)

const MOUNT = viteMount()
const MANIFEST = MOUNT.manifest
const PLAIN = { root, apps: { web: { fingerprint: false } }, mounts: { '/static': MOUNT } }
const optionsOf = (more: KoaAssetsOptions = {}) => ({ ...PLAIN, ...more })

const GIVEN = { root, base: '/static/', configFile: false, logLevel: 'error' } as const
// Minifying costs most of a build, and changes no manifest.
const HOW = { manifest: true, minify: false, assetsInlineLimit: 0 }

test.before(async () => {
  const input = {
    main: 'src/main.ts',
    admin: 'src/admin.ts',
    other: 'src/other.ts',
    'print.css': 'src/print.css',
    html: 'index.html',
    react: 'src/react.tsx',
    'a b/(group)/né': 'src/a b/(group)/né.ts'
  }
  await build({ ...GIVEN, plugins: [react()], build: { ...HOW, rollupOptions: { input } } })
})

const preloading =
  (name: string): Middleware =>
  ctx => {
    ctx.preload(name)
    ctx.body = 'page'
  }

/** The links of the page that Vite writes, and ours. */
async function linksOf(directory: string, rel: string) {
  const html = readFileSync(join(root, directory, 'index.html'), 'utf8')
  const page = await pagesOf(optionsOf({ mounts: { '/static': viteMount(directory) } }))()
  const written = [...html.matchAll(/<link rel="(\w+)" crossorigin href="([^"]*)">/g)]
  const urls = written.filter(([, each]) => each === rel).map(([, , url]) => `${rel} ${url}`)
  const tags = summary(page.entry('index.html')).filter(tag => tag.startsWith(rel))
  return { urls, tags }
}

test('stylesheets and preloads are those of the page that Vite writes, in its order', async t => {
  for (const rel of ['stylesheet', 'modulepreload']) {
    const { urls, tags } = await linksOf('dist', rel)
    t.true(urls.length >= 2)
    t.deepEqual(tags, urls)
  }
})

test('with cssCodeSplit: false every entry has the one stylesheet', async t => {
  await build({ ...GIVEN, build: { ...HOW, outDir: 'whole', cssCodeSplit: false } })
  const { urls, tags } = await linksOf('whole', 'stylesheet')
  t.is(urls.length, 1)
  t.deepEqual(tags, urls)
})

test('each tag has the integrity of the bytes on disk, crossorigin once, and the nonce', async t => {
  const page = await pagesOf(optionsOf())()
  const tags = page.entry('src/main.ts', 'src/print.css', { nonce: 'a"b' }).split('\n')
  t.is(tags.length, 7)
  for (const tag of tags) {
    t.is(attribute('integrity', tag), sha384(join(root, urlIn(tag).replace('/static/', 'dist/'))))
    t.is(tag.split('crossorigin').length, 2)
    t.is(attribute('crossorigin', tag), 'anonymous')
    t.is(attribute('nonce', tag), 'a&quot;b')
  }
  const several = await pagesOf(optionsOf({ integrity: ['sha256', 'sha512'] }))()
  const both = /integrity="sha256-[^" ]+ sha512-[^" ]+" crossorigin="anonymous">$/
  t.regex(several.entry('src/print.css'), both)
})

test('entries with common chunks, and entries that import each other, write no tag twice', async t => {
  const pages = pagesOf(optionsOf())
  const [one, several] = [await pages(), await pages()]
  const names = ['src/main.ts', 'src/admin.ts', 'src/print.css', 'index.html'] as const
  const together = one.entry(...names).split('\n')
  t.is(new Set(together.map(tag => summary(tag)[0])).size, together.length)
  const apart = [...names, 'src/main.ts'].map(name => several.entry(name)).filter(Boolean)
  t.deepEqual(apart.join('\n').split('\n').toSorted(), together.toSorted())
  t.is(one.app('web').entry('src/admin.ts'), '', 'the helpers of an app are of the same page')
  const page = await pages()
  const preload = 'modulepreload /static/assets/main.js'
  t.true(unhashed(summary(page.entry('index.html'))).includes(preload))
  const own = unhashed(summary(page.entry('src/main.ts')))
  t.deepEqual(own, ['module /static/assets/main.js'], 'a preload is no script yet')
})

test('only the files that the manifest names are immutable, lazy chunks and images included', async t => {
  const { ask } = await makeSite(t, {}, optionsOf({ env: 'production' }))
  type Chunks = Record<string, { file: string; css?: string[] }>
  const manifest = JSON.parse(readFileSync(join(root, MANIFEST), 'utf8')) as Chunks
  const files = Object.values(manifest).flatMap(({ file, css = [] }) => [file, ...css])
  t.true(files.some(file => file.includes('lazy')) && files.some(file => file.endsWith('.svg')))
  for (const file of new Set(files)) {
    const { headers } = await ask(`/static/${encodeURI(file)}`)
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable', file)
  }
  const html = await ask('/static/index.html')
  t.is(html.status, 200)
  t.is(html.headers['cache-control'], 'public, max-age=0, must-revalidate')
  t.is((await ask(`/static/.vite/manifest.json`)).status, 404)
  // As a browser encodes the imports in the modules: a module with two URLs would run twice.
  const tags = (await pagesOf(optionsOf())()).entry('src/a b/(group)/né.ts')
  const url = attribute('src', tags) ?? ''
  t.regex(url, /^\/static\/assets\/a%20b\/\(group\)\/n%C3%A9-[\w-]{8}\.js$/)
  t.is((await ask(url)).status, 200)
})

test('entryFiles lists what the tags load, with their attributes', async t => {
  const { entry, entryFiles } = await pagesOf(optionsOf())()
  const { scripts, stylesheets, preloads } = entryFiles('src/main.ts')
  const listed = [...stylesheets, ...scripts, ...preloads].map(each => {
    return `${each.href} ${each.integrity} ${each.crossorigin}`
  })
  const tags = entry('src/main.ts').split('\n')
  const expected = tags.map(tag => `${urlIn(tag)} ${attribute('integrity', tag)} anonymous`)
  t.deepEqual(listed, expected)
  const [script] = scripts
  t.deepEqual([scripts.length, script?.type, script?.nomodule], [1, 'module', false])
  const plain = await pagesOf(optionsOf({ integrity: false }))()
  t.deepEqual(plain.entryFiles('src/main.ts').scripts, [
    { ...script, integrity: undefined, crossorigin: undefined } as never
  ])
  t.throws(() => entryFiles('src/none.ts'), { code: 'asset-unknown' })
  const message = "unknown option 'entryFiles.nonce': known options: mount"
  t.throws(() => Reflect.apply(entryFiles, null, ['src/admin.ts', { nonce: '' }]), { message })
})

test("in the pages of an app, ctx.preload prefers the app's asset to an entry of the same name", async t => {
  const routes = preloading('src/print.css')
  const apps = { ...PLAIN.apps, admin: { fingerprint: false } }
  const { ask } = await makeSite(t, {}, { ...optionsOf({ env: 'development', apps }), routes })
  t.regex(String((await ask('/')).headers.link), /^<\/static\//)
  t.regex(String((await ask('/admin')).headers.link), /^<\/assets\/admin\/print\.css>/)
})

test('helpers find a file by its source, unless an asset of an app has the name', async t => {
  const page = await pagesOf(optionsOf({ env: 'development', host: 'https://cdn.example' }))()
  const hero = page.path('src/hero.png')
  t.regex(hero, /^\/static\/assets\/hero-[\w-]+\.png$/)
  t.is(page.url('src/hero.png'), `https://cdn.example${hero}`)
  t.is(page.path('src/hero.png?v=1', { mount: '/static' }), `${hero}?v=1`)
  t.true(page.favicon('src/hero.png').includes(hero))
  t.true(page.preload('src/hero.png').includes(`${hero}>; rel=preload; as=image`))
  t.is(page.path('own.png'), '/assets/own.png')
  t.is(page.path('both.png'), '/assets/both.png')
  const message = `'src/hero.pgn' is not a source in ${join(root, MANIFEST)}`
  const unknown = { code: 'asset-unknown', message }
  t.throws(() => page.path('src/hero.pgn', { mount: '/static' }), unknown)
  const fingerprinted = { env: 'test', fingerprint: true, apps: { web: {} } }
  const withFingerprints = await pagesOf(optionsOf(fingerprinted))()
  const error = t.throws(() => withFingerprints.path('src/nothing.png'), { code: 'asset-unknown' })
  t.true(error?.message.endsWith(`; nor is it a source in ${join(root, MANIFEST)}`))
})

test("while Vite's dev server runs, helpers lead to it for names in a folder of its root", async t => {
  const inProcess = { base: '/static/', server: { middlewareMode: true, ws: false as const } }
  const { server: dev } = await startVite(t, root, inProcess)
  const mounts = { '/static': { ...MOUNT, dev } }
  const page = await pagesOf(optionsOf({ env: 'development', mounts }))()
  t.is(page.path('src/hero.png'), '/static/src/hero.png')
  t.is(page.path('own.png'), '/assets/own.png')
  t.is(page.path('mistyped.png'), '/assets/mistyped.png')
  t.is(page.path('mistyped.png', { mount: '/static' }), '/static/mistyped.png')
})

test('helpers and ctx.preload take a module that is imported dynamically, with all that it loads', async t => {
  const page = await pagesOf(optionsOf())()
  const tags = page.entry('src/lazy.ts')
  t.deepEqual(unhashed(summary(tags)), [
    'stylesheet /static/assets/deep.css',
    'stylesheet /static/assets/shared.css',
    'stylesheet /static/assets/lazy.css',
    'module /static/assets/lazy.js',
    'modulepreload /static/assets/deep.js',
    'modulepreload /static/assets/shared.js'
  ])
  t.true(areOf(root, 'dist', tags), tags)
  const { scripts, stylesheets, preloads } = page.entryFiles('src/lazy.ts')
  const hrefs = [...stylesheets, ...scripts, ...preloads].map(({ href }) => href)
  t.deepEqual(hrefs, tags.split('\n').map(urlIn))
  const options = optionsOf({ env: 'production' })
  const site = await makeSite(t, {}, { ...options, routes: preloading('src/lazy.ts') })
  const link = String((await site.ask('/')).headers['link'])
  const inLink = Array.from(link.matchAll(/<([^>]*)>/g), ([, url]) => url)
  t.deepEqual(inLink, hrefs)
})

test('helpers add, for a lazy module beside its entry, only what the entry does not load', async t => {
  const page = await pagesOf(optionsOf())()
  t.notRegex(page.entry('src/main.ts'), /lazy/)
  t.deepEqual(unhashed(summary(page.entry('src/lazy.ts'))), [
    'stylesheet /static/assets/lazy.css',
    'module /static/assets/lazy.js'
  ])
  t.regex(page.path('src/lazy.ts'), /^\/static\/assets\/lazy-[\w-]{8}\.js$/)
})

test('a site starts although a lazy chunk is missing on disk', async t => {
  const manifest = {
    'src/main.ts': { file: 'main.js', isEntry: true, dynamicImports: ['src/lazy.ts'] },
    'src/lazy.ts': { file: 'lazy.js', isDynamicEntry: true, src: 'src/lazy.ts' }
  }
  const root = makeProject(t, { 'dist/main.js': '', 'dist/meta.json': JSON.stringify(manifest) })
  const mounts = { '/': { dir: 'dist', manifest: 'dist/meta.json' } }
  const page = await pagesOf({ root, apps: false, mounts })()
  t.truthy(attribute('integrity', page.entry('src/main.ts')))
  t.is(attribute('integrity', page.entry('src/lazy.ts')), undefined)
})

const APP = 'export default () => <i>lazy</i>'

for (const way of ['beside', 'in the process of'] as const) {
  test(`with Vite ${way} the application, a page has the URLs by which modules are imported`, async t => {
    const project = makeBundlerProject({
      'src/main.tsx': "globalThis.later = () => import('./lazy.tsx')",
      'src/lazy.tsx': APP,
      'src/pages/Home.vue': '<template></template>'
    })
    t.teardown(project.remove)
    const { server, origin } = await startVite(t, project.root, {
      plugins: [react(), freshAssets({ mount: '/static', input: 'src/main.tsx' })],
      server: { ...(way !== 'beside' && { middlewareMode: true }), ws: false }
    })
    const mount = { ...viteMount(), dev: way === 'beside' ? undefined : server }
    const options = { root: project.root, env: 'development', mounts: { '/static': mount } }
    const pages = pagesOf(options)
    const page = await pages()
    const at = `${origin}/static`
    const preamble = `${at}/@id/__x00__virtual:koa-fresh-assets/preamble`
    t.deepEqual(summary(page.entry('src/lazy.tsx')), [
      `module ${at}/@vite/client`,
      // A component that runs before the entry expects it, too.
      `module ${preamble}`,
      `module ${at}/src/lazy.tsx`
    ])
    const warning =
      "koa-fresh-assets: 'src/lazy.tsx' is not an input of Vite: in production, entry() has it only if a module imports it dynamically"
    t.true(warningsAbout("'src/lazy.tsx'").includes(warning))
    t.is(page.entryFiles('src/pages/Home.vue').scripts.at(-1)?.href, `${at}/src/pages/Home.vue`)
    for (const name of ['src/lzy.tsx', 'src/Lazy.tsx', 'package.json', 'src'])
      t.throws(() => page.entry(name), { code: 'asset-unknown' }, name)
    const { ask } = await makeSite(t, {}, { ...options, routes: preloading('src/lazy.tsx') })
    const link = String((await ask('/')).headers['link'])
    t.true(link.includes(`<${at}/src/lazy.tsx>; rel=modulepreload`))

    await server.transformRequest('/src/main.tsx')
    await server.transformRequest('/src/lazy.tsx')
    const lazy = await server.environments.client.moduleGraph.getModuleByUrl('/src/lazy.tsx')
    writeFiles(project.root, { 'src/lazy.tsx': APP.replace('lazy', 'edited') })
    const isByTime = async () => {
      // Vite may see one edit twice.
      const { lastHMRTimestamp: before = 0 } = lazy ?? {}
      const source = (await pages()).entryFiles('src/lazy.tsx').scripts.at(-1)?.href
      return before > 0 && source === `${at}/src/lazy.tsx?t=${before}`
    }
    await until(isByTime, 'the page has the URL by which it is imported')
  })
}

test('in tests without a build, ctx.preload and the helpers use the names of the sources', async t => {
  const routes: Middleware = ctx => {
    ctx.preload('src/main.ts')
    ctx.set('X-Path', ctx.assets.path('src/a.svg', { mount: '/admin' }))
    ctx.body = ctx.assets.entry('src/main.ts', 'src/print.css')
  }
  const { ask } = await makeSite(t, {}, { env: 'test', mounts: { '/admin': MOUNT }, routes })
  const { text, headers } = await ask('/')
  t.is(headers['x-path'], '/admin/src/a.svg')
  t.true(String(headers.link).includes('</admin/src/main.ts>; rel=modulepreload'))
  const tags = summary(text)
  t.is(tags[0], 'stylesheet /admin/src/print.css')
  t.is(tags.at(-1), 'module /admin/src/main.ts')
})
