// Preact, React and Lit in TypeScript, as their own documentation sets them up, in Chromium.
import { test, type ExecutionContext } from '../support/test.ts'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { placed, run } from '../support/fingerprinted.ts'
import { makeProject, type Files } from '../support/site.ts'
import { linkPackages } from './installed.ts'
import { shows, visit } from './page.ts'

const tsconfig = (compilerOptions: object): Files => ({
  '/tsconfig.json': JSON.stringify({ compilerOptions })
})

/** A counter that `h1` shows, and a click on `button` raises. */
const FRONT_ENDS: Readonly<Record<string, { readonly packages: string[]; readonly files: Files }>> =
  {
    Preact: {
      packages: ['preact'],
      files: {
        ...tsconfig({
          jsx: 'react-jsx',
          jsxImportSource: 'preact',
          paths: { '@/*': ['./apps/web/assets/javascripts/*'] }
        }),
        'javascripts/app.tsx': `import { render } from 'preact'
          import { Counter } from '@/counter'
          render(<Counter key="one" />, document.body)`,
        'javascripts/counter.tsx': `import { useState } from 'preact/hooks'
          export function Counter() {
            const [count, setCount] = useState<number>(0)
            const more = { title: 'counter' }
            return <><h1 {...more} key="h">{count}</h1><button onClick={() => setCount(count + 1)} /></>
          }`
      }
    },
    React: {
      packages: ['react-dom'],
      files: {
        ...tsconfig({ jsx: 'react-jsx' }),
        'javascripts/app.tsx': `import { createRoot } from 'react-dom/client'
          const root = createRoot(document.body)
          let count = 0
          const raise = (): void => (count++, show())
          const show = () => root.render(<><h1>{count}</h1><button onClick={raise} /></>)
          show()`
      }
    },
    Lit: {
      packages: ['lit'],
      files: {
        ...tsconfig({ experimentalDecorators: true, useDefineForClassFields: false }),
        'javascripts/app.ts': `import { html, LitElement } from 'lit'
          import { customElement, property } from 'lit/decorators.js'
          @customElement('x-counter')
          class Counter extends LitElement {
            @property({ type: Number }) count = 0
            createRenderRoot() { return this }
            render() {
              return html\`<h1>\${this.count}</h1><button @click=\${() => this.count++}></button>\`
            }
          }
          document.body.append(new Counter())`
      }
    }
  }

const WAYS: Readonly<Record<string, KoaAssetsOptions>> = {
  'in development': { env: 'development' },
  precompiled: { env: 'production' },
  'precompiled and joined': { env: 'production', bundle: true },
  'precompiled, without joining': { env: 'production', bundle: false }
}

/** Its `h1` shows 0 at first, and how often its button was clicked. */
async function counts(t: ExecutionContext, files: Files, options: KoaAssetsOptions) {
  const root = makeProject(t, placed(files))
  linkPackages(root)
  const all = { ...options, root, missing: 'error', minify: options.env === 'production' } as const
  if (options.env === 'production') await run(all)
  const { page } = await visit(t, {
    ...all,
    view: ({ assets }) =>
      `<!doctype html><body>${assets.importMap({ entry: 'app' })}${assets.javascript('app', { type: 'module' })}`
  })
  const shown = "document.querySelector('h1').textContent"
  for (const count of ['0', '1', '2']) {
    await shows(page, shown, count)
    await page.evaluate("document.querySelector('button').click()")
  }
  t.deepEqual(page.complaints, [])
}

for (const [name, { packages, files }] of Object.entries(FRONT_ENDS))
  for (const [way, options] of Object.entries(WAYS))
    test.serial(`${name} counts, ${way}`, async t => {
      await counts(t, files, { packages, ...options })
    })

const LIST = '[process.env.NODE_ENV, import.meta.env.DEV, import.meta.env.BASE_URL, __VERSION__]'

for (const [way, options] of Object.entries(WAYS))
  test.serial(`modules and a classic script know their environment, ${way}`, async t => {
    const files = {
      'app.ts': `import { plain } from './plain'\nexport const told: unknown[] = [plain, ${LIST}]\nObject.assign(window, { told })`,
      'plain.js': `export const plain = ${LIST}`,
      'classic.js': 'window.classic = process.env.NODE_ENV + __VERSION__'
    }
    const root = makeProject(t, placed(files))
    linkPackages(root)
    const all = { ...options, root, define: { __VERSION__: '1.0' }, minify: true } as const
    if (options.env === 'production') await run(all)
    const { page } = await visit(t, {
      ...all,
      view: ({ assets }) =>
        assets.importMap({ entry: 'app' }) +
        assets.javascript('classic') +
        assets.javascript('app', { type: 'module' })
    })
    await shows(page, 'Array.isArray(window.told)', true)
    const isDeveloped = options.env === 'development'
    const mode = isDeveloped ? 'development' : 'production'
    const list = [mode, isDeveloped, '/', '1.0']
    t.deepEqual(await page.evaluate('[window.told, window.classic]'), [[list, list], `${mode}1.0`])
    t.deepEqual(page.complaints, [])
  })
