// Weighs the files that visitors load for a page's scripts and stylesheets, by the last precompile. Paths are plain URL
// paths, encoded; sizes are bytes in brotli, without headers.
import { findReferences, type Reference } from '../../publishing/references/references.ts'
import { textType } from '../../publishing/rendering/draft.ts'
import { lengthsBySource } from '../../publishing/rendering/source-map.ts'
import { groupBy, sum } from '../../runtime/lists.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import { bytesOf, statOf } from '../../runtime/files/disk.ts'
import { hiddenMapFile, manifestFile, publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { withoutBase } from '../../runtime/urls/spelling.ts'
import type { AssetsByPath, Asset } from '../../runtime/urls/manifest.ts'
import { readNames } from '../../runtime/urls/read-manifest.ts'
import { pathOf } from './list.ts'

interface Part {
  readonly path: string
  /** The name of its package; empty for a source of the application. */
  readonly group: string
  readonly size: number
}

interface Weighed {
  readonly size: number
  readonly parts: readonly Part[]
  readonly loads: readonly string[]
  /** The paths that are loaded by `import()`. */
  readonly later: readonly string[]
}

export type Weight = Awaited<ReturnType<typeof weigh>>

/**
 * @param names the names of scripts and stylesheets; `app` is both `app.js` and `app.css`
 * @throws AssetError without a precompile
 */
export async function weigh(settings: Settings, names: readonly string[]) {
  const manifest = manifestFile(settings)
  const { assets } = await readNames(manifest)
  const named = names.flatMap(name => ['', '.css', '.js'].map(end => pathOf(name, settings) + end))
  const entries = named.filter(path => assets.has(path))
  const files = await reached(entries, weigherOf(settings, assets))
  const first = files.filter(({ isLater }) => !isLater)
  return {
    entries,
    builtAt: new Date(Number((await statOf(manifest))?.mtimeMs)),
    /** The requests of a first visit, including the page itself, whose bytes are not counted. */
    requests: first.length + 1,
    bytes: sizeOf(first),
    files,
    groups: groupsOf(files.flatMap(each => each.parts))
  }
}

type Sized = Pick<Part, 'size'>

const sizeOf = (all: readonly Sized[]) => sum(all.map(({ size }) => size))
const bySize = (one: Sized, other: Sized) => other.size - one.size

/** Lists packages and the application, the largest first. A source that is spread over several files counts once. */
function groupsOf(parts: readonly Part[]) {
  const groups = [...groupBy(parts, ({ group }) => group)].map(([group, all]) => {
    const bySource = [...groupBy(all, ({ path }) => path)]
    const merged = bySource.map(([path, same]) => ({ path, group, size: sizeOf(same) }))
    return { path: group || 'the application', size: sizeOf(all), parts: merged.toSorted(bySize) }
  })
  return groups.toSorted(bySize)
}

async function reached(entries: readonly string[], weighed: (path: string) => Promise<Weighed>) {
  type File = Omit<Weighed, 'loads' | 'later'> & { path: string; isLater: boolean }
  const files = new Map<string, File>()
  const [first, later] = [new Set(entries), new Set<string>()]
  // Both sets grow while they are read.
  for (const paths of [first, later])
    for (const path of paths) {
      if (files.has(path)) continue
      const { loads, later: others, ...file } = await weighed(path)
      files.set(path, { path, ...file, isLater: paths === later })
      for (const each of loads) paths.add(each)
      for (const each of others) later.add(each)
    }
  return [...files.values()]
}

const FONT = /\.(?:woff2?|[ot]tf)$/i

/** Keeps one of the sources of a font: browsers load the first in a declaration, as all support WOFF2 and none EOT. */
function loadedIn(references: readonly Reference[], path: string, text: string) {
  let font: Reference | undefined
  return references.filter(each => {
    if (each.kind === 'source-map' || /\.eot$/i.test(each.path)) return false
    const isNext = font !== undefined && !/[;{}]/.test(text.slice(font.end, each.start))
    if (!isNext) font = textType(path) === 'css' && FONT.test(each.path) ? each : undefined
    return !isNext
  })
}

const [{ extension: COPY } = { extension: '' }] = CODINGS

function weigherOf(settings: Settings, published: AssetsByPath) {
  const plain = new Map(Array.from(published, ([path, { target }]) => [target, path]))
  const fileOf = ({ target }: Asset) => publicFile(settings, decodeURIComponent(target))
  return async (path: string): Promise<Weighed> => {
    const entry = published.get(path)
    if (!entry) return { size: 0, parts: [], loads: [], later: [] }
    const { imports = [], dynamicImports: later = [], sources = [path], target } = entry
    const pathAt = (url: string) => new URL(url, `http://localhost${target}`).pathname
    const copy = await statOf(fileOf(entry) + COPY)
    const size = Number(copy?.size ?? entry.size)
    const type = textType(path)
    const code = type ? String(await bytesOf(fileOf(entry))) : ''
    const found = type === 'css' ? loadedIn(findReferences(type, code), path, code) : []
    const urls = found.map(each => withoutBase(pathAt(each.path), settings.base))
    const loads = [...imports, ...urls.flatMap(url => plain.get(url) ?? [])]
    const map = published.get(`${path}.map`)
    const mapFile = map ? fileOf(map) : hiddenMapFile(settings, decodeURIComponent(target))
    const json = type && (await bytesOf(mapFile))
    const lengths = json ? lengthsBySource(String(json), code) : []
    const all = lengths.length > 0 ? lengths : sources.map(each => [each, 1] as const)
    const whole = sum(all.map(([, length]) => length))
    const parts = all.map(([source, length]) => partOf(pathAt(source), (size * length) / whole))
    return { size, parts, loads, later }
  }
}

// Files that packages share have the name of one of them, and a digest.
const PACKAGE =
  /\/(?:npm|node_modules)\/(?:-\/(?<sharing>.+)-[\da-f]{8}\.js$|(?<alone>(?:@[^/]+\/)?[^/]+)\.js$|(?<name>(?:@[^/]+\/)?[^/]+))/

function partOf(path: string, size: number): Part {
  const { sharing, alone, name = '' } = PACKAGE.exec(path)?.groups ?? {}
  return { path, group: sharing ?? alone ?? name, size: Math.round(size) }
}
