// npm run docs: the site of the documentation, in a browser. VitePress fails the build where a link is dead.
import { readdirSync } from 'node:fs'
import Koa from 'koa'
import { koaFiles } from '../../lib/index.ts'
import { command } from '../support/command.ts'
import { listen, test } from '../support/index.ts'
import { launch } from './chromium.ts'
import { findingsIn, preferScheme, resize, SCREENS, shows } from './page.ts'

/** The start page, the list, and a page with code in most languages: the theme has the rest. */
const CHECKED = new Set(['', 'all', 'deploy'])
const COLOURS = `document.documentElement.classList.contains('dark') ? 'dark' : 'light'`

test('no page of the docs is broken, narrow or wide', async t => {
  await command('npm', ['run', 'docs'])
  const app = new Koa()
  app.use(koaFiles('site/dist', { at: '/docs', extensions: ['html'] }))
  const port = await listen(t, app.callback())
  const names = readdirSync('docs').filter(name => name.endsWith('.md') && name !== 'decisions.md')
  const pages = names.map(name => (name === 'README.md' ? 'all' : name.replace('.md', '')))
  const page = await launch(t).open(`http://127.0.0.1:${port}/docs/`)
  for (const name of ['', ...pages]) {
    await page.follow(`http://127.0.0.1:${port}/docs/${name}`)
    // What is around `main` is the same on every page.
    const part = name === '' ? 'document' : "'main'"
    // What fits into the narrow one fits into the wide one.
    for (const [width, scheme] of CHECKED.has(name) ? SCREENS : SCREENS.slice(0, 1)) {
      await preferScheme(page, scheme)
      await resize(page, width, width < 500)
      await shows(page, COLOURS, scheme)
      const { title, overflow, broken } = await page.evaluate<Record<string, unknown>>(`({
        title: document.querySelector('main h1')?.textContent,
        overflow: document.documentElement.scrollWidth - innerWidth,
        broken: [...document.images].filter(each => each.loading !== 'lazy' && !each.naturalWidth).map(each => each.src)
      })`)
      t.truthy(title, name)
      t.true(Number(overflow) <= 0, `${name} at ${width}: ${String(overflow)} px too wide`)
      t.deepEqual(broken, [], name)
      if (!CHECKED.has(name)) continue
      t.deepEqual(await findingsIn(page, part), [], `${name} at ${width} px, ${scheme}`)
    }
  }
  t.deepEqual(page.complaints, [])
})
