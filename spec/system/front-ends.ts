// Eleven front ends, as their developers set them up: sources, configuration, and what a page then shows.
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import ejs from 'ejs'
import type { Context } from 'koa'
import type { MountOptions } from '../../lib/runtime/settings/options.ts'
import type { EntryFiles } from '../../lib/extras/vite/entry.ts'
import type { Files } from '../support/site.ts'
import { ICON } from './page.ts'

export type Render = (files: Pick<EntryFiles, 'scripts' | 'stylesheets'>) => {
  pipe(to: PassThrough): PassThrough
}

export interface FrontEnd {
  readonly files: Files
  /** In development: Vite beside Koa, Vite in its process, or a build that is watched. */
  readonly development: 'vite' | 'vite in process' | 'watch'
  readonly manifest?: string
  readonly mount?: Partial<MountOptions>
  /** Of what no file and no route of the API responds to. */
  readonly page?: (ctx: Context, render: Render | undefined) => unknown
  /** Where pages are opened. */
  readonly paths?: readonly string[]
  /** Built beside the front end, from the file `src/server.jsx`. */
  readonly isRendered?: boolean
  /** The build's own base, and the option `host`. */
  readonly isOnCdn?: boolean
  /** What `STATE` becomes, before and after the edits. */
  readonly shows: readonly [before: string, after: string]
  /** By HMR, by a reload that Vite asks for, or by one of the person. */
  readonly edited: 'in place' | 'by Vite' | 'after a reload'
  readonly edits: readonly (readonly [file: string, before: string, after: string])[]
}

/** Text and colour of what every one of them shows. */
export const STATE = `(app => app && app.textContent.replaceAll(/\\s+/g, ' ').trim() + ' ' + getComputedStyle(app).color)
  (document.querySelector('#app'))`

const PLUGIN = pathToFileURL(resolve('dist/vite.js')).href

interface ViteOptions {
  readonly imports?: string
  readonly plugins?: string
  readonly input: string | readonly string[]
  readonly more?: string
}

export function viteConfig({ imports = '', plugins = '', input, more = '' }: ViteOptions): Files {
  const own = `freshAssets({ mount: '/admin', input: ${JSON.stringify(input)} })`
  const text = `import { freshAssets } from '${PLUGIN}'
    ${imports}
    export default ({ command }) => ({ cacheDir: '.vite', plugins: [${plugins} ${own}], ${more} })`
  return { 'vite.config.js': text }
}

export const REACT = { imports: "import react from '@vitejs/plugin-react'", plugins: 'react(),' }
const ROOT = '<div id="root"></div>'
const CSS = '#app { color: rgb(1, 2, 3) }'
const CSS_EDIT = ['src/main.css', 'rgb(1, 2, 3)', 'rgb(3, 2, 1)'] as const
const COLOURS = ['rgb(1, 2, 3)', 'rgb(3, 2, 1)'] as const

const pageOf =
  (entry: string, body = ROOT) =>
  (ctx: Context) =>
    `<!doctype html><title>page</title>${ICON}${ctx.assets.entry(entry)}${body}`

/** Renders what is in `src/app.jsx`. */
export const STREAMING = `import { renderToPipeableStream } from 'react-dom/server'
  import { App } from './app.jsx'
  export const render = ({ scripts, stylesheets }) => renderToPipeableStream(
    <html><head><title>page</title><link rel="icon" href="data:," />
      {stylesheets.map(({ href, integrity, crossorigin }) =>
        <link key={href} rel="stylesheet" {...{ href, integrity, crossOrigin: crossorigin }} />)}
    </head><body><div id="root"><App /></div></body></html>,
    { bootstrapModules: scripts.map(({ href, integrity, crossorigin }) =>
        ({ src: href, integrity, crossOrigin: crossorigin })) })`

const SPA: Files = {
  'src/main.jsx': `import { createRoot } from 'react-dom/client'
    import { App } from './app.jsx'
    import './main.css'
    createRoot(document.querySelector('#root')).render(<App />)`,
  'src/app.jsx': `import { lazy, useEffect, useState } from 'react'
    import leaf from './leaf.svg'
    const Lazy = lazy(() => import('./lazy.jsx'))
    export function App() {
      const [order, setOrder] = useState('')
      useEffect(() => void fetch('/admin/api/order').then(r => r.text()).then(setOrder), [])
      return <div id="app">before {order} <Lazy /><img src={leaf} /></div>
    }`,
  'src/lazy.jsx': "import './lazy.css'\nexport default () => <i>lazy</i>",
  'src/lazy.css': 'i { color: green }',
  'src/main.css': `${CSS} body { background: url(./leaf.svg) }`,
  'src/leaf.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
}
const SPA_SHOWS = {
  shows: [`before 7 lazy ${COLOURS[0]}`, `after 7 lazy ${COLOURS[1]}`],
  edits: [CSS_EDIT, ['src/app.jsx', 'before', 'after']]
} as const

const PLAIN: Files = {
  'src/main.js': `import './main.css'
    import { word } from './word.js'
    const app = document.querySelector('#app')
    import('./lazy.js').then(({ lazy }) => (app.textContent = word + ' ' + lazy))`,
  'src/word.js': "export const word = 'before'",
  'src/lazy.js': "export const lazy = 'lazy'",
  'src/main.css': CSS
}
const PLAIN_SHOWS = {
  shows: [`before lazy ${COLOURS[0]}`, `after lazy ${COLOURS[1]}`],
  edits: [CSS_EDIT, ['src/word.js', 'before', 'after']]
} as const
const APP = '<div id="app"></div>'

/**
 * A program that writes the stats once the build has finished, as docs/bundlers.md has it.
 * @param more of the configuration, in place of what is here
 */
export const withStats = (imports: string, more = '') => ({
  'build.js': `${imports}
    import { writeFileSync } from 'node:fs'
    const STATS = { all: false, entrypoints: true, chunkGroups: true, assets: true, cachedAssets: true }
    const isWatched = process.argv.includes('--watch')
    const compiler = bundle({
      mode: isWatched ? 'development' : 'production', devtool: false,
      entry: { main: './src/main.js' },
      output: { filename: '[name].[contenthash].js', cssFilename: '[name].[contenthash].css', clean: true },
      module: { rules: [{ test: /\\.css$/, type: 'css' }] }, ${more}
    })
    compiler.hooks.done.tap('manifest', stats => {
      if (stats.hasErrors()) throw new Error(stats.toString())
      writeFileSync('dist/stats.json', JSON.stringify(stats.toJson(STATS)))
    })
    isWatched ? compiler.watch({}, () => {}) : compiler.run(() => {})`
})

const WATCHED = {
  development: 'watch',
  edited: 'after a reload',
  page: pageOf('main', APP),
  ...PLAIN_SHOWS
} as const

const CART = `<!doctype html><title><%= title %></title>${ICON}
  <% for (const name of entries) { %><%- assets.entry(name) %><% } %>
  <div id="app"></div>`

const SERVICE_WORKER = `const version = 'before'
  addEventListener('install', () => skipWaiting())
  addEventListener('message', ({ ports: [port] }) => port.postMessage(version))`

export const FRONT_ENDS = {
  'a single-page application with Vite beside it': {
    files: { ...SPA, ...viteConfig({ ...REACT, input: 'src/main.jsx' }) },
    development: 'vite',
    mount: { fallback: pageOf('src/main.jsx') },
    paths: ['/admin/orders/7'],
    edited: 'in place',
    ...SPA_SHOWS
  },
  'a single-page application with Vite in the process': {
    files: {
      ...SPA,
      ...viteConfig({ ...REACT, input: 'index.html' }),
      'index.html': `<!doctype html><title>Vite's</title>${ICON}${ROOT}
        <script type="module" src="/src/main.jsx"></script>`
    },
    development: 'vite in process',
    mount: { fallback: 'index.html' },
    paths: ['/admin/', '/admin/orders/7'],
    edited: 'in place',
    ...SPA_SHOWS
  },
  'pages of EJS with several entries': {
    files: {
      'views/page.ejs': CART,
      'src/shared.js': "export const app = () => document.querySelector('#app')",
      'src/home.js':
        "import './main.css'\nimport { app } from './shared.js'\napp().append('before ')",
      'src/cart.js': "import { app } from './shared.js'\napp().append('cart')",
      'src/main.css': CSS,
      ...viteConfig({ input: ['src/home.js', 'src/cart.js', 'src/main.css'] })
    },
    development: 'vite',
    page(ctx) {
      const entries = ['src/home.js', 'src/cart.js']
      return ejs.render(CART, { title: 'Cart', entries, assets: ctx.assets })
    },
    edited: 'by Vite',
    shows: [`before cart ${COLOURS[0]}`, `after cart ${COLOURS[1]}`],
    edits: [CSS_EDIT, ['src/home.js', 'before', 'after']]
  },
  Vue: {
    files: {
      'src/main.js': `import { createApp } from 'vue'
        import App from './app.vue'
        createApp(App).mount('#root')`,
      'src/app.vue': `<script setup>
        import { defineAsyncComponent } from 'vue'
        const Lazy = defineAsyncComponent(() => import('./lazy.vue'))
        </script>
        <template><div id="app">before <Lazy /></div></template>
        <style scoped>${CSS}</style>`,
      'src/lazy.vue': '<template><i>lazy</i></template><style scoped>i { color: green }</style>',
      ...viteConfig({
        imports: "import vue from '@vitejs/plugin-vue'",
        plugins: 'vue(),',
        input: 'src/main.js'
      })
    },
    development: 'vite',
    page: pageOf('src/main.js'),
    edited: 'in place',
    shows: PLAIN_SHOWS.shows,
    edits: [
      ['src/app.vue', 'rgb(1, 2, 3)', 'rgb(3, 2, 1)'],
      ['src/app.vue', 'before', 'after']
    ]
  },
  Svelte: {
    files: {
      'src/main.js': `import { mount } from 'svelte'
        import App from './app.svelte'
        mount(App, { target: document.querySelector('#root') })`,
      'src/app.svelte': `<script>
        const lazy = import('./lazy.svelte')
        </script>
        <div id="app">before {#await lazy then { default: Lazy }}<Lazy />{/await}</div>
        <style>${CSS}</style>`,
      'src/lazy.svelte': '<i>lazy</i><style>i { color: green }</style>',
      ...viteConfig({
        imports: "import { svelte } from '@sveltejs/vite-plugin-svelte'",
        plugins: 'svelte(),',
        input: 'src/main.js'
      })
    },
    development: 'vite in process',
    page: pageOf('src/main.js'),
    edited: 'in place',
    shows: PLAIN_SHOWS.shows,
    edits: [
      ['src/app.svelte', 'rgb(1, 2, 3)', 'rgb(3, 2, 1)'],
      ['src/app.svelte', 'before', 'after']
    ]
  },
  webpack: {
    files: { ...PLAIN, ...withStats("import bundle from 'webpack'", 'experiments: { css: true }') },
    manifest: 'dist/stats.json',
    ...WATCHED
  },
  Rspack: {
    files: { ...PLAIN, ...withStats("import { rspack as bundle } from '@rspack/core'") },
    manifest: 'dist/stats.json',
    ...WATCHED
  },
  esbuild: {
    files: {
      ...PLAIN,
      'build.js': `import { writeFileSync } from 'node:fs'
        import { context } from 'esbuild'
        const manifest = { name: 'manifest', setup: build => build.onEnd(({ metafile }) =>
          writeFileSync('dist/metafile.json', JSON.stringify(metafile))) }
        const build = await context({
          entryPoints: ['src/main.js'], outdir: 'dist', entryNames: '[name]-[hash]',
          chunkNames: '[name]-[hash]', bundle: true, splitting: true, format: 'esm', metafile: true,
          plugins: [manifest]
        })
        if (process.argv.includes('--watch')) await build.watch()
        else { await build.rebuild(); await build.dispose() }`
    },
    manifest: 'dist/metafile.json',
    ...WATCHED,
    page: pageOf('src/main.js', APP)
  },
  'React that streams': {
    files: {
      ...SPA,
      'src/app.jsx': `import { lazy, Suspense } from 'react'
        const Lazy = lazy(() => import('./lazy.jsx'))
        export const App = () => <div id="app">before <Suspense fallback="-"><Lazy /></Suspense></div>`,
      'src/main.jsx': `import { hydrateRoot } from 'react-dom/client'
        import { App } from './app.jsx'
        import './main.css'
        hydrateRoot(document.querySelector('#root'), <App />)`,
      'src/server.jsx': STREAMING,
      ...viteConfig({ ...REACT, input: 'src/main.jsx' })
    },
    development: 'vite in process',
    isRendered: true,
    page: (ctx, render) => render?.(ctx.assets.entryFiles('src/main.jsx')).pipe(new PassThrough()),
    edited: 'in place',
    shows: PLAIN_SHOWS.shows,
    edits: [CSS_EDIT, ['src/app.jsx', 'before', 'after']]
  },
  'a progressive web application': {
    files: {
      'static/sw.js': SERVICE_WORKER,
      'static/app.webmanifest': '{ "name": "before" }',
      'src/main.js': `import './main.css'
        const registration = await navigator.serviceWorker.register('/admin/sw.js')
        await registration.update()
        const worker = registration.installing ?? registration.waiting ?? registration.active
        await new Promise(resolve => {
          const look = () => worker.state === 'activated' && resolve()
          worker.addEventListener('statechange', look)
          look()
        })
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = ({ data }) => (document.querySelector('#app').textContent = data)
        worker.postMessage('version', [port2])`,
      'src/main.css': CSS,
      ...viteConfig({ input: 'src/main.js', more: "publicDir: 'static'" })
    },
    development: 'vite in process',
    mount: {
      fallback: pageOf('src/main.js', `<link rel="manifest" href="/admin/app.webmanifest">${APP}`)
    },
    paths: ['/admin/'],
    edited: 'after a reload',
    shows: [`before ${COLOURS[0]}`, `after ${COLOURS[1]}`],
    edits: [CSS_EDIT, ['static/sw.js', 'before', 'after']]
  },
  'a policy with a nonce, and a CDN': {
    files: {
      ...SPA,
      ...viteConfig({
        ...REACT,
        input: 'src/main.jsx',
        more: "base: command === 'build' ? process.env.CDN + '/admin/' : undefined, build: { assetsInlineLimit: 0 }"
      })
    },
    development: 'vite',
    isOnCdn: true,
    page(ctx) {
      const nonce = 'bm9uY2U'
      const [script] = ctx.assets.entryFiles('src/main.jsx').scripts
      const { origin } = new URL(script?.href ?? '')
      ctx.set(
        'Content-Security-Policy',
        [
          "default-src 'none'",
          `img-src 'self' data: ${origin}`,
          `connect-src 'self' ${ctx.assets.devOrigins.join(' ')}`,
          `script-src 'nonce-${nonce}'`,
          `style-src 'nonce-${nonce}' ${origin}`
        ].join('; ')
      )
      return `<!doctype html><title>page</title>${ICON}<meta property="csp-nonce" nonce="${nonce}">
        ${ctx.assets.entry('src/main.jsx', { nonce })}${ROOT}`
    },
    edited: 'in place',
    ...SPA_SHOWS
  }
} satisfies Record<string, FrontEnd>
