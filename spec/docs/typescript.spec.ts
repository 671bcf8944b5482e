// docs/typescript.md: its programs are run.
import test from 'ava'
import { blocksLeft, makeExample, readPage } from '../support/examples.ts'
import { withDigest } from '../support/digest.ts'

const page = readPage('docs/typescript.md')
const install = page.take('')
const preact = page.take('Preact, React and Lit')
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

test('every block of this page is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
