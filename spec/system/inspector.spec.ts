// The inspector in a browser: narrow and wide, light and dark, and with the keyboard; and the page about an error.
import { listOf } from '../extras/inspector/inspected.ts'
import { makeSite, test, type ExecutionContext, type Files } from '../support/index.ts'
import { launch } from './chromium.ts'
import { findingsIn, pixelOf, preferScheme, resize, SCREENS, shows, textOf } from './page.ts'

const FILES: Files = {
  'css/app.css.scss': "@use 'colors';\n.a { background: url('logo.svg') }",
  'css/_colors.scss': 'a { color: red }',
  'img/logo.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><style>path { fill: red }</style><path d="M0 0h20v20z"/></svg>'
}

/** Before every asset was looked at, the list reloads itself, and with it goes the focus. */
async function makeSurveyed(t: ExecutionContext, files = FILES) {
  const site = await makeSite(t, files)
  await listOf(site)
  return site
}

test('on a narrow screen the inspector labels cells with their columns', async t => {
  const site = await makeSurveyed(t)
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/assets/-/?q=logo`)
  const labels = () =>
    page.evaluate<
      [string, string][]
    >(`Array.from(document.querySelectorAll('td:not(:empty)'), cell =>
      [cell.dataset.column, getComputedStyle(cell, '::before').content])`)
  await resize(page, 390)
  const [asset, state, ...others] = await labels()
  t.deepEqual(asset, ['Asset', 'none'])
  t.deepEqual(state, ['State', '"State: "'])
  for (const [column, label] of others) t.is(label, `"${column}: "`)
  await resize(page, 1280)
  t.true((await labels()).every(([, label]) => label === 'none'))
})

test('the inspector shows an SVG with its own styles', async t => {
  const site = await makeSite(t, FILES)
  const url = `http://127.0.0.1:${site.port}/assets/-/asset?path=logo.svg`
  const page = await launch(t).open(url)
  const color = await page.evaluate(pixelOf("document.querySelector('img').src", 15, 5))
  t.is(color, '255,0,0')
})

const LONG = 'long '.repeat(200)
const MORE: Files = {
  ...FILES,
  'css/broken.css.scss': `a {\n  color: ;;{ /* ${LONG} */\n}`,
  [`css/a-name-${'that-is-long-'.repeat(9)}.css`]: `a { content: '${LONG}' }`,
  "css/<script>document.title='attacked'<!--.css": 'a {}',
  'js/app.js': "import './none.js'"
}
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

for (const path of [
  '-/',
  '-/requests',
  '-/asset?path=app.css',
  '-/asset?path=broken.css',
  'broken.css'
])
  test(`axe finds no accessibility problem on /assets/${path}, in light or dark`, async t => {
    const site = await makeSurveyed(t, MORE)
    for (const name of ['app.css', 'none.css', 'broken.css']) await site.ask(`/assets/${name}`)
    const page = await launch(t).open(`http://127.0.0.1:${site.port}/assets/${path}`)
    for (const [width, scheme] of SCREENS) {
      await resize(page, width)
      await preferScheme(page, scheme)
      t.deepEqual(await findingsIn(page), [], `at ${width} px`)
      if (path.startsWith('-/')) t.is(await page.evaluate(OVERFLOW), 0, `at ${width} px`)
    }
    t.not(await page.evaluate('document.title'), 'attacked')
  })

test('an asset in the inspector can be reached by keyboard alone', async t => {
  const site = await makeSurveyed(t)
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
  await shows(page, 'location.hash', '#main')
  const seen: string[] = []
  for (let at = 0; at < 40 && !seen.includes('/assets/app.css'); at++) {
    await press('Tab')
    seen.push(await focused())
    t.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none')
  }
  for (const each of ['all', 'Filter', 'Explain', '/assets/app.css'])
    t.true(seen.includes(each), each)
  await page.follow(await page.evaluate('document.activeElement.href'))
  t.is(await page.evaluate(textOf('h1')), '/assets/app.css')
})
