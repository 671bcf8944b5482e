// The pages that begin with a task or a symptom: their programs and commands are run.
import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import Koa, { type Context } from 'koa'
import { koaHttpCache } from '../../lib/koa-http-cache.ts'
import { blocksLeft, evaluate, makeExample, readPage } from '../support/examples.ts'
import { soakTest, test, withDigest } from '../support/index.ts'

const serverOf = (options: object) => `import Koa from 'koa'
  import { koaAssets } from 'koa-fresh-assets'
  const app = new Koa()
  app.silent = true
  app.use(koaAssets(${JSON.stringify(options)}))
  app.listen(3000)`

const troubleshooting = readPage('docs/troubleshooting.md')
const [explain] = troubleshooting.take('')
const [explainBare] = troubleshooting.take('Failed to resolve module specifier')
const [curl] = troubleshooting.take('CORS')

soakTest('explain and curl show what the docs say', async t => {
  const site = makeExample(t, {
    'assets/app.css.scss': 'p { color: red }',
    'assets/fonts/inter.woff2': 'font',
    'server.js': serverOf({ serve: true, host: 'https://cdn.example.com' })
  })
  await site.run('npx koa-fresh-assets precompile')
  for (const command of explain?.text.trim().split('\n') ?? [])
    t.regex(await site.run(command), /serving is off[^]*\nresponse /, command)
  t.regex(curl?.text ?? '', /-H "Origin: .*\/assets\/inter\.woff2$/m)
  await site.run('node server.js')
  // This server is one of development.
  const headers = { origin: 'http://localhost:5173' }
  const font = await site.ask('/assets/inter.woff2', { headers })
  t.is(font.headers['access-control-allow-origin'], headers.origin)
})

soakTest('explain says whether the import map has a bare specifier', async t => {
  const site = makeExample(t, {
    'assets/app.js': "import { html } from 'lit'",
    'assets.config.js': 'export default {}',
    'node_modules/lit/package.json': '{ "name": "lit", "version": "1.0.0", "exports": "./lit.js" }',
    'node_modules/lit/lit.js': 'export const html = String.raw'
  })
  const known = /the import map has it, for npm\/lit\.js/
  const command = `${explainBare?.text.trim()} || true`
  t.notRegex(await site.run(command), known)
  site.write({ 'assets.config.js': "export default { packages: ['lit'] }" })
  t.regex(await site.run(command), known)
})

const recipes = readPage('docs/recipes.md')
const links = recipes.take('Signed links')
const precache = recipes.take('A list for a service worker')
// spec/system/fonts.spec.ts shows it in a browser.
recipes.take('A font without a jump')

test('a signed link gives one file to its holder alone, until it expires', async t => {
  const site = makeExample(t, {
    'data/reports/2024.pdf': 'report',
    'data/reports/2025.pdf': 'other',
    'server.js': "import { app } from './reports.js'\napp.silent = true\napp.listen(3000)",
    'old.js': `process.env.LINK_SECRET = 'one'
      const { sign } = await import('./signed-links.js')
      console.log(sign('/reports/2024.pdf', -5))`
  })
  await site.follow(links)
  t.is(links[0]?.text.trim().split('\n').length, 15)
  await site.run('LINK_SECRET=one node server.js')
  const { text: link } = await site.ask('/')
  const found = await site.ask(link)
  t.deepEqual([found.status, found.text], [200, 'report'])
  t.is(found.headers['cache-control'], 'private, no-store')
  t.is((await site.ask(link, { method: 'HEAD' })).status, 200)
  const part = await site.ask(link, { headers: { range: 'bytes=0-1' } })
  t.deepEqual([part.status, part.headers['cache-control']], [206, 'private, no-store'])
  const later = link.replace(/\d{10,}/, digits => String(Number(digits) + 60))
  for (const [wrong, method] of [
    ['/reports/2024.pdf', 'GET'],
    [link.replace(/.$/, last => (last === 'a' ? 'b' : 'a')), 'GET'],
    [`${link}A`, 'GET'],
    [later, 'GET'],
    [`${link}&expires=9999999999`, 'GET'],
    [link.replace('2024', '2025'), 'GET'],
    [link.replace('/reports/', '/reports/%2e/'), 'GET'],
    [(await site.run('node old.js')).trim(), 'GET'],
    [link, 'POST'],
    [link, 'DELETE']
  ] as const) {
    const { status, headers, text } = await site.ask(wrong, { method })
    t.is(status, 403, `${method} ${wrong}`)
    t.false(text.includes('report'))
    t.notRegex(headers['cache-control'] ?? '', /public|max-age/)
  }
})

soakTest('the precache list has every published file by its fingerprint', async t => {
  const site = makeExample(t, { 'assets/app.css': 'p {}', 'assets/app.js': 'go()' })
  await site.run('npx koa-fresh-assets precompile')
  await site.follow(precache)
  // What npx runs is a function of the shell here.
  const npx = '#!/bin/sh\nshift\nexec node node_modules/koa-fresh-assets/dist/cli.js "$@"\n'
  site.write({ 'node_modules/.bin/npx': npx })
  await site.run('chmod +x node_modules/.bin/npx')
  await site.run('PATH=$PWD/node_modules/.bin:$PATH node precache.js')
  const list = JSON.parse(site.read('public/precache.json')) as { url: string; revision: null }[]
  t.is(list.length, 2)
  for (const { url, revision } of list) {
    t.regex(url, withDigest(/^\/assets\/app-DIGEST\.(?:css|js)$/))
    t.true(revision === null && site.exists(`public${url}`))
  }
})

const testingPage = readPage('docs/testing.md')
const exampleTest = testingPage.take('')
// Jest and Vitest are in spec/system/runners.spec.ts.
const [runners] = testingPage.take('No runner reads `.env.test`')

const [alone] = testingPage.take('A route alone')

test('a route that is called without a server is halted by ctx.fresh', async t => {
  let calls = 0
  const showBook = async (ctx: Context) => {
    calls++
    await ctx.fresh('7-1')
    t.fail('the route is halted')
  }
  const app = new Koa()
  const names = { app, assert, IncomingMessage, koaHttpCache, ServerResponse, showBook }
  await evaluate(`return (async () => {${alone?.text}})()`, names)
  t.is(calls, 1)
})

soakTest('the example test passes when Node reads .env.test', async t => {
  const site = makeExample(t)
  await site.run('npx koa-fresh-assets init')
  await site.follow(exampleTest)
  const [command = ''] = runners?.text.split('\n') ?? []
  t.regex(await site.run(`NODE_OPTIONS= ${command}`), /^(?:#|ℹ) pass 1$/m)
  const unread = command.replace('--env-file=.env.test ', '')
  await t.throwsAsync(site.run(`NODE_OPTIONS= ${unread}`), { message: /404/ })
})

const page = readPage('docs/typescript.md')
const install = page.take('')
const preact = page.take('Preact, React and Lit')
const sheets = page.take('Stylesheets of components')
const shared = page.take('Shared with the server')

test('one module runs in the server and in the page, in development and precompiled', async t => {
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
  const joined = (await site.ask(app)).text
  t.regex(joined, /1\.19|vat/i)
  t.notRegex(joined, /\b(?:import|export)\b/)
  t.regex(await site.run('npx koa-fresh-assets verify'), /0 problems|no problem|ok/i)
  site.write({
    'assets.config.js': "export default { missing: 'error' }",
    'assets/javascripts/app.ts': "import './mony.ts'"
  })
  const told = await site.run('npx koa-fresh-assets explain app.js --env development || true')
  t.regex(told, /app\.ts:1:8 refers to \.\/mony\.ts, which .*: did you mean '\.\/money\.ts'/)
})

test('with the tsconfig.json of docs/typescript.md, JSX is compiled for Preact', async t => {
  const site = makeExample(t, {
    'apps/web/assets/javascripts/app.tsx': 'export const cart = <b />',
    'server.js': serverOf({ serve: true, missing: 'warn' })
  })
  await site.follow(preact)
  await site.run('node server.js')
  t.regex((await site.ask('/assets/app.js')).text, /from "preact\/jsx-runtime"/)
})

test('the stylesheet of a component can be imported by another stylesheet or by a module', async t => {
  const site = makeExample(t, {
    'apps/web/assets/javascripts/components/card.css': '.card { color: teal }',
    'server.js': serverOf({ serve: true })
  })
  await site.follow(sheets)
  await site.run('node server.js')
  t.regex((await site.ask('/assets/app.css')).text, /@import "\/assets\/components\/card\.css"/)
  const attribute = /"\.\/card\.css" with \{ type: "css" \}/
  t.regex((await site.ask('/assets/components/card.js')).text, attribute)
  await site.run('npx koa-fresh-assets precompile')
  t.regex(site.read('public/assets/app.css'), /\.card\{color:teal\}/)
  const card = withDigest(/"\/assets\/components\/card-DIGEST\.css" ?with ?\{ ?type: ?"css" ?\}/)
  t.regex(site.read('public/assets/components/card.js'), card)
})

test('every block of the pages about tasks is run here', t => {
  t.deepEqual(blocksLeft(), [])
})
