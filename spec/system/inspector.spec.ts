// The inspector in a browser: narrow and wide, and with the keyboard; what is readable is in accessibility.spec.ts.
import { listOf } from '../extras/inspector/inspected.ts'
import { makeSite, test, type ExecutionContext, type Files } from '../support/index.ts'
import { launch } from './chromium.ts'
import { pixelOf, resize, shows, textOf } from './page.ts'

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

test('on a narrow page a cell has the name of its column', async t => {
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

test('an SVG is shown with its own styles', async t => {
  const site = await makeSite(t, FILES)
  const url = `http://127.0.0.1:${site.port}/assets/-/asset?path=logo.svg`
  const page = await launch(t).open(url)
  const color = await page.evaluate(pixelOf("document.querySelector('img').src", 15, 5))
  t.is(color, '255,0,0')
})

/** The words of a table's head that are written on more than one line. */
const BROKEN = `Array.from(document.querySelectorAll('th'), ({ firstChild }) =>
  Array.from(firstChild.data.matchAll(/\\S+/g), ({ 0: word, index }) => {
    const range = new Range()
    range.setStart(firstChild, index)
    range.setEnd(firstChild, index + word.length)
    return range.getClientRects().length > 1 ? word : []
  })).flat(2)`
const SEEN = `Array.from(document.querySelectorAll('thead'), head => head.getBoundingClientRect().right > 0)`

test('the head of a table breaks no word, and on a narrow page nothing of it is seen', async t => {
  const long = `css/a-${'long-'.repeat(30)}name.css`
  const site = await makeSurveyed(t, { ...FILES, 'js/app.js': '', [long]: 'a {}' })
  // From the first question on requests are recorded.
  for (const name of ['-/', 'app.css', 'app.js', long.slice(4)]) await site.ask(`/assets/${name}`)
  const browser = launch(t)
  for (const path of ['', 'requests', 'asset?path=app.css']) {
    const page = await browser.open(`http://127.0.0.1:${site.port}/assets/-/${path}`)
    for (const [width, isSeen] of [
      [1280, true],
      [720, true],
      [390, false]
    ] as const) {
      await resize(page, width)
      t.deepEqual(await page.evaluate(BROKEN), [], `${path} at ${width} px`)
      t.deepEqual(new Set(await page.evaluate<boolean[]>(SEEN)), new Set([isSeen]), path)
    }
  }
})

test('the keyboard leads to the content, through a filter, to an asset', async t => {
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
