// Declares the data of a bundler's manifest, and finds the files of entries. Files are paths below the directory.
import { posix } from 'node:path'
import { hasFixedUrl } from '../../../runtime/urls/spelling.ts'
import type { LoadedUrl } from '../../../runtime/views/asset-url.ts'
import { importOrder } from '../../../runtime/views/modules.ts'

export interface Bundle {
  /** True if Vite wrote it, whose dev server replaces the build while it runs. */
  readonly isVite?: boolean
  readonly entries: Loads
  /** The modules that others import dynamically; empty if the manifest has them among its entries. */
  readonly lazy: Loads
  readonly tagged: ReadonlySet<string>
  /** The files by the names of their sources, as far as the manifest gives them. */
  readonly sources: ReadonlyMap<string, string>
  readonly files: ReadonlySet<string>
  /** The paths of these files, without queries. */
  readonly paths: ReadonlySet<string>
  readonly hashed: ReadonlySet<string>
}

/** Files in document order, found on demand: thousands of entries may have thousands of chunks in common. */
export type Loads = ReadonlyMap<string, () => readonly LoadedFile[]>

export type LoadedFile = Pick<LoadedUrl, 'as'> & { readonly file: string }

/** Files that were written together. Chunks refer to each other by the keys of the manifest. */
export interface Chunk {
  readonly file: string
  /** The name before a hash was added, without extension; empty when not known. */
  readonly stem: string
  readonly imports: readonly string[]
  readonly stylesheets: readonly string[]
  readonly assets: readonly string[]
}

export type Chunks = ReadonlyMap<string, Chunk>

/** Removes the query, in which webpack may put a hash: `app.js?0fc1a5ed`. */
export const withoutQuery = (file: string) => file.replace(/\?.*$/s, '')

export const isCss = (file: string) => file.endsWith('.css')

interface Loaded {
  /** The keys of chunks by the names in calls of pages. */
  readonly entries: ReadonlyMap<string, string>
  readonly lazy: ReadonlyMap<string, string>
  readonly common: readonly string[]
  readonly hash: RegExp
}

export function bundleOf(
  chunks: Chunks,
  { entries, lazy, common, hash }: Loaded,
  load = (key: string) => loadedWith(chunks, [key], common)
): Omit<Bundle, 'sources'> {
  const loads = (keys: ReadonlyMap<string, string>): Loads =>
    new Map(Array.from(keys, ([name, key]) => [name, () => load(key)]))
  const all = [...chunks.values()]
  const files = new Set(all.flatMap(filesOf))
  // A chunk's stylesheet is named after the chunk.
  const stems = all.flatMap(({ file, stem, stylesheets }) =>
    stem === '' ? [] : [file, ...stylesheets].map(each => [each, stem] as const)
  )
  return {
    entries: loads(entries),
    lazy: loads(lazy),
    tagged: namedBy(loadedWith(chunks, [...entries.values()], common)),
    files,
    paths: files,
    hashed: hashedAmong(stems, hash)
  }
}

const filesOf = ({ file, stylesheets, assets }: Chunk) => [file, ...stylesheets, ...assets]

/** Returns the stylesheets of the static graph of these chunks, their modules, and preloads of their imports. */
export function loadedWith(chunks: Chunks, keys: readonly string[], common: readonly string[]) {
  const chunkAt = (key: string) => {
    const chunk = chunks.get(key)
    if (chunk) return chunk
    throw new TypeError(`${key} is imported but missing`)
  }
  const starts = new Set(keys)
  const stylesheets = new Set(common)
  const modules: LoadedFile[] = []
  const preloads: LoadedFile[] = []
  for (const key of importOrder(keys, each => chunkAt(each).imports)) {
    const { file, stylesheets: own } = chunkAt(key)
    for (const each of isCss(file) ? [...own, file] : own) stylesheets.add(each)
    if (isCss(file)) continue
    if (starts.has(key)) modules.push({ file, as: 'module' })
    else preloads.push({ file, as: 'modulepreload' })
  }
  return [...loadedAs('stylesheet', stylesheets), ...modules, ...preloads]
}

export function loadedAs(as: LoadedFile['as'], files: Iterable<string>): LoadedFile[] {
  return Array.from(files, file => ({ file, as }))
}

export function namedBy(loaded: readonly LoadedFile[]): Set<string> {
  return new Set(loaded.map(({ file }) => file))
}

export type Json = Readonly<Record<string, unknown>>

/** Checks that a path is below the mount's directory, as no other can be served. @throws TypeError */
export function fileBelow(path: unknown): string {
  if (isBelow(path)) return path
  throw new TypeError(`${JSON.stringify(path)} is not a path below the mount's directory`)
}

export function isBelow(path: unknown): path is string {
  return (
    typeof path === 'string' &&
    !/[\\\0\p{Cs}]|^[a-z][a-z\d+.-]*:/iu.test(path) &&
    path.split('/').every(segment => !['', '.', '..'].includes(segment))
  )
}

/** The hashes that bundlers write by default: base64url, base32 and hexadecimal. */
export const HASHES = {
  vite: /^[\w-]{8,22}$/,
  esbuild: /^[A-Z2-7]{8}$/,
  webpack: /^(?=.*\d)(?=.*[a-f])[0-9a-f]{8,64}$/
} as const

// People write such words into names: `DataTable`, `component`, `VERSION2`, `20240101`.
const WORD = /^(?:[a-z]*(?:[A-Z][a-z]{2,})*|[A-Z]+)\d*$/

// Returns the files with a hash of their content in the name, after the stem or, if it is undefined, at the end. In
// doubt a file has none: one wrongly treated as hashed is stale in browsers for a year, the other is revalidated.
export function hashedAmong(stems: Iterable<readonly [string, string | undefined]>, hash: RegExp) {
  const files = new Set<string>()
  const bySuffix = new Map<string, Set<string>>()
  for (const [file, stem] of stems) {
    const suffix = suffixOf(file, stem)
    files.add(file)
    if (hash.test(suffix)) bySuffix.set(suffix, (bySuffix.get(suffix) ?? new Set()).add(file))
  }
  // A suffix that several files share stands for a release, such as a date or a commit.
  const own = [...bySuffix].filter(([, { size }]) => size === 1)
  // Nobody gives each file a different word.
  const isPattern = own.length > 1 && own.length === files.size
  // A quarter of esbuild's hashes look like words.
  const isWritten = (suffix: string) =>
    hash !== HASHES.esbuild && suffix.split(/[-_]/).every(part => WORD.test(part))
  const hashed = own.filter(([suffix]) => isPattern || !isWritten(suffix))
  return new Set(hashed.flatMap(([, [file = '']]) => (hasFixedUrl(file) ? [] : file)))
}

/** `assets/main.tsx` -> `main` */
export const stemOf = (file: string) => posix.basename(file, posix.extname(file))

/** `main-BX3f_9aZ.js` -> `BX3f_9aZ` */
function suffixOf(file: string, stem: string | undefined): string {
  const whole = stemOf(file)
  if (stem === undefined) return /[^-.]*$/.exec(whole)?.[0] ?? ''
  const follows = whole.startsWith(stem) && /[-.]/.test(whole.charAt(stem.length))
  return follows ? whole.slice(stem.length + 1) : ''
}
