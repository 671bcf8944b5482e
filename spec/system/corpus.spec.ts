// What real packages hold: every reference of theirs leads somewhere, and a browser loads all of it.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isBare } from '../../lib/publishing/references/modules.ts'
import { findReferences } from '../../lib/publishing/references/references.ts'
import type { Compiler, AppOptions } from '../../lib/runtime/settings/options.ts'
import type { ViewHelpers } from '../../lib/runtime/views/view-helpers.ts'
import { folderOf } from './installed.ts'
import { visit, type View } from './page.ts'
import { digestIn, digestOf } from '../support/index.ts'
import { readManifest, readPublic, run, test, withDigest, words } from '../support/index.ts'
import { lexer } from '../support/ready.ts'

const CORPUS = {
  bootstrap: ['bootstrap/dist'],
  fontawesome: words('css webfonts sprites js').map(
    name => `@fortawesome/fontawesome-free/${name}`
  ),
  katex: ['katex/dist'],
  leaflet: ['leaflet/dist'],
  inter: ['@fontsource/inter']
}

/** Stylesheets to be included in a site's own: no page asks for them. */
const unused: Compiler = { extensions: '.scss', target: '.css', compile: () => ({ code: '' }) }

const apps = Object.fromEntries(
  Object.entries(CORPUS).map(([name, folders]): [string, AppOptions] => [
    name,
    { sources: folders.map(folder => folderOf(folder)), compilers: [unused] }
  ])
)

const PRINTED = withDigest(/-DIGEST\.\w+$/)

const root = mkdtempSync(join(tmpdir(), 'koa-fresh-assets-'))
let report: Awaited<ReturnType<typeof run>> | undefined

test.before(async () => {
  report = await run({ root, apps })
})

test.after.always(() => rmSync(root, { recursive: true }))

test('every reference of every stylesheet and script of the corpus leads to a published file', async t => {
  t.deepEqual(report?.warnings, [])
  t.true((report?.assets ?? 0) > 500, String(report?.assets))
  let references = 0
  for (const [plain, { target, size }] of Object.entries(readManifest(root).assets)) {
    const bytes = readPublic(root, target)
    t.is(bytes.length, size, target)
    t.is(digestOf(bytes), digestIn(target) ?? '', target)
    if (!/\.(?:css|m?js)$/.test(plain)) continue
    const isStyle = plain.endsWith('css')
    const inModule = isStyle ? [] : lexer.find(String(bytes)).references
    const written = findReferences(isStyle ? 'css' : 'js', String(bytes))
    for (const reference of [...written, ...inModule]) {
      const { path, kind } = reference
      if (isBare(reference) || (kind === 'source-map' && !path.startsWith('/'))) continue
      references++
      t.regex(path, PRINTED, `${plain} refers to ${path}`)
      t.true(existsSync(join(root, 'public', decodeURIComponent(path))), `${plain}: ${path}`)
    }
  }
  t.true(references > 1000, String(references))
})

test('a page loads every font and image of the corpus under its fingerprint, with integrity', async t => {
  const { assets } = readManifest(root)
  const names = (app: string, extension: RegExp) =>
    Object.keys(assets)
      .filter(path => path.startsWith(`/assets/${app}/`) && extension.test(path))
      .map(path => decodeURIComponent(path.slice(`/assets/${app}/`.length)))
  const tagsOf = (helpers: ViewHelpers) =>
    Object.keys(CORPUS).map(name => {
      const app = helpers.app(name)
      const stylesheets = names(name, /\.css$/).filter(file => !/\.rtl\./.test(file))
      const images = names(name, /\.(?:png|svg|gif|jpe?g)$/)
      const tags = stylesheets.map(stylesheet => app.stylesheet(stylesheet))
      return [...tags, ...images.map(image => `<img src="${app.path(image)}">`)].join('\n')
    })
  const view: View = ({ assets }) =>
    `${assets.importMap()}
        ${tagsOf(assets).join('\n')}
        ${assets.app('bootstrap').javascript('bootstrap.bundle.js')}
        ${assets.app('katex').javascript('katex.js')}
        ${assets.app('leaflet').javascript('leaflet.js')}
        <script type="module">
          import { Map } from '/assets/leaflet/leaflet-src.esm.js'
          globalThis.leafletMap = Map
        </script>`
  const options = { view, root, apps, env: 'production' }
  const { page: opened, url: origin } = await visit(t, options)
  for (const name of words('bootstrap.Modal katex.render L.map leafletMap'))
    t.is(await opened.evaluate(`typeof ${name}`), 'function', name)
  const counts = await opened.evaluate<Record<string, number>>(`(async () => {
      const fonts = await Promise.all([...document.fonts].map(font => font.load()))
      const images = await Promise.all([...document.images].map(image => image.decode().then(() => image)))
      const styled = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
      const urls = new Set(styled.flatMap(rule =>
        [...rule.cssText.matchAll(/url\\("(?!data:|#)([^"]+)"\\)/g)].map(([, url]) => url)))
      const statuses = await Promise.all([...urls].map(url => fetch(url).then(({ status }) => status)))
      return {
        fonts: fonts.filter(font => font.status === 'loaded').length,
        declared: document.fonts.size,
        images: images.length,
        sheets: document.styleSheets.length,
        urls: urls.size,
        found: statuses.filter(status => status === 200).length,
        unsigned: document.querySelectorAll('link[rel=stylesheet]:not([integrity]), script[src]:not([integrity])').length
      }
    })()`)
  t.log(counts)
  t.is(counts['fonts'], counts['declared'])
  t.true((counts['fonts'] ?? 0) > 100)
  t.true((counts['images'] ?? 0) > 5)
  t.is(counts['found'], counts['urls'])
  t.true((counts['urls'] ?? 0) > 100)
  t.is(counts['unsigned'], 0)
  t.deepEqual(opened.complaints, [])
  const asked = [...opened.answers.keys()].filter(url => url.startsWith(`${origin}assets/`))
  t.true(asked.length > 200)
  for (const url of asked) {
    t.regex(url.replace(/[?#].*$/, ''), PRINTED)
    t.is(opened.answers.get(url), 200, url)
  }
})
