// What was last seen of each source and its target. A request costs a stat of each; everything equal
// means present. Different in either direction means publish again: a checkout sets mtimes back.
import { LRUCache } from 'lru-cache'
import type { Stamp } from '../../files/disk.ts'
import { recheck, type Observation } from '../../files/observation.ts'

export interface Entry {
  /** The source and everything that it was compiled from. */
  readonly inputs: readonly Observation[]
  readonly target: { readonly path: string; readonly stamp: Stamp }
  /** The state of the listings in which the source was found. */
  readonly generation: number
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

  /** The target's stamp when the entry still holds for the disk: one stat of each file. */
  async check(key: string, entry: Entry): Promise<Stamp | undefined> {
    const [target, ...inputs] = await Promise.all([entry.target, ...entry.inputs].map(recheck))
    if (!target || inputs.includes(undefined)) return undefined
    this.#keepRested(key, entry, inputs as Observation[])
    return entry.target.stamp
  }

  /** What had rested long enough when it was looked at is told by its stamp from here on. */
  #keepRested(key: string, entry: Entry, inputs: readonly Observation[]): void {
    // Callers compare entries by identity.
    if (inputs.every((input, at) => input === entry.inputs[at])) return
    if (this.#entries.peek(key) === entry) this.#entries.set(key, { ...entry, inputs })
  }
}
