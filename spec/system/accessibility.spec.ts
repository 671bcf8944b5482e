// axe-core on the pages that people see: of the demo, of the inspector, and about an error.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../demo/deploy/stack.ts'
import { ask } from '../support/ask.ts'
import { makeSite, type Files } from '../support/site.ts'
import { until } from '../support/until.ts'
import { launch } from './chromium.ts'
import { folderOf } from './installed.ts'

const AXE = readFileSync(join(folderOf('axe-core'), 'axe.min.js'), 'utf8')

const WIDTHS = [390, 1280]

/** Each finding, with the first elements that it is about. */
const FINDINGS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) =>
  passes.length === 0 ? ['nothing was checked'] :
  violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 120))].join(' ')))`

/** What axe finds on each of the pages, in each width. */
async function checkAll(
  t: ExecutionContext,
  port: number,
  paths: readonly string[]
): Promise<void> {
  const browser = launch(t)
  for (const path of paths) {
    const page = await browser.open(`http://127.0.0.1:${port}${path}`)
    await page.evaluate(`${AXE};undefined`)
    for (const width of WIDTHS) {
      const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: false }
      await page.command('Emulation.setDeviceMetricsOverride', metrics)
      t.deepEqual(await page.evaluate(FINDINGS), [], `${path} at ${width} px`)
    }
  }
}

test('AXE-01 axe finds nothing on the pages of the demo', async t => {
  const port = await freePort()
  const env = {
    ...process.env,
    NODE_ENV: 'development',
    SERVE_STATIC_ASSETS: 'true',
    DEMO_VITE: 'true',
    PORT: String(port)
  }
  const demo = spawn(process.execPath, ['--import', 'tsx', 'demo/server.ts'], { env })
  t.teardown(async () => {
    const ended = once(demo, 'exit')
    demo.kill()
    await ended
  })
  await until(
    () =>
      ask(port, '/health').then(
        () => true,
        () => false
      ),
    'the demo listens'
  )
  await checkAll(t, port, ['/', '/caching', '/caching/notes', '/admin', '/vite'])
})

const LONG = 'long '.repeat(200)
const FILES: Files = {
  'css/app.css.scss': "@use 'colors';\n.a { background: url('logo.svg') }",
  'css/_colors.scss': 'a { color: red }',
  'css/broken.css.scss': `a {\n  color: ;;{ /* ${LONG} */\n}`,
  'css/long.css': `a { content: '${LONG}' }`,
  'js/app.js': "import './none.js'",
  '/dist/list.json': JSON.stringify({
    'src/main.tsx': { file: `assets/${'a-long-name-'.repeat(9)}b2.js`, isEntry: true }
  }),
  [`/dist/assets/${'a-long-name-'.repeat(9)}b2.js`]: 'main()',
  'img/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"/>'
}

test('AXE-02 axe finds nothing on the pages of the inspector, nor on that about an error', async t => {
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' } }
  const site = await makeSite(t, FILES, { mounts })
  await site.ask('/assets/-/')
  for (const path of ['app.css', 'none.css', 'broken.css']) await site.ask(`/assets/${path}`)
  const pages = [
    '',
    'asset?path=/assets/app.css',
    'asset?path=long.css',
    'asset?path=broken.css',
    'asset?path=none',
    'weight',
    'weight?entry=app',
    'mounts',
    'requests'
  ]
  await checkAll(t, site.port, ['/assets/broken.css', ...pages.map(page => `/assets/-/${page}`)])
})
