// The LRU index of mtimes: for each asset, the files it was made from and the files made from it. A request costs one
// stat of each; any difference, even an older mtime, publishes again, as a checkout may set mtimes back.
import { LRUCache } from 'lru-cache'
import { wouldBeInPlace, type Boundary } from '../../runtime/files/containment.ts'
import { removeFile } from '../../runtime/files/disk.ts'
import { recheck, type FileObservation, type Observation } from '../sources/observation.ts'
import type { Draft } from '../rendering/draft.ts'

export interface IndexEntry {
  readonly source: string
  /** The generation of the listing in which the source was found; `NEVER` for an entry that is not current. */
  readonly generation: number
  /** The source, everything compiled into it, and the files that were looked up but not found. */
  inputs: readonly Observation[]
  /** The files that this process wrote, the one under the plain name first. */
  targets: readonly FileObservation[]
  /** The draft, to which other assets may refer; kept only with fingerprints. */
  readonly draft?: Draft
  /** True if the next process would make the same target from the same inputs. */
  readonly isReproducible?: boolean
}

/** The generation of an entry that only records which target this process wrote. */
export const NEVER = -1

/** The entries by plain URL path; `max` is Infinity if something else bounds them. */
export class MtimeIndex extends LRUCache<string, IndexEntry> {
  constructor(max: number) {
    super({ maxSize: Math.min(max, Number.MAX_SAFE_INTEGER), sizeCalculation: () => 1 })
  }
}

export async function hasSameTargets({ targets }: Pick<IndexEntry, 'targets'>): Promise<boolean> {
  return (await Promise.all(targets.map(recheck))).every(Boolean)
}

/** Removes the targets of an asset, except for those that someone else has replaced. */
export async function withdraw({ targets }: IndexEntry, place: Boundary): Promise<void> {
  for (const target of targets) {
    const isOurs = await recheck(target)
    if (isOurs && (await wouldBeInPlace(place, target.path))) await removeFile(target.path)
  }
}
