// The drafts of a live build, reused as long as none of their inputs has changed.
import { recheck } from '../../files/observation.ts'
import type { Drafts } from '../building/build.ts'
import type { Drafted } from '../building/finish-build.ts'
import type { Place } from '../building/places.ts'

interface Kept {
  readonly file: string
  readonly generation: number
  readonly drafted: Drafted
}

export class LiveDrafts implements Drafts {
  readonly #kept = new Map<string, Kept>()
  readonly #generation: () => number

  /** @param generation changes with the set of all source files */
  constructor(generation: () => number) {
    this.#generation = generation
  }

  async reuse({ path, source }: Place): Promise<Drafted | undefined> {
    const kept = this.#kept.get(path)
    if (kept?.file !== source.file || kept.generation !== this.#generation()) return undefined
    const inputs = await Promise.all(kept.drafted.draft.inputs.map(recheck))
    return inputs.every(Boolean) ? kept.drafted : undefined
  }

  keep({ path, source }: Place, drafted: Drafted): void {
    if (!drafted.draft.isSettled) this.#kept.delete(path)
    else this.#kept.set(path, { file: source.file, generation: this.#generation(), drafted })
  }

  keepOnly(assets: ReadonlyMap<string, unknown>): void {
    for (const path of this.#kept.keys()) if (!assets.has(path)) this.#kept.delete(path)
  }
}
