// A file that is sent, the directory that it is in, and the memory of such files.
import type { IncomingHttpHeaders } from 'node:http'
import { join, sep } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Boundary } from '../files/containment.ts'
import type { Stamp } from '../files/disk.ts'
import type { OpenFile } from '../files/open-file.ts'
import type { Fingerprinted, WithoutHash } from '../urls/spelling.ts'
import type { Fields } from './fields.ts'
import type { Wanted } from './request.ts'
import type { FolderNames } from './folder-names.ts'
import { MAX_ONE_WRITE_BYTES } from './stream.ts'
import { Variant, type Bytes, type Copies, type SharedFields } from './variant.ts'

export interface ServedFile {
  readonly stamp: Stamp
  readonly variants: Variants
  /** The compressed copies beside it, whether they are sent or not. */
  readonly copies: Copies
  /** True if the name has a fingerprint that is the digest of the bytes. */
  readonly isVerified: boolean
  /** Finds the delta to send instead for a request; undefined if there can be none. */
  readonly deltaFor:
    | ((headers: IncomingHttpHeaders) => (() => Promise<Variant | undefined>) | undefined)
    | undefined
  /** True if its bytes are in memory, and its path is the raw path of every request for it. */
  readonly isAtHand: boolean
  /** False for a file that changed so recently that it may change again without a new stamp. */
  readonly isSettled: boolean
  /** Opens the file, and calls `use` with its description at that time; undefined for a miss. */
  readonly open: <T>(use: UseOpened<T>) => Promise<T | undefined>
  /** A time of the monotonic clock in milliseconds, like the next one; Infinity for a verified fingerprint. */
  trustedUntil: number
  /** The time when the compressed copies are looked for again, if the file itself is unchanged. */
  copiesTrustedUntil: number
}

export type Found = ServedFile | undefined
export type Variants = readonly [identity: Variant, ...others: Variant[]]
export type UseOpened<T> = (file: ServedFile, opened: OpenFile) => Promise<T> | T

// All directories share one memory. An unusable delta is kept without variants, to be checked only once.
export type Memory = LRUCache<string, { readonly variants: readonly Variant[] }>

// The cost of a variant besides its body, measured in resident memory, uncollected garbage included.
const OVERHEAD_BYTES = 12 * 1024

/** @param maxBytes the limit for all variants together; 0 keeps none */
export function makeMemory({ maxBytes }: { readonly maxBytes: number }): Memory {
  return new LRUCache({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ variants }) =>
      variants.reduce((sum, { body }) => sum + memoryCostOf(body?.length ?? 0), 0) || OVERHEAD_BYTES
  })
}

/** A small body is held twice: also as a string, after the head that is kept (socket.ts). */
function memoryCostOf(length: number): number {
  return OVERHEAD_BYTES + (length < MAX_ONE_WRITE_BYTES ? 2 * length : length)
}

export interface Directory {
  readonly place: Boundary
  /** The decoded path: `/static`; the empty string for `/`. */
  readonly urlPath: string
  /** The folder that publishing an asset may make: `assets`. */
  readonly top?: string | undefined
  /** Prefixes a path in the memory that all directories share; no path contains a line break or a NUL. */
  readonly memoryKey: string
  /** Seconds for which a stat result is reused. */
  readonly revalidate: (wanted: Pick<Wanted, 'app' | 'path'>) => number
  /** Seconds for which a miss is trusted; 0 where a request may publish the file. Default: those of `revalidate`. */
  readonly revalidateMiss?: (wanted: Pick<Wanted, 'app' | 'path'>) => number
  /** True if the request itself may publish a file: compressed copies beside it do not keep up. */
  readonly isPublishedOnRequest?: (wanted: Wanted) => boolean
  /** Tells whether a file is never served. @param file absolute, as named or real */
  readonly isHidden?: ((file: string) => boolean | Promise<boolean>) | undefined
  /** The fingerprint in a name, which the bytes must have. */
  readonly fingerprintOf?: (wanted: Wanted) => Fingerprinted | undefined
  /** Tells whether hex digits other than the digest belong to the name. @param plain the path without them */
  readonly isOrdinary?: ((wanted: Wanted, plain: string) => Promise<boolean>) | undefined
  readonly fieldsOf: (wanted: Wanted, isVerified: boolean) => SharedFields
}

export function fileIn({ place, urlPath }: Pick<Directory, 'place' | 'urlPath'>, path: string) {
  const below = path.slice(urlPath.length)
  // A canonical path has nothing to normalize.
  return sep === '/' && place.dir !== sep ? place.dir + below : join(place.dir, below)
}

/** Finds the deltas of files whose names have a hash, for clients that can decode them. */
export interface Sender {
  /** Called when a file is loaded; undefined for one whose responses stay unchanged. */
  of(file: Bytes, at: SentFrom): Promise<Sent | undefined>
}

export interface SentFrom extends Pick<Directory, 'place'> {
  readonly opened: OpenFile
  readonly path: string
  /** The URL path, with the base, around its hash. */
  readonly around: WithoutHash
  /** The path without our fingerprint; undefined for a file that precompile did not write. */
  readonly plain: string | undefined
  readonly names: FolderNames | undefined
}

export interface Sent {
  /** Response fields to add wherever the fields of the file are sent. */
  readonly ofDeltas: Fields
  /** The request fields by which a variant is selected. */
  readonly vary: readonly string[]
  /** Finds a delta to send instead of the file; undefined if there is none. */
  readonly find?: ((headers: IncomingHttpHeaders) => Delta | undefined) | undefined
}

interface Delta {
  /** Appended to the path of the file: the key under which it is remembered. */
  readonly key: string
  readonly dictionary: string
  /** Reads the delta, until it is remembered. An empty list: it may not be sent; undefined: the file does not exist. */
  readonly read: () => Promise<readonly Bytes[] | undefined>
}

/** Returns a function that makes the `deltaFor` of a file: each delta is read when a request first asks for it. */
export function deltaReader(memory: Memory) {
  const loads = new Map<string, Promise<readonly Variant[]>>()
  const load = async (key: string, delta: Delta, fields: SharedFields) => {
    try {
      const variants = (await delta.read())?.map(each => new Variant(each, fields))
      if (variants) memory.set(key, { variants })
      return variants ?? []
    } finally {
      loads.delete(key)
    }
  }
  const read = async (key: string, delta: Delta, fields: SharedFields) => {
    const known = memory.get(key)?.variants
    const loading = known ?? loads.get(key) ?? load(key, delta, fields)
    if (loading instanceof Promise) loads.set(key, loading)
    const [variant] = await loading
    // The name of a delta has half of the hash of its dictionary.
    return variant?.dictionary === delta.dictionary ? variant : undefined
  }
  return (find: NonNullable<Sent['find']>, path: string, fields: SharedFields) =>
    (headers: IncomingHttpHeaders) => {
      const delta = find(headers)
      return delta && (() => read(path + delta.key, delta, fields))
    }
}
