// What all pages of the inspector have in common. It works without scripts, and allows none.
import { printableLines } from '../../../printable.ts'
import { escapeHtml } from '../../views/html.ts'

const PAGES = { Assets: './', Mounts: 'mounts', Requests: 'requests' }

/** @param json the URL of what the page shows as JSON */
export function layout(title: string, json: string, main: Value): string {
  const link = ([name, href]: [string, string]) =>
    html`<a href="${href}" ${name === title && html` aria-current="page"`}>${name}</a> `
  return html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>${title} · koa-fresh-assets</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href="inspector.css" />
      <a class="skip" href="#main">Skip to the content</a>
      <header>
        <p class="brand"><a href="./">koa-fresh-assets</a></p>
        <nav aria-label="Inspector">${Object.entries(PAGES).map(link)}</nav>
      </header>
      <main id="main">
        <h1>${title}</h1>
        <p class="note"><a href="${json}">JSON</a></p>
        ${main}
      </main>
    </html> `.text
}

/** Leads to the page about an asset, or about any other path. @param path encoded */
export function assetLink(path: string): Html {
  return html`<a href="asset?path=${encodeURIComponent(path)}">${path}</a>`
}

export function bytes(size: number): string {
  return `${size.toLocaleString('en')} B`
}

export function list(items: readonly Value[]): Html | false {
  return (
    items.length > 0 &&
    html`<ul>
      ${items.map(item => html`<li>${item}</li>`)}
    </ul>`
  )
}

/** How a value is shown, by its name in the JSON. */
const SHOWN: Readonly<Record<string, (value: never) => Value>> = {
  path: assetLink,
  refersTo: (paths: string[]) => list(paths.map(assetLink)),
  referredBy: (paths: string[]) => list(paths.map(assetLink)),
  url: (url: string) => html`<a href="${url}">${url}</a>`,
  state: (state: string) => html`<span class="state ${state}">${state}</span>`,
  status: (status: number) =>
    html`<span class="state s${Math.floor(status / 100)}">${status}</span>`,
  bytes,
  sizes: (sizes: Readonly<Record<string, number>>) =>
    Object.entries(sizes).map(([coding, size]) => {
      return html`<span class="size">${coding !== 'identity' && `${coding} `}${bytes(size)}</span>`
    })
}

const LABELS: Readonly<Record<string, string>> = {
  url: 'Pages ask for',
  dependencies: 'Also made of',
  tails: 'Also found as',
  ambiguous: 'Ambiguous, so not found as',
  shadowed: 'Hides',
  entries: 'In the tags of',
  usedBy: 'Also used by'
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

/** Names and values. */
export function facts(model: object): Html {
  const all = Object.entries(model).map(([name, value]) => [labelOf(name), shown(name, value)])
  const known = all.filter(([, value]) => value && [value].flat().length > 0)
  return html`<dl>
    ${known.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd> `
    )}
  </dl>`
}

/** @param rows with the same names in each; narrow screens show them in every cell */
export function table(caption: string, rows: readonly object[]): Html | false {
  const row = (cells: object) => {
    const each = Object.entries(cells)
    return html`<tr>
      ${each.map(([name, value]) => html`<td data-column="${labelOf(name)}">${shown(name, value)}</td>`)}
    </tr> `
  }
  const names = Object.keys(rows[0] ?? {}).map(name => html`<th scope="col">${labelOf(name)}</th>`)
  return (
    rows.length > 0 &&
    html`<table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${names}
        </tr>
      </thead>
      <tbody>
        ${rows.map(row)}
      </tbody>
    </table> `
  )
}

/** What a template made. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Value = string | number | Html | false | undefined | readonly Value[]

/** What is put into a template is escaped, unless a template made it. `false` and `undefined` write nothing. */
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
