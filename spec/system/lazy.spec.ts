// A component of React.lazy in a page that is streamed from Koa; and what a page in development says of its build.
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { Context } from 'koa'
import type { EntryFiles } from '../../lib/extras/bundles/entry.ts'
import { makeProject, makeSite } from '../support/site.ts'
import { until } from '../support/until.ts'
import { launch } from './chromium.ts'

const VITE = resolve('node_modules/vite/bin/vite.js')
const PLUGIN = pathToFileURL(resolve('dist/vite.js')).href

const FILES = {
  'package.json': '{ "type": "module" }',
  'vite.config.js': `import react from '@vitejs/plugin-react'
    import { freshAssets } from '${PLUGIN}'
    export default { plugins: [react(), freshAssets({ mount: '/static', input: 'src/main.jsx' })] }`,
  'src/main.jsx': `import { hydrateRoot } from 'react-dom/client'
    import { App } from './app.jsx'
    import './main.css'
    hydrateRoot(document.querySelector('#root'), <App />)`,
  'src/app.jsx': `import { lazy, Suspense, useEffect } from 'react'
    const Order = lazy(() => import('./order.jsx'))
    export function App() {
      useEffect(() => { globalThis.isHydrated = true }, [])
      return <Suspense fallback="…"><Order /></Suspense>
    }`,
  'src/order.jsx': `import { Badge } from './badge.jsx'
    import './order.css'
    globalThis.runs = (globalThis.runs ?? 0) + 1
    export default () => <p id="order">order <Badge /></p>`,
  'src/badge.jsx': "import './badge.css'\nexport const Badge = () => <b id='badge'>new</b>",
  'src/main.css': 'body { margin: 0 }',
  'src/order.css': '#order { color: rgb(1, 2, 3) }',
  'src/badge.css': '#badge { color: rgb(4, 5, 6) }',
  'src/server.jsx': `import { renderToPipeableStream } from 'react-dom/server'
    import { App } from './app.jsx'
    export const render = (stylesheets, scripts) => renderToPipeableStream(
      <html><head><title>page</title><link rel="icon" href="data:," />
        {stylesheets.map(({ href, integrity, crossorigin }) =>
          <link key={href} rel="stylesheet" {...{ href, integrity, crossOrigin: crossorigin }} />)}
      </head><body><div id="root"><App /></div></body></html>,
      { bootstrapModules: scripts.map(({ href, integrity, crossorigin }) =>
          ({ src: href, integrity, crossOrigin: crossorigin })) })`
}
const MOUNTS = { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }

async function buildProject(t: ExecutionContext): Promise<string> {
  const root = makeProject(t, FILES)
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'), 'dir')
  const env = { ...process.env, NODE_ENV: 'production' }
  for (const words of [[], ['--ssr', 'src/server.jsx', '--outDir', 'server']])
    await promisify(execFile)(process.execPath, [VITE, 'build', '--logLevel', 'error', ...words], {
      cwd: root,
      env
    })
  return root
}

interface Server {
  readonly render: (
    stylesheets: EntryFiles['stylesheets'],
    scripts: EntryFiles['scripts']
  ) => { pipe(to: PassThrough): PassThrough }
}

test('LZY-01 a lazy component of a streamed page has its styles with the first response, and everything is fetched once', async t => {
  const root = await buildProject(t)
  const { render } = (await import(pathToFileURL(join(root, 'server/server.js')).href)) as Server
  const paths: string[] = []
  const page = (ctx: Context) => {
    ctx.preload('src/order.jsx')
    const files = ['src/main.jsx', 'src/order.jsx'].map(name => ctx.assets.entryFiles(name))
    const stylesheets = files.flatMap(each => each.stylesheets)
    ctx.type = 'html'
    ctx.body = render(stylesheets, files[0]?.scripts ?? []).pipe(new PassThrough())
  }
  const site = await makeSite(
    t,
    {},
    {
      root,
      env: 'production',
      apps: false,
      mounts: MOUNTS,
      front: (ctx, next) => {
        paths.push(ctx.path)
        return next()
      },
      routes: ctx => {
        if (ctx.path === '/') page(ctx)
      }
    }
  )
  const { text } = await site.ask('/')
  const [head = ''] = text.split('<div id="root">')
  const built = Object.values(
    JSON.parse(readFileSync(join(root, 'dist/.vite/manifest.json'), 'utf8')) as Record<
      string,
      { readonly css?: readonly string[] }
    >
  ).flatMap(({ css = [] }) => css)
  t.true(built.length >= 2)
  for (const file of built) t.true(head.includes(`href="/static/${file}"`), file)

  paths.length = 0
  const tab = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  await until(() => tab.evaluate<boolean>('globalThis.isHydrated === true'), 'it is hydrated')
  await until(() => tab.evaluate<boolean>('globalThis.runs === 1'), 'the lazy module has run')
  const colors = ['#order', '#badge'].map(id =>
    tab.evaluate(`getComputedStyle(document.querySelector('${id}')).color`)
  )
  t.deepEqual(await Promise.all(colors), ['rgb(1, 2, 3)', 'rgb(4, 5, 6)'])
  const statuses = await tab.evaluate<string[]>(
    "performance.getEntriesByType('resource').filter(({ name }) => /\\.css$/.test(name)).map(each => each.renderBlockingStatus)"
  )
  t.deepEqual(
    statuses,
    built.map(() => 'blocking'),
    'the page is not shown without them'
  )
  t.deepEqual(paths.toSorted(), [...new Set(paths)].toSorted(), 'nothing is fetched twice')
  t.deepEqual(tab.complaints, [])
  t.deepEqual(tab.remarks, [])
})

test('LZY-02 without Vite, a corner of the page says of when its build is, until that is closed', async t => {
  const root = makeProject(t, {
    'dist/main-B1a2C3d4.js': 'document.title = "built"',
    'dist/.vite/manifest.json': JSON.stringify({
      'src/main.js': { file: 'main-B1a2C3d4.js', src: 'src/main.js', isEntry: true }
    })
  })
  const now = new Date()
  const at = new Date(now.getFullYear(), now.getMonth(), now.getDate(), 17, 17)
  utimesSync(join(root, 'dist/.vite/manifest.json'), at, at)
  const site = await makeSite(
    t,
    {},
    {
      root,
      mounts: MOUNTS,
      routes: ctx => {
        if (ctx.path !== '/') return
        ctx.type = 'html'
        ctx.set(
          'Content-Security-Policy',
          "default-src 'self'; img-src data:; script-src 'nonce-n'; require-trusted-types-for 'script'"
        )
        ctx.body = `<!doctype html><title>page</title><link rel="icon" href="data:,">
          ${ctx.assets.entry('src/main.js', { nonce: 'n' })}${ctx.assets.live({ nonce: 'n' })}`
      }
    }
  )
  const tab = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  const note = "document.querySelector('koa-fresh-assets-notes')?.shadowRoot"
  const text = () => tab.evaluate<string | undefined>(`${note}?.textContent`)
  await until(async () => (await text()) !== undefined, 'there is a note')
  t.is(await text(), 'Vite is not running: tags of the build of 17:17×')
  await tab.evaluate(`${note}.querySelector('button').click()`)
  t.is(await text(), undefined)
  t.deepEqual(tab.complaints, [])
})
