// Development: tags that lead to a real Vite dev server, on a port of its own and inside the application.
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import test, { type ExecutionContext } from 'ava'
import type { Context } from 'koa'
import { createServer, type InlineConfig, type ViteDevServer } from 'vite'
import { ask } from '../../support/ask.ts'
import {
  attribute,
  makeBundlerProject,
  PAGES,
  pagesOf,
  summary
} from '../../support/bundler-project.ts'
import { makeSite } from '../../support/site.ts'

const { root, remove } = makeBundlerProject({
  ...PAGES,
  'src/main.tsx': 'export default function App() { return <h1>App</h1> }'
})
test.after.always(remove)

async function startVite(
  t: ExecutionContext,
  server: InlineConfig['server']
): Promise<ViteDevServer> {
  const vite = await createServer({
    root,
    base: '/static/',
    configFile: false,
    logLevel: 'silent',
    cacheDir: join(root, 'cache'),
    plugins: [react()],
    // Nothing is bundled ahead, and nothing is watched: the specs ask for single files.
    optimizeDeps: { noDiscovery: true },
    server: { watch: null, hmr: false, ...server }
  })
  t.teardown(() => vite.close())
  return vite
}

const options = (dev: string | true) => ({
  root,
  env: 'development',
  mounts: { '/static': { dir: 'not/built', manifest: 'not/built/.vite/manifest.json', dev } }
})

test('BND-06 in development no manifest is needed: the client, then the entry, at the dev server', async t => {
  const vite = await startVite(t, { port: 0, host: '127.0.0.1' })
  await vite.listen()
  const port = (vite.httpServer?.address() as AddressInfo | undefined)?.port ?? 0
  const origin = `http://127.0.0.1:${port}`
  const page = await pagesOf(options(`${origin}/`))()
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
  const pages = pagesOf(options('http://localhost:5173'))
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
  const page = await pagesOf(options(true))()
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
      ...options(true),
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
  const page = await pagesOf(options(true))()
  t.throws(() => page.entry('index.html'), { instanceOf: TypeError, message: /got 'index\.html'$/ })
})

test('a legacy entry is for builds alone', async t => {
  t.is((await pagesOf(options(true))()).entry('src/main-legacy.tsx'), '')
})

test('dev counts in development alone: elsewhere the manifest is needed', t => {
  t.throws(() => pagesOf({ ...options(true), env: 'production' }), { message: /not\/built/ })
})
