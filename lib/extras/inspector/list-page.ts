// Lists assets, a page at a time, mounts as they are on disk now, and the latest requests.
import { subscribe } from 'node:diagnostics_channel'
import { sep } from 'node:path'
import type { DiagnosticMessages } from '../../runtime/diagnostics.ts'
import type { ListedAsset } from '../../publishing/building/assets.ts'
import { withSlashes } from '../../runtime/files/paths.ts'
import type { ListedMount } from '../telling/listed-mounts.ts'
import { assetLink, facts, html, type Html, layout, list, table } from './page-html.ts'
import { recordOf, soon, type AssetRecord, type Survey } from './survey.ts'

const ROWS = 100

export type PageOfAssets = Awaited<ReturnType<typeof pageOfAssets>>

/**
 * Lists all assets, those with problems first.
 * @param query may have `q`, a part of a path or of a source's path, `state`, a state or `problems`, and `page`
 */
export async function pageOfAssets(survey: Survey, query: URLSearchParams) {
  const { root, env } = survey.pipeline.settings
  const text = query.get('q') ?? ''
  const wanted = query.get('state') ?? ''
  const all = Array.from(survey.places, ([path, place]) => {
    const { state, problems = [] } = survey.seen.get(path) ?? {}
    const isTroubled = problems.length > 0
    return { place, isTroubled, states: [state ?? [], isTroubled ? 'problems' : []].flat() }
  })
  const counts: Record<string, number> = {}
  for (const name of all.flatMap(({ states }) => states)) counts[name] = (counts[name] ?? 0) + 1
  const found = all
    .filter(({ states }) => wanted === '' || states.includes(wanted))
    .filter(({ place }) => matches(place, text.toLowerCase(), root))
    .toSorted((a, b) => Number(b.isTroubled) - Number(a.isTroubled))
  const pages = Math.max(1, Math.ceil(found.length / ROWS))
  const page = Math.min(Math.max(1, Math.trunc(Number(query.get('page'))) || 1), pages)
  const shown = found.slice((page - 1) * ROWS, page * ROWS).map(async ({ place }) => {
    const known = survey.seen.get(place.path)
    // A slow compiler is not waited for.
    return recordOf(survey, place, known && ((await soon(survey.look(place))) ?? known))
  })
  return {
    root,
    env,
    surveyed: survey.seen.size,
    total: survey.places.size,
    counts,
    question: { text, state: wanted, page },
    found: found.length,
    pages,
    assets: await Promise.all(shown)
  }
}

function matches({ path, source: { file } }: ListedAsset, text: string, root: string): boolean {
  // path.relative is slow for thousands of files.
  const shown = file.startsWith(root) ? file.slice(root.length + 1) : file
  return `${path}\n${withSlashes(shown)}`.toLowerCase().includes(text)
}

const STATES = ['problems', 'broken', 'outdated', 'unpublished', 'published']

export function listPage(shown: PageOfAssets): string {
  const { root, env, total, surveyed, found, question, assets } = shown
  return layout(
    'Assets',
    `${address(question)}&json`,
    html`<p class="note">${root} · ${env}</p>
      ${surveyed < total && html`<p role="status">Looked at ${surveyed} of ${total} assets so far; this page reloads itself.</p>`}
      ${filters(shown)}
      <p role="status">${found !== total && `${found} of `}${total} assets</p>
      ${table('Assets with problems come first', assets.map(cells))} ${pager(shown)} `
  )
}

function filters({ question, counts }: PageOfAssets): Html {
  const shown = STATES.filter(name => name in counts || name === question.state)
  const link = (state: string, text: string) =>
    html`<li>
      <a
        href="${address({ ...question, state, page: 1 })}"
        ${question.state === state && html` aria-current="true"`}
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
        <input type="hidden" name="state" value="${question.state}" />
        <button>Filter</button>
      </form>
      <form action="asset">
        <label for="path">Explain any path or name</label>
        <input id="path" name="path" placeholder="/assets/app.css" required />
        <button>Explain</button>
      </form>
    </div>`
}

function cells(asset: AssetRecord) {
  const { path, source, problems, shadowed, ambiguous, digest, sizes } = asset
  const notes = [
    source,
    ...(shadowed.length > 0 ? [`hides ${shadowed.join(', ')}`] : []),
    ...(ambiguous.length > 0 ? [`not found as ${ambiguous.join(', ')}, which is ambiguous`] : [])
  ]
  const references = [detailsOf('to', asset.refersTo), detailsOf('from', asset.referredBy)]
  return {
    asset: html`${asset.isImage && html`<img src="${imageUrl(path)}" alt="" loading="lazy" width="40" height="40" />`}
    ${assetLink(path)} ${notes.map(note => html`<span class="note">${note}</span>`)}
    ${problems.map(problem => html`<span class="problem">${problem}</span>`)}`,
    state: asset.state ?? html`<span class="state pending">not looked at yet</span>`,
    sizes,
    references: html`${references}`,
    digest: digest === undefined ? '' : html`<code title="${digest}">${digest.slice(0, 8)}</code>`
  }
}

/** @param path is encoded */
export function imageUrl(path: string): string {
  return `image?path=${encodeURIComponent(path)}`
}

function detailsOf(direction: 'to' | 'from', paths: readonly string[]): Html | false {
  const links = list(paths.map(assetLink))
  return (
    links &&
    html`<details>
      <summary>${direction} ${paths.length}</summary>
      ${links}
    </details>`
  )
}

function pager({ question, pages }: PageOfAssets): Html | false {
  const { page } = question
  const link = (to: number, text: string, rel: string) =>
    html`<a rel="${rel}" href="${address({ ...question, page: to })}">${text}</a>`
  return (
    pages > 1 &&
    html`<nav class="pager" aria-label="Pages">
      ${page > 1 && link(page - 1, '← previous', 'prev')} <span>page ${page} of ${pages}</span>
      ${page < pages && link(page + 1, 'next →', 'next')}
    </nav>`
  )
}

function address({ text, state, page }: PageOfAssets['question']): string {
  return `./?${new URLSearchParams({ q: text, state, page: String(page) }).toString()}`
}

export function mountsPage({ mounts }: { readonly mounts: readonly ListedMount[] }): string {
  const intro = html`<p class="note">Directories that something else fills.</p>`
  const none = mounts.length === 0 && html`<p role="status">There are none.</p>`
  return layout('Mounts', 'mounts?json', [intro, none, mounts.map(section)])
}

function section({ mount, files, ...about }: ListedMount): Html {
  const rows = files.map(file => ({ ...file, state: 'identity' in file.sizes ? '' : 'missing' }))
  const missing = rows.filter(({ state }) => state)
  const lost = missing.length > 0 && `${missing.length} of ${files.length} files are missing`
  const all = [...missing, ...rows.filter(({ state }) => !state)]
  return html`<h2>${mount}</h2>
    ${facts(about)} ${lost && html`<p class="problem">${lost}</p>`}
    ${table(`Files of ${mount}, missing ones first`, all)}`
}

type Message = DiagnosticMessages['served']

/** A message and its time in ISO 8601; bytes and coding are unknown where the route decides. */
export type LoggedRequest = { readonly at: string } & Omit<Message, 'bytes' | 'coding'> &
  Partial<Pick<Message, 'bytes' | 'coding'>>

const MAX_REQUESTS = 100

/**
 * Listens from now on to all instances of this process.
 * @param own is the URL path below which requests are those of the inspector
 * @param root makes the paths in reasons relative
 * @returns the requests, the latest first
 */
export function logRequests(own: string, root: string): readonly LoggedRequest[] {
  const requests: LoggedRequest[] = []
  const log = (given: unknown) => {
    // A request that was missed has neither status nor reason.
    const message = Object.assign({ status: 404, reason: 'nothing responded' }, given as Message)
    if (message.path.startsWith(own)) return
    const reason = message.reason.replaceAll(`${root}${sep}`, '')
    const { method, path, status, bytes, coding } = message
    requests.unshift({ method, path, status, reason, bytes, coding, at: new Date().toISOString() })
    requests.splice(MAX_REQUESTS)
  }
  for (const name of ['served', 'missed', 'halted']) subscribe(`koa-fresh-assets:${name}`, log)
  return requests
}

export function requestsPage(requests: readonly LoggedRequest[]): string {
  const none = html`<p role="status">None yet: open a page of the site, then reload this one.</p>`
  return layout(
    'Requests',
    'requests?json',
    html`<p class="note">
        The last 100 for files, misses under the prefix, and routes that ctx.fresh halted, since the
        inspector or the live channel was first used.
      </p>
      ${table('The latest requests come first', requests) || none}`
  )
}
