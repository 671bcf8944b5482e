// The list of assets.
import type { Overview, Question, Row } from './overview.ts'
import {
  assetLink,
  bytes,
  html,
  layout,
  list,
  state,
  table,
  type Html,
  type Value
} from './layout.ts'

const STATES = ['problems', 'broken', 'outdated', 'unpublished', 'published']
/** The page about the asset has all of them. */
const MAX_REFERENCES = 20

const COLUMNS = ['Asset', 'State', 'Size', 'References', 'Digest']
const CAPTION = html`<caption class="hidden">
  Assets, those with problems first
</caption>`

export function listPage(overview: Overview): string {
  const { root, env, total, surveyed, found, question, assets } = overview
  return layout(
    'Assets',
    'list',
    html`<h1>Assets</h1>
      <p class="note">
        ${root} · ${env} · <a href="${address({ ...question, page: 1 })}&amp;json">JSON</a>
      </p>
      ${surveyed < total && html`<p role="status">Looked at ${surveyed} of ${total} assets so far; this page reloads itself.</p>`}
      ${filters(overview)}
      <p role="status">${found === total ? `${total} assets` : `${found} of ${total} assets`}</p>
      ${assets.length > 0 && table('list', CAPTION, COLUMNS, assets.map(cells))} ${pager(overview)} `
  )
}

function filters({ question, counts }: Overview): Html {
  const shown = STATES.filter(name => (counts[name] ?? 0) > 0 || name === question.state)
  const link = (name: string, text: string) =>
    html`<li>
      <a
        href="${address({ ...question, state: name, page: 1 })}"
        ${question.state === name && html` aria-current="true"`}
        >${text}</a
      >
    </li>`
  return html`<ul class="filters" aria-label="By state">
      ${link('', 'all')} ${shown.map(name => link(name, `${name} ${counts[name] ?? 0}`))}
    </ul>
    <div class="forms">
      <form role="search">
        <label for="q">Path or source contains</label>
        <input type="search" id="q" name="q" value="${question.text}" />
        ${question.state !== '' && html`<input type="hidden" name="state" value="${question.state}" />`}
        <button>Filter</button>
      </form>
      <form action="asset">
        <label for="path">Explain any path or name</label>
        <input id="path" name="path" placeholder="/assets/app.css" required />
        <button>Explain</button>
      </form>
    </div>`
}

function cells(asset: Row): Value[] {
  const { path, source, problems, shadowed, ambiguous, sizes, digest } = asset
  const name = html`${asset.isImage && thumbnail(path)}${assetLink(path)}
    <span class="source">${source}</span>
    ${problems.map(({ message }) => html`<span class="problem">${message}</span>`)}
    ${shadowed.length > 0 && html`<span class="note">hides ${shadowed.join(', ')}</span>`}
    ${ambiguous.length > 0 && html`<span class="note">not found as ${ambiguous.join(', ')}, which is ambiguous</span>`}`
  const all = Object.entries(sizes).map(([coding, size]) => {
    const name = coding === 'identity' ? '' : `${coding} `
    return html`<span class="size">${name}${bytes(size)}</span>`
  })
  return [
    name,
    state(asset.state),
    all,
    [references('to', asset.refersTo), references('from', asset.referredBy)],
    digest !== undefined && html`<code title="${digest}">${digest.slice(0, 8)}</code>`
  ]
}

/** @param path encoded */
function thumbnail(path: string): Html {
  const source = `image?path=${encodeURIComponent(path)}`
  return html`<img src="${source}" alt="" loading="lazy" width="40" height="40" />`
}

function references(direction: 'to' | 'from', paths: readonly string[]): Html | false {
  if (paths.length === 0) return false
  const rest = paths.length - MAX_REFERENCES
  const links = paths.slice(0, MAX_REFERENCES).map(path => assetLink(path))
  return html`<details>
    <summary>${direction} ${paths.length}</summary>
    ${list([...links, ...(rest > 0 ? [`and ${rest} more`] : [])])}
  </details>`
}

function pager({ question, pages }: Overview): Html | false {
  if (pages === 1) return false
  const { page } = question
  const link = (to: number, text: string, rel: string) =>
    to >= 1 &&
    to <= pages &&
    html`<a rel="${rel}" href="${address({ ...question, page: to })}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">
    ${link(page - 1, '← previous', 'prev')}
    <span>page ${page} of ${pages}</span> ${link(page + 1, 'next →', 'next')}
  </nav>`
}

function address({ text, state, page }: Question): string {
  const query = new URLSearchParams({ q: text, state, page: String(page) })
  return `./?${query.toString()}`
}
