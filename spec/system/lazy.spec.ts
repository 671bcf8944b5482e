// A component of React.lazy in a page that is streamed from Koa; and what a page in development says of its build.
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Middleware } from 'koa'
import { makeProject, test, until, viteBuild, type ExecutionContext } from '../support/index.ts'
import { REACT, STREAMING, viteConfig, type Render } from './front-ends.ts'
import { buildWithVite, linkPackages } from './installed.ts'
import { setPolicy, shows, styleOf, visit, type View } from './page.ts'

const FILES = {
  'package.json': '{ "type": "module" }',
  ...viteConfig({ ...REACT, input: 'src/main.jsx' }),
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
  'src/server.jsx': STREAMING
}
const MOUNTS = { '/admin': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }

async function buildProject(t: ExecutionContext): Promise<string> {
  const root = makeProject(t, FILES)
  linkPackages(root)
  await buildWithVite(root)
  await buildWithVite(root, '--ssr', 'src/server.jsx', '--outDir', 'server')
  return root
}

test('a lazy component of a streamed page has its styles at first, and everything is fetched once', async t => {
  const root = await buildProject(t)
  const server: unknown = await import(pathToFileURL(join(root, 'server/server.js')).href)
  const { render } = server as { render: Render }
  const options = { root, env: 'production', apps: false, mounts: MOUNTS } as const
  const routes: Middleware = ctx => {
    if (ctx.path !== '/') return
    ctx.preload('src/order.jsx')
    const files = ['src/main.jsx', 'src/order.jsx'].map(name => ctx.assets.entryFiles(name))
    const stylesheets = files.flatMap(each => each.stylesheets)
    const scripts = files[0]?.scripts ?? []
    ctx.type = 'html'
    ctx.body = render({ scripts, stylesheets }).pipe(new PassThrough())
  }
  const { site, page, paths } = await visit(t, { ...options, routes })
  await shows(page, 'globalThis.isHydrated', true)
  await shows(page, 'globalThis.runs', 1)
  t.deepEqual(paths.toSorted(), [...new Set(paths)].toSorted(), 'nothing is fetched twice')
  const { text } = await site.ask('/')
  const [head = ''] = text.split('<div id="root">')
  const manifest = readFileSync(join(root, 'dist/.vite/manifest.json'), 'utf8')
  const entries = Object.values(JSON.parse(manifest) as Record<string, { css?: string[] }>)
  const built = entries.flatMap(({ css = [] }) => css)
  t.true(built.length >= 2)
  for (const file of built) t.true(head.includes(`href="/admin/${file}"`), file)
  const colors = await Promise.all(['#order', '#badge'].map(id => page.evaluate(styleOf(id))))
  t.deepEqual(colors, ['rgb(1, 2, 3)', 'rgb(4, 5, 6)'])
  const statuses = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').filter(({ name }) => /\\.css$/.test(name)).map(each => each.renderBlockingStatus)"
  )
  t.is(statuses.length, built.length)
  t.true(
    statuses.every(status => status === 'blocking'),
    'the page is not shown without them'
  )
  t.deepEqual(page.complaints, [])
  t.deepEqual(page.remarks, [])
})

test('without Vite, a corner of the page says of when its build is, until that is closed', async t => {
  const built = { 'src/main.js': 'main-B1a2C3d4.js' }
  const root = makeProject(t, viteBuild('dist', built))
  const at = new Date(2020, 1, 29, 17, 17)
  utimesSync(join(root, 'dist/.vite/manifest.json'), at, at)
  const view: View = ctx => {
    const nonce = setPolicy(ctx, 'img-src data:; script-src NONCE')
    return `${ctx.assets.entry('src/main.js', { nonce })}${ctx.assets.live({ nonce })}`
  }
  const { page } = await visit(t, { view, root, mounts: MOUNTS })
  const note = "document.querySelector('koa-fresh-assets-notes')?.shadowRoot"
  const text = () => page.evaluate<string | undefined>(`${note}?.textContent`)
  await until(async () => (await text()) !== undefined, 'there is a note')
  t.is(await text(), 'Vite is not running: tags of the build of 2020-02-29 17:17×')
  await page.evaluate(`${note}.querySelector('button').click()`)
  t.is(await text(), undefined)
  t.deepEqual(page.complaints, [])
})
