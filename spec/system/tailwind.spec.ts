// docs/tailwind.md: what `init --tailwind` writes, followed in development and in production.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksLeft, makeExample, readPage } from '../support/examples.ts'
import { test, withDigest, type ExecutionContext, type Files } from '../support/index.ts'
import { linkPackages } from './installed.ts'

const page = readPage('docs/tailwind.md')
const [start, config, stylesheet] = page.take('')

const SERVER = `import Koa from 'koa'
  import { koaAssets } from 'koa-fresh-assets'
  import options from './assets.config.js'
  const app = new Koa()
  app.silent = true
  app.use(koaAssets(options))
  app.use(ctx => { ctx.body = ctx.assets.path('app.css') })
  app.listen(3000)`

const SHEET = 'apps/web/assets/stylesheets/app.pcss'

async function begin(t: ExecutionContext, files: Files = { 'server.js': SERVER }) {
  const site = makeExample(t, files, linkPackages)
  await site.follow(start ? [start] : [])
  return site
}

const codeOf = (text = '') => text.replaceAll(/^ *(?:\/\/|\/\*).*\n|^\n/gm, '')

test('init --tailwind writes what the page shows', async t => {
  const site = await begin(t)
  t.is(codeOf(site.read('assets.config.js')), codeOf(config?.text))
  t.is(site.read(SHEET), codeOf(stylesheet?.text))
  t.false(site.exists(SHEET.replace('.pcss', '.css')))
})

test('the types that the page shows are those of an assets.config.ts that init writes', async t => {
  const site = await begin(t, { 'tsconfig.json': '{}' })
  const config = site.read('assets.config.ts')
  const [, paragraph = ''] = /^In an `assets\.config\.ts`(.*)$/m.exec(page.text) ?? []
  const shown = Array.from(paragraph.matchAll(/`([^`]+)`/g), ([, text = '']) => text)
  t.is(shown.length, 5)
  for (const text of shown) t.true(config.includes(text), text)
  t.deepEqual(blocksLeft(), [])
})

test('a class of an edited view, of a new one and of one in a new folder is in the next response', async t => {
  const site = await begin(t)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const has = async (name: string) =>
    (await site.ask('/assets/app.css')).text.includes(`.${name} {`)
  t.false(await has('flex'))
  for (const [view, name] of [
    ['views/home.ejs', 'flex'],
    ['views/home.ejs', 'grid'],
    ['views/list.ejs', 'underline'],
    ['views/books/show.ejs', 'italic'],
    ['views/books/edit.ejs', 'uppercase'],
    ['views/books/deep/down.ejs', 'truncate']
  ] as const) {
    t.false(await has(name), name)
    site.write({ [view]: `<p class="${name}">` })
    t.true(await has(name), `${view} ${name}`)
  }
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const { text: url } = await site.ask('/')
  t.regex(url, withDigest(/^\/assets\/app-DIGEST\.css$/))
  const { text } = await site.ask(url)
  for (const name of ['grid', 'underline', 'italic', 'uppercase', 'truncate']) {
    t.true(text.includes(`.${name}{`), name)
  }
  t.false(text.includes('.flex{'), 'no view has it any more')
})

test('a mistake in the stylesheet is shown with its line', async t => {
  const site = await begin(t)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  site.write({ [SHEET]: 'p {}\np { color' })
  const { status, text } = await site.ask('/assets/app.css')
  t.is(status, 500)
  t.regex(text, /app\.pcss:2:\d/)
})

test('in a project of CommonJS modules, `require` loads the configuration', async t => {
  const site = await begin(t, { 'package.json': '{}' })
  site.write({ 'views/home.ejs': '<p class="flex">' })
  await site.run('npx koa-fresh-assets precompile')
  t.regex(readFileSync(join(site.root, 'public/assets/app.css'), 'utf8'), /\.flex/)
  const said = await site.run("node -e 'console.log(require(`./assets.config.js`).root)'")
  t.is(said.trim(), site.root)
})
