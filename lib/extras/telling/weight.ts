// Weighs what the visitors of a page load for its scripts and stylesheets, by the last precompile, or estimated from
// the sources. Images in the page itself are not known.
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { CODINGS } from '../../runtime/files/codings.ts'
import { bytesOf, statOf } from '../../runtime/files/disk.ts'
import { readContent } from '../../runtime/files/open-file.ts'
import { groupBy, listPublished } from '../deltas/directory.ts'
import type { Asset, AssetsByPath } from '../../runtime/urls/manifest.ts'
import { readAssets } from '../../runtime/urls/read-manifest.ts'
import { listOwn, pathOf, type OwnAsset } from './own-assets.ts'
import type { Publishing } from '../../publishing/building/on-request.ts'
import { findReferences, type Reference } from '../../publishing/references/references.ts'
import { textOf, textType } from '../../publishing/rendering/draft.ts'
import { Renderer } from '../../publishing/rendering/renderer.ts'
import { lengthsBySource } from '../../publishing/rendering/shift-map.ts'
import { assetPath } from '../../runtime/settings/app-settings.ts'
import { manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { encodePath, withoutBase } from '../../runtime/urls/spelling.ts'

/** Paths are plain URL paths, encoded; sizes are bytes in brotli, without headers. */
export interface Weight {
  readonly entries: readonly string[]
  /** The time of the last precompile; undefined for an estimate from the sources. */
  readonly builtAt: Date | undefined
  readonly files: readonly WeighedFile[]
  /** The parts by package, the largest first. */
  readonly groups: readonly Group[]
  /** Names have fingerprints; the last visit is that after the last precompile, where it replaced files. */
  readonly visits: readonly Visit[]
}

export interface Visit {
  /** Describes the visit in words. */
  readonly visit: string
  /** The number of requests, the page included. */
  readonly requests: number
  /** The number of bytes, without the page. */
  readonly bytes: number
}

interface WeighedFile extends Pick<Weighed, 'path' | 'size'> {
  /** True if it is loaded by `import()` only. */
  readonly isLater: boolean
  /** True if the last precompile replaced an earlier file by it; undefined where there is none. */
  readonly isChanged?: boolean | undefined
  /** The sources that it was made from. */
  readonly parts: readonly Weighed[]
}

export interface Weighed {
  readonly path: string
  /** The name of its package; empty for a source of the application. */
  readonly group: string
  readonly size: number
}

/** A package, or the application: `path` is its name. */
export interface Group extends Pick<Weighed, 'path' | 'size'> {
  readonly parts: readonly Weighed[]
}

/** The facts about one file; paths are plain URL paths, encoded. */
interface Node extends Pick<WeighedFile, 'size' | 'parts' | 'isChanged'> {
  readonly loads: readonly string[]
  readonly later: readonly string[]
}

type Parts = Pick<Publishing, 'settings' | 'sources'>

const [{ extension: COPY } = { extension: '' }] = CODINGS
const brotli = promisify(brotliCompress)
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** @param names are those of scripts and stylesheets; `app` is both `app.js` and `app.css` */
export async function weigh(pipeline: Parts, names: readonly string[]): Promise<Weight> {
  const { settings, sources } = pipeline
  const file = manifestFile(settings)
  const published = await readAssets(file)
  const known = new Map((await listOwn(settings, sources, published)).map(own => [own.path, own]))
  const named = names.flatMap(name => ['', '.css', '.js'].map(end => pathOf(name, settings) + end))
  const entries = named.filter(path => known.has(path))
  const isBuilt = entries.every(path => published.has(path)) && entries.length > 0
  const look = isBuilt ? await publishedNodes(settings, published) : sourceNodes(pipeline, known)
  const files = await reached(entries, look)
  const first = files.filter(({ isLater }) => !isLater)
  const built = isBuilt ? await statOf(file) : undefined
  const visits = [visitOf('first', first), visitOf('second', [])]
  const changed = first.filter(({ isChanged }) => isChanged)
  if (files.some(({ isChanged }) => isChanged !== undefined))
    visits.push(visitOf('after the last deploy', changed))
  const builtAt = built && new Date(Number(built.mtimeMs))
  const groups = groupsOf(files.flatMap(({ parts }) => parts))
  return { entries, builtAt, files, groups, visits }
}

/** Counts the page itself as well. */
function visitOf(visit: string, files: readonly WeighedFile[]) {
  return { visit, requests: files.length + 1, bytes: sizeOf(files) }
}

const sizeOf = (all: readonly { readonly size: number }[]) =>
  all.reduce((sum, { size }) => sum + size, 0)

/** A file that several files contain in part counts once. */
function groupsOf(parts: readonly Weighed[]): Group[] {
  const groups = [...groupBy(parts, ({ group }) => group)].map(([group, all]) => {
    const merged = [...groupBy(all, ({ path }) => path)].map(([path, same]) => {
      return { path, group, size: sizeOf(same) }
    })
    return { path: group || 'the application', size: sizeOf(all), parts: merged.toSorted(bySize) }
  })
  return groups.toSorted(bySize)
}

const bySize = (one: Pick<Weighed, 'size'>, other: typeof one) => other.size - one.size

async function reached(entries: readonly string[], look: Look): Promise<WeighedFile[]> {
  const files = new Map<string, WeighedFile>()
  const [first, later] = [new Set(entries), new Set<string>()]
  // Both grow meanwhile.
  for (const paths of [first, later])
    for (const path of paths) {
      if (files.has(path)) continue
      const { loads, later: others, ...file } = await look(path)
      files.set(path, { path, ...file, isLater: paths === later })
      for (const each of loads) paths.add(each)
      for (const each of others) later.add(each)
    }
  return [...files.values()]
}

const isLoaded = ({ kind }: Reference) => kind !== 'source-map'

type Look = (path: string) => Promise<Node>

async function publishedNodes(settings: Settings, published: AssetsByPath): Promise<Look> {
  const plain = new Map(Array.from(published, ([path, { target }]) => [target, path]))
  const { versions } = await listPublished(settings)
  const builtAt = (await statOf(manifestFile(settings)))?.mtimeNs ?? 0n
  const fileOf = ({ target }: Asset) => publicFile(settings, decodeURIComponent(target))
  // A deploy touches what it replaces, once it has written the manifest's temporary file.
  const replacedIn = async (path: string, { target }: Asset) => {
    const others = (versions.get(decodeURIComponent(path)) ?? []).filter(
      each => encodePath(each.path) !== target
    )
    const stats = await Promise.all(others.map(({ file }) => statOf(file)))
    return stats.length > 0 ? stats.some(each => each && each.ctimeNs >= builtAt) : undefined
  }
  return async path => {
    const entry = published.get(path)
    if (!entry) return NONE
    const { imports = [], dynamicImports: later = [], sources = [path], target } = entry
    const pathOf = (url: string) => new URL(url, `http://localhost${target}`).pathname
    const copy = await statOf(fileOf(entry) + COPY)
    const size = Number(copy?.size ?? entry.size)
    const type = textType(path)
    const code = type ? String(await bytesOf(fileOf(entry))) : ''
    const found = type === 'css' ? findReferences(type, code).filter(isLoaded) : []
    const urls = found.map(each => withoutBase(pathOf(each.path), settings.base))
    const loads = [...imports, ...urls.flatMap(url => plain.get(url) ?? [])]
    const map = type && published.get(`${path}.map`)
    const lengths = map ? lengthsBySource(String(await bytesOf(fileOf(map))), code) : []
    const all = lengths.length > 0 ? lengths : sources.map(each => [each, 1] as const)
    const whole = all.reduce((sum, [, length]) => sum + length, 0)
    const parts = all.map(([source, length]) => partOf(pathOf(source), (size * length) / whole))
    return { size, parts, loads, later, isChanged: await replacedIn(path, entry) }
  }
}

const NONE: Node = { size: 0, parts: [], loads: [], later: [] }

/** Returns each file as a browser would get it without precompile: compiled, not minified. */
function sourceNodes({ settings, sources }: Parts, known: ReadonlyMap<string, OwnAsset>): Look {
  // Production writes no inline source maps.
  const renderer = new Renderer({ ...settings, env: 'production' }, sources)
  return async path => {
    const place = known.get(path)?.place
    const draft = place && (await renderer.draft(place))
    if (!draft) return NONE
    const bytes = await readContent(draft.content)
    const size = Math.min(bytes.length, (await brotli(bytes, QUICKLY)).length)
    // In development a browser follows imports by itself.
    const app = { ...place.app, fingerprint: true }
    const { dependencies = [], lead } = draft.text ?? {}
    const text = await textOf({ ...place, app }, String(bytes), dependencies, lead)
    const links = { loads: [] as string[], later: [] as string[] }
    for (const reference of text?.references.filter(isLoaded) ?? []) {
      const to = await renderer.resolve(place, { dependencies: [], ...text }, reference)
      if (!to || to === 'elsewhere') continue
      const path = encodePath(assetPath(to.app, to.name))
      links[reference.kind === 'dynamic-import' ? 'later' : 'loads'].push(path)
    }
    return { size, parts: [partOf(path, size)], ...links }
  }
}

// Files that packages share have the name of one of them, and a digest.
const PACKAGE =
  /\/(?:npm|node_modules)\/(?:-\/(?<sharing>.+)-[\da-f]{8}\.js$|(?<alone>(?:@[^/]+\/)?[^/]+)\.js$|(?<name>(?:@[^/]+\/)?[^/]+))/

function partOf(path: string, size: number): Weighed {
  const { sharing, alone, name = '' } = PACKAGE.exec(path)?.groups ?? {}
  return { path, group: sharing ?? alone ?? name, size: Math.round(size) }
}

/** Says in words where the sizes are from. */
export function originOf({ builtAt }: Weight): string {
  return builtAt
    ? `precompiled at ${builtAt.toISOString()}`
    : 'estimated from the sources, with packages as built for development'
}
