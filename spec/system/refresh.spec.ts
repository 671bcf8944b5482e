// Components of React and Preact in a browser: what an edit of a module does to their state.
import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, makeSite, removeFolder, serial as test } from '../support/index.ts'
import type { ExecutionContext, Files, SiteOptions } from '../support/index.ts'
import type { Browser, DrivenPage } from './browser.ts'
import { launch as launchChromium } from './chromium.ts'
import { launch as launchFirefox } from './firefox.ts'
import { linkPackages } from './installed.ts'
import { atRoot, CONNECTED, edit, setPolicy, shows, textOf as text } from './page.ts'

const SHOP = `import { useState } from 'react'
import { Item, price } from './item'
import { useStep } from './step'
export function Shop() {
  const [count, setCount] = useState(0)
  const step = useStep()
  return (
    <main>
      <h1>Shop</h1>
      <button onClick={() => setCount(count + step)}>{count}</button>
      <p><Item /> for {price}</p>
      <i>{step}</i>
      <input />
    </main>
  )
}
`
const SOURCES: Files = {
  'shop.tsx': SHOP,
  'item.tsx': 'export const price = 1\nexport function Item() { return <b>Apple</b> }\n',
  'step.ts': `import { useState } from 'react'
export function useStep() {
  const [step] = useState(2)
  return step
}
`
}

interface Library {
  readonly packages: readonly string[]
  readonly keeper: string
  readonly files: Files
}

const inPreact = (files: Files) =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [
      name,
      String(text).replace("from 'react'", "from 'preact/hooks'")
    ])
  )

const LIBRARIES = {
  React: {
    packages: ['react', 'react-dom'],
    keeper: 'react-refresh',
    files: {
      ...SOURCES,
      'main.tsx': `import { createRoot } from 'react-dom/client'
import { Shop } from './shop'
const App = () => <Shop />
createRoot(document.querySelector('#app')!).render(<App />)
`
    }
  },
  Preact: {
    packages: ['preact'],
    keeper: '@prefresh/core',
    files: {
      ...inPreact(SOURCES),
      'main.tsx': `import { render } from 'preact'
import { Shop } from './shop'
const App = () => <Shop />
render(<App />, document.querySelector('#app')!)
`
    }
  }
} satisfies Record<string, Library>

interface Opening extends SiteOptions {
  readonly hasLive?: boolean
}

/** Specs that take the same packages have one project, in turn, whose packages are built once. */
const projects = new Map<string, string>()

function projectWith(packages: readonly string[]): string {
  const key = packages.join()
  const known = projects.get(key)
  if (known !== undefined) return known
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'koa-fresh-assets-')))
  linkPackages(root, packages)
  projects.set(key, root)
  return root
}

after.always(() => projects.forEach(root => removeFolder(root)))

/** A page with a policy that allows nothing inline, and no HTML in scripts. */
async function open<P extends DrivenPage>(
  t: ExecutionContext,
  { packages, keeper, files }: Library,
  launch: (t: ExecutionContext) => Browser<P>,
  { hasLive = true, ...options }: Opening = {}
) {
  const all = [...packages, keeper]
  const root = projectWith(all)
  const dependencies = Object.fromEntries(all.map(name => [name, '*']))
  let pages = 0
  const routes = atRoot(ctx => {
    pages++
    const nonce = setPolicy(ctx, 'style-src NONCE; img-src data:; script-src NONCE')
    const { live, importMap, javascript } = ctx.assets
    return `${hasLive ? live({ nonce }) : ''}<div id="app"></div>
      ${importMap({ nonce })}${javascript('main', { type: 'module', nonce })}`
  })
  const written = { ...files, '/package.json': JSON.stringify({ dependencies }) }
  const site = await makeSite(t, written, { root, ...options, routes })
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  await shows(page, text('button'), '0')
  if (hasLive) await shows(page, CONNECTED, true)
  return { site, page, edit: edit.bind(undefined, site), pages: () => pages }
}

const HAS_OVERLAY = "!!document.querySelector('koa-fresh-assets-problems')"
const click = (page: DrivenPage) => page.evaluate("document.querySelector('button').click()")

/** Clicks, and types into the field, which has the focus then. */
async function use(page: DrivenPage): Promise<void> {
  await page.evaluate(`
    document.querySelector('button').click()
    globalThis.isSamePage = true
    const field = document.querySelector('input')
    field.focus()
    field.value = 'typed'`)
  await shows(page, text('button'), '2')
}

const FIELD = `(({ value, tagName }) => [value, tagName].join())(document.activeElement)`

async function checkKept(t: ExecutionContext, page: DrivenPage): Promise<void> {
  t.is(await page.evaluate(text('button')), '2')
  t.is(await page.evaluate(FIELD), 'typed,INPUT')
  t.true(await page.evaluate('globalThis.isSamePage'), 'no reload')
}

test('a component that imports more of packages keeps its state', async t => {
  const { React } = LIBRARIES
  const item = `import { chunk } from 'lodash'
export const price = 1
export function Item() { return <b>{chunk([1, 1], 1).length}</b> }
`
  const library = {
    keeper: 'react-refresh',
    packages: [...React.packages, 'lodash', 'dayjs'],
    files: { ...React.files, 'item.tsx': item }
  }
  const { page, edit, pages } = await open(t, library, launchChromium)
  await use(page)
  await shows(page, text('b'), '2')
  edit('item.tsx', '{ chunk }', '{ chunk, uniq }')
  edit('item.tsx', 'chunk([1, 1], 1)', 'uniq([1, 1])')
  await shows(page, text('b'), '1')
  await checkKept(t, page)
  edit('item.tsx', 'import {', "import add from 'dayjs/plugin/duration'\nimport {")
  edit('item.tsx', 'uniq([1, 1]).length', 'typeof add + uniq([1]).length')
  await shows(page, text('b'), 'function1')
  // The server has told of everything that was built once it tells of the next edit.
  edit('shop.tsx', '<h1>Shop', '<h1>Market')
  await shows(page, text('h1'), 'Market')
  await checkKept(t, page)
  t.deepEqual([page.complaints, pages()], [[], 1])
})

test('50 edits of React components lose nothing that was clicked or typed, in Firefox', async t => {
  const { site, page, edit, pages } = await open(t, LIBRARIES.React, launchFirefox)
  await use(page)
  const shown = { 'shop.tsx': 'Shop', 'item.tsx': 'Apple' }
  for (let at = 1; at <= 50; at++) {
    const name = at % 3 === 0 ? 'item.tsx' : 'shop.tsx'
    edit(name, `>${shown[name]}<`, `>Edit ${at}<`)
    shown[name] = `Edit ${at}`
    await page.evaluate(`
      document.querySelector('button').click()
      document.activeElement.value += '.'`)
    // Some come while another is replaced, others one by one.
    if (at % 5 === 0) await shows(page, text(name === 'shop.tsx' ? 'h1' : 'b'), shown[name])
  }
  await shows(page, text('h1'), shown['shop.tsx'])
  await shows(page, text('p'), `${shown['item.tsx']} for 1`)
  await shows(page, text('button'), '102')
  t.is(await page.evaluate(FIELD), `typed${'.'.repeat(50)},INPUT`)
  t.deepEqual([page.complaints, site.errors, pages()], [[], [], 1])
  t.false(await page.evaluate(HAS_OVERLAY))
})

for (const [name, library] of Object.entries(LIBRARIES)) {
  test(`an edited export or hook beside components of ${name} renders its importers again`, async t => {
    const { page, edit } = await open(t, library, launchChromium)
    await use(page)
    for (const price of [3, 4]) {
      edit('item.tsx', `price = ${price === 3 ? 1 : 3}`, `price = ${price}`)
      await shows(page, text('p'), `Apple for ${price}`)
      await checkKept(t, page)
    }
    const said = page.remarks.filter(each => each.includes('price'))
    t.is(said.length, 1)
    edit('step.ts', 'return step', 'return step + 1')
    await shows(page, text('i'), '3')
    await checkKept(t, page)
    t.deepEqual(page.complaints, [])
  })

  test(`a hook added to a component or a hook of ${name} mounts the components anew`, async t => {
    const { page, edit } = await open(t, library, launchChromium)
    await use(page)
    for (const [file, before, after] of [
      ['shop.tsx', 'const [count', "const [size] = useState('large')\n  const [count"],
      ['step.ts', 'const [step', "const [unit] = useState('kg')\n  const [step"]
    ] as const) {
      edit(file, before, after)
      await shows(page, text('button'), '0')
      t.true(await page.evaluate('globalThis.isSamePage'))
      await click(page)
      await shows(page, text('button'), '2')
    }
    t.deepEqual(page.complaints, [])
  })

  test(`a corrected error in a component of ${name} never reloads the page`, async t => {
    const { page, edit } = await open(t, library, launchChromium)
    await use(page)
    edit('shop.tsx', '</main>', '</man>')
    await shows(page, HAS_OVERLAY, true)
    await checkKept(t, page)
    edit('shop.tsx', '</man>', '</main>')
    edit('shop.tsx', '<h1>Shop', '<h1>Market')
    await shows(page, text('h1'), 'Market')
    await checkKept(t, page)
    edit('item.tsx', 'return <b>', "throw new Error('no fruit')\n return <b>")
    await shows(page, `!${text('b')} || ${text('b')} === 'Apple'`, true)
    edit('item.tsx', "throw new Error('no fruit')\n return <b>Apple", 'return <b>Plum')
    await shows(page, text('p'), 'Plum for 1')
    t.true(await page.evaluate('globalThis.isSamePage'))
  })

  test(`an edit of the module that renders ${name} reloads the page`, async t => {
    const { page, edit, pages } = await open(t, library, launchChromium)
    await use(page)
    edit('main.tsx', "'#app'", "'div#app'")
    await shows(page, 'globalThis.isSamePage', undefined)
    await shows(page, text('button'), '0')
    t.deepEqual([pages(), page.complaints], [2, []])
  })

  test(`components of ${name} work in a page without the live channel`, async t => {
    const { page, site } = await open(t, library, launchChromium, { hasLive: false })
    await click(page)
    await shows(page, text('button'), '2')
    t.deepEqual([page.complaints, site.errors], [[], []])
  })
}
