// Remembers the stamps of targets and of everything they were made from. A request costs one stat of each
// file; any difference, also an older mtime, publishes again: a checkout may set mtimes back.
import { LRUCache } from 'lru-cache'
import type { Stamp } from '../../files/disk.ts'
import { recheck, type FileObservation, type Observation } from '../../files/observation.ts'

export interface Entry {
  /** The source and everything that was compiled into it. */
  readonly inputs: readonly Observation[]
  readonly target: FileObservation
  /** That of the listing in which the source was found; `NEVER` for an entry that is not current. */
  readonly generation: number
}

/** The generation of an entry that only records which target this process wrote. */
export const NEVER = -1

/** By plain URL path. */
export class MtimeIndex extends LRUCache<string, Entry> {
  constructor(max: number) {
    super({ max })
  }

  /** The target's stamp; undefined when any file of the entry has changed. */
  async check(path: string, entry: Entry): Promise<Stamp | undefined> {
    const [target, ...inputs] = await Promise.all([entry.target, ...entry.inputs].map(recheck))
    if (!target || inputs.includes(undefined)) return undefined
    this.#keepConclusive(path, entry, inputs as Observation[])
    return entry.target.stamp
  }

  /** Inputs whose stamps have become conclusive need not be read the next time. */
  #keepConclusive(path: string, entry: Entry, inputs: readonly Observation[]): void {
    // Callers compare entries by identity.
    if (inputs.every((input, at) => input === entry.inputs[at])) return
    if (this.peek(path) === entry) this.set(path, { ...entry, inputs })
  }
}
