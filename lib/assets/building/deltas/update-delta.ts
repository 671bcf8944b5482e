// One delta on disk: kept, written or removed.
import { requireInPlace, type ServedPlace } from '../../../files/containment.ts'
import { deltaExtension, SEAL_BYTES } from '../../../files/deltas/delta-file.ts'
import { isIntactDelta, makeDelta } from '../../../files/deltas/make-delta.ts'
import { digestOf } from '../../../files/digest.ts'
import { readSnapshot, removeFile } from '../../../files/disk.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'

/** A file that deltas lead to. */
export interface DeltaTarget {
  /** Absolute. */
  readonly file: string
  readonly bytes: Uint8Array
  /** The size of its smallest other representation, in bytes. */
  readonly smallest: number
  readonly mtimeNs: bigint
}

/** How many deltas a file has at most: more earlier versions are rarely in browsers. */
export const MAX_DELTAS = 3

/** A larger delta is not worth a file, nor another copy in shared caches. */
const MAX_RATIO = 0.5

/**
 * Brings the delta from older bytes up to date.
 * @returns its size as it is sent, in bytes; undefined when it does not pay
 */
export async function updateDelta(
  place: ServedPlace,
  { file, bytes, smallest, mtimeNs }: DeltaTarget,
  old: Buffer
): Promise<{ readonly size: number; readonly isNew: boolean } | undefined> {
  const path = file + deltaExtension(digestOf(old))
  const maxBytes = Math.floor(smallest * MAX_RATIO) + SEAL_BYTES
  const existing = (await readSnapshot(path))?.bytes
  if (existing && existing.length <= maxBytes && (await isIntactDelta(existing, old, bytes))) {
    return { size: existing.length - SEAL_BYTES, isNew: false }
  }
  const delta = await makeDelta(old, bytes, maxBytes)
  if (!delta) {
    if (existing) await removeFile(path)
    return undefined
  }
  await writeAtomically(path, delta, mtimeNs, { checkLocation: requireInPlace(place) })
  return { size: delta.length - SEAL_BYTES, isNew: true }
}
