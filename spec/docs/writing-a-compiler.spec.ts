// docs/writing-a-compiler.md
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/writing-a-compiler.md')
const sprite = page.take('')
const postcss = page.take('PostCSS')
const tests = page.take('Tests')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

const SERVER = `import Koa from 'koa'
  import { koaAssets } from 'koa-fresh-assets'
  import options from './assets.config.js'
  const app = new Koa()
  app.silent = true
  app.use(koaAssets({ ...options, serve: true }))
  app.listen(3000)`

test('the sprite is compiled, follows its icons, and names the line of a mistake', async t => {
  const images = 'apps/web/assets/images'
  const site = makeExample(t, {
    'server.js': SERVER,
    [`${images}/icons.sprite`]: 'house\nuser\n',
    [`${images}/house.svg`]: '<svg id="1"/>'
  })
  await site.follow(sprite)
  await site.run('node server.js')
  const missing = await site.ask('/assets/icons.svg')
  t.is(missing.status, 500)
  t.true(missing.text.includes(`${images}/icons.sprite:2:1\n\nthere is no icon user.svg`))
  site.write({ 'node_modules/user.svg': '<svg><path d="far"/></svg>' })
  t.true((await site.ask('/assets/icons.svg')).text.includes('<symbol id="user"><path d="far"/>'))
  site.write({ [`${images}/user.svg`]: '<svg><path d="near"/></svg>' })
  const { text, headers } = await site.ask('/assets/icons.svg')
  t.true(text.includes('<symbol id="user"><path d="near"/>'))
  t.is(headers['content-type'], 'image/svg+xml')
  await site.run('npx koa-fresh-assets precompile')
  rmSync(join(site.root, images, 'house.svg'))
  const failure = { message: /icons\.sprite:1:1: there is no icon house/ }
  await t.throwsAsync(site.run('npx koa-fresh-assets precompile'), failure)
})

test('PostCSS runs its plugins, and reports the place of a mistake', async t => {
  const site = makeExample(t, {
    'server.js': SERVER,
    'assets.config.js': `import { pcss } from './compilers/pcss.js'
      const green = { postcssPlugin: 'green', Declaration: each => { each.value = 'green' } }
      export default { root: import.meta.dirname, compilers: [pcss(green)] }`,
    'assets/app.pcss': 'p { color: red }'
  })
  await site.follow(postcss)
  await site.run('node server.js')
  t.regex((await site.ask('/assets/app.css')).text, /^p \{ color: green \}\n.*sourceMappingURL=/)
  site.write({ 'assets/app.pcss': 'p {}\np { color' })
  t.regex((await site.ask('/assets/app.css')).text, /assets\/app\.pcss:2:\d/)
})

test('the tests of the page pass', async t => {
  const site = makeExample(t)
  await site.follow(sprite)
  await t.notThrowsAsync(site.follow(tests))
})
