// What all pages of the inspector have in common. It works without scripts, and allows none.
import type { State } from '../survey.ts'
import type { ShownText } from '../asset.ts'
import { html, type Html } from './html.ts'

export const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function layout(title: string, current: 'list' | 'requests' | 'asset', main: Html): string {
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
          ${link('list', './', 'Assets')} ${link('requests', 'requests', 'Requests')}
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
