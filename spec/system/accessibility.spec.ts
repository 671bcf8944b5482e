// axe-core on the pages that people see: of the demo, of the inspector, and about an error.
import { listOf } from '../extras/inspector/inspected.ts'
import { freePort } from '../../demo/deploy/stack.ts'
import { ask, makeSite, test, until, type ExecutionContext, type Files } from '../support/index.ts'
import { startProgram } from '../support/processes.ts'
import { launch } from './chromium.ts'
import { findingsIn, preferScheme, resize, SCREENS } from './page.ts'

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const BACKGROUND = 'getComputedStyle(document.body).backgroundColor'

/** Axe finds nothing on any of the pages, in light and dark, and those of the inspector fit every width. */
async function checkAll(t: ExecutionContext, port: number, paths: readonly string[]) {
  const browser = launch(t)
  for (const path of paths) {
    const page = await browser.open(`http://127.0.0.1:${port}${path}`)
    const backgrounds = new Set<unknown>()
    for (const [width, scheme] of SCREENS) {
      await resize(page, width)
      await preferScheme(page, scheme)
      t.deepEqual(await findingsIn(page), [], `${path} at ${width} px, ${scheme}`)
      if (path.includes('/-/')) t.is(await page.evaluate(OVERFLOW), 0, `${path} at ${width} px`)
      backgrounds.add(await page.evaluate(BACKGROUND))
    }
    if (!path.includes('/-/')) continue
    t.is(backgrounds.size, SCREENS.length)
    t.not(await page.evaluate('document.title'), 'attacked')
    // The browser asks for an icon by itself, and a page that was not found is a 404.
    const complaints = page.complaints.filter(each => !/favicon|asset\?path=none/.test(each))
    t.deepEqual(complaints, [])
  }
}

test('axe finds nothing on the pages of the demo', async t => {
  const port = await freePort()
  const demoEnv = { SERVE_STATIC_ASSETS: 'true', DEMO_VITE: 'true', PORT: String(port) }
  const env = { ...process.env, NODE_ENV: 'development', ...demoEnv }
  startProgram(t, ['--import', 'tsx', 'demo/server.ts'], { env })
  const listens = () =>
    ask(port, '/health').then(
      () => true,
      () => false
    )
  await until(listens, 'the demo listens')
  await checkAll(t, port, ['/', '/caching', '/caching/notes', '/packages', '/admin', '/vite'])
})

const LONG = 'long '.repeat(200)
const FILES: Files = {
  'css/app.css.scss': "@use 'colors';\n.a { background: url('logo.svg') }",
  'css/_colors.scss': 'a { color: red }',
  'css/broken.css.scss': `a {\n  color: ;;{ /* ${LONG} */\n}`,
  [`css/a-name-${'that-is-long-'.repeat(9)}.css`]: `a { content: '${LONG}' }`,
  'css/long.css': `a { content: '${LONG}' }`,
  "css/<script>document.title='attacked'<!--.css": 'a {}',
  'js/app.js': "import './none.js'",
  'img/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"/>'
}

test('axe finds nothing on the pages of the inspector, nor on that about an error', async t => {
  const site = await makeSite(t, FILES)
  // Until every asset was looked at, the list reloads itself.
  await listOf(site)
  for (const path of ['app.css', 'none.css', 'broken.css']) await site.ask(`/assets/${path}`)
  const assets = ['/assets/app.css', 'long.css', 'broken.css', 'none']
  const pages = ['', 'requests', ...assets.map(path => `asset?path=${path}`)]
  await checkAll(t, site.port, ['/assets/broken.css', ...pages.map(page => `/assets/-/${page}`)])
})
