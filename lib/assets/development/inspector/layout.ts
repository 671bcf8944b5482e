// What all pages of the inspector have in common. It works without scripts, and allows none.
import { printableLines } from '../../../printable.ts'
import { escapeHtml } from '../../views/html.ts'
import type { State } from './survey.ts'

export const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function layout(
  title: string,
  current: 'list' | 'mounts' | 'requests' | 'asset',
  main: Html
): string {
  const link = (name: typeof current, href: string, text: string) =>
    html`<a href="${href}" ${current === name && html` aria-current="page"`}>${text}</a>`
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
        <nav aria-label="Inspector">
          ${link('list', './', 'Assets')} ${link('mounts', 'mounts', 'Mounts')}
          ${link('requests', 'requests', 'Requests')}
        </nav>
      </header>
      <main id="main">${main}</main>
    </html> `.text
}

/** Leads to the page about an asset, or about any other path. @param path encoded */
export function assetLink(path: string, text = path): Html {
  return html`<a href="asset?path=${encodeURIComponent(path)}">${text}</a>`
}

export function bytes(size: number): string {
  return `${size.toLocaleString('en')} B`
}

const STATES: Readonly<Record<State, string>> = {
  broken: 'it cannot be published',
  outdated: 'its source has changed since; the next request publishes it',
  unpublished: 'it has no target yet; the first request publishes it',
  published: 'the target is current'
}

export function state(name: State | undefined): Html {
  if (name === undefined) return html`<span class="state pending">not looked at yet</span>`
  return html`<span class="state ${name}" title="${STATES[name]}">${name}</span>`
}

export interface ShownText {
  /** Relative to the project root; undefined for what is in no file. */
  readonly file: string | undefined
  readonly text: string
  /** What was left out, in words. */
  readonly omitted: string | undefined
}

/** Numbered lines; the numbers are not part of the text. */
export function code(label: string, { file, text, omitted }: ShownText): Html {
  const lines = text.replace(/\n$/, '').split('\n')
  return html`<section class="code">
    <h3>${label}${file !== undefined && file !== '' && html` <code>${file}</code>`}</h3>
    ${omitted !== undefined && html`<p class="note">${omitted}</p>`}
    <pre tabindex="0" role="region" aria-label="${label}"><code>${lines.map(
      line => html`<span>${`${line}\n`}</span>`
    )}</code></pre>
  </section>`
}

export function list(items: readonly Value[]): Html | undefined {
  if (items.length === 0) return undefined
  return html`<ul>
    ${items.map(item => html`<li>${item}</li>`)}
  </ul>`
}

/** @param columns their names, which narrow screens show in every cell */
export function table(
  kind: 'list' | 'headers',
  caption: Html,
  columns: readonly string[],
  rows: readonly (readonly Value[])[]
): Html {
  const cell = (value: Value, at: number) =>
    kind === 'headers' && at === 0
      ? html`<th scope="row">${value}</th>`
      : html`<td data-column="${columns[at]}">${value}</td>`
  return html`<table class="${kind}">
    ${caption}
    <thead>
      <tr>
        ${columns.map(name => html`<th scope="col">${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        row =>
          html`<tr>
            ${row.map(cell)}
          </tr> `
      )}
    </tbody>
  </table> `
}

/** Everything that is put into a template is escaped, unless it was made by a template itself. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Value = string | number | Html | false | undefined | readonly Value[]

/** `false` and `undefined` write nothing. Control characters in names are shown, not obeyed. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(written)))
}

function written(value: Value): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(written).join('')
  return escapeHtml(printableLines(String(value)))
}
