// docs/typescript.md: its programs are run.
import * as nodeModule from 'node:module'
import test from 'ava'
import { blocksLeft, makeExample, readPage } from '../support/examples.ts'
import { withDigest } from '../support/digest.ts'

const page = readPage('docs/typescript.md')
const install = page.take('')
const preact = page.take('Preact, React and Lit')
const stripTypes = page.take('Without esbuild')
const shared = page.take('Shared with the server')

test('TSC-05 one module runs in the server and in the page, in development and precompiled', async t => {
  const site = makeExample(t)
  await site.follow([...install, ...shared])
  const { text } = await site.ask('/')
  t.regex(text, /<script src="\/assets\/app\.js" type="module">.*<p>11\.90 €<\/p>/)
  t.regex((await site.ask('/assets/app.js')).text, /from "\/assets\/money\.js"/)
  const { text: money } = await site.ask('/assets/money.js')
  t.regex(money, /from "\/assets\/vat\.js"/)
  t.notRegex(money, /book/)
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production npx tsx server.ts')
  const url = withDigest(/src="(\/assets\/app-DIGEST\.js)"/)
  const [, app = ''] = url.exec((await site.ask('/')).text) ?? []
  const imported = withDigest(/from"(\/assets\/money-DIGEST\.js)"/)
  const [, to = ''] = imported.exec((await site.ask(app)).text) ?? []
  t.regex((await site.ask(to)).text, withDigest(/from"\/assets\/vat-DIGEST\.js"/))
  t.regex(await site.run('npx koa-fresh-assets verify'), /0 problems|no problem|ok/i)
  site.write({
    'assets.config.js': "export default { missing: 'error' }",
    'assets/javascripts/app.ts': "import './mony.ts'"
  })
  const told =
    /app\.ts:1:9 refers to \.\/mony\.ts, which was not found: did you mean '\.\/money\.ts'/
  t.regex(await site.run('npx koa-fresh-assets explain app.js --env development || true'), told)
})

test('TSC-06 with the tsconfig.json of the page, JSX is that of Preact', async t => {
  const site = makeExample(t, {
    'assets/javascripts/app.tsx': 'export const cart = <b />',
    'server.js': `import Koa from 'koa'
      import { koaAssets } from 'koa-fresh-assets'
      new Koa().use(koaAssets({ serve: true })).listen(3000)`
  })
  await site.follow(preact)
  await site.run('node server.js')
  t.regex((await site.ask('/assets/app.js')).text, /from "preact\/jsx-runtime"/)
})

test('TSC-13 Node from 22.13 on publishes TypeScript without esbuild; an older one says which is needed', async t => {
  const site = makeExample(t, {
    'assets/app.ts':
      "import type { Book } from './book.ts'\nexport const net = (book: Book) => book.net",
    'assets/enum.ts': '\nenum Kind { One }',
    'server.js': `import Koa from 'koa'
      import { koaAssets } from 'koa-fresh-assets'
      import options from './assets.config.js'
      const app = new Koa()
      app.on('error', error => console.log(error.message))
      app.use(koaAssets({ ...options, serve: true })).listen(3000)`
  })
  await site.follow(stripTypes)
  await site.run('node server.js')
  const { status, text } = await site.ask('/assets/app.js')
  if ('stripTypeScriptTypes' in nodeModule) {
    t.is(text.split('\n')[1]?.replaceAll(/ +/g, ' '), 'export const net = (book ) => book.net')
    t.is((await site.ask('/assets/enum.js')).status, 500)
    t.regex(site.said(), /enum\.ts:2: .*enum is not supported/)
  } else {
    t.is(status, 500)
    t.regex(site.said(), /app\.ts: Node 22\.13 or newer strips types, not v20\./)
  }
})

test('every block of this page is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
