// docs/npm-assets.md
import { existsSync } from 'node:fs'
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
  const bootstrap = (await site.ask('/assets/app.css')).text
  t.regex(bootstrap, /--bs-primary: #1f7a5c/)
  const { text, headers } = await site.ask('/')
  t.is(headers.link, '</assets/inter-latin-400-normal.woff2>; rel=preload; as=font; crossorigin')
  for (const [, url = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
    t.is((await site.ask(url)).status, 200, url)
  }
  const [, layers = ''] =
    /url\((.*layers\.png)\)/.exec((await site.ask('/assets/leaflet.css')).text) ?? []
  const { pathname } = new URL(layers, 'http://x/assets/leaflet.css')
  t.is((await site.ask(pathname)).headers['content-type'], 'image/png')
  for (const name of ['inter-latin-400-normal.woff2', 'layers.png', 'fa-solid-900.woff2']) {
    t.is((await site.ask(`/assets/${name}`)).status, 200, name)
  }
  for (const path of ['leaflet/dist', '@fortawesome/fontawesome-free/svgs/solid/house.svg']) {
    t.true(existsSync(`node_modules/${path}`), path)
  }
})
