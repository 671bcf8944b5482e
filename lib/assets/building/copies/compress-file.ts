// The compressed copies of one file: kept, written or removed.
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../../concurrency.ts'
import { AssetError } from '../../../errors.ts'
import { CODINGS, compareFile, copyFor, type Coding } from '../../../files/codings.ts'
import { readInPlace, requireInPlace, type ServedPlace } from '../../../files/containment.ts'
import { digestOf } from '../../../files/digest.ts'
import { ifThere, removeFile, sameStamp, statOf, type Stamp } from '../../../files/disk.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { mtimeNotBefore, setMtime } from '../../../files/clock.ts'

// zlib compresses a buffer at its best level, and a few files are compressed at once.
const MAX_BYTES = 128 * 1024 * 1024

/** What there is now in one coding. */
export interface CopyResult {
  readonly coding: Coding
  /** In bytes; undefined when there is no copy that this Node can read. */
  readonly size: number | undefined
  readonly change: 'written' | 'removed' | undefined
}

export interface ReadFile {
  /** Absolute. */
  readonly file: string
  readonly bytes: Buffer
  readonly stamp: Stamp
}

/**
 * Brings the copies of a file up to date; undefined for a file that is gone, and `too-large` for one that
 * would not fit into memory.
 */
export async function compressFile(place: ServedPlace, path: string) {
  const file = join(place.dir, path)
  const read = await readInPlace(place, file, MAX_BYTES)
  if (!read || read === 'too-large') return read
  const digest = digestOf(read.bytes)
  // Unlike Promise.all, a failure waits for the other copies.
  const copies = await inParallel(CODINGS, CODINGS.length, coding =>
    update(place, { file, ...read }, digest, coding)
  )
  const smallest = copies.reduce(
    (size, copy) => Math.min(size, copy.size ?? Infinity),
    read.bytes.length
  )
  return { file, ...read, copies, smallest }
}

async function update(
  place: ServedPlace,
  { file, bytes, stamp }: ReadFile,
  digest: string,
  coding: Coding
): Promise<CopyResult> {
  const path = file + coding.extension
  const original = { size: bytes.length, digest }
  const mtimeNs = mtimeNotBefore(stamp.mtimeNs)
  const stats = await ifThere(lstat(path, { bigint: true }))
  // A link is replaced or left alone.
  const isThere = stats?.isFile() === true
  const isOlder = isThere && stats.mtimeNs < stamp.mtimeNs
  const copy = await copyFor(file, original, coding, async () => bytes)
  if (!copy) {
    // What this Node cannot read may be right, unless it is older.
    const isRemoved = coding.compress ? isThere : isOlder
    if (isRemoved) await removeFile(path)
    return { coding, size: undefined, change: isRemoved ? 'removed' : undefined }
  }
  const { content, size } = copy
  if ('copyOf' in content) {
    if (isOlder) await setMtime(path, mtimeNs)
    return { coding, size, change: undefined }
  }
  // As it is on disk, before it gets its name.
  const checkContent = async (temporary: string): Promise<void> => {
    const now = await statOf(file)
    if (!now || !sameStamp(now, stamp)) {
      throw failed(`${file} was edited while it was compressed: run again`)
    }
    if ((await compareFile(original, temporary, coding)) === 'equal') return
    throw failed(
      `the ${coding.name} copy of ${file} did not decompress to it, and was not kept: check the disk`
    )
  }
  await writeAtomically(path, content, mtimeNs, {
    checkLocation: requireInPlace(place),
    checkContent
  })
  return { coding, size, change: 'written' }
}

function failed(message: string): AssetError {
  return new AssetError('compress-failed', message)
}
