// docs/bundlers.md: each of its programs is run, over an application that it fits.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type Koa from 'koa'
import type { ViteDevServer } from 'vite'
import type { NamesThenEntryOptions } from '../../lib/extras/vite/entry.ts'
import { blocksLeft, makeExample, readPage } from '../support/examples.ts'
import { ask, makeProject, makeSite, moduleFile, open, serial as test } from '../support/index.ts'
import { writeFiles, type ExecutionContext, type Files } from '../support/index.ts'
import type { SiteOptions } from '../support/index.ts'
import { buildWithVite, linkPackages, runInProject } from './installed.ts'
import { shows, visit, type View } from './page.ts'

const page = readPage('docs/bundlers.md')
const deploy = page.take('Deploying', 'bash')

/** The programs of the page, by the name in their first line. */
const programs = new Map(
  [
    ...['Vite', 'Vite in the same process', 'esbuild', 'webpack and Rspack', 'Several entries'],
    ...['Lazy modules', 'Old browsers', 'Content-Security-Policy', 'Single-page applications']
  ]
    .flatMap(section => page.take(section, 'js'))
    .map(({ file = '', text }) => [file, text])
)

const SOURCES: Files = {
  'src/main.jsx': `import { createRoot } from 'react-dom/client'
    import { shared } from './shared.js'
    import './main.css'
    import('./later.js')
    createRoot(document.querySelector('#root')).render(<p>{shared('page')}</p>)`,
  'src/chart.jsx': "import { shared } from './shared.js'; shared('chart')",
  'src/main.js': "import { shared } from './shared.js'; shared('main')",
  'src/shared.js': 'export function shared(what) { console.log(what); return what }',
  'src/later.js': "console.log('later')",
  'src/main.css': 'p { color: green }'
}

/** What Vite bundles ahead where it discovers dependencies may be written after it was closed. */
const UNBUNDLED = "  cacheDir: '.cache',\n  optimizeDeps: { noDiscovery: true }"

/** An application with the page's programs, and with what is installed here. */
function makeApp(t: ExecutionContext): string {
  const root = makeProject(t, { 'package.json': '{ "type": "module" }', ...SOURCES })
  linkPackages(root)
  const library = pathToFileURL(moduleFile('lib/index.ts')).href
  for (const [name, text] of programs) {
    const runnable = text
      .replace("'koa-fresh-assets'", `'${library}'`)
      .replace(/^(app|server)\.listen\(3000\)/m, 'export { app }')
      .replace('dev = await vite', 'dev = app.context.vite = await vite')
      .replace('  plugins: [react', `${UNBUNDLED},\n  plugins: [react`)
      .replace('ws: { server }', 'ws: { server: (app.context.server = server) }')
    writeFiles(root, { [name]: runnable })
  }
  return root
}

interface Example extends Koa {
  readonly context: Koa['context'] & { readonly vite?: ViteDevServer; readonly server?: Server }
}

function importProgram(root: string, name: string): Promise<unknown> {
  return import(pathToFileURL(join(root, name)).href)
}

async function start(
  t: ExecutionContext,
  root: string,
  program: string,
  env: 'production' | 'development'
): Promise<number> {
  const { NODE_ENV: before } = process.env
  // The second one keeps servers that other specs start meanwhile from printing an overview, which they take for a warning.
  Object.assign(process.env, { NODE_ENV: env, NODE_TEST_CONTEXT: 'child' })
  const { app } = (await importProgram(root, program)) as { app: Example }
  Object.assign(process.env, { NODE_ENV: before })
  delete process.env['NODE_TEST_CONTEXT']
  const { vite, server = createServer(app.callback()) } = app.context
  t.teardown(async () => vite?.close())
  return open(t, server)
}

const siteOf = (t: ExecutionContext, root: string, options: SiteOptions) =>
  makeSite(t, {}, { root, env: 'production', ...options })

/** What `entry` writes for these names, without what differs from build to build. */
async function tagsOf(
  t: ExecutionContext,
  { root, ...options }: SiteOptions & { readonly root: string },
  ...names: NamesThenEntryOptions
): Promise<{ tags: string[]; urls: string[]; port: number }> {
  const routes: Koa.Middleware = ctx => {
    if (ctx.path === '/') ctx.body = ctx.assets.entry(...names)
  }
  const site = await siteOf(t, root, { ...options, routes })
  const { text } = await site.ask('/')
  const urls = Array.from(text.matchAll(/(?:src|href)="([^"]+)"/g), ([, url = '']) => url)
  return { tags: withoutHashes(text), urls, port: site.port }
}

function withoutHashes(html: string): string[] {
  return html
    .replaceAll(/sha384-[^"]+/g, '…')
    .replaceAll(/[-.](?:[\w-]{8}|[0-9a-f]{16,20})(?=\.(?:js|css))/g, '-<hash>')
    .split('\n')
    .map(line => line.trim())
}

const VITE_MOUNTS = { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }
const IMMUTABLE = 'public, max-age=31536000, immutable'
const GUARD = 'integrity="…" crossorigin="anonymous"'
const STYLESHEET = `<link href="/static/assets/main-<hash>.css" type="text/css" rel="stylesheet" ${GUARD}>`
const SCRIPT = `<script src="/static/assets/main-<hash>.js" type="module" ${GUARD}></script>`

test('in production the examples for Vite lead to the files of its build', async t => {
  const root = makeApp(t)
  await buildWithVite(root)
  const port = await start(t, root, 'server.js', 'production')
  const { text } = await ask(port, '/')
  const lines = withoutHashes(text)
  t.deepEqual(
    lines.filter(line => /^<(?:link|script)/.test(line)),
    [STYLESHEET, SCRIPT]
  )
  for (const [, url = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    t.is((await ask(port, url)).headers['cache-control'], IMMUTABLE, url)
  }
  t.is((await ask(port, '/static/.vite/manifest.json')).status, 404)
  t.is((await ask(port, '/static/assets/gone.js')).headers['cache-control'], 'no-store')

  const { page } = (await importProgram(root, 'streaming.js')) as {
    page: <Result>(ctx: Koa.Context, render: (entry: object) => Result) => Promise<Result>
  }
  const { options } = (await importProgram(root, 'own-page.js')) as { options: SiteOptions }
  const routes: Koa.Middleware = async ctx => {
    if (ctx.path === '/') ctx.body = await page(ctx, entry => entry)
  }
  const site = await siteOf(t, root, { ...options, routes })
  const { text: data, headers } = await site.ask('/')
  const { bootstrapModules, stylesheets } = JSON.parse(data) as Record<string, unknown[]>
  t.regex(
    JSON.stringify(bootstrapModules),
    /^\[\{"src":"\/assets\/main-[\w-]{8}\.js","integrity":"sha384-/
  )
  t.regex(JSON.stringify(stylesheets), /^\["\/assets\/main-[\w-]{8}\.css"\]$/)
  t.regex(String(headers.link), /rel=preload; as=style; .*rel=modulepreload/)
  t.is(await policyOf(t, root, 'production'), policyWith('').trimEnd())
  const lazy = (await importProgram(root, 'lazy-page.js')) as {
    page: (ctx: Koa.Context, html: string) => string
  }
  const streaming: Koa.Middleware = ctx => void (ctx.body = lazy.page(ctx, '<p></p>'))
  const { text: streamed } = await (
    await siteOf(t, root, { ...options, routes: streaming })
  ).ask('/')
  t.regex(streamed, /assets\/main-[^]*<script src="\/assets\/later-[\w-]{8}\.js"/)
  const shell = await site.ask('/orders/7', { headers: { accept: 'text/html' } })
  t.is(shell.status, 200)
  const tags = [STYLESHEET, SCRIPT].map(tag => tag.replace('/static/', '/'))
  t.deepEqual(withoutHashes(shell.text).slice(2, 4), tags)
  writeFiles(root, { 'dist/index.html': '<div id="root"></div>' })
  const single = (await importProgram(root, 'single-page.js')) as { options: SiteOptions }
  const singlePage = await siteOf(t, root, single.options)
  const order = await singlePage.ask('/orders/7', { headers: { accept: 'text/html' } })
  t.deepEqual([order.status, order.text], [200, '<div id="root"></div>'])

  const withVite = await start(t, root, 'server-with-vite.js', 'production')
  t.regex((await ask(withVite, '/')).text, /<script src="\/static\/assets\/main-.* nonce="/)
})

test("in development the tags and the policy name Vite's own server, without a build", async t => {
  const root = makeApp(t)
  const { createServer: createVite } = await import('vite')
  const vite = await createVite({ root, logLevel: 'silent', server: { port: 0 } })
  await vite.listen()
  t.teardown(() => vite.close())
  const origin = new URL(vite.resolvedUrls?.local[0] ?? '').origin
  const port = await start(t, root, 'server.js', 'development')
  const { text } = await ask(port, '/')
  const scripts = Array.from(text.matchAll(/ src="([^"]+)"/g), ([, url]) => url)
  t.deepEqual(scripts, [`${origin}/static/@vite/client`, `${origin}/static/src/main.jsx`])
  const dev = `${origin} ${origin.replace('http', 'ws')}`
  t.is(await policyOf(t, root, 'development'), policyWith(dev))
})

const policyWith = (dev: string) =>
  `default-src 'self' ${dev}; script-src 'nonce-…'; style-src 'nonce-…' 'self' ${dev}`

async function policyOf(t: ExecutionContext, root: string, env: string): Promise<string> {
  const { policy } = (await importProgram(root, 'policy.js')) as { policy: Koa.Middleware }
  const site = await makeSite(t, {}, { root, env, mounts: VITE_MOUNTS, routes: policy })
  const { headers } = await site.ask('/')
  return String(headers['content-security-policy']).replaceAll(/nonce-[^']+/g, 'nonce-…')
}

test('Vite in the same process serves only its modules and leaves other paths to the application', async t => {
  const root = makeApp(t)
  const program = String(readFileSync(join(root, 'server-with-vite.js')))
  const behind = "server.on('request', app.callback())"
  const route = 'ctx => { if (/^.(static.admin|src)/.test(ctx.path)) ctx.body = ctx.path }'
  writeFiles(root, {
    'server-with-vite.js': program.replace(behind, `app.use(${route})\n${behind}`)
  })
  const port = await start(t, root, 'server-with-vite.js', 'development')
  const { text, headers } = await ask(port, '/')
  const nonce = /'nonce-([^']+)'/.exec(String(headers['content-security-policy']))?.[1] ?? ''
  const scripts = Array.from(text.matchAll(/<script[^>]*>/g), ([tag]) => tag)
  t.is(scripts.length, 2)
  for (const tag of scripts) t.true(tag.includes(`nonce="${nonce}"`), tag)
  t.is((await ask(port, '/static/src/main.jsx')).headers['content-type'], 'text/javascript')
  for (const path of ['/static/admin', '/src/main.jsx']) t.is((await ask(port, path)).text, path)
})

test('with esbuild the tags of an entry also preload shared chunks', async t => {
  const root = makeApp(t)
  const build = (programs.get('build.js') ?? '').replace(
    "['src/main.jsx']",
    "['src/main.jsx', 'src/chart.jsx']"
  )
  writeFiles(root, { 'build.js': build })
  await runInProject(root, ['build.js'])
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/metafile.json' } }
  const { tags, urls, port } = await tagsOf(t, { root, mounts }, 'src/main.jsx')
  t.deepEqual(tags, [
    `<link href="/static/main-<hash>.css" type="text/css" rel="stylesheet" ${GUARD}>`,
    `<script src="/static/main-<hash>.js" type="module" ${GUARD}></script>`,
    `<link href="/static/chunk-<hash>.js" rel="modulepreload" ${GUARD}>`
  ])
  for (const url of urls) t.is((await ask(port, url)).headers['cache-control'], IMMUTABLE, url)
})

for (const [bundler, load] of Object.entries({
  webpack: "import bundle from 'webpack'",
  Rspack: "import { rspack as bundle } from '@rspack/core'"
})) {
  test(`with ${bundler} the tags of an entrypoint lead to immutable files`, async t => {
    const root = makeApp(t)
    writeFiles(root, {
      'run.js': `${load}
        import config from './webpack.config.js'
        bundle(config, (error, stats) => {
          if (error ?? stats.hasErrors()) throw error ?? new Error(stats.toString())
        })`
    })
    await runInProject(root, ['run.js'])
    const mounts = { '/static': { dir: 'dist', manifest: 'dist/stats.json' } }
    const { tags, urls, port } = await tagsOf(t, { root, mounts }, 'main')
    t.deepEqual(tags, [
      `<script src="/static/main-<hash>.js" type="text/javascript" ${GUARD} defer="defer"></script>`
    ])
    for (const url of urls) t.is((await ask(port, url)).headers['cache-control'], IMMUTABLE, url)
    t.is((await ask(port, '/static/stats.json')).status, 404)
  })
}

test("a page of Vite's legacy build also runs in browsers that know no modules", async t => {
  const root = makeApp(t)
  const polyfills = "polyfills: ['es.array.at'], modernPolyfills: ['es.array.at']"
  configure(root, '[react()', `[react(), legacy({ targets: ['chrome >= 40'], ${polyfills} })`)
  configure(root, /^/, "import legacy from '@vitejs/plugin-legacy'\n")
  configure(root, "'src/main.jsx'", "['src/main.jsx', 'src/main.css']")
  // Without React, which takes Babel long.
  const later = "import('./later.js').then(() => (document.title = 'later'))"
  writeFiles(root, { 'src/main.jsx': later })
  await buildWithVite(root)
  const built = { root, mounts: VITE_MOUNTS }
  const nonce = 'r4nd0m'
  const legacy = await tagsOf(t, built, 'src/main-legacy.jsx', { nonce })
  const scripts = ['polyfills-legacy', 'main-legacy']
  const attributes = `type="text/javascript" ${GUARD} nomodule="nomodule" nonce="${nonce}"`
  const written = (name: string) =>
    `<script src="/static/assets/${name}-<hash>.js" ${attributes}></script>`
  t.deepEqual(legacy.tags, scripts.map(written))
  t.deepEqual((await tagsOf(t, built, 'src/main.css')).tags, [STYLESHEET])
  const program = await importProgram(root, 'legacy-page.js')
  const { page: legacyPage } = program as { page: (ctx: Koa.Context) => string }
  let html = ''
  // The page as a browser has it that knows neither modules nor this attribute.
  const view: View = ctx => {
    html = legacyPage(ctx)
    return html.replaceAll(/ nomodule="nomodule"|<script[^>]* type="module".*/g, '')
  }
  const { page } = await visit(t, { ...built, env: 'production', view })
  await shows(page, 'document.title', 'later')
  const [head = '', body = ''] = html.split('<div id="root">')
  const namesIn = (text: string) =>
    Array.from(text.matchAll(/<script src="[^"]*\/([\w-]+)-[\w-]{8}\.js"/g), ([, name]) => name)
  t.deepEqual([namesIn(head), namesIn(body)], [['polyfills', 'main'], scripts])
  t.false(head.includes('nomodule'))
})

test('the deploy script of the page keeps the files of earlier builds', async t => {
  const site = makeExample(t, SOURCES)
  site.write({ 'vite.config.js': programs.get('vite.config.js') ?? '' })
  await site.follow(deploy)
  // A directory at first, and a link that a run which was ended has left.
  site.write({ 'dist/.vite/dev-server.json': '{}', 'builds/1/left.txt': '' })
  await site.run('ln -s builds/1 dist.new')
  const scripts = new Set<string>()
  for (const color of ['red', 'green', 'blue']) {
    site.write({ 'src/main.css': `p { color: ${color} }\n`.repeat(200), 'src/later.js': color })
    await site.run('. ./deploy.sh')
    const names = readdirSync(join(site.root, 'dist/assets'))
    const chunks = names.filter(name => /^later-.*\.js$/.test(name))
    for (const chunk of chunks) scripts.add(chunk)
    t.is(chunks.length, scripts.size)
    t.true(names.some(name => name.endsWith('.js.br')))
  }
  t.is(scripts.size, 3)
  t.regex(await site.run('npx koa-fresh-assets clean dist'), /^0 files removed/)
  t.deepEqual(blocksLeft(), [])
})

function configure(root: string, before: string | RegExp, after: string): void {
  const config = readFileSync(join(root, 'vite.config.js'), 'utf8')
  const changed = config.replace(before, after)
  if (changed === config) throw new Error(`vite.config.js has no ${String(before)}`)
  writeFiles(root, { 'vite.config.js': changed })
}
