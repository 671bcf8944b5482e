// The representations that are kept in memory.
import { LRUCache } from 'lru-cache'
import { MAX_ONE_WRITE_BYTES } from '../write-response.ts'
import type { Representation } from './representation.ts'
import type { ServedFile } from './served-file.ts'

export interface Held extends ServedFile {
  /** Whether its bytes are in memory, and its path is the raw path of every request for it. */
  readonly isAtHand: boolean
  /** False for a file that changed so recently that it may change again without another stamp. */
  readonly hasRested: boolean
  /** Milliseconds of the monotonic clock, as the next one; Infinity for a verified fingerprint. */
  trustedUntil: number
  /** When its compressed copies are looked for again, if the file itself is the same. */
  copiesTrustedUntil: number
}

/** One for all directories that are served. */
export type Memory = LRUCache<string, Held>

/** @param maxBytes of all representations; 0 keeps none */
export function makeMemory({ maxBytes }: { readonly maxBytes: number }): Memory {
  return new LRUCache({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ representations }) =>
      representations.reduce((sum, representation) => sum + memoryCostOf(representation), 0)
  })
}

// What a representation costs beside its body, measured in resident memory: strings, fields, stamps, the
// buffer itself, and garbage that is not yet collected.
const OVERHEAD_BYTES = 12 * 1024

/** A small body is held twice: the second time it follows a kept head. */
function memoryCostOf({ body }: Representation): number {
  const length = body?.length ?? 0
  return OVERHEAD_BYTES + (length < MAX_ONE_WRITE_BYTES ? 2 * length : length)
}
