// docs/modules.md, where it is about npm packages: its programs are run, with the packages that they name.
import type { Middleware } from 'koa'
import { makeProject, placed, run, test, withDigest } from '../support/index.ts'
import { makeExample, readPart, urlsIn } from '../support/examples.ts'
import { folderOf, linkPackages } from './installed.ts'
import { visit, type View } from './page.ts'

const page = readPart('docs/modules.md')
const servers = page.take('').filter(({ file }) => file === 'server.js')
const preprocessed = page.take('Stylesheets of packages')
const modules = page.take('Packages')
const files = page.take('Directories of a package')
const map = files.find(({ file }) => file?.endsWith('/map.js'))
const SERVER = `import Koa from 'koa'
import { koaAssets } from 'koa-fresh-assets'
import options from './assets.config.js'

const app = new Koa()

app.use(koaAssets(options))

app.use(ctx => {
  const { assets } = ctx
  ctx.preload('inter-latin-400-normal.woff2')
  ctx.type = 'html'
  ctx.body = \`<!doctype html>
    <title>Map</title>
    <div id="map"></div>
    \${assets.stylesheet('app', 'fonts', 'fontawesome', 'solid', 'leaflet')}
    \${assets.importMap()}
    \${assets.javascript('bootstrap.bundle.min', { defer: true })}
    \${assets.javascript('map', { type: 'module' })}\`
})

app.listen(3000)
`
const STYLESHEETS = Array.from(page.text.matchAll(/`(npm\/\S+\.css)`/g), ([, name]) => `'${name}'`)

test('Sass, fonts, icons and scripts of npm packages are served to a page that names them', async t => {
  const site = makeExample(t, {}, linkPackages)
  const packages = '@fontsource/inter @fortawesome/fontawesome-free leaflet bootstrap'
  await site.run(`npm install ${packages}`)
  await site.follow(preprocessed)
  await site.follow(files)
  site.write({ 'server.js': SERVER })
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  t.regex((await site.ask('/')).text, /"leaflet": ?"\/assets\/leaflet-src\.esm\.js"/)
  t.is((await site.ask('/assets/leaflet-src.esm.js')).status, 200)
  const bootstrap = (await site.ask('/assets/app.css')).text
  t.regex(bootstrap, /--bs-primary: #1f7a5c/)
  const { text, headers } = await site.ask('/')
  t.is(headers.link, '</assets/inter-latin-400-normal.woff2>; rel=preload; as=font; crossorigin')
  for (const url of urlsIn(text)) t.is((await site.ask(url)).status, 200, url)
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
  for (const path of ['layers.png', 'images/layers.png'])
    t.is((await site.ask(`/assets/${path}`)).status, 200, path)
})

test('modules and files of packages are published without a bundler, in every environment', async t => {
  const site = makeExample(t, {}, linkPackages)
  await site.follow([...servers, ...modules])
  const tags = `\${assets.stylesheet(${STYLESHEETS.join()})}`
  site.write({ 'server.js': site.read('server.js').replace('</title>', `</title>${tags}`) })
  await site.run('SERVE_STATIC_ASSETS=true node server.js')
  const development = (await site.ask('/')).text
  t.true(development.includes('"preact/hooks":"/assets/npm/preact/hooks.js"'))
  t.true(urlsIn(development).includes('/assets/npm/preact/hooks.js'))
  await site.run('npx koa-fresh-assets precompile')
  await site.run('NODE_ENV=production SERVE_STATIC_ASSETS=true node server.js')
  const production = (await site.ask('/')).text
  // The stylesheets, and modules that are joined.
  t.true(urlsIn(production).length > 3)
  for (const url of urlsIn(production)) t.is((await site.ask(url)).status, 200, url)
})

test('the map of docs/modules.md has its marker with icon and shadow', async t => {
  const root = makeProject(t, placed({ 'javascripts/map.js': map?.text ?? '' }))
  const imports = { leaflet: 'leaflet-src.esm.js' }
  const options = { root, env: 'production', imports, sources: [folderOf('leaflet/dist')] }
  await run(options)
  const view: View = ({ assets }) =>
    `${assets.stylesheet('leaflet')}<div id="map" style="height: 300px"></div>
      ${assets.importMap()}${assets.javascript('map', { type: 'module' })}`
  const front: Middleware = (ctx, next) =>
    ctx.path.startsWith('/tiles/') ? void (ctx.status = 204) : next()
  const { page } = await visit(t, { view, ...options, front })
  const images = await page.evaluate<Record<string, [url: string, width: number]>>(`
    new Promise(resolve => {
      const look = () => {
        const found = [...document.querySelectorAll('.leaflet-marker-icon, .leaflet-marker-shadow')]
        if (found.length < 2 || !found.every(({ complete }) => complete)) return setTimeout(look, 20)
        resolve(Object.fromEntries(found.map(each => [
          each.className.includes('shadow') ? 'shadow' : 'icon', [each.src, each.naturalWidth]
        ])))
      }
      look()
    })`)
  t.deepEqual([images['icon']?.[1], images['shadow']?.[1]], [25, 41])
  const { pathname } = new URL(images['icon']?.[0] ?? '')
  t.regex(pathname, withDigest(/^\/assets\/marker-icon-DIGEST\.png$/))
  t.deepEqual(page.complaints, [])
})
