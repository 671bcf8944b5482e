// Everything that is read from a bundler's manifest, whichever bundler wrote it. Files are paths below the mount's
// directory.
import { posix } from 'node:path'
import { isRecord } from '../../../runtime/check-options.ts'
import { hasFixedUrl } from '../../../runtime/urls/spelling.ts'
import type { LoadedUrl } from '../../../runtime/views/asset-url.ts'
import { importOrder } from '../../../runtime/views/modules.ts'

export interface Bundle {
  /** True if Vite wrote it, whose dev server stands in for the build while it runs. */
  readonly isVite?: boolean
  /**
   * The files that pages load for each entry, by the name in their calls, in document order. They are found on
   * demand: thousands of entries may have thousands of chunks in common.
   */
  readonly entries: ReadonlyMap<string, () => readonly LoadedFile[]>
  /** The files of modules that others import dynamically; empty where the manifest has them among its entries. */
  readonly lazy: ReadonlyMap<string, () => readonly LoadedFile[]>
  /** The files in the tags of entries. */
  readonly tagged: ReadonlySet<string>
  /** These files, and those in the tags of modules in `lazy`. */
  readonly taggable: ReadonlySet<string>
  /** The files that an entry uses, by any kind of import and by URLs; undefined where the manifest does not say. */
  readonly usedBy?: (name: string) => readonly string[]
  /** The file that contains a source or is the chunk of that name, as far as the manifest tells. */
  readonly fileWith?: (name: string) => string | undefined
  /** Files by the names of their sources, as far as the manifest gives them. */
  readonly sources: ReadonlyMap<string, string>
  /** All files that the manifest names. */
  readonly files: ReadonlySet<string>
  /** The files whose names contain a hash of their content. */
  readonly hashed: ReadonlySet<string>
}

export type LoadedFile = Pick<LoadedUrl, 'as'> & { readonly file: string }

/** A chunk consists of files that were written together. Chunks refer to each other by the keys of the manifest. */
export interface Chunk {
  readonly file: string
  /** The chunks that it imports statically. */
  readonly imports: readonly string[]
  /** The chunks that it imports or names in any way. */
  readonly uses: readonly string[]
  readonly stylesheets: readonly string[]
  readonly assets: readonly string[]
}

export type Chunks = ReadonlyMap<string, Chunk>

export const filesOf = ({ file, stylesheets, assets }: Chunk) => [file, ...stylesheets, ...assets]

export const isCss = (file: string) => file.endsWith('.css')

/**
 * Returns the stylesheets of the static graph of these chunks, their modules, and preloads of what these import.
 * @param common are stylesheets of every page
 * @throws TypeError for an import that is missing
 */
export function loadedWith(
  chunks: Chunks,
  keys: readonly string[],
  common: readonly string[] = []
): LoadedFile[] {
  const chunkAt = (key: string): Chunk => {
    const chunk = chunks.get(key)
    if (chunk) return chunk
    throw new TypeError(`${key} is imported but missing`)
  }
  const starts = new Set(keys)
  const graph = [...importOrder(keys, key => chunkAt(key).imports)]
  const stylesheets = graph
    .map(chunkAt)
    .flatMap(({ file, stylesheets: own }) => (isCss(file) ? [...own, file] : own))
  const modules = (isStart: boolean) =>
    graph
      .filter(key => starts.has(key) === isStart)
      .map(key => chunkAt(key).file)
      .filter(file => !isCss(file))
  return [
    ...loadedAs('stylesheet', new Set([...common, ...stylesheets])),
    ...loadedAs('module', modules(true)),
    ...loadedAs('modulepreload', modules(false))
  ]
}

export function loadedAs(as: LoadedFile['as'], files: Iterable<string>): LoadedFile[] {
  return Array.from(files, file => ({ file, as }))
}

export function namedBy(loaded: readonly LoadedFile[]): Set<string> {
  return new Set(loaded.map(({ file }) => file))
}

/** Returns the files of all chunks that this one uses, at once or later, and its own. */
export function usedFrom(chunks: Chunks, key = ''): string[] {
  const usesOf = (each: string) => chunks.get(each)?.uses.filter(used => chunks.has(used)) ?? []
  return [...importOrder([key], usesOf)].flatMap(each => {
    const chunk = chunks.get(each)
    return chunk ? filesOf(chunk) : []
  })
}

// Each check throws a reason that completes "… is not a bundler's manifest: ".

export type Json = Readonly<Record<string, unknown>>

/** An absent list is empty. */
export function texts(value: unknown, what: string): readonly string[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.every(each => typeof each === 'string')) return value
  throw new TypeError(`${what} is not a list of strings`)
}

export function records(value: Json, what: string): [string, Json][] {
  return Object.entries(value).map(([key, each]) => {
    if (isRecord(each)) return [key, each]
    throw new TypeError(`${what} ${key} is not an object`)
  })
}

/** Nothing but a path below the mount's directory can be served. */
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

/** The stem is the name before a hash was added, without extension; undefined when not known. */
export type StemmedFile = readonly [file: string, stem: string | undefined]

/** Bundlers write these hashes by default. */
export const HASHES = {
  /** Rollup and Rolldown, so Vite as well, write base64url. */
  vite: /^[\w-]{8,22}$/,
  /** esbuild writes base32. */
  esbuild: /^[A-Z2-7]{8}$/,
  /** webpack writes hexadecimal. */
  webpack: /^(?=.*\d)(?=.*[a-f])[0-9a-f]{8,64}$/
} as const

// People write such words into names: `DataTable`, `component`, `VERSION2`, `20240101`.
const WORD = /^(?:[a-z]*(?:[A-Z][a-z]{2,})*|[A-Z]+)\d*$/

/**
 * Returns the files whose names contain a hash of their content. One that is wrongly taken for hashed is stale in
 * browsers for a year, and one that is not recognised costs a revalidation: when in doubt, it is not hashed.
 * @param groups are lists of files whose names follow one pattern: all of a list have a hash, or none has
 */
export function hashedAmong(
  groups: readonly (readonly StemmedFile[])[],
  hash: RegExp
): Set<string> {
  const suffixed = groups.map(files => ({ files, own: ownSuffixes(files, hash) }))
  const count = suffixed.reduce((sum, { own }) => sum + own.length, 0)
  const hashed = suffixed.flatMap(({ files, own }) => {
    // Nobody gives each file a different word.
    const isPattern = count > 1 && own.length === files.length
    return own.filter(({ suffix }) => isPattern || !isWritten(suffix))
  })
  return new Set(hashed.map(({ file }) => file).filter(file => !hasFixedUrl(file)))
}

/** A suffix that several files share stands for a release, such as a date or a commit. */
function ownSuffixes(files: readonly StemmedFile[], hash: RegExp) {
  const bearers = new Map<string, Set<string>>()
  for (const [file, stem] of files) {
    const suffix = suffixOf(file, stem)
    if (suffix === undefined || !hash.test(suffix)) continue
    bearers.set(suffix, (bearers.get(suffix) ?? new Set()).add(file))
  }
  return [...bearers].flatMap(([suffix, [file, ...others]]) =>
    file !== undefined && others.length === 0 ? [{ file, suffix }] : []
  )
}

/** `assets/main.tsx` -> `main` */
export function stemOf(file: string): string {
  return posix.basename(file, posix.extname(file))
}

/** `main-BX3f_9aZ.js` -> `BX3f_9aZ` */
function suffixOf(file: string, stem: string | undefined): string | undefined {
  const whole = stemOf(file)
  if (stem === undefined) return /[^-.]+$/.exec(whole)?.[0]
  const follows = whole.startsWith(stem) && /[-.]/.test(whole.charAt(stem.length))
  return follows ? whole.slice(stem.length + 1) : undefined
}

function isWritten(suffix: string): boolean {
  return suffix.split(/[-_]/).every(part => WORD.test(part))
}
