// Components of Vue, Svelte and Lit in a browser: what an edit does to an open page.
import { makeProject, serial as test, type ExecutionContext, type Files } from '../support/index.ts'
import { linkPackages } from './installed.ts'
import { CONNECTED, edit, shows, styleOf, textOf as text, visit } from './page.ts'
import { compilersOf } from './recipes.ts'

interface Recipe {
  readonly package: string
  readonly compiler?: string
  readonly files: Files
  readonly body?: string
}

const VUE: Recipe = {
  package: 'vue',
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
  package: 'svelte',
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
  package: 'lit',
  files: {
    'main.ts': `import { LitElement, html } from 'lit'
customElements.define('my-counter', class extends LitElement {
  createRenderRoot() { return this }
  render() { return html\`<h1>Hello</h1><button>0</button>\` }
})`
  },
  body: '<my-counter></my-counter>'
}

async function open(t: ExecutionContext, recipe: Recipe) {
  const dependencies = { [recipe.package]: '*' }
  const sources = Object.entries(recipe.files).map(([name, code]) => [`assets/${name}`, code])
  const root = makeProject(t, {
    'package.json': JSON.stringify({ dependencies }),
    ...Object.fromEntries(sources)
  })
  linkPackages(root, [recipe.package])
  const compilers = recipe.compiler ? await compilersOf(root, recipe.compiler) : []
  let pages = 0
  const { site, page } = await visit(t, {
    root,
    compilers,
    view: ({ assets }) => {
      pages++
      return `${assets.live()}${recipe.body ?? '<div id="app"></div>'}${assets.javascript('main', { type: 'module' })}`
    }
  })
  await shows(page, text('h1'), 'Hello')
  await shows(page, CONNECTED, true)
  await page.evaluate("document.querySelector('button').click()")
  const editSource = (name: string, before: string, after: string) =>
    edit(site, `/assets/${name}`, before, after)
  return { page, edit: editSource, pages: () => pages }
}

test('an edit of the template or the styles of Vue keeps the state', async t => {
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

test('an edit of the script of Vue mounts the component anew, without a reload', async t => {
  const { page, edit, pages } = await open(t, VUE)
  await shows(page, text('button'), '1')
  edit('Counter.vue', 'step = 1', 'step = 2')
  await shows(page, text('button'), '0')
  await page.evaluate("document.querySelector('button').click()")
  await shows(page, text('button'), '2')
  t.deepEqual([pages(), page.complaints], [1, []])
})

test('an edit of Svelte mounts its component anew, without a reload', async t => {
  const { page, edit, pages } = await open(t, SVELTE)
  await shows(page, text('button'), '1')
  edit('Hello.svelte', 'Hello', 'Good morning')
  await shows(page, text('h1'), 'Good morning')
  t.is(await page.evaluate(text('button')), '1', 'the state of others stays')
  edit('Counter.svelte', 'rgb(1, 2, 3)', 'rgb(4, 5, 6)')
  await shows(page, styleOf('button'), 'rgb(4, 5, 6)')
  t.deepEqual([pages(), page.complaints], [1, []])
})

test('an edit of Lit, whose elements are defined once, reloads the page', async t => {
  const { page, edit, pages } = await open(t, LIT)
  edit('main.ts', 'Hello', 'Good morning')
  await shows(page, text('h1'), 'Good morning')
  t.is(pages(), 2)
})
