// The deltas beside a file: written from earlier files, checked, and what they save.
import { readInPlace, requireInPlace, type ServedPlace } from '../../../files/containment.ts'
import {
  deltaExtension,
  dictionaryIn,
  isSealedDelta,
  SEAL_BYTES,
  isIntactDelta,
  makeDelta,
  MAX_DELTA_BYTES
} from '../../../files/deltas.ts'
import { digestOf, digestOfHash } from '../../../files/digest.ts'
import { readSnapshot } from '../../../files/open-file.ts'
import { removeFile } from '../../../files/disk.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'

export interface DeltaSavings {
  /** How many deltas there are. */
  readonly files: number
  /** Total size of these, in bytes. */
  readonly bytes: number
  /** Total size of what is sent without them: for each, the smallest representation of its file, in bytes. */
  readonly insteadOf: number
}

/** The deltas that lead to the files that changed. */
export interface DeltaReport extends DeltaSavings {
  /** Whether this Node can make deltas: 22.19, 24.6 and newer. */
  readonly isWritable: boolean
}

/** The sizes of a delta and of what is sent without it, in bytes. */
export interface DeltaSizes {
  readonly size: number
  readonly insteadOf: number
}

export function savingsOf(deltas: readonly DeltaSizes[]): DeltaSavings {
  return {
    files: deltas.length,
    bytes: deltas.reduce((sum, { size }) => sum + size, 0),
    insteadOf: deltas.reduce((sum, { insteadOf }) => sum + insteadOf, 0)
  }
}

/** How many deltas a file has at most: more earlier versions are rarely in browsers. */
export const MAX_DELTAS = 3
/** A larger delta is not worth a file, nor another copy in shared caches. */
const MAX_RATIO = 0.5

/** A file that deltas lead to. */
export interface DeltaTarget {
  /** Absolute. */
  readonly file: string
  readonly bytes: Uint8Array
  /** The size of its smallest other representation, in bytes. */
  readonly smallest: number
  readonly mtimeNs: bigint
}

/** A file that a browser may have; one without the digest is not the version that its name says. */
export interface EarlierFile {
  readonly file: string
  readonly digest?: string
}

/**
 * Writes deltas from the first three of these files, and removes those that no longer pay.
 * @returns the sizes of the deltas that there are now, by their files
 */
export async function updateDeltas(
  target: DeltaTarget,
  place: ServedPlace,
  earlier: readonly EarlierFile[],
  earlierPlace = place
): Promise<ReadonlyMap<string, DeltaSizes>> {
  const { smallest: insteadOf } = target
  const sizes = new Map<string, DeltaSizes>()
  let tried = 0
  for (const { file, digest } of earlier) {
    if (tried === MAX_DELTAS) break
    const old = await readBytes(earlierPlace, file, digest)
    if (!old || old.equals(target.bytes)) continue
    tried++
    const delta = target.file + deltaExtension(digestOf(old))
    const size = await updateDelta(delta, target, old, place)
    if (size !== undefined) sizes.set(delta, { size, insteadOf })
  }
  return sizes
}

/** Undefined also for a file of other bytes than those with the digest, and for one too large for deltas. */
export async function readBytes(place: ServedPlace, file: string, digest: string | undefined) {
  const read = await readInPlace(place, file, MAX_DELTA_BYTES)
  if (!read || read === 'too-large') return undefined
  return digest === undefined || digestOf(read.bytes) === digest ? read.bytes : undefined
}

/** @returns its size as it is sent, in bytes; undefined when it does not pay */
async function updateDelta(
  path: string,
  { bytes, smallest, mtimeNs }: DeltaTarget,
  old: Buffer,
  place: ServedPlace
): Promise<number | undefined> {
  const maxBytes = Math.floor(smallest * MAX_RATIO) + SEAL_BYTES
  const existing = (await readSnapshot(path))?.bytes
  if (existing && existing.length <= maxBytes && (await isIntactDelta(existing, old, bytes))) {
    return existing.length - SEAL_BYTES
  }
  const delta = await makeDelta(old, bytes, maxBytes)
  if (delta) await writeAtomically(path, delta, mtimeNs, { checkLocation: requireInPlace(place) })
  else if (existing) await removeFile(path)
  return delta && delta.length - SEAL_BYTES
}

/**
 * What is wrong with a delta, to be read after its path; undefined for one that is right. Its seal is
 * compared; it is decoded where the earlier version is there and this Node can.
 * @param from the digest of what it starts from
 * @param target the file that it leads to
 * @param older the file of the earlier version
 */
export async function faultOfDelta(
  file: string,
  from: string,
  target: string,
  older?: string
): Promise<string | undefined> {
  const [delta, next] = await Promise.all([readSnapshot(file), readSnapshot(target)])
  if (!delta || !next) return 'cannot be read'
  const hash = dictionaryIn(delta.bytes)
  const isSealed = isSealedDelta(delta.bytes, hash, digestOf(next.bytes))
  if (digestOfHash(hash) !== from || !isSealed) {
    return 'is damaged or of another version, so it is not sent'
  }
  const old = older === undefined ? undefined : (await readSnapshot(older))?.bytes
  const isRefuted =
    old && digestOf(old) === from && !(await isIntactDelta(delta.bytes, old, next.bytes))
  return isRefuted ? 'does not decode to the original' : undefined
}
