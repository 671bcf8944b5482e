// The LRU mtime index: what each asset was made from, and which files were made from it. A request costs one stat
// of each; any difference, also an older mtime, publishes again: a checkout may set mtimes back.
import { LRUCache } from 'lru-cache'
import type { DiagnosticMessages } from '../../../diagnostics.ts'
import { wouldBeInPlace, type ServedPlace } from '../../../files/containment.ts'
import { removeFile } from '../../../files/disk.ts'
import { recheck, type FileObservation, type Observation } from '../../../files/observation.ts'
import type { Draft } from '../../rendering/draft.ts'

export interface Entry {
  /** Absolute path of the source. */
  readonly source: string
  /** That of the listing in which the source was found; `NEVER` for an entry that is not current. */
  readonly generation: number
  /** The source, everything that was compiled into it, and what was looked up and not found. */
  inputs: readonly Observation[]
  /** The files that this process wrote, the one under the plain name first. */
  targets: readonly FileObservation[]
  /** Where the target was written, when, and how long it took; undefined if an earlier process wrote it. */
  published?: (DiagnosticMessages['published'] & { readonly at: number }) | undefined
  /** With fingerprints: the draft, which the others may refer to. */
  readonly draft?: Draft
  /** Whether the next process would make the same from the same inputs. */
  readonly isLasting?: boolean
}

/** The generation of an entry that only records which target this process wrote. */
export const NEVER = -1

/** By plain URL path. */
export class MtimeIndex extends LRUCache<string, Entry> {
  /** @param max entries; Infinity where another list bounds them */
  constructor(max: number) {
    super({ maxSize: Math.min(max, Number.MAX_SAFE_INTEGER), sizeCalculation: () => 1 })
  }
}

/** Whether an asset would be made from the same inputs again. */
export async function hasSameInputs(entry: Pick<Entry, 'inputs'>): Promise<boolean> {
  const inputs = await Promise.all(entry.inputs.map(recheck))
  if (!inputs.every(input => input !== undefined)) return false
  // Those whose stamps have become conclusive need not be read the next time.
  entry.inputs = inputs
  return true
}

/** Whether the files are still those that were written. */
export async function hasSameTargets({ targets }: Entry): Promise<boolean> {
  return targets.length > 0 && (await Promise.all(targets.map(recheck))).every(Boolean)
}

/** Removes the files that were made for an asset, but those that someone else has replaced. */
export async function withdraw({ targets }: Entry, place: ServedPlace): Promise<void> {
  for (const target of targets) {
    const isOurs = await recheck(target)
    if (isOurs && (await wouldBeInPlace(place, target.path))) await removeFile(target.path)
  }
}
