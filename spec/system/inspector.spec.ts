// The inspector in a browser: narrow and wide, light and dark, with the keyboard, without scripts.
import test from 'ava'
import { makeSite, type Files } from '../support/site.ts'
import { launch, type Page } from './chromium.ts'

const FILES: Files = {
  'css/app.css.scss': "@use 'colors';\n.a { background: url('logo.svg') }",
  'css/_colors.scss': 'a { color: red }',
  'css/broken.css.scss': 'a {\n  color: ;;{\n}',
  'css/a-name-that-is-so-long-that-no-narrow-page-can-hold-it-in-one-line-without-breaking.css': `a { content: '${'long '.repeat(200)}' }`,
  "css/<script>document.title='attacked'<!--.css": 'a {}',
  'js/app.js': "import './none.js'",
  '/dist/list.json': JSON.stringify({
    'src/main.tsx': { file: 'main-a1.js', isEntry: true, dynamicImports: ['src/later.tsx'] },
    'src/later.tsx': { file: `assets/${'a-long-name-'.repeat(9)}b2.js` }
  }),
  '/dist/main-a1.js': 'main()',
  'img/logo.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><style>path { fill: red }</style><path d="M0 0h20v20z"/></svg>'
}

const PAGES = [
  '',
  'asset?path=/assets/app.css',
  'asset?path=broken.css',
  'asset?path=none',
  'weight?entry=app',
  'mounts',
  'requests'
]

async function show(page: Page, width: number, scheme: 'light' | 'dark'): Promise<void> {
  const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: false }
  await page.command('Emulation.setDeviceMetricsOverride', metrics)
  const features = [{ name: 'prefers-color-scheme', value: scheme }]
  await page.command('Emulation.setEmulatedMedia', { features })
}

/** Texts with less contrast to what is behind them than WCAG 2.2 asks for (1.4.3, level AA). */
const FAINT = `(() => {
  const parse = color => color.match(/[\\d.]+/g).map(Number)
  const luminance = color => {
    const [r, g, b] = parse(color).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = element => {
    const color = getComputedStyle(element).backgroundColor
    const [, , , alpha = 1] = parse(color)
    return alpha === 1 ? color : element.parentElement ? behind(element.parentElement) : 'rgb(255, 255, 255)'
  }
  const faint = []
  for (const element of document.body.querySelectorAll('*')) {
    const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())
    if (!hasText || !element.checkVisibility()) continue
    const [a, b] = [getComputedStyle(element).color, behind(element)].map(luminance).sort((x, y) => y - x)
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(element.outerHTML.slice(0, 100))
  }
  return faint
})()`

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

test('every page fits 390 and 1280 pixels, and is readable in light and dark', async t => {
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/list.json' } }
  const site = await makeSite(t, FILES, { mounts })
  await site.ask('/assets/-/')
  for (const path of ['app.css', 'none.css', 'broken.css']) await site.ask(`/assets/${path}`)
  const browser = launch(t)
  for (const name of PAGES) {
    const page = await browser.open(`http://127.0.0.1:${site.port}/assets/-/${name}`)
    const backgrounds = new Set<string>()
    for (const width of [390, 1280]) {
      for (const scheme of ['light', 'dark'] as const) {
        await show(page, width, scheme)
        const label = `${name} ${width} ${scheme}`
        t.is(await page.evaluate(OVERFLOW), 0, label)
        t.deepEqual(await page.evaluate(FAINT), [], label)
        backgrounds.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
      }
    }
    t.is(backgrounds.size, 2)
    const title = await page.evaluate<string>('document.title')
    t.true(title.endsWith('· koa-fresh-assets'), title)
    // The browser asks for an icon by itself, and a page that was not found is a 404.
    const ours = page.complaints.filter(each => !/favicon|asset\?path=none/.test(each))
    t.deepEqual(ours, [])
  }
})

test('on a narrow page a cell has the name of its column, and an SVG is shown with its own styles', async t => {
  const site = await makeSite(t, FILES)
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/assets/-/?q=logo`)
  const labels = () =>
    page.evaluate<
      [string, string][]
    >(`Array.from(document.querySelectorAll('td:not(:empty)'), cell =>
      [cell.dataset.column, getComputedStyle(cell, '::before').content])`)
  await show(page, 390, 'light')
  const [asset, state, ...others] = await labels()
  t.deepEqual(
    [asset, state],
    [
      ['Asset', 'none'],
      ['State', '"State: "']
    ]
  )
  for (const [column, label] of others) t.is(label, `"${column}: "`)
  await show(page, 1280, 'light')
  t.true((await labels()).every(([, label]) => label === 'none'))
  const color = await page.evaluate(`(async () => {
    const image = document.querySelector('img')
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: 20, height: 20 })
    const context = canvas.getContext('2d')
    context.drawImage(image, 0, 0, 20, 20)
    return [...context.getImageData(15, 5, 1, 1).data]
  })()`)
  t.deepEqual(color, [255, 0, 0, 255])
})

test('the keyboard leads to the content, through a filter, to an asset', async t => {
  const site = await makeSite(t, FILES)
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/assets/-/`)
  const press = async (key: string) => {
    const text = key === 'Enter' ? { text: '\r' } : {}
    const code = { Tab: 9, Enter: 13 }[key]
    const event = { key, code: key, windowsVirtualKeyCode: code, ...text }
    await page.command('Input.dispatchKeyEvent', { type: 'keyDown', ...event })
    await page.command('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
  }
  const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
  await press('Tab')
  t.is(await focused(), 'Skip to the content')
  t.true(await page.evaluate('document.activeElement.getBoundingClientRect().left >= 0'))
  await press('Enter')
  t.is(await page.evaluate('location.hash'), '#main')
  const seen: string[] = []
  for (let at = 0; at < 40 && !seen.includes('/assets/app.css'); at++) {
    await press('Tab')
    seen.push(await focused())
    t.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none')
  }
  for (const each of ['all', 'Filter', 'Explain', '/assets/app.css'])
    t.true(seen.includes(each), each)
  await page.follow(await page.evaluate('document.activeElement.href'))
  t.is(await page.evaluate('document.querySelector("h1").textContent'), '/assets/app.css')
})
