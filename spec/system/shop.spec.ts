// The bench's shop in Chromium: what its widgets do, as modules are served in development and as they are joined.
import { randomBytes } from 'node:crypto'
import { cpSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Middleware } from 'koa'
import { PACKAGES, pageOf } from '../../bench/visit/pages.ts'
import { precompile, type KoaAssetsOptions } from '../../lib/koa-assets.ts'
import { canMakeDeltas } from '../../lib/extras/deltas/delta-format.ts'
import { command } from '../support/command.ts'
import { makeProject, makeSite, serial as test, type ExecutionContext } from '../support/index.ts'
import { launch, type Page } from './chromium.ts'
import { resize, shows, textOf } from './page.ts'

const COMMENT = '<p id="comment">I sit on it every day.</p>'

const MODES: Readonly<Record<string, KoaAssetsOptions>> = {
  'in development': { env: 'development' },
  'bundle: true, also from a CDN': { env: 'production', bundle: true }
}

test.before(async () => void (await command(process.execPath, ['.ci/install.js', 'bench'])))

function makeShop(t: ExecutionContext): string {
  const root = makeProject(t)
  cpSync('bench/visit/shop', root, { recursive: true })
  symlinkSync(resolve('bench/node_modules'), join(root, 'node_modules'), 'dir')
  return root
}

/** Pages with a policy; Alpine evaluates what attributes contain, and htmx writes a stylesheet. */
const shop: (origin: string) => Middleware = origin => (ctx, next) => {
  if (ctx.path === '/comments') {
    ctx.body = COMMENT
    return undefined
  }
  const { assets } = ctx
  const nonce = randomBytes(16).toString('base64')
  const page = pageOf(ctx.path, {
    head: ([name = '', ...more]) =>
      assets.stylesheet('app', ...(more.includes('map') ? ['map'] : [])) +
      assets.importMap({ entry: [name, ...more], nonce }) +
      assets.javascript(name, ...more, { type: 'module', nonce }) +
      assets.live({ nonce }),
    image: name => assets.image(name)
  })
  if (page === undefined) return next()
  ctx.set(
    'Content-Security-Policy',
    `default-src 'self'; script-src 'nonce-${nonce}' 'strict-dynamic' 'unsafe-eval'; style-src 'self' 'unsafe-inline' ${origin}; font-src 'self' ${origin}; img-src 'self' data: ${origin}`
  )
  ctx.type = 'html'
  ctx.body = page
  return undefined
}

/** @param hasHost whether assets come from another origin */
async function open(t: ExecutionContext, options: KoaAssetsOptions, hasHost: boolean) {
  const cdn = hasHost ? await makeSite(t, {}, { ...options, headers: CORS }) : undefined
  const host = cdn && `http://localhost:${cdn.port}`
  const served = { ...options, ...(host && { host }), routes: shop(host ?? '') }
  const site = await makeSite(t, {}, served)
  return { site, browser: launch(t), origin: `http://127.0.0.1:${site.port}` }
}

const CORS = { 'Access-Control-Allow-Origin': '*' }

const text = (selector: string) => `${textOf(selector)}.trim()`

async function point(page: Page, element: string, ...types: readonly string[]): Promise<void> {
  // Once it stays in its place: a widget that is drawn above it moves it.
  const { x, y } = await page.evaluate<{ x: number; y: number }>(
    `(async () => {
      const element = ${element}
      for (let last = '';;) {
        element.scrollIntoView({ block: 'center', behavior: 'instant' })
        const { x, y, width, height } = element.getBoundingClientRect()
        const place = [x, y, width, height].join()
        if (place === last) return { x: x + width / 2, y: y + height / 2 }
        last = place
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      }
    })()`
  )
  for (const type of types) {
    const button = type === 'mouseMoved' ? 'none' : 'left'
    await page.command('Input.dispatchMouseEvent', { type, x, y, button, clickCount: 1 })
  }
}

const find = (selector: string) => `document.querySelector('${selector}')`
const click = (page: Page, element: string) =>
  point(page, element, 'mouseMoved', 'mousePressed', 'mouseReleased')

async function useProduct(page: Page): Promise<void> {
  await shows(page, text('.navbar-text'), 'Your cart is empty')
  await click(page, find('.btn-primary'))
  await shows(page, text('.navbar-text'), '1 for €199.00')
  await shows(page, `${find('#added')}.classList.contains('show')`, true)
  await click(page, find('[hx-get]'))
  await shows(page, text('#comment'), 'I sit on it every day.')
  await point(page, find('.price small'), 'mouseMoved')
  await shows(page, text('.tooltip'), 'Until the end of November')
  const stars = `${find('shop-stars')}.shadowRoot.textContent.replaceAll(/\\s/g, '')`
  await shows(page, stars, '★★★★☆')
  await click(page, `${find('shop-stars')}.shadowRoot.querySelector('[aria-label="2"]')`)
  await shows(page, stars, '★★☆☆☆')
  const isDrawn = `[...${find('#prices')}.getContext('2d').getImageData(0, 0, ${find('#prices')}.width, ${find('#prices')}.height).data].some(Boolean)`
  await shows(page, isDrawn, true)
  const wish = find('#wishes li')
  await point(page, wish, 'mouseMoved', 'mousePressed')
  await shows(page, `${wish}.draggable`, true)
  await point(page, wish, 'mouseReleased')
  await resize(page, 1280)
  await click(page, find('.dropdown-toggle'))
  await shows(page, `${find('.dropdown-menu')}.classList.contains('show')`, true)
  await shows(page, `document.fonts.check('16px "DM Sans"')`, true)
  const isLoaded = '({ complete, naturalWidth }) => complete && naturalWidth > 0'
  await shows(page, `[...document.images].every(${isLoaded})`, true)
}

async function useMap(page: Page): Promise<void> {
  await click(page, find('path.leaflet-interactive'))
  await shows(page, text('.leaflet-popup-content'), 'Delivery: €12.00')
}

for (const [what, mode] of Object.entries(MODES)) {
  test(`every widget of a shop works under a Content-Security-Policy: ${what}`, async t => {
    const options = { ...PACKAGES, ...mode, root: makeShop(t) }
    if (mode.env === 'production') await precompile(options, { warn: message => t.fail(message) })
    for (const hasHost of mode.bundle === true ? [false, true] : [false]) {
      const { site, browser, origin } = await open(t, options, hasHost)
      const other = await browser.open(`${origin}/shops`)
      await useMap(other)
      const page = await browser.open(`${origin}/`)
      await useProduct(page)
      const answers = [...page.answers, ...other.answers]
      const isAsset = ([url]: readonly [string, number]) =>
        url.includes('/assets/') && !url.includes('/-/')
      const fromSite = answers.filter(each => isAsset(each) && each[0].startsWith(origin))
      t.is(fromSite.length > 0, !hasHost)
      const failed = answers.filter(([, status]) => status >= 400)
      t.deepEqual(failed, [])
      t.deepEqual([...page.complaints, ...other.complaints], [])
      t.deepEqual(site.errors, [])
    }
  })
}

/** What visitors load of the first contestant, which joins the modules of packages, and compresses at the best level. */
const WALK = `import { contestants } from './bench/visit/contestants.ts'
  import { build, removeBuilds, visitsOf } from './bench/visit/visits.ts'
  try { console.log(JSON.stringify(await visitsOf(build(contestants[0])))) } finally { removeBuilds() }`

/** Of `/`, `/shops`, `/` again, and `/` after a deploy: with dictionaries in the browser, and without. */
type Visit = Readonly<Record<'requests' | 'bytes', number>>

test('each visit to the shop keeps to its number of requests and bytes, also after a deploy', async t => {
  const { NODE_OPTIONS: _, ...env } = process.env
  const words = ['--import=tsx', '--input-type=module', '--eval', WALK]
  const { stdout } = await command(process.execPath, words, { env })
  const { first, next, second, deployed, without } = JSON.parse(stdout) as Record<string, Visit>
  const checkAtMost = (visit: Visit | undefined, requests: number, bytes: number) =>
    t.true(visit && visit.requests <= requests && visit.bytes <= bytes, JSON.stringify(visit))
  checkAtMost(first, 16, 190_000)
  checkAtMost(next, 6, 50_000)
  checkAtMost(second, 1, 300)
  checkAtMost(deployed, 4, (await canMakeDeltas()) ? 5000 : 30_000)
  checkAtMost(without, 4, 30_000)
})
