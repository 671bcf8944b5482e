// Components of React and Preact in a browser: what an edit of a module does to their state.
import { randomBytes } from 'node:crypto'
import { test, type ExecutionContext } from '../support/test.ts'
import { makeProject, makeSite, type Files, type SiteOptions } from '../support/site.ts'
import type { Browser, DrivenPage } from './browser.ts'
import { launch as launchChromium } from './chromium.ts'
import { launch as launchFirefox } from './firefox.ts'
import { linkPackages } from './installed.ts'
import { CONNECTED, ICON, shows } from './page.ts'

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

const LIBRARIES: Readonly<Record<string, Library>> = {
  React: {
    packages: ['react', 'react-dom'],
    keeper: 'react-refresh',
    files: {
      ...SOURCES,
      'main.tsx': `import { createRoot } from 'react-dom/client'
import { Shop } from './shop'
createRoot(document.querySelector('#app')!).render(<Shop />)
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
render(<Shop />, document.querySelector('#app')!)
`
    }
  }
}

type Launch<P extends DrivenPage> = (t: ExecutionContext) => Browser<P>

const BROWSERS: ReadonlyArray<readonly [name: string, launch: Launch<DrivenPage>]> = [
  ['Chromium', launchChromium],
  ['Firefox', launchFirefox]
]

interface Opening extends SiteOptions {
  readonly hasLive?: boolean
  readonly hasKeeper?: boolean
}

/** A page with a policy that allows nothing inline, and no HTML in scripts. */
async function open<P extends DrivenPage>(
  t: ExecutionContext,
  { packages, keeper, files }: Library,
  launch: Launch<P>,
  { hasLive = true, hasKeeper = true, ...options }: Opening = {}
) {
  const root = makeProject(t)
  const all = hasKeeper ? [...packages, keeper] : packages
  linkPackages(root, all)
  const dependencies = Object.fromEntries(all.map(name => [name, '*']))
  let pages = 0
  const site = await makeSite(
    t,
    { ...files, '/package.json': JSON.stringify({ dependencies }) },
    {
      root,
      ...options,
      routes: (ctx, next) => {
        if (ctx.path !== '/') return next()
        pages++
        const nonce = randomBytes(16).toString('base64')
        ctx.set(
          'Content-Security-Policy',
          `default-src 'none'; connect-src 'self'; style-src 'nonce-${nonce}'; img-src data:; script-src 'nonce-${nonce}'; require-trusted-types-for 'script'`
        )
        ctx.type = 'html'
        const { live, importMap, javascript } = ctx.assets
        ctx.body = `<!doctype html><title>shop</title>${ICON}${hasLive ? live({ nonce }) : ''}
          <div id="app"></div>${importMap({ nonce })}${javascript('main', { type: 'module', nonce })}`
        return undefined
      }
    }
  )
  const page = await launch(t).open(`http://127.0.0.1:${site.port}/`)
  await shows(page, text('button'), '0')
  if (hasLive) await shows(page, CONNECTED, true)
  const edit = (name: string, before: string, after: string) => {
    const code = site.read(name) ?? ''
    if (!code.includes(before)) throw new Error(`${before} is not in ${name}`)
    site.write(name, code.replace(before, after))
  }
  return { site, page, edit, pages: () => pages }
}

const text = (selector: string) => `document.querySelector('${selector}')?.textContent`

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

async function hasKept(t: ExecutionContext, page: DrivenPage): Promise<void> {
  t.is(await page.evaluate(text('button')), '2')
  t.is(await page.evaluate(FIELD), 'typed,INPUT')
  t.true(await page.evaluate('globalThis.isSamePage'), 'no reload')
}

for (const [name, library] of Object.entries(LIBRARIES))
  for (const [browser, launch] of BROWSERS) {
    test.serial(`an edited component of ${name} keeps its state, in ${browser}`, async t => {
      const { page, edit } = await open(t, library, launch)
      await use(page)
      edit('shop.tsx', '<h1>Shop', '<h1>Market')
      await shows(page, text('h1'), 'Market')
      await hasKept(t, page)
      edit('item.tsx', 'Apple', 'Pear')
      await shows(page, text('p'), 'Pear for 1')
      await hasKept(t, page)
      edit('shop.tsx', 'count + step', 'count * step')
      edit('shop.tsx', '<h1>Market', '<h1>Store')
      await shows(page, text('h1'), 'Store')
      await page.evaluate("document.querySelector('button').click()")
      await shows(page, text('button'), '4')
      t.deepEqual(page.complaints, [])
    })
  }

for (const [name, library] of Object.entries(LIBRARIES))
  for (const [browser, launch] of BROWSERS) {
    test.serial(
      `50 edits of ${name} lose nothing of a page that is used, in ${browser}`,
      async t => {
        const { site, page, edit, pages } = await open(t, library, launch)
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
        t.false(await page.evaluate("!!document.querySelector('koa-fresh-assets-problems')"))
      }
    )
  }

for (const [name, library] of Object.entries(LIBRARIES)) {
  test.serial(
    `another export beside a component of ${name} renders its importers again`,
    async t => {
      const { page, edit } = await open(t, library, launchChromium)
      await use(page)
      edit('item.tsx', 'price = 1', 'price = 3')
      await shows(page, text('p'), 'Apple for 3')
      await hasKept(t, page)
      edit('item.tsx', 'price = 3', 'price = 4')
      await shows(page, text('p'), 'Apple for 4')
      await hasKept(t, page)
      const said = page.remarks.filter(each => each.includes('price'))
      t.deepEqual([said.length, page.complaints], [1, []])
    }
  )

  test.serial(`an edited hook renders the components of ${name} that use it again`, async t => {
    const { page, edit } = await open(t, library, launchChromium)
    await use(page)
    edit('step.ts', 'return step', 'return step + 1')
    await shows(page, text('i'), '3')
    await hasKept(t, page)
    t.deepEqual(page.complaints, [])
  })

  for (const [file, before, after] of [
    ['shop.tsx', 'const [count', "const [size] = useState('large')\n  const [count"],
    ['step.ts', 'const [step', "const [unit] = useState('kg')\n  const [step"]
  ] as const)
    test.serial(`a hook added to ${file} mounts the components of ${name} anew`, async t => {
      const { page, edit } = await open(t, library, launchChromium)
      await use(page)
      edit(file, before, after)
      await shows(page, text('button'), '0')
      t.true(await page.evaluate('globalThis.isSamePage'))
      await page.evaluate("document.querySelector('button').click()")
      await shows(page, text('button'), '2')
      t.deepEqual(page.complaints, [])
    })

  test.serial(
    `an error of syntax in a component of ${name}, corrected, keeps its state`,
    async t => {
      const { page, edit } = await open(t, library, launchChromium)
      await use(page)
      edit('shop.tsx', '</main>', '</man>')
      await shows(page, "!!document.querySelector('koa-fresh-assets-problems')", true)
      await hasKept(t, page)
      edit('shop.tsx', '</man>', '</main>')
      edit('shop.tsx', '<h1>Shop', '<h1>Market')
      await shows(page, text('h1'), 'Market')
      await hasKept(t, page)
    }
  )

  test.serial(`an error that a component of ${name} throws, corrected, keeps the page`, async t => {
    const { page, edit } = await open(t, library, launchChromium)
    await use(page)
    edit('item.tsx', 'return <b>', "throw new Error('no fruit')\n return <b>")
    await shows(page, `!${text('b')} || ${text('b')} === 'Apple'`, true)
    edit('item.tsx', "throw new Error('no fruit')\n return <b>Apple", 'return <b>Plum')
    await shows(page, text('p'), 'Plum for 1')
    t.true(await page.evaluate('globalThis.isSamePage'))
  })

  test.serial(`an edit of the module that renders ${name} reloads the page`, async t => {
    const { page, edit, pages } = await open(t, library, launchChromium)
    await use(page)
    edit('main.tsx', "'#app'", "'div#app'")
    await shows(page, 'globalThis.isSamePage', undefined)
    await shows(page, text('button'), '0')
    t.is(pages(), 2)
  })

  test.serial(`components of ${name} work in a page without the live channel`, async t => {
    const { page, site } = await open(t, library, launchChromium, { hasLive: false })
    await page.evaluate("document.querySelector('button').click()")
    await shows(page, text('button'), '2')
    t.deepEqual([page.complaints, site.errors], [[], []])
  })

  test.serial(`without what keeps its state, an edit of ${name} reloads the page`, async t => {
    const { page, edit } = await open(t, library, launchChromium, { hasKeeper: false })
    await use(page)
    edit('shop.tsx', '<h1>Shop', '<h1>Market')
    await shows(page, text('h1'), 'Market')
    t.is(await page.evaluate('globalThis.isSamePage'), undefined)
    t.deepEqual(
      page.complaints.filter(each => !each.includes('ERR_ABORTED')),
      []
    )
  })
}
