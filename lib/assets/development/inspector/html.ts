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

/** By coding. */
export function sizeList(sizes: Readonly<Record<string, number>>): Html[] {
  return Object.entries(sizes).map(([coding, size]) => {
    return html`<span class="size">${coding !== 'identity' && `${coding} `}${bytes(size)}</span>`
  })
}

export function list(items: readonly Value[]): Html | false {
  return (
    items.length > 0 &&
    html`<ul>
      ${items.map(item => html`<li>${item}</li>`)}
    </ul>`
  )
}

type Row = Readonly<Record<string, Value>>

/** @param rows cells by the names of their columns, which narrow screens show in every cell */
export function table(caption: string, rows: readonly Row[]): Html | false {
  const row = (cells: Row) => {
    const each = Object.entries(cells)
    return html`<tr>
      ${each.map(([name, value]) => html`<td data-column="${name}">${value}</td>`)}
    </tr> `
  }
  const names = Object.keys(rows[0] ?? {}).map(name => html`<th scope="col">${name}</th>`)
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
export interface Html {
  readonly text: string
}

export type Value = string | number | Html | false | undefined | readonly Value[]

/** What is put into a template is escaped, unless a template made it. `false` and `undefined` write nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { text: String.raw({ raw: parts }, ...values.map(written)) }
}

function written(value: Value): string {
  if (value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(written).join('')
  if (typeof value === 'object') return (value as Html).text
  // Control characters in names are shown, not obeyed.
  return escapeHtml(printableLines(String(value)))
}
