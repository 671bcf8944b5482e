// A served file: all that responses need of it, with the deltas that a request may be sent instead.
import type { IncomingHttpHeaders } from 'node:http'
import type { OpenFile } from '../../files/open-file.ts'
import type { Delta, Sent, Stored } from '../../app/parts.ts'
import type { SharedFields } from '../directories/served-directory.ts'
import { Representation, type CacheEntry, type Copies, type Memory } from './representation.ts'

export type Representations = readonly [identity: Representation, ...Representation[]]

/** A file with all its representations, and the compressed copies beside it. */
export interface ServedFile extends CacheEntry {
  readonly representations: Representations
  readonly copies: Copies
  /** True if the name has a fingerprint that is the digest of the bytes. */
  readonly isVerified: boolean
  /** Finds the delta that a request may be sent instead; undefined if there can be none. */
  readonly deltaFor: FindDelta | undefined
  /** True if its bytes are in memory, and its path is the raw path of every request for it. */
  readonly isAtHand: boolean
  /** False for a file that changed so recently that it may change again without a new stamp. */
  readonly isSettled: boolean
  /** Uses it while it is open, described as it is by then; undefined for a miss. */
  readonly open: <T>(use: UseOpened<T>) => Promise<T | undefined>
  /** Milliseconds of the monotonic clock, as the next one; Infinity for a verified fingerprint. */
  trustedUntil: number
  /** The time at which its compressed copies are looked for again, if the file itself is the same. */
  copiesTrustedUntil: number
}

export type Found = ServedFile | undefined

export type UseOpened<T> = (file: ServedFile, opened: OpenFile) => Promise<T> | T

export interface Described extends Pick<ServedFile, 'copies' | 'isVerified'> {
  readonly own: SharedFields
  readonly sent: Sent | undefined
  readonly stored: readonly [Stored, ...Stored[]]
  /** Milliseconds since 1970. */
  readonly openedAt: number
}

/** Returns a function that makes the representations of a file, with the fields that its deltas add. */
export function makerWith(sent: Sent, own: SharedFields, copies: string | undefined): Make {
  const vary = [...new Set([copies ?? [], sent.vary].flat())].join(', ') || undefined
  const shared = { ...own, ofDeltas: sent.fields }
  return stored => new Representation(stored, shared, vary)
}

/** Makes a representation of the file. */
type Make = (stored: Stored) => Representation

/** Returns what reads the delta that a request may be sent instead of the file; undefined if there can be none. */
type FindDelta = (headers: IncomingHttpHeaders) => LoadDelta | undefined

type LoadDelta = () => Promise<Representation | undefined>

/** A delta that is not sent is remembered without a representation, so it is not checked for each request. */
interface CachedDelta extends CacheEntry {
  readonly needs: string
}

/** The deltas of files: each is read when a request first asks for it, and remembered like a file. */
export class DeltaCache {
  readonly #memory: Memory
  readonly #loads = new Map<string, Promise<CachedDelta | undefined>>()

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** @param key of the file in memory */
  finder(key: string, find: NonNullable<Sent['find']>, make: Make): FindDelta {
    return headers => {
      const delta = find(headers)
      return delta && (() => this.#find(key + delta.key, delta, make))
    }
  }

  async #find(key: string, delta: Delta, make: Make): ReturnType<LoadDelta> {
    const known = this.#memory.get(key) as CachedDelta | undefined
    const load = known ?? this.#loads.get(key) ?? this.#load(key, delta, make)
    if (load instanceof Promise) this.#loads.set(key, load)
    const cached = await load
    return cached?.needs === delta.needs ? cached.representations[0] : undefined
  }

  async #load(key: string, { read }: Delta, make: Make): Promise<CachedDelta | undefined> {
    try {
      const { needs, stored } = (await read()) ?? {}
      if (needs === undefined) return undefined
      const cached = { needs, representations: stored ? [make(stored)] : [] }
      this.#memory.set(key, cached)
      return cached
    } finally {
      this.#loads.delete(key)
    }
  }
}
