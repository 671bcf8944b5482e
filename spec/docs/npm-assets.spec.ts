// docs/npm-assets.md
import test from 'ava'
import { makeExample, readPage } from '../support/examples.ts'

const page = readPage('docs/npm-assets.md')
const preprocessed = page.take('Sass and Less from a package')
const files = page.take('Files of a package')

test('every block of the page is run here', t => {
  t.deepEqual(page.left(), [])
})

test('Bootstrap is compiled, and fonts, icons and scripts of packages are served by name', async t => {
  const site = makeExample(t)
  await site.follow(preprocessed)
  await site.follow(files)
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  t.regex((await site.ask('/')).text, /"leaflet": ?"\/assets\/leaflet-src\.esm\.js"/)
  t.is((await site.ask('/assets/leaflet-src.esm.js')).status, 200)
  const bootstrap = (await site.ask('/assets/app.css')).text
  t.regex(bootstrap, /--bs-primary: #1f7a5c/)
  const { text, headers } = await site.ask('/')
  t.is(headers.link, '</assets/inter-latin-400-normal.woff2>; rel=preload; as=font; crossorigin')
  for (const [, url = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
    t.is((await site.ask(url)).status, 200, url)
  }
  for (const [sheet, image] of [
    ['leaflet.css', /url\((.*layers\.png)\)/],
    ['solid.css', /url\("([^)"]*fa-solid-900\.woff2)"\)/]
  ] as const) {
    const [, url = ''] = image.exec((await site.ask(`/assets/${sheet}`)).text) ?? []
    const { pathname } = new URL(url, `http://x/assets/${sheet}`)
    t.regex((await site.ask(pathname)).headers['content-type'] ?? '', /^(?:image|font)\//, pathname)
  }
  t.is((await site.ask('/assets/inter-latin-400-normal.woff2')).status, 200)
  t.regex(text, /<script src="\/assets\/bootstrap\.bundle\.min\.js" type="text\/javascript" defer/)
  t.regex((await site.ask('/assets/bootstrap.esm.js')).text, /^import .* from '@popperjs\/core'/m)
  const layers = await Promise.all(
    ['layers.png', 'images/layers.png'].map(path => site.ask(`/assets/${path}`))
  )
  t.deepEqual(
    layers.map(({ status }) => status),
    [200, 200]
  )
})
