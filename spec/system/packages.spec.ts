// A map of Leaflet in a browser, without a bundler.
import { readFileSync } from 'node:fs'
import { test } from '../support/test.ts'
import type { Middleware } from 'koa'
import { withDigest } from '../support/digest.ts'
import { blocksOf } from '../support/examples.ts'
import { placed, run } from '../support/fingerprinted.ts'
import { makeProject } from '../support/site.ts'
import { folderOf } from './installed.ts'
import { visit, type View } from './page.ts'

const [MAP = ''] = blocksOf(readFileSync('docs/modules.md', 'utf8')).flatMap(({ file, text }) =>
  file?.endsWith('/map.js') ? text : []
)

for (const env of ['development', 'production']) {
  test(`the map of docs/modules.md has its marker with icon and shadow, in ${env}`, async t => {
    const root = makeProject(t, placed({ 'javascripts/map.js': MAP }))
    const options = {
      ...{ root, env, imports: { leaflet: 'leaflet-src.esm.js' } },
      sources: [folderOf('leaflet/dist')]
    }
    if (env === 'production') await run(options)
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
    const isHashed = withDigest(/^\/assets\/marker-icon-DIGEST\.png$/).test(pathname)
    t.is(isHashed, env === 'production', pathname)
    t.deepEqual(page.complaints, [])
  })
}
