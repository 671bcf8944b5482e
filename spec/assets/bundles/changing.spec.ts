// A new build while the server runs, and what a page costs the disk.
import { createHook } from 'node:async_hooks'
import fs, { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import react from '@vitejs/plugin-react'
import test, { type ExecutionContext } from 'ava'
import type { Context, Middleware } from 'koa'
import { build, createServer, type InlineConfig, type ViteDevServer } from 'vite'
import type { KoaAssetsOptions } from '../../../lib/assets/settings/options.ts'
import { koaHttpCache } from '../../../lib/koa-http-cache.ts'
import { ask } from '../../support/ask.ts'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  sha384,
  summary
} from '../../support/bundler-project.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'
import { until } from '../../support/until.ts'
import { warningsAbout } from '../../support/warnings.ts'

// Each synchronous call by name, and each asynchronous one as the resource that it is to Node.
const calls: string[] = []
const patched = fs as unknown as Record<string, (...args: unknown[]) => unknown>
for (const name of ['statSync', 'readFileSync', 'readdirSync', 'openSync', 'stat']) {
  const original = patched[name]
  patched[name] = (...args) => {
    calls.push(`${name} ${String(args[0])}`)
    return original?.(...args)
  }
}
syncBuiltinESMExports()
createHook({
  init: (_, type) => {
    if (/^FS|^FILEHANDLE/.test(type)) calls.push(type)
  }
}).enable()

const { root, remove } = makeBundlerProject(PAGES)
test.after.always(remove)

const run = (outDir: string, more: object = {}) =>
  build({
    root,
    base: '/static/',
    configFile: false,
    logLevel: 'error',
    build: {
      outDir,
      manifest: true,
      minify: false,
      rollupOptions: { input: ['src/main.ts', 'src/admin.ts'] },
      ...more
    }
  })

/** The URL and the integrity of each tag. */
const tagsOf = (html: string) =>
  html.split('\n').map(tag => ({
    file: (attribute('href', tag) ?? attribute('src', tag) ?? '').replace('/static/', ''),
    integrity: attribute('integrity', tag)
  }))

const options = (dir: string): KoaAssetsOptions => ({
  root,
  revalidate: 0,
  mounts: { '/static': { dir, manifest: `${dir}/.vite/manifest.json` } }
})

/** The tags name files that exist, with the integrity of their bytes. */
function areOf(dir: string, html: string): boolean {
  return tagsOf(html).every(({ file, integrity }) => integrity === sha384(join(root, dir, file)))
}

const environments: Record<string, KoaAssetsOptions> = {
  production: { env: 'production' },
  development: { env: 'development', integrity: 'sha384', revalidate: 3600 }
}

for (const [env, more] of Object.entries(environments)) {
  test.serial(
    `BLD-01 BLD-02 the first page after a build that emptied dist has its tags, in ${env}`,
    async t => {
      const dir = `dist-${env}`
      await run(dir)
      const pages = pagesOf({ ...options(dir), ...more })
      const before = (await pages()).entry('src/main.ts', 'src/admin.ts')
      writeFiles(root, {
        'src/deep.ts': `import './deep.css'\nexport const deep = () => '${env} ' + location.href`,
        'src/shared.css': `.shared { content: '${env}' }`
      })
      await run(dir)
      const asked = Array.from({ length: 20 }, async () => {
        const page = await pages()
        return page.entry('src/main.ts', 'src/admin.ts')
      })
      const [after = '', ...others] = await Promise.all(asked)
      t.not(after, before)
      t.true(areOf(dir, after), after)
      t.deepEqual(new Set(others), new Set([after]))
    }
  )
}

test.serial('BLD-02 a visitor whose page names files that are gone gets no 304', async t => {
  await run('visited')
  const site = await makeSite(
    t,
    {},
    { ...options('visited'), env: 'production', routes: pageWithEtag('src/main.ts') }
  )
  const { headers } = await site.ask('/')
  const question = { headers: { 'If-None-Match': headers.etag ?? '' } }
  t.is((await site.ask('/', question)).status, 304)
  writeFiles(root, { 'src/deep.css': '.deep { color: purple }' })
  await run('visited')
  const { status, text } = await site.ask('/', question)
  t.is(status, 200)
  t.true(areOf('visited', text), text)
})

/** A route whose ETag only changes with the tags. */
function pageWithEtag(name: string): Middleware {
  const cache = koaHttpCache({ version: ctx => ctx.assets.version })
  const render: Middleware = async ctx => {
    await ctx.fresh('page')
    ctx.body = ctx.assets.entry(name)
  }
  return (ctx, next) => cache(ctx, () => render(ctx, next) as Promise<void>)
}

test.serial(
  'BND-05 with names without hashes, the integrity follows the bytes, and so does version',
  async t => {
    const names = {
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      assetFileNames: '[name][extname]'
    }
    const build = () => run('plain', { rollupOptions: { input: ['src/main.ts'], output: names } })
    await build()
    const pages = pagesOf(options('plain'))
    const first = await pages()
    const [before, version] = [first.entry('src/main.ts'), first.version]
    writeFiles(root, { 'src/main.css': '.main { color: green }' })
    await build()
    const last = await pages()
    const after = last.entry('src/main.ts')
    t.not(after, before)
    t.deepEqual(summary(after), summary(before))
    t.true(areOf('plain', after), after)
    t.not(last.version, version)
  }
)

test.serial(
  'BND-05 while a build lacks files, or its manifest is broken, the last good one stays in use, and the log says so once',
  async t => {
    await run('slow', { emptyOutDir: false })
    const pages = pagesOf(options('slow'))
    const before = (await pages()).entry('src/main.ts')
    const manifest = join(root, 'slow/.vite/manifest.json')
    const text = readFileSync(manifest, 'utf8')
    const replace = (content: string) => {
      writeFileSync(`${manifest}.next`, content)
      renameSync(`${manifest}.next`, manifest)
    }
    replace(text.slice(0, 100))
    t.is((await pages()).entry('src/main.ts'), before)
    t.true(warningsAbout('slow').some(warning => warning.includes('JSON')))
    // A later chunk of the new build, which even no tag names.
    const lazy = /"assets\/(lazy-[\w-]+\.js)"/.exec(text)?.[1] ?? ''
    replace(text.replaceAll(lazy, 'lazy-N0tYetWr.js'))
    t.is((await pages()).entry('src/main.ts'), before)
    t.true(warningsAbout('slow').some(warning => warning.includes('lazy-N0tYetWr.js')))
    const main = /"assets\/(main-[\w-]+\.js)"/.exec(text)?.[1] ?? ''
    const complete = text.replaceAll(lazy, 'lazy-N0tYetWr.js').replaceAll(main, 'main-N3wOnE4x.js')
    replace(complete)
    writeFiles(root, {
      'slow/assets/main-N3wOnE4x.js': 'new()',
      'slow/assets/lazy-N0tYetWr.js': 'lazy()'
    })
    t.true((await pages()).entry('src/main.ts').includes('main-N3wOnE4x.js'))
    t.is(warningsAbout('JSON').length, 1)
  }
)

test.serial('BND-05 a file that is still being written is waited for', async t => {
  const project = makeProject(t, {
    'dist/a.js': 'old()',
    'manifest.json': '{ "a": { "file": "a.js", "isEntry": true } }'
  })
  const pages = pagesOf({
    root: project,
    revalidate: 0,
    mounts: { '/static': { dir: 'dist', manifest: 'manifest.json' } }
  })
  const before = (await pages()).entry('a')
  // The manifest is new, and a chunk grows for a while: pages never get the hash of a part of it.
  writeFiles(project, {
    'manifest.json': '{ "a": { "file": "a.js", "isEntry": true, "css": [] } }'
  })
  const seen = new Set<string>()
  const state = { text: '', isWriting: true }
  const writing = (async () => {
    for (let piece = 0; piece < 20; piece++) {
      state.text += `piece(${piece});`
      writeFiles(project, { 'dist/a.js': state.text })
      await setTimeout(100)
    }
    state.isWriting = false
  })()
  while (state.isWriting) seen.add((await pages()).entry('a'))
  await writing
  const after = (await pages()).entry('a')
  t.is(tagsOf(after)[0]?.integrity, sha384(join(project, 'dist/a.js')))
  seen.delete(after)
  t.deepEqual([...seen], [before])
})

test.serial('a page costs one stat of the manifest per `revalidate`, and no read', async t => {
  await run('cost')
  const manifest = join(root, 'cost/.vite/manifest.json')
  // A file that was just written is read once more.
  await until(() => Date.now() - statSync(manifest).ctimeMs > 1100, 'the files have rested')
  // Without fingerprints koaAssets has no manifest of its own.
  const cost = { ...options('cost'), fingerprint: false, integrity: 'sha384' } as const
  const often = pagesOf(cost)
  const once = pagesOf({ ...cost, revalidate: 3600 })
  // The first page waits for the hashes of the files.
  await Promise.all([often(), once()])
  calls.length = 0
  for (let page = 0; page < 50; page++) t.regex((await once()).entry('src/main.ts'), /integrity/)
  t.deepEqual(calls, [])
  const look = [`stat ${manifest}`, 'FSREQCALLBACK']
  calls.length = 0
  for (let page = 0; page < 5; page++) t.regex((await often()).entry('src/main.ts'), /integrity/)
  t.deepEqual(calls, Array.from({ length: 5 }, () => look).flat())
  calls.length = 0
  await Promise.all(Array.from({ length: 50 }, () => often()))
  // The first one's look may have begun before the others came, who share the next one.
  t.deepEqual(calls, [...look, ...look])
})

test.serial('a manifest that disappears, or is unchanged, changes nothing', async t => {
  await run('gone')
  const manifest = join(root, 'gone/.vite/manifest.json')
  const pages = pagesOf(options('gone'))
  const before = (await pages()).entry('src/main.ts')
  utimesSync(manifest, 1, 1)
  for (let page = 0; page < 10; page++) t.is((await pages()).entry('src/main.ts'), before)
  rmSync(manifest)
  for (let page = 0; page < 10; page++) t.is((await pages()).entry('src/main.ts'), before)
  t.deepEqual(warningsAbout('gone'), [])
})

test.serial("the manifest of a mount is looked at by the mount's own `revalidate`", async t => {
  const manifest = (file: string) =>
    JSON.stringify({ outputs: { [`dist/${file}`]: { entryPoint: 'a.ts', imports: [] } } })
  const files = { 'dist/a.js': 'a', 'dist/b.js': 'b', 'meta.json': manifest('a.js') }
  for (const [own, expected] of [
    [3600, 'a.js'],
    [0, 'b.js']
  ] as const) {
    const project = makeProject(t, files)
    const mount = { dir: 'dist', manifest: 'meta.json', revalidate: own }
    const pages = pagesOf({ root: project, revalidate: 1, mounts: { '/static': mount } })
    t.deepEqual(summary((await pages()).entry('a.ts')), ['module /static/a.js'])
    writeFiles(project, { 'meta.json': manifest('b.js') })
    t.deepEqual(summary((await pages()).entry('a.ts')), [`module /static/${expected}`])
  }
})

// Development: tags that lead to a real Vite dev server, on a port of its own and inside the application.

const { root: devRoot, remove: removeDev } = makeBundlerProject({
  ...PAGES,
  'src/main.tsx': 'export default function App() { return <h1>App</h1> }'
})
test.after.always(removeDev)

async function startVite(
  t: ExecutionContext,
  server: InlineConfig['server']
): Promise<ViteDevServer> {
  const vite = await createServer({
    root: devRoot,
    base: '/static/',
    configFile: false,
    logLevel: 'silent',
    cacheDir: join(devRoot, 'cache'),
    plugins: [react()],
    // Nothing is bundled ahead, and nothing is watched: the specs ask for single files.
    optimizeDeps: { noDiscovery: true },
    server: { watch: null, hmr: false, ...server }
  })
  t.teardown(() => vite.close())
  return vite
}

const devOptions = (dev: string | true) => ({
  root: devRoot,
  env: 'development',
  mounts: { '/static': { dir: 'not/built', manifest: 'not/built/.vite/manifest.json', dev } }
})

test('BND-06 in development no manifest is needed: the client, then the entry, at the dev server', async t => {
  const vite = await startVite(t, { port: 0, host: '127.0.0.1' })
  await vite.listen()
  const port = (vite.httpServer?.address() as AddressInfo | undefined)?.port ?? 0
  const origin = `http://127.0.0.1:${port}`
  const page = await pagesOf(devOptions(`${origin}/`))()
  const tags = page.entry('src/main.tsx', 'src/print.css', '/src/other.ts', {
    reactRefresh: true,
    nonce: 'n'
  })
  t.deepEqual(summary(tags), [
    `stylesheet ${origin}/static/src/print.css`,
    'module <inline>',
    `module ${origin}/static/@vite/client`,
    `module ${origin}/static/src/main.tsx`,
    `module ${origin}/static/src/other.ts`
  ])
  for (const tag of tags.split('\n')) {
    t.is(attribute('nonce', tag), 'n')
    t.notRegex(tag, /integrity|crossorigin/)
    const url = attribute('href', tag) ?? attribute('src', tag)
    if (url === undefined) continue
    const isLink = tag.startsWith('<link')
    const answer = await ask(port, url.replace(origin, ''), {
      headers: { accept: isLink ? 'text/css,*/*;q=0.1' : '*/*' }
    })
    t.is(answer.status, 200, url)
    t.regex(answer.headers['content-type'] ?? '', isLink ? /^text\/css/ : /^text\/javascript/, url)
  }
})

test('BND-06 the client and the preamble are written once in a page, the preamble before the entry that asks for it', async t => {
  const pages = pagesOf(devOptions('http://localhost:5173'))
  const page = await pages()
  t.deepEqual(summary(page.entry('src/main.tsx')), [
    'module http://localhost:5173/static/@vite/client',
    'module http://localhost:5173/static/src/main.tsx'
  ])
  t.deepEqual(summary(page.entry('src/main.ts', { reactRefresh: true })), [
    'module <inline>',
    'module http://localhost:5173/static/src/main.ts'
  ])
  t.is(page.entry('src/main.tsx', 'src/main.ts', { reactRefresh: true }), '')
})

test('BND-06 the preamble prepares the page for the modules of @vitejs/plugin-react', async t => {
  const vite = await startVite(t, { port: 0, host: '127.0.0.1', hmr: true })
  await vite.listen()
  const page = await pagesOf(devOptions(true))()
  const [preamble = ''] = page.entry('src/main.tsx', { reactRefresh: true }).split('\n')
  const [, specifier = '', rest = ''] =
    /^<script type="module">import \{ injectIntoGlobalHook \} from ("[^"]+");(.*)<\/script>$/.exec(
      preamble
    ) ?? []
  t.is(JSON.parse(specifier), '/static/@react-refresh')
  const runtime = await vite.transformRequest('/@react-refresh')
  t.regex(runtime?.code ?? '', /export function injectIntoGlobalHook\(/)
  const window: Record<string, unknown> = {}
  const hooked: unknown[] = []
  // oxlint-disable-next-line typescript/no-implied-eval -- what a browser runs
  new Function('injectIntoGlobalHook', 'window', rest)((at: unknown) => hooked.push(at), window)
  t.deepEqual(hooked, [window])
  // What the transformed module asks for before it runs.
  const module = await vite.transformRequest('/src/main.tsx')
  t.regex(module?.code ?? '', /window\.\$RefreshReg\$/)
  t.deepEqual(Object.keys(window), ['$RefreshReg$', '$RefreshSig$'])
})

test('BND-06 dev: true is Vite in this process, at the path of the mount', async t => {
  const vite = await startVite(t, { middlewareMode: true })
  const site = await makeSite(
    t,
    {},
    {
      ...devOptions(true),
      routes: (ctx: Context, next) => {
        if (ctx.path === '/page') {
          ctx.body = ctx.assets.entry('src/main.tsx')
          return undefined
        }
        ctx.respond = false
        ctx.res.statusCode = 200
        return new Promise<void>(resolve => {
          ctx.res.once('close', resolve)
          vite.middlewares(ctx.req, ctx.res, () => void next().then(resolve))
        })
      }
    }
  )
  const tags = (await site.ask('/page')).text
  t.deepEqual(summary(tags), ['module /static/@vite/client', 'module /static/src/main.tsx'])
  for (const tag of tags.split('\n')) {
    const answer = await site.ask(attribute('src', tag) ?? '')
    t.is(answer.status, 200)
    t.regex(answer.headers['content-type'] ?? '', /^text\/javascript/)
  }
})

test('in development an HTML entry has no tags: the error says what to name', async t => {
  const page = await pagesOf(devOptions(true))()
  t.throws(() => page.entry('index.html'), { instanceOf: TypeError, message: /got 'index\.html'$/ })
})

test('a legacy entry exists only in builds', async t => {
  t.is((await pagesOf(devOptions(true))()).entry('src/main-legacy.tsx'), '')
})

test('dev applies in development only: elsewhere the manifest is needed', t => {
  t.throws(() => pagesOf({ ...devOptions(true), env: 'production' }), { message: /not\/built/ })
})
