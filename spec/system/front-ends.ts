// Front ends, as their developers set them up: sources, configuration, and what a page then shows.
import { PassThrough } from 'node:stream'
import ejs from 'ejs'
import type { Context } from 'koa'
import type { EntryFiles } from '../../lib/extras/vite/entry.ts'
import type { Files } from '../support/site.ts'
import { ICON } from './page.ts'

export type Render = (
  files: Pick<EntryFiles, 'scripts' | 'stylesheets'>,
  nonce?: string
) => { pipe(to: PassThrough): PassThrough }

export interface FrontEnd {
  readonly files: Files
  /** Vite runs in Koa's process, where `src/server.jsx` renders the page, whose files come from the option `host`. */
  readonly isRendered: boolean
  readonly page: (ctx: Context, render: Render | undefined) => unknown
  /** What `STATE` becomes, before and after the edits. */
  readonly shows: readonly [before: string, after: string]
  /** By HMR, or by a reload that Vite asks for. */
  readonly edited: 'in place' | 'by Vite'
  readonly edits: readonly (readonly [file: string, before: string, after: string])[]
}

/** Text and colour of what every one of them shows. */
export const STATE = `(app => app && app.textContent.replaceAll(/\\s+/g, ' ').trim() + ' ' + getComputedStyle(app).color)
  (document.querySelector('#app'))`

type ViteOptions = Partial<Record<'imports' | 'plugins' | 'more', string>> & {
  readonly input: string | readonly string[]
}

function viteConfig({ imports = '', plugins = '', input, more = '' }: ViteOptions): Files {
  const own = `freshAssets({ mount: '/admin', input: ${JSON.stringify(input)} })`
  const text = `import { freshAssets } from 'koa-fresh-assets/vite'
    ${imports}
    export default ({ command }) => ({ cacheDir: '.vite', plugins: [${plugins} ${own}], ${more} })`
  return { 'vite.config.js': text }
}

const REACT = { imports: "import react from '@vitejs/plugin-react'", plugins: 'react(),' }
const CSS = '#app { color: rgb(1, 2, 3) }'
const CSS_EDIT = ['src/main.css', 'rgb(1, 2, 3)', 'rgb(3, 2, 1)'] as const

const STREAMING = `import { renderToPipeableStream } from 'react-dom/server'
  import { App } from './app.jsx'
  export const render = ({ scripts, stylesheets }, nonce) => renderToPipeableStream(
    <html><head><title>page</title><link rel="icon" href="data:," />
      <meta property="csp-nonce" nonce={nonce} />
      {stylesheets.map(({ href, integrity, crossorigin }) =>
        <link key={href} rel="stylesheet" {...{ href, integrity, crossOrigin: crossorigin }} />)}
    </head><body><div id="root"><App /></div></body></html>,
    { nonce, bootstrapModules: scripts.map(({ href, integrity, crossorigin }) =>
        ({ src: href, integrity, crossOrigin: crossorigin })) })`

const LEAF = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
const LAZY: Files = {
  'src/lazy.jsx': "import './lazy.css'\nexport default () => <i>lazy</i>",
  'src/lazy.css': 'i { color: green }',
  'src/main.css': `${CSS} body { background: url(./leaf.svg) }`,
  'src/leaf.svg': LEAF
}

const CART = `<!doctype html><title>Cart</title>${ICON}
  <%- assets.entry('src/home.js') %><%- assets.entry('src/cart.jsx') %><div id="app"></div>`

export const PAGES = {
  files: {
    'views/page.ejs': CART,
    'src/shared.js': "export const app = () => document.querySelector('#app')",
    'src/home.js':
      "import './main.css'\nimport { app } from './shared.js'\napp().append('before ')",
    'src/cart.jsx': `import { createRoot } from 'react-dom/client'
      import { app } from './shared.js'
      createRoot(app().appendChild(document.createElement('i'))).render(<b>cart</b>)`,
    'src/main.css': CSS,
    ...viteConfig({ ...REACT, input: ['src/home.js', 'src/cart.jsx', 'src/main.css'] })
  },
  isRendered: false,
  page: ({ assets }) => ejs.render(CART, { assets }),
  edited: 'by Vite',
  shows: ['before cart rgb(1, 2, 3)', 'after cart rgb(3, 2, 1)'],
  edits: [CSS_EDIT, ['src/home.js', 'before', 'after']]
} satisfies FrontEnd

const STREAMED: FrontEnd = {
  files: {
    ...LAZY,
    'src/app.jsx': `import { lazy, Suspense } from 'react'
      const Lazy = lazy(() => import('./lazy.jsx'))
      export const App = () => <div id="app">before <Suspense fallback="-"><Lazy /></Suspense></div>`,
    'src/main.jsx': `import { hydrateRoot } from 'react-dom/client'
      import { App } from './app.jsx'
      import './main.css'
      hydrateRoot(document.querySelector('#root'), <App />)`,
    'src/server.jsx': STREAMING,
    ...viteConfig({
      ...REACT,
      input: 'src/main.jsx',
      more: "base: command === 'build' ? process.env.CDN + '/admin/' : undefined, build: { assetsInlineLimit: 0 }"
    })
  },
  isRendered: true,
  page(ctx, render) {
    const nonce = 'bm9uY2U'
    const { devOrigins, entryFiles } = ctx.assets
    const files = entryFiles('src/main.jsx')
    const { origin } = new URL(files.scripts[0]?.href ?? '', ctx.href)
    ctx.set(
      'Content-Security-Policy',
      `default-src 'none'; img-src 'self' data: ${origin}; connect-src 'self' ${devOrigins.join(' ')};
        script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}' ${origin}`.replace('\n', '')
    )
    return render?.(files, nonce).pipe(new PassThrough())
  },
  edited: 'in place',
  shows: ['before lazy rgb(1, 2, 3)', 'after lazy rgb(3, 2, 1)'],
  edits: [CSS_EDIT, ['src/app.jsx', 'before', 'after']]
}

export const FRONT_ENDS: Readonly<Record<string, FrontEnd>> = {
  'EJS pages with several entries': PAGES,
  'streamed React under a policy with a nonce': STREAMED
}
