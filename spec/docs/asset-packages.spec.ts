// docs/asset-packages.md
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/asset-packages.md')
const [manifest, entry] = page.take('The package')
const application = page.take('In the application')
const inPackage = 'node_modules/koa-confetti'

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('a package brings its assets, in development and in production', async t => {
  const site = makeExample(t)
  const assets = `${inPackage}/assets`
  site.write({
    [`${inPackage}/package.json`]: manifest?.text ?? '',
    [`${inPackage}/index.js`]: entry?.text ?? '',
    [`${assets}/stylesheets/confetti/_colours.scss`]: '$spark: #fc0;',
    [`${assets}/stylesheets/confetti/confetti.css.scss`]:
      "@use 'colours'; i { color: colours.$spark; background: url('spark.svg') }",
    [`${assets}/javascripts/confetti/confetti.js`]: "console.log('confetti')",
    [`${assets}/images/confetti/spark.svg`]: '<svg xmlns="http://www.w3.org/2000/svg"/>'
  })
  await site.follow(application)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const [names, none] = [
    /^\| `(assets\/[^`]+)` +\| `([^`]+)`/gm,
    /^\| `(assets\/[^`]+)` +\| none/gm
  ]
  const rows = Array.from(page.text.matchAll(names))
  t.is(rows.length, 3)
  for (const [, source = '', name = ''] of rows) {
    t.true(site.exists(`${inPackage}/${source}`), source)
    t.is((await site.ask(`/assets/${name}`)).status, 200, name)
  }
  for (const [, source = ''] of page.text.matchAll(none)) {
    t.true(site.exists(`${inPackage}/${source}`), source)
    t.regex((await site.ask('/assets/confetti/_colours.css')).text, /^<!doctype html>/)
  }
  t.regex((await site.ask('/assets/app.css')).text, /color: #fc0/)
  site.write({ 'apps/web/assets/images/confetti/spark.svg': '<svg id="own"/>' })
  t.is((await site.ask('/assets/confetti/spark.svg')).text, '<svg id="own"/>')

  site.write({ 'apps/admin/assets/stylesheets/admin.css': 'p {}' })
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const { text } = await site.ask('/')
  const urls = Array.from(text.matchAll(/(?:href|src)="([^"]+)"/g), ([, url = '']) => url)
  t.is(urls.length, 2)
  for (const url of urls) {
    t.regex(url, /^\/assets\/confetti\/confetti-[0-9a-f]{32}\./)
    t.is((await site.ask(url)).status, 200, url)
  }
  t.is((await site.ask('/assets/admin/confetti/confetti.css')).status, 200)
})
