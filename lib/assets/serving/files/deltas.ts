// The deltas of files: each is read when a request first asks for it, and remembered like a file.
import type { IncomingHttpHeaders } from 'node:http'
import type { Delta, Sent, Stored } from '../../parts.ts'
import type { CacheEntry, Memory, Representation } from './representation.ts'

/** Makes a representation of the file that a delta is one of. */
export type Make = (stored: Stored) => Representation

/** Returns what reads the delta that a request may be sent instead of the file; undefined if there can be none. */
export type FindDelta = (headers: IncomingHttpHeaders) => LoadDelta | undefined

type LoadDelta = () => Promise<Representation | undefined>

/** With no representation if it is not sent: so it is not checked for each request. */
interface CachedDelta extends CacheEntry {
  readonly needs: string
}

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
