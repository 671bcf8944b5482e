// What a bundler's manifest says, whichever bundler wrote it. Files are paths below the mount's directory.
import { isRecord } from '../../options.ts'
import type { AssetAddress } from '../views/asset-url.ts'
import type { EntryUrls, ScriptKind } from '../views/entry.ts'
import { importOrder } from '../views/module-graph.ts'

export interface Bundle {
  /** The names of its entries, as pages write them. */
  readonly names: readonly string[]
  /** Undefined for an unknown name. */
  readonly entry: (name: string) => BundleEntry | undefined
  /** All that an entry uses, by any kind of import and by URLs; undefined where the manifest does not say. */
  readonly usedBy?: (name: string) => readonly string[]
  /** Files that the tags of some entry name. */
  readonly tagged: ReadonlySet<string>
  /** Files by the names of their sources, as far as the manifest gives them. */
  readonly sources: ReadonlyMap<string, string>
  /** All files that the manifest names. */
  readonly files: ReadonlySet<string>
  /** Those whose names contain a hash of their content. */
  readonly hashed: ReadonlySet<string>
}

/** A state of the files of a build. */
export interface Build {
  /** Another one once any file that the manifest names has been written. */
  readonly version: string
  /** When the last of them, or the manifest, was written: milliseconds since 1970. */
  readonly changedAt: number
}

/** A mount whose pages are told about each build as a whole. */
export interface FollowedBuild {
  readonly urlPath: string
  /** Undefined until one is in use. */
  readonly build: Build | undefined
  /**
   * Whether the manifest names a file.
   * @param file decoded path below the mount's directory
   * @param writtenAt milliseconds since 1970
   */
  hasBuilt(file: string, writtenAt: number): boolean
  /** Takes over another build, once it has been written. */
  refresh(seconds: number): Promise<void> | undefined
}

/** A mount that has entries: those of a build, or of Vite's dev server. */
export interface EntrySource {
  readonly urlPath: string
  /** What messages call it: a manifest, or the dev server. */
  readonly label: string
  /** The entries, as far as they are known. */
  readonly names: readonly string[]
  /** The sources whose files are known; undefined for a dev server. */
  readonly sourceNames?: readonly string[] | undefined
  /** Changes with the tags of any entry. */
  readonly version: string
  /** Undefined for a dev server, which notifies pages itself. */
  readonly followed?: FollowedBuild | undefined
  /** Undefined for an unknown name. */
  entry(name: string): EntryUrls | undefined
  /** Whether it is an entry or, where that cannot be known, a script or a stylesheet. */
  isEntry(name: string): boolean
  /**
   * Any of its files by the name of the source; undefined for an unknown name.
   * @param isChosen whether the page names the mount, so that an unverifiable name is taken for one of its files
   */
  file(name: string, isChosen: boolean): AssetAddress | undefined
  /** @param file decoded path below the mount's directory */
  isHashed(file: string): boolean
  /** Undefined when there is nothing to wait for. */
  refresh(seconds: number): Promise<void> | undefined
}

/** The static import graph of an entry, in the order in which a page names the files. */
export interface BundleEntry {
  readonly stylesheets: readonly string[]
  readonly scripts: readonly { readonly file: string; readonly kind: ScriptKind }[]
  /** Modules that the scripts import. */
  readonly preloads: readonly string[]
}

/** What the chunks with these keys import statically, and the chunks themselves; imports come first. */
export function graphOf<Chunk extends { readonly imports: readonly string[] }>(
  chunks: ReadonlyMap<string, Chunk>,
  keys: Iterable<string>
): Chunk[] {
  const chunkAt = (key: string): Chunk => {
    const chunk = chunks.get(key)
    if (chunk) return chunk
    throw new TypeError(`${key} is imported but missing`)
  }
  return Array.from(
    importOrder(keys, key => chunkAt(key).imports),
    chunkAt
  )
}

/** All chunks that those with these keys use, at once or later, and the chunks themselves. */
export function usedFrom<Chunk extends { readonly uses: readonly string[] }>(
  chunks: ReadonlyMap<string, Chunk>,
  keys: Iterable<string>
): Chunk[] {
  const usesOf = (key: string) => chunks.get(key)?.uses.filter(each => chunks.has(each)) ?? []
  return [...importOrder(keys, usesOf)].flatMap(key => chunks.get(key) ?? [])
}

// Checks of what a manifest contains. Each reason completes "… is not a bundler's manifest: ".

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

/** A path below the mount's directory: nothing else can be served. */
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
