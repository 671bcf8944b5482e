// Lists assets, page by page, and the latest requests.
import type { Sourced } from '../../publishing/sources/snapshot.ts'
import { withSlashes } from '../../runtime/files/paths.ts'
import {
  assetLink,
  each,
  element,
  html,
  joined,
  layout,
  link,
  note,
  status,
  table,
  type Html
} from './html.ts'
import { recordOf, soon, type AssetRecord, type Survey } from './survey.ts'

const ROWS = 100

export type PageOfAssets = Awaited<ReturnType<typeof pageOfAssets>>

/** @param query may have `q`, a part of a path or of a source's path, `state`, a state or `problems`, and `page` */
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
  const matches = ({ path, source: { file } }: Sourced) => {
    // path.relative is slow for thousands of files.
    const shown = file.startsWith(root) ? file.slice(root.length + 1) : file
    return `${path}\n${withSlashes(shown)}`.toLowerCase().includes(text.toLowerCase())
  }
  const found = all
    .filter(({ states }) => wanted === '' || states.includes(wanted))
    .filter(({ place }) => matches(place))
    .toSorted((a, b) => Number(b.isTroubled) - Number(a.isTroubled))
  const pages = Math.max(1, Math.ceil(found.length / ROWS))
  const page = Math.min(Math.max(1, Math.trunc(Number(query.get('page'))) || 1), pages)
  const shown = found.slice((page - 1) * ROWS, page * ROWS).map(async ({ place }) => {
    const known = survey.seen.get(place.path)
    // This does not wait for a slow compiler.
    return recordOf(survey, place, known && ((await soon(survey.look(place))) ?? known))
  })
  const [surveyed, total] = [survey.seen.size, survey.places.size]
  const question = { text, state: wanted, page }
  const assets = await Promise.all(shown)
  return { root, env, surveyed, total, counts, question, found: found.length, pages, assets }
}

export function listPage(model: PageOfAssets): string {
  const { root, env, total, surveyed, found, question, pages, assets } = model
  const { page } = question
  const to = (at: number, text: string, rel: string) =>
    at >= 1 && at <= pages && link(address({ ...question, page: at }), text, { rel })
  return layout('Assets', `${address(question)}&json`, [
    note(`${root} · ${env}`),
    surveyed < total &&
      status(`Looked at ${surveyed} of ${total} assets so far; this page reloads itself.`),
    filters(model),
    status(found === total ? `${total} assets` : `${found} of ${total} assets`),
    table('Assets with problems come first', assets.map(cells)),
    pages > 1 && [
      to(page - 1, '← previous', 'prev'),
      `page ${page} of ${pages} `,
      to(page + 1, 'next →', 'next')
    ]
  ])
}

function address({ text, state, page }: PageOfAssets['question']): string {
  return `./?${new URLSearchParams({ q: text, state, page: String(page) }).toString()}`
}

const STATES = ['problems', 'broken', 'outdated', 'unpublished', 'published']

function filters({ question, counts }: PageOfAssets): Html {
  const states = STATES.filter(name => name in counts || name === question.state)
  const links = ['', ...states].map(state => {
    const isShown = question.state === state && 'true'
    const text = state === '' ? 'all' : `${state} ${counts[state] ?? 0}`
    return link(address({ ...question, state, page: 1 }), text, { 'aria-current': isShown })
  })
  return html`<nav class="filters" aria-label="By state">${links}</nav>
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
  const { path, source, shadowed, ambiguous, state, sizes, digest } = asset
  const notes = [source]
  if (shadowed.length > 0) notes.push(`hides ${shadowed.join(', ')}`)
  if (ambiguous.length > 0) notes.push(`not found as ${ambiguous.join(', ')}, which is ambiguous`)
  return {
    asset: joined(
      assetLink(path),
      each('span', notes, { class: 'note' }),
      each('span', asset.problems, { class: 'problem' })
    ),
    state: state ?? element('span', 'not looked at yet', { class: 'state pending' }),
    sizes,
    digest: digest && element('code', digest.slice(0, 8), { title: digest })
  }
}

export function requestsPage(requests: readonly object[]): string {
  return layout('Requests', 'requests?json', [
    note(
      'The last 100 for files, misses under the prefix, and routes that ctx.fresh halted, since the inspector or the live channel was first used.'
    ),
    requests.length === 0 && status('None yet: open a page of the site, then reload this one.'),
    table('The latest requests come first', requests)
  ])
}
