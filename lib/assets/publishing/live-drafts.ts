// The drafts of a live build, and what they were finished to, reused as long as no input has changed.
import { recheck } from '../../files/observation.ts'
import type { BuildResult, Drafts } from '../building/build.ts'
import type { Drafted } from '../building/finish-build.ts'
import type { Place } from '../building/places.ts'
import type { Draft } from '../rendering/draft.ts'

interface Kept {
  readonly file: string
  readonly generation: number
  readonly drafted: Drafted
}

export class LiveDrafts implements Drafts {
  readonly #kept = new Map<string, Kept>()
  #last: { readonly drafts: readonly Draft[]; readonly result: BuildResult } | undefined
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

  /** A result with problems is not kept: what is missing may have been added to `public`. */
  async finishOnce(
    drafted: ReadonlyMap<string, Drafted>,
    finish: () => Promise<BuildResult>
  ): Promise<BuildResult> {
    const drafts = Array.from(drafted.values(), ({ draft }) => draft)
    const { result, drafts: last } = this.#last ?? { drafts: [] }
    if (result && drafts.length === last.length && drafts.every((one, at) => one === last[at])) {
      return result
    }
    const fresh = await finish()
    this.#last = fresh.problems.length === 0 ? { drafts, result: fresh } : undefined
    return fresh
  }

  keepOnly(assets: ReadonlyMap<string, unknown>): void {
    for (const path of this.#kept.keys()) if (!assets.has(path)) this.#kept.delete(path)
  }
}
