// Modules of npm packages in a browser, without a bundler.
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from '../support/test.ts'
import type { Middleware } from 'koa'
import { withDigest } from '../support/digest.ts'
import { blocksOf } from '../support/examples.ts'
import { placed, run } from '../support/fingerprinted.ts'
import { makeProject, writeFiles } from '../support/site.ts'
import { folderOf } from './installed.ts'
import { visit, type View } from './page.ts'

const PACKAGES = [
  ...['bootstrap', 'preact', 'htm', 'lit', 'three', 'd3'],
  {
    '@fontsource/inter': ['latin-400.css', 'latin-600.css'],
    bootstrap: ['dist/css/bootstrap.min.css']
  }
]

const FILES = placed({
  'javascripts/app.js': `
    import { Tooltip } from 'bootstrap'
    import { html } from 'htm/preact'
    import { LitElement, html as template } from 'lit'
    import { render } from 'preact'
    import { useState } from 'preact/hooks'
    import { scaleLinear } from 'd3'
    import { Vector3 } from 'three'
    import { OrbitControls } from 'three/addons/controls/OrbitControls.js'

    const button = document.querySelector('button')
    new Tooltip(button, { animation: false }).show()

    function Counter () {
      const [count, setCount] = useState(1)
      return html\`<b onClick=\${() => setCount(count + 1)}>\${count}</b>\`
    }
    render(html\`<\${Counter} />\`, document.querySelector('#preact'))

    class Greeting extends LitElement {
      render () { return template\`<i>Hello</i>\` }
    }
    customElements.define('a-greeting', Greeting)
    const greeting = document.querySelector('a-greeting')

    const element = document.querySelector('b')
    element.click()
    const { preact } = await new Promise(resolve => setTimeout(() => resolve({ preact: element.textContent })))
    await greeting.updateComplete
    globalThis.result = {
      tooltip: document.querySelector('.tooltip').getAttribute('data-popper-placement'),
      preact,
      lit: greeting.shadowRoot.querySelector('i').textContent,
      three: new Vector3(3, 4, 0).length() + (typeof OrbitControls),
      d3: scaleLinear([10, 20])(0.5),
      font: getComputedStyle(button).fontFamily,
      fonts: (await document.fonts.load('16px Inter')).length
    }`,
  'stylesheets/app.css': 'button { font-family: Inter }'
})

for (const [what, options] of Object.entries({
  'in development': { env: 'development' },
  precompiled: { env: 'production' },
  'precompiled and minified': { env: 'production', minify: true }
})) {
  test(`Bootstrap, preact, lit, three and d3 run from npm, each module once: ${what}`, async t => {
    const root = makeProject(t)
    writeFiles(root, FILES)
    mkdirSync(join(root, 'node_modules'))
    for (const name of ['bootstrap', '@popperjs', '@fontsource', 'preact', 'htm', 'three']) {
      cpSync(folderOf(name), join(root, 'node_modules', name), { recursive: true })
    }
    // As in a workspace: these are found by links.
    for (const name of ['lit', 'd3']) {
      symlinkSync(folderOf(name), join(root, 'node_modules', name))
    }
    const settings = { ...options, root, packages: PACKAGES }
    const { warnings } = options.env === 'production' ? await run(settings) : { warnings: [] }
    const view: View = ctx => {
      const nonce = randomBytes(16).toString('base64')
      const { assets } = ctx
      ctx.set(
        'Content-Security-Policy',
        `script-src 'nonce-${nonce}' 'strict-dynamic'; default-src 'self' data:; style-src 'self' 'unsafe-inline'`
      )
      return `${assets.stylesheet('npm/bootstrap/dist/css/bootstrap.min.css', 'npm/@fontsource/inter/latin-400.css', 'app')}
        <button title="Help">?</button><p id="preact"></p><a-greeting></a-greeting>
        ${assets.importMap({ entry: 'app', nonce })}
        ${assets.javascript('app', { type: 'module', modulepreload: true, nonce })}`
    }
    const { page, paths } = await visit(t, { view, ...settings })
    const result = await page.evaluate<Record<string, unknown>>(
      'new Promise(resolve => { const look = () => globalThis.result ? resolve(result) : setTimeout(look, 20); look() })'
    )
    t.deepEqual(result, {
      ...{ tooltip: 'right', preact: '2', lit: 'Hello', three: '5function', d3: 15 },
      ...{ font: 'Inter', fonts: 1 }
    })
    t.deepEqual(page.complaints, [])
    t.deepEqual(warnings, [])
    const asked = paths.filter(path => path.startsWith('/assets/'))
    const modules = asked.filter(path => /\.m?js$/.test(path))
    t.true(modules.length >= 3 && modules.length <= 24, String(modules.length))
    t.deepEqual([...new Set(modules)], modules)
    const isPlain = (path: string) => !withDigest(/-DIGEST\.\w+$/).test(path)
    if (options.env === 'production') t.deepEqual(asked.filter(isPlain), [])
  })
}

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
