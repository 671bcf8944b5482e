// The list of assets, a page at a time, and what the list says about each of them.
import { relative } from 'node:path'
import { DIGEST_PATTERN } from '../../../files/digest.ts'
import { mediaTypeOf } from '../../../http/fields.ts'
import type { Place } from '../../building/places.ts'
import { wantedAt } from '../../serving/request-path.ts'
import { encodePath } from '../../urls/encode.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
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
import type { Survey } from './survey.ts'

export interface Question {
  /** Part of a path or of a source's path. */
  readonly text: string
  /** A state, or `problems`. */
  readonly state: string
  /** From 1. */
  readonly page: number
}

const ROWS = 100
const DIGEST = new RegExp(DIGEST_PATTERN)

export type PageOfAssets = Awaited<ReturnType<typeof pageOfAssets>>

/** Of all assets, those with problems first. */
export async function pageOfAssets(survey: Survey, question: Question) {
  const { root, env } = survey.pipeline.settings
  const all = Array.from(survey.places, ([path, place]) => {
    const { state = [], problems = [] } = survey.surveyed.get(path) ?? {}
    const isTroubled = problems.length > 0
    return { place, isTroubled, states: [state, isTroubled ? 'problems' : []].flat() }
  })
  const counts: Record<string, number> = {}
  for (const name of all.flatMap(({ states }) => states)) counts[name] = (counts[name] ?? 0) + 1
  const found = all
    .filter(({ states }) => question.state === '' || states.includes(question.state))
    .filter(({ place }) => matches(place, question, root))
    .toSorted((a, b) => Number(b.isTroubled) - Number(a.isTroubled))
  const pages = Math.max(1, Math.ceil(found.length / ROWS))
  const page = Math.min(question.page, pages)
  const shown = found.slice((page - 1) * ROWS, page * ROWS)
  return {
    root,
    env,
    surveyed: survey.surveyed.size,
    total: survey.places.size,
    counts,
    question: { ...question, page },
    found: found.length,
    pages,
    assets: await Promise.all(shown.map(({ place }) => rowOf(survey, place)))
  }
}

function matches({ path, source }: Place, { text }: Question, root: string): boolean {
  if (text === '') return true
  const wanted = text.toLowerCase()
  // Without path.relative, which is slow for thousands of files.
  const file = source.file.startsWith(root) ? source.file.slice(root.length + 1) : source.file
  return path.toLowerCase().includes(wanted) || file.toLowerCase().includes(wanted)
}

export type Row = Awaited<ReturnType<typeof rowOf>>

/** Paths are plain URL paths, encoded; files are relative to the project root. */
export async function rowOf(survey: Survey, place: Place) {
  const { pipeline } = survey
  const { settings, sources } = pipeline
  const shown = (file: string) => relative(settings.root, file)
  const { app, name, path, source } = place
  const url = pipeline.addressOf(wantedAt(path, settings))
  const served = await pipeline.directories.public.find(wantedAt(decodeURIComponent(url), settings))
  const representations = served?.representations ?? []
  const tails = app.tails ? sources.of(app).tailsOf(source) : undefined
  const seen = await survey.current(place)
  return {
    path: encodePath(path),
    name,
    app: app.name,
    source: shown(source.file),
    /** Undefined until the asset has been looked at. */
    state: seen?.state,
    problems: seen?.problems ?? [],
    /** What pages ask for. */
    url,
    target: served && shown(served.representations[0].file),
    /** Undefined for a file that is too large for memory. */
    digest: DIGEST.exec(
      splitFingerprint(url)?.digest ?? served?.representations[0].etag ?? ''
    )?.[0],
    sizes: Object.fromEntries(representations.map(({ coding, size }) => [coding, size])),
    refersTo: seen?.refersTo.map(encodePath) ?? [],
    referredBy: survey.referredBy(path).map(encodePath),
    /** Sources of the same name that are not used. */
    shadowed: [...place.rivals, ...place.shadowed].map(other => shown(other.file)),
    /** Shorter names that find this asset, and those that find nothing, as several sources have them. */
    tails: tails?.own ?? [],
    ambiguous: tails?.ambiguous ?? [],
    isImage: isImage(place)
  }
}

/** Whether the source itself can be shown. */
export function isImage({ name, source }: Place): boolean {
  return !source.compiler && (mediaTypeOf(name)?.startsWith('image/') ?? false)
}

const STATES = ['problems', 'broken', 'outdated', 'unpublished', 'published']
/** The page about the asset has all of them. */
const MAX_REFERENCES = 20

const COLUMNS = ['Asset', 'State', 'Size', 'References', 'Digest']
const CAPTION = html`<caption class="hidden">
  Assets, those with problems first
</caption>`

export function listPage(shown: PageOfAssets): string {
  const { root, env, total, surveyed, found, question, assets } = shown
  return layout(
    'Assets',
    'list',
    html`<h1>Assets</h1>
      <p class="note">
        ${root} · ${env} · <a href="${address({ ...question, page: 1 })}&amp;json">JSON</a>
      </p>
      ${surveyed < total && html`<p role="status">Looked at ${surveyed} of ${total} assets so far; this page reloads itself.</p>`}
      ${filters(shown)}
      <p role="status">${found === total ? `${total} assets` : `${found} of ${total} assets`}</p>
      ${assets.length > 0 && table('list', CAPTION, COLUMNS, assets.map(cells))} ${pager(shown)} `
  )
}

function filters({ question, counts }: PageOfAssets): Html {
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
    ${problems.map(problem => html`<span class="problem">${problem}</span>`)}
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

function pager({ question, pages }: PageOfAssets): Html | false {
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
