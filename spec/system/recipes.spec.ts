// Components of five libraries in a browser: precompiled, and what an edit does to an open page (refresh.spec.ts has React).
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { precompile, type Compiler } from '../../lib/koa-assets.ts'
import { readPart } from '../support/examples.ts'
import { makeProject, moduleFile, serial as test, writeFiles } from '../support/index.ts'
import type { ExecutionContext, Files } from '../support/index.ts'
import type { DrivenPage } from './browser.ts'
import { linkPackages } from './installed.ts'
import { CONNECTED, edit, shows, styleOf, textOf as text, visit, type View } from './page.ts'

interface Recipe {
  readonly packages: readonly string[]
  /** A section of docs/writing-a-compiler.md. */
  readonly compiler?: string
  /** A heading, and a button that counts. */
  readonly files: Files
  readonly body?: string
}

const VUE: Recipe = {
  packages: ['vue'],
  compiler: 'Vue',
  files: {
    'main.js': `import { createApp } from 'vue'
import Counter from './Counter.vue'
createApp(Counter).mount('#app')`,
    'Counter.vue': `<script setup>
import { ref } from 'vue'
import Hello from './Hello.vue'
const count = ref(0)
const step = 1
</script>
<template><Hello /><button @click="count += step">{{ count }}</button></template>
<style scoped>button { color: rgb(1, 2, 3) }</style>`,
    'Hello.vue':
      "<script setup>\nconst name = 'you'\n</script>\n<template><h1>Hello</h1></template>"
  }
}
const SVELTE: Recipe = {
  packages: ['svelte'],
  compiler: 'Svelte',
  files: {
    'main.js': `import { mount } from 'svelte'
import Counter from './Counter.svelte'
mount(Counter, { target: document.querySelector('#app') })`,
    'Counter.svelte': `<script>
  import Hello from './Hello.svelte'
  let count = $state(0)
</script>
<Hello /><button onclick={() => (count += 1)}>{count}</button>
<style>button { color: rgb(1, 2, 3) }</style>`,
    'Hello.svelte': '<h1>Hello</h1>'
  }
}
const LIT: Recipe = {
  packages: ['lit'],
  files: {
    'main.ts': `import { LitElement, html } from 'lit'
customElements.define('my-counter', class extends LitElement {
  static properties = { count: {} }
  declare count: number
  constructor() { super(); this.count = 0 }
  createRenderRoot() { return this }
  render() { return html\`<h1>Hello</h1><button @click=\${() => this.count++}>\${this.count}</button>\` }
})`
  },
  body: '<my-counter></my-counter>'
}
const REACT: Recipe = {
  packages: ['react', 'react-dom'],
  files: {
    'main.tsx': `import { useState } from 'react'
import { createRoot } from 'react-dom/client'
function Counter() {
  const [count, setCount] = useState(0)
  return <><h1>Hello</h1><button onClick={() => setCount(count + 1)}>{count}</button></>
}
createRoot(document.querySelector('#app')!).render(<Counter />)`
  }
}
const PREACT: Recipe = {
  packages: ['preact', '@preact/signals'],
  files: {
    'main.jsx': `import { render } from 'preact'
import { signal } from '@preact/signals'
const [title, count] = [signal('Hello'), signal(0)]
const Counter = () => <><h1>{title}</h1><button onClick={() => count.value++}>{count}</button></>
render(<Counter />, document.querySelector('#app'))`
  }
}

const compilersPage = readPart('docs/writing-a-compiler.md')
const COMPILERS = new Map(['Vue', 'Svelte'].map(name => [name, compilersPage.take(name)[0]?.text]))

/** What the docs have for a package, as a project imports it. */
async function compilersOf(root: string, name: string): Promise<Compiler[]> {
  const text = COMPILERS.get(name) ?? ''
  const library = pathToFileURL(moduleFile('lib/index.ts')).href
  writeFiles(root, { 'compiler.mjs': text.replace("'koa-fresh-assets'", `'${library}'`) })
  return Object.values(await import(pathToFileURL(join(root, 'compiler.mjs')).href))
}

async function make(t: ExecutionContext, { packages, compiler, files }: Recipe) {
  const dependencies = Object.fromEntries(packages.map(name => [name, '*']))
  const sources = Object.entries(files).map(([name, code]) => [`assets/${name}`, code])
  const root = makeProject(t, {
    'package.json': JSON.stringify({ dependencies }),
    ...Object.fromEntries(sources)
  })
  linkPackages(root, packages)
  return { root, compilers: compiler ? await compilersOf(root, compiler) : [] }
}

const APP = '<div id="app"></div>'
const click = (page: DrivenPage) => page.evaluate("document.querySelector('button').click()")

const ALL = { React: REACT, Preact: PREACT, Lit: LIT, Vue: VUE, Svelte: SVELTE }

for (const [name, recipe] of Object.entries(ALL))
  for (const bundle of [true, false])
    test(`a component of ${name} works in production, with bundle: ${bundle}`, async t => {
      const options = { ...(await make(t, recipe)), env: 'production', bundle } as const
      const warnings: string[] = []
      await precompile({ ...options, missing: 'error' }, { warn: text => void warnings.push(text) })
      const view: View = ({ assets }) =>
        `${recipe.body ?? APP}${assets.importMap({ entry: 'main' })}${assets.javascript('main', { type: 'module' })}`
      const { site, page } = await visit(t, { ...options, view })
      await shows(page, text('button'), '0')
      await click(page)
      await shows(page, text('button'), '1')
      t.deepEqual([warnings, page.complaints, site.errors], [[], [], []])
    })

async function open(t: ExecutionContext, recipe: Recipe) {
  let pages = 0
  const { site, page } = await visit(t, {
    ...(await make(t, recipe)),
    view: ({ assets }) => {
      pages++
      return `${assets.live()}${APP}${assets.javascript('main', { type: 'module' })}`
    }
  })
  await shows(page, text('h1'), 'Hello')
  await shows(page, CONNECTED, true)
  await click(page)
  const editSource = (name: string, before: string, after: string) =>
    edit(site, `/assets/${name}`, before, after)
  return { page, edit: editSource, pages: () => pages }
}

test('an edit of the template or styles of a Vue component keeps its state', async t => {
  const { page, edit, pages } = await open(t, VUE)
  await shows(page, text('button'), '1')
  edit('Hello.vue', 'Hello', 'Good morning')
  await shows(page, text('h1'), 'Good morning')
  edit('Counter.vue', '{{ count }}', 'clicked {{ count }}')
  await shows(page, text('button'), 'clicked 1')
  edit('Counter.vue', 'rgb(1, 2, 3)', 'rgb(4, 5, 6)')
  await shows(page, styleOf('button'), 'rgb(4, 5, 6)')
  edit('Counter.vue', 'color: rgb(4, 5, 6)', 'margin: 0')
  await shows(page, `${styleOf('button')} === 'rgb(4, 5, 6)'`, false)
  await shows(page, text('button'), 'clicked 1')
  t.deepEqual([pages(), page.complaints], [1, []])
})

test('an edit of the script of a Vue component mounts it anew without a reload', async t => {
  const { page, edit, pages } = await open(t, VUE)
  await shows(page, text('button'), '1')
  edit('Counter.vue', 'step = 1', 'step = 2')
  await shows(page, text('button'), '0')
  await click(page)
  await shows(page, text('button'), '2')
  t.deepEqual([pages(), page.complaints], [1, []])
})

test('an edit of a Svelte component mounts it anew without a reload', async t => {
  const { page, edit, pages } = await open(t, SVELTE)
  await shows(page, text('button'), '1')
  edit('Hello.svelte', 'Hello', 'Good morning')
  await shows(page, text('h1'), 'Good morning')
  t.is(await page.evaluate(text('button')), '1', 'the state of others stays')
  edit('Counter.svelte', 'rgb(1, 2, 3)', 'rgb(4, 5, 6)')
  await shows(page, styleOf('button'), 'rgb(4, 5, 6)')
  t.deepEqual([pages(), page.complaints], [1, []])
})
