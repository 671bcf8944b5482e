// Applications as tutorials have them, in a browser, beside what Vite makes of the same sources.
import { join } from 'node:path'
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { precompile } from '../../lib/koa-assets.ts'
import { makeProject, test, warningsAbout, writeFiles } from '../support/index.ts'
import type { ExecutionContext, Files } from '../support/index.ts'
import { buildWithVite, linkPackages } from './installed.ts'
import { ICON, shows, styleOf, visit, type View, type VisitOptions } from './page.ts'
import { compilersOf, RECIPES } from './recipes.ts'

interface Tutorial {
  readonly packages: readonly string[]
  /** Below `assets`; the first one is the module of the page. */
  readonly files: Files
  readonly body?: string
  /** An expression, its value at first, and after a click on the first button. */
  readonly state: readonly [expression: string, before: string, after: string]
  readonly vite?: string
  /** The compiler of this package: a section of docs/writing-a-compiler.md. */
  readonly compiler?: string
}

const BUTTON =
  "(document.querySelector('todo-list')?.shadowRoot ?? document).querySelector('button')"
const APP = '<div id="app"></div>'
const pluginOf = (name: string, from: string) => `import { defineConfig } from 'vite'
import ${name} from '${from}'
export default defineConfig({ plugins: [${name.replaceAll(/\W/g, '')}()] })`
const textOf = (selector: string) => `document.querySelector('${selector}').textContent`
const coloredIn = (selector: string) => `${textOf('button')} + ' ' + ${styleOf(selector)}`

const TUTORIALS: Readonly<Record<string, Tutorial>> = {
  'the tic-tac-toe of React': {
    packages: ['react', 'react-dom'],
    files: {
      'index.tsx': `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles.css';
import App from './App';
createRoot(document.getElementById('app')!).render(<StrictMode><App /></StrictMode>);`,
      'App.tsx': `import { useState } from 'react';
const lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
function Square({ value, onSquareClick }: { value: string | null; onSquareClick: () => void }) {
  return <button className="square" onClick={onSquareClick}>{value}</button>;
}
export default function Board() {
  const [squares, setSquares] = useState<(string | null)[]>(Array(9).fill(null));
  const next = squares.filter(Boolean).length % 2 ? 'O' : 'X';
  const won = lines.find(([a, b, c]) => squares[a] && squares[a] === squares[b] && squares[a] === squares[c]);
  const handleClick = (i: number) => !won && !squares[i] && setSquares(squares.with(i, next));
  return (
    <>
      <p>{won ? 'Winner: ' + squares[won[0]] : 'Next player: ' + next}</p>
      {squares.map((value, i) => <Square key={i} value={value} onSquareClick={() => handleClick(i)} />)}
    </>
  );
}`
    },
    state: [textOf('p'), 'Next player: X', 'Next player: O'],
    vite: pluginOf('react', '@vitejs/plugin-react')
  },
  'the list of Preact, with hooks and signals': {
    packages: ['preact', '@preact/signals'],
    files: {
      'main.jsx': `import { render } from 'preact';
import { useState } from 'preact/hooks';
import { signal, computed } from '@preact/signals';
import './styles.css';
const todos = signal([{ text: 'Buy groceries', completed: true }]);
const completed = computed(() => todos.value.filter(todo => todo.completed).length);
function TodoList() {
  const [text, setText] = useState('Walk the dog');
  const add = () => (todos.value = [...todos.value, { text, completed: true }]);
  return (
    <>
      <input value={text} onInput={event => setText(event.currentTarget.value)} />
      <button onClick={add}>Add</button>
      <ul>{todos.value.map(todo => <li>{todo.text}</li>)}</ul>
      <p>Completed count: {completed}</p>
    </>
  );
}
render(<TodoList />, document.getElementById('app'));`
    },
    state: [textOf('p'), 'Completed count: 1', 'Completed count: 2'],
    vite: `import { defineConfig } from 'vite'
export default defineConfig({ oxc: { jsx: { importSource: 'preact' } } })`
  },
  'the list of Lit, with decorators': {
    packages: ['lit'],
    files: {
      'todo-list.ts': `import {LitElement, html, css} from 'lit';
import {customElement, state, query} from 'lit/decorators.js';
import {classMap} from 'lit/directives/class-map.js';
@customElement('todo-list')
export class ToDoList extends LitElement {
  static styles = css\`.completed { text-decoration: line-through; }\`;
  @state() private listItems = [{ text: 'Start Lit tutorial', completed: true }];
  @query('#newitem') input!: HTMLInputElement;
  render() {
    return html\`
      <ul>\${this.listItems.map(({text, completed}) => html\`<li class=\${classMap({completed})}>\${text}</li>\`)}</ul>
      <input id="newitem" aria-label="New item" value="Make to-do list">
      <button @click=\${this.addToDo}>Add</button>\`;
  }
  addToDo() {
    this.listItems = [...this.listItems, {text: this.input.value, completed: false}];
  }
}`,
      '../tsconfig.json':
        '{ "compilerOptions": { "experimentalDecorators": true, "useDefineForClassFields": false } }'
    },
    body: '<todo-list></todo-list>',
    state: [`${BUTTON}.parentNode.querySelectorAll('li').length + ' items'`, '1 items', '2 items']
  },
  'the counter of Vue, with single-file components': {
    packages: ['vue'],
    files: {
      'main.js': `import './styles.css'
import { createApp } from 'vue'
import App from './App.vue'
createApp(App).mount('#app')`,
      'App.vue': `<script setup>
import { ref } from 'vue'
import HelloWorld from './components/HelloWorld.vue'
const count = ref(0)
</script>
<template>
  <HelloWorld msg="Vite + Vue" />
  <button @click="count++">{{ count }}</button>
</template>
<style scoped>
button { color: rgb(1, 2, 3) }
</style>`,
      'components/HelloWorld.vue':
        '<script setup>\ndefineProps({ msg: String })\n</script>\n<template><h1>{{ msg }}</h1></template>'
    },
    state: [coloredIn('button'), '0 rgb(1, 2, 3)', '1 rgb(1, 2, 3)'],
    vite: pluginOf('vue', '@vitejs/plugin-vue'),
    compiler: 'Vue'
  },
  'the counter of Svelte, with runes': {
    packages: ['svelte'],
    files: {
      'main.js': `import { mount } from 'svelte'
import App from './App.svelte'
export default mount(App, { target: document.getElementById('app') })`,
      'App.svelte': `<script>
  import Counter from './lib/Counter.svelte'
</script>
<main><Counter step={2} /></main>
<style>main { color: rgb(1, 2, 3) }</style>`,
      'lib/Counter.svelte': `<script>
  let { step } = $props()
  let count = $state(0)
  let doubled = $derived(count * step)
</script>
<button onclick={() => (count += 1)}>{count}, {doubled}</button>`
    },
    state: [coloredIn('main'), '0, 0 rgb(1, 2, 3)', '1, 2 rgb(1, 2, 3)'],
    vite: pluginOf('{ svelte }', '@sveltejs/vite-plugin-svelte'),
    compiler: 'Svelte'
  }
}

const TOOLS = ['vite', '@vitejs/plugin-react', '@vitejs/plugin-vue', '@sveltejs/vite-plugin-svelte']
/** A page names the stylesheet in the place of this line, which is the only one that is not as in the tutorial. */
const STYLE_IMPORT = /^import '\.\/styles\.css';?\n/m

/** A project in which these packages are installed, and no others but those of Vite. */
function makeTutorial(t: ExecutionContext, packages: readonly string[], files: Files): string {
  const dependencies = Object.fromEntries(packages.map(name => [name, '*']))
  const root = makeProject(t, { 'package.json': JSON.stringify({ dependencies }), ...files })
  linkPackages(root, [...packages, ...TOOLS])
  return root
}

/** Opens the page, clicks, and resolves to what was loaded before. */
async function use(t: ExecutionContext, state: Tutorial['state'], options: VisitOptions) {
  const { site, page, paths } = await visit(t, options)
  await shows(page, state[0], state[1])
  const loaded = [...paths]
  await page.evaluate(`${BUTTON}.click()`)
  await shows(page, state[0], state[2])
  t.deepEqual([page.complaints, site.errors], [[], []])
  let bytes = 0
  for (const path of loaded) if (path.endsWith('.js')) bytes += (await site.ask(path)).bytes.length
  return { bytes, said: `${loaded.length} requests, ${bytes} bytes of scripts` }
}

const linesIn = (text = '') => text.trim().split('\n').filter(Boolean).length

for (const [at, [name, tutorial]] of Object.entries(TUTORIALS).entries())
  test.serial(`${name} works and weighs as with Vite`, async t => {
    // Other specs have run in this process.
    const { length } = warningsAbout('koa-fresh-assets: ')
    const { packages, files, body = APP, state, vite = '', compiler = '' } = tutorial
    const [[main, code] = ['', '']] = Object.entries(files)
    const hasStyles = STYLE_IMPORT.test(String(code))
    const root = makeTutorial(t, packages, {
      ...(hasStyles && { 'assets/styles.css': 'h1, p { color: rgb(1, 2, 3) }' }),
      'vite.config.mjs': vite || 'export default {}',
      'index.html': `<!doctype html>${ICON}${body}<script type="module" src="/assets/${main}"></script>`
    })
    for (const [path, text] of Object.entries(files))
      writeFiles(root, { [join('assets', path)]: text })
    await buildWithVite(root)
    const mounts = { '/': { dir: 'dist', fallback: 'index.html' } }
    const built = { root, env: 'production', apps: false, public: false, mounts } as const
    const there = await use(t, state, built)
    writeFiles(root, { [`assets/${main}`]: String(code).replace(STYLE_IMPORT, '') })
    const options = { root, ...(compiler && { compilers: await compilersOf(root, compiler) }) }
    const module = main.replace(/\.\w+$/, '')
    const view: View = ({ assets }) =>
      `${body}${hasStyles ? assets.stylesheet('styles') : ''}` +
      `${assets.importMap({ entry: module })}${assets.javascript(module, { type: 'module' })}`
    await use(t, state, { ...options, view })
    const warnings: string[] = []
    const precompiled = async (more: KoaAssetsOptions) => {
      const built = { ...options, ...more, env: 'production', missing: 'error' } as const
      await precompile(built, { warn: message => void warnings.push(message) })
      return use(t, state, { ...built, view })
    }
    const here = await precompiled({})
    await precompiled({ bundle: at % 2 === 0 })
    t.deepEqual([...warnings, ...warningsAbout('koa-fresh-assets: ').slice(length)], [])
    t.true(here.bytes <= 1.1 * there.bytes)
    t.log(`${here.said}, ${linesIn(RECIPES.get(compiler))} lines of configuration`)
    t.log(`Vite: ${there.said}, ${linesIn(vite)} lines of configuration`)
  })
