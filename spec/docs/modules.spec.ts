// docs/modules.md
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/modules.md')
const example = page.take('')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

const SOURCES = {
  'apps/web/assets/javascripts/lib/dial.js': 'export const turn = async () => 1',
  'apps/web/assets/javascripts/vendor/confetti.js': 'export default () => 2',
  'apps/web/assets/javascripts/other.js': 'export {}',
  'apps/web/assets/images/dial.svg': '<svg/>'
}

test('JSM-05 the page names the same modules in development and in production', async t => {
  const site = makeExample(t, SOURCES)
  await site.follow(example)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const development = (await site.ask('/')).text
  t.true(development.includes('{"imports":{"confetti":"/assets/vendor/confetti.js"}}'))
  t.is((await site.ask('/assets/app.js')).text, site.read('apps/web/assets/javascripts/app.js'))

  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const { text } = await site.ask('/')
  const preloaded = Array.from(
    text.matchAll(/href="([^"]+)-\w{32}\.js" rel="modulepreload" integrity="[^"]+"/g),
    ([, path]) => path
  )
  t.deepEqual(preloaded, ['/assets/vendor/confetti', '/assets/lib/dial'])
  t.false(text.includes('other'))
  const [, script = ''] = /src="([^"]+)"/.exec(text) ?? []
  const rewritten = (await site.ask(script)).text
  const urls = Array.from(rewritten.matchAll(/"([^"]+)"/g), ([, url = '']) => url)
  t.is(urls.length, 3, rewritten)
  for (const url of urls) t.is((await site.ask(url)).status, 200, url)
})
