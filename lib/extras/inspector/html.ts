// Renders the common parts of the inspector's pages, which work without scripts and allow none.
import { printableLines } from '../../runtime/errors.ts'
import { escapeHtml, openTag, type Attributes } from '../../runtime/views/html.ts'

/** Text made by a template, which is not escaped again. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Value = string | number | Html | false | undefined | readonly Value[]

/** Makes HTML. Values are escaped, unless a template made them; `false` and `undefined` write nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(written)))
}

function written(value: Value): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(written).join('')
  // Control characters in names are shown, not obeyed.
  return escapeHtml(printableLines(String(value)))
}

/** Makes an element. Content is escaped, unless a template made it; attributes without a value are left out. */
export function element(name: string, content: Value, attributes: Attributes = {}): Html {
  return new Html(`${openTag(name, attributes)}${written(content)}</${name}>`)
}

export function each(name: string, contents: readonly Value[], attributes?: Attributes): Html[] {
  return contents.map(content => element(name, content, attributes))
}

export const joined = (...values: readonly Value[]) => new Html(written(values))

const PAGES = { Assets: './', Requests: 'requests' }

export function layout(title: string, json: string, main: Value): string {
  const pages = Object.entries(PAGES).map(([name, href]) =>
    link(href, name, { 'aria-current': name === title && 'page' })
  )
  return html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>${title} · koa-fresh-assets</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href="inspector.css" />
      <a class="skip" href="#main">Skip to the content</a>
      <header>
        <a class="brand" href="./">koa-fresh-assets</a>
        <nav aria-label="Inspector">${pages}</nav>
      </header>
      <main id="main">
        <h1>${title}</h1>
        <p class="note"><a href="${json}">JSON</a></p>
        ${main}
      </main>
    </html> `.text
}

export const link = (href: string, text: string, attributes: Attributes = {}) =>
  element('a', text, { href, ...attributes })

export const assetLink = (path: string) => link(`asset?path=${encodeURIComponent(path)}`, path)

export const bytes = (size: number) => `${size.toLocaleString('en')} B`
export const note = (text: string) => element('p', text, { class: 'note' })
export const status = (text: string) => element('p', text, { role: 'status' })

export const list = (items: readonly Value[]) =>
  items.length > 0 && element('ul', each('li', items))

const links = (paths: readonly string[]) => list(paths.map(assetLink))
const badge = (text: Value, name: string) => element('span', text, { class: `state ${name}` })

const SHOWN: Readonly<Record<string, (value: never) => Value>> = {
  path: assetLink,
  refersTo: links,
  referredBy: links,
  url: (url: string) => link(url, url),
  state: (state: string) => state && badge(state, state),
  status: (status: number) => badge(status, `s${Math.floor(status / 100)}`),
  bytes,
  sizes: (sizes: Readonly<Record<string, number>>) =>
    Object.entries(sizes).map(([coding, size]) => {
      const text = coding === 'identity' ? bytes(size) : `${coding} ${bytes(size)}`
      return element('span', text, { class: 'size' })
    })
}

const LABELS: Readonly<Record<string, string>> = {
  url: 'Pages ask for',
  dependencies: 'Also made of',
  tails: 'Also found as',
  ambiguous: 'Ambiguous, so not found as',
  shadowed: 'Hides'
}

function labelOf(name: string): string {
  const words = name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

function shown(name: string, value: unknown): Value {
  if (value === undefined || value instanceof Html) return value
  if (SHOWN[name]) return SHOWN[name](value as never)
  return Array.isArray(value) ? list(value) : (value as Value)
}

export function facts(model: object): Html {
  const all = Object.entries(model).map(([name, value]) => [labelOf(name), shown(name, value)])
  const known = all.filter(([, value]) => value && [value].flat().length > 0)
  const rows = known.map(([name, value]) => [element('dt', name), element('dd', value)])
  return element('dl', rows)
}

/** @param rows have the same names; narrow screens show them in every cell */
export function table(caption: string, rows: readonly object[]): Html | false {
  const names = Object.keys(rows[0] ?? {}).map(labelOf)
  const head = element('tr', each('th', names, { scope: 'col' }))
  const cell = ([name, value]: [string, unknown]) =>
    element('td', shown(name, value), { 'data-column': labelOf(name) })
  const lines = rows.map(row => element('tr', Object.entries(row).map(cell)))
  const parts = [element('caption', caption), element('thead', head), element('tbody', lines)]
  return rows.length > 0 && element('table', parts)
}

export const STYLE = `:root {
  color-scheme: light dark;
  --accent: light-dark(#0f7a56, #5fd3a5);
  --page: light-dark(#f5f8f6, #0d1614);
  --surface: light-dark(#fff, #14211e);
  --line: light-dark(#d5e2dc, #263a35);
  --text: light-dark(#14241f, #e3eeea);
  --muted: light-dark(#4b6058, #9db4ab);
  --kept: light-dark(#1a56a8, #8fbcff);
  --warn: light-dark(#7a5200, #f0c36a);
  --bad: light-dark(#b02a1c, #ff9d8f);
}
* { box-sizing: border-box; overflow-wrap: anywhere }
body { margin: 0 auto; max-width: 90rem; padding: 0 1.25rem 4rem; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
header, nav, .forms, form { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: end }
header { padding-block: 1rem; border-bottom: 1px solid var(--line) }
h1 { margin: 1.5rem 0 .25rem; font-size: 1.5rem }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem }
h3, .code .note { margin: 0; padding: .5rem .85rem; font-size: .9rem }
a { color: var(--accent); text-underline-offset: .15em }
.skip { position: absolute; left: -100vw }
.skip:focus { left: 1rem; padding: .5rem 1rem; background: var(--surface) }
.brand, [aria-current] { color: inherit; font-weight: 600; text-decoration: none }
code, pre { font: .92em/1.45 ui-monospace, 'Cascadia Code', 'DejaVu Sans Mono', Menlo, monospace }
.note { margin: .25rem 0; color: var(--muted) }
.problem { color: var(--bad); white-space: pre-wrap }
.filters { margin-block: .75rem }
.filters a { padding: .25rem .8rem; border: 1px solid var(--line); border-radius: 99px; background: var(--surface) }
form { flex: 1 1 20rem; gap: .4rem }
label { flex: 1 0 100%; color: var(--muted) }
input, button { padding: .4rem .7rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); color: inherit; font: inherit }
input { flex: 1; min-width: 8rem }
table { width: 100%; margin-bottom: 1.25rem; border-collapse: collapse }
caption { padding: .4rem 0; text-align: left; font-weight: 600 }
table, dl, .code { min-width: 0; border: 1px solid var(--line); background: var(--surface) }
th, td { padding: .55rem .85rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line) }
th, dt { overflow-wrap: normal; color: var(--muted) }
td > span, .size { display: block }
img { object-fit: contain; background: repeating-conic-gradient(var(--line) 0 25%, var(--surface) 0 50%) 0 0 / 12px 12px }
.picture img { max-width: min(100%, 24rem); max-height: 16rem }
.size, .state, td > code { white-space: nowrap }
td > .state, .state { display: inline-block; padding: 0 .55rem; border: 1px solid; border-radius: 99px; font-size: .82rem }
.published, .s2 { color: var(--accent) }
.outdated, .s4 { color: var(--warn) }
.unpublished, .pending { color: var(--muted) }
.s3 { color: var(--kept) }
.broken, .s5 { color: var(--bad); font-weight: 600 }
dd, dd ul, td ul { margin: 0; padding: 0; list-style: none }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.5rem; padding: 1rem }
.outcome, p.problem { padding: .6rem .85rem; border-left: 4px solid var(--accent); background: var(--surface) }
p.problem { border-color: var(--bad) }
pre { margin: 0; padding: .75rem .85rem; max-height: 32rem; overflow: auto; overflow-wrap: normal; background: var(--page); tab-size: 2 }
.code pre span { counter-increment: line; overflow-wrap: normal }
.code pre span::before { content: counter(line); display: inline-block; width: 2.5rem; margin-right: 1rem; color: var(--muted); text-align: right }
@media (max-width: 44rem) {
  thead { position: absolute; right: 100% }
  table, caption, tbody, tr, td { display: block }
  caption { padding-inline: .85rem }
  td { border: 0; padding-block: .1rem }
  .size { display: inline-block; vertical-align: top; margin-right: .75rem }
  tr { border-top: 1px solid var(--line) }
  td:empty { display: none }
  td + td::before { content: attr(data-column) ': ' }
  dl { grid-template-columns: 1fr; gap: 0 }
}
`
