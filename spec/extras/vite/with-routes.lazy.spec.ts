// Modules that others import dynamically, named by a page: what three bundlers built, and Vite's dev server.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build as bundle } from 'esbuild'
import type { Middleware } from 'koa'
import { build } from 'vite'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { startVite } from '../../support/vite-server.ts'
import { areOf, attribute, makeBundlerProject, makeProject, makeSite } from '../../support/index.ts'
import { PAGES, pagesOf, summary, test, until, viteMount } from '../../support/index.ts'
import { warningsAbout, writeFiles } from '../../support/index.ts'
import { writeStats } from '../../support/webpack-stats.ts'

const { root, remove } = makeBundlerProject(PAGES)
test.after.always(remove)

test.before(async () => {
  const rollupOptions = { input: ['src/main.ts', 'src/admin.ts', 'src/other.ts'] }
  const how = { manifest: 'manifest.json', minify: false, assetsInlineLimit: 0, rollupOptions }
  const given = { root, base: '/static/', configFile: false, logLevel: 'error' } as const
  await build({ ...given, build: { outDir: 'vite', ...how } })
  const { metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: ['src/main.ts', 'src/admin.ts'],
    outdir: 'esbuild',
    bundle: true,
    splitting: true,
    format: 'esm',
    metafile: true,
    loader: { '.svg': 'file' }
  })
  writeFileSync(join(root, 'esbuild/manifest.json'), JSON.stringify(metafile))
  writeStats(root, 'webpack', 'webpack/manifest.json')
})

const optionsOf = (tool: string) => ({
  root,
  apps: false as const,
  mounts: { '/static': { dir: tool, manifest: `${tool}/manifest.json` } }
})

const preloading =
  (name: string): Middleware =>
  ctx => {
    ctx.preload(name)
    ctx.body = 'page'
  }

/** Without hashes, numbers of chunks, and the prefix; `stylesheet a.css, module a.js`. */
const kinds = (tags: string) =>
  summary(tags)
    .map(tag => tag.replace(/\/static\/(?:assets\/)?/, ''))
    .map(tag => tag.replace(/[-.][\w-]{8,20}(?=\.(?:js|css)$)/, ''))
    .join(', ')

for (const [tool, name, expected] of [
  [
    'vite',
    'src/lazy.ts',
    'stylesheet deep.css, stylesheet shared.css, stylesheet lazy.css, module lazy.js, modulepreload deep.js, modulepreload shared.js'
  ],
  ['esbuild', 'src/lazy.ts', 'stylesheet lazy.css, module lazy.js, modulepreload chunk.js'],
  [
    'webpack',
    'later',
    'stylesheet 373.css, stylesheet 843.css, stylesheet later.css, text/javascript defer 843.js, text/javascript defer later.js'
  ]
] as const) {
  test(`${tool}: helpers and ctx.preload take a module that is imported dynamically`, async t => {
    const page = await pagesOf(optionsOf(tool))()
    const tags = page.entry(name)
    t.is(kinds(tags), expected)
    t.true(areOf(root, tool, tags), tags)
    const { scripts, stylesheets, preloads } = page.entryFiles(name)
    const hrefs = [...stylesheets, ...scripts, ...preloads].map(({ href }) => href)
    const inTags = summary(tags).map(tag => tag.replace(/.* /, ''))
    t.deepEqual(hrefs, inTags)
    const options = { ...optionsOf(tool), env: 'production', routes: preloading(name) }
    const site = await makeSite(t, {}, options)
    const link = String((await site.ask('/')).headers['link'])
    const inLink = Array.from(link.matchAll(/<([^>]*)>/g), ([, url]) => url)
    t.deepEqual(inLink, hrefs)
  })
}

test('beside its entry a lazy module adds what the entry does not load, and path() has its file', async t => {
  const page = await pagesOf(optionsOf('vite'))()
  t.notRegex(page.entry('src/main.ts'), /lazy/)
  t.is(kinds(page.entry('src/lazy.ts')), 'stylesheet lazy.css, module lazy.js')
  t.regex(page.path('src/lazy.ts'), /^\/static\/assets\/lazy-[\w-]{8}\.js$/)
})

test('a lazy chunk that is missing on disk keeps nobody from starting', async t => {
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
  test(`with Vite ${way} the application, a page names the same modules`, async t => {
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
