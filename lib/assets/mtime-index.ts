// What was last seen of each source and its target. A request costs a stat of each; everything equal
// means present. Different in either direction means publish again: a checkout sets mtimes back.
import { LRUCache } from 'lru-cache'
import { digestOf } from './fingerprint.ts'
import { readWhole, sameMark, statOf, type Mark } from './disk.ts'

/** A file as it was when it was read. */
export interface Seen {
  readonly path: string
  readonly mark: Mark
  /** Kept for a file that changed so recently that it may change again without a new mtime. */
  readonly digest?: string | undefined
}

export interface Entry {
  /** The source and everything that it was compiled from. */
  readonly inputs: readonly Seen[]
  readonly target: Seen
  /** The state of the listings in which the source was found. */
  readonly generation: number
}

// Kernels stamp files with a clock that ticks every 10 ms at the slowest.
const TICK_NS = 20_000_000n

/**
 * What was read of a file, so that the next look can tell whether it is still the same.
 * @param readAt when the reading began, in milliseconds
 */
export function seen(path: string, mark: Mark, bytes: () => Uint8Array, readAt = Date.now()): Seen {
  return hasRested(mark, readAt) ? { path, mark } : { path, mark, digest: digestOf(bytes()) }
}

/** Whether a file that changes from `now` on, in milliseconds, will bear another mark. */
export function hasRested({ ctimeNs, mtimeNs }: Mark, now: number): boolean {
  const changed = ctimeNs > mtimeNs ? ctimeNs : mtimeNs
  return changed < BigInt(now) * 1_000_000n - TICK_NS
}

export class MtimeIndex {
  readonly #entries: LRUCache<string, Entry>

  constructor(max: number) {
    this.#entries = new LRUCache({ max })
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  set(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** The target's present mark when the entry still holds for the disk: one stat of each file. */
  async check(key: string, entry: Entry): Promise<Mark | undefined> {
    const now = Date.now()
    const [target, ...inputs] = await Promise.all([entry.target, ...entry.inputs].map(isUnchanged))
    if (!target || !inputs.every(Boolean)) return undefined
    if (entry.inputs.some(input => input.digest !== undefined)) this.#settle(key, entry, now)
    return target
  }

  /** What had rested long enough when it was looked at is told by its mtime from here on. */
  #settle(key: string, entry: Entry, now: number): void {
    if (this.#entries.peek(key) !== entry) return
    const settles = ({ mark, digest }: Seen) => digest !== undefined && hasRested(mark, now)
    // Who compares entries takes another for news.
    if (!entry.inputs.some(settles)) return
    const inputs = entry.inputs.map(input =>
      settles(input) ? { path: input.path, mark: input.mark } : input
    )
    this.#entries.set(key, { ...entry, inputs })
  }
}

/** The present mark of a file that is as it was. */
export async function isUnchanged({ path, mark, digest }: Seen): Promise<Mark | undefined> {
  if (digest === undefined) {
    const stats = await statOf(path)
    return stats && sameMark(stats, mark) ? stats : undefined
  }
  const now = await readWhole(path)
  return now && sameMark(now.mark, mark) && digestOf(now.bytes) === digest ? now.mark : undefined
}
