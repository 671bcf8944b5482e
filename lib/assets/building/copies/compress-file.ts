// The compressed copies of one file: kept, written or removed.
import { createReadStream } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../../concurrency.ts'
import { AssetError } from '../../../errors.ts'
import { CODINGS, type Coding } from '../../../files/codings.ts'
import { compareCopy, compress, isCompressible } from '../../../files/compress.ts'
import { isInPlace, requireInPlace, type ServedPlace } from '../../../files/containment.ts'
import { digestOf } from '../../../files/digest.ts'
import {
  ifThere,
  readOpenFile,
  removeFile,
  sameStamp,
  statOf,
  withFile
} from '../../../files/disk.ts'
import type { Stamp } from '../../../files/disk.ts'
import { writeAtomically } from '../../../files/writing/atomic-write.ts'
import { mtimeNotBefore, setMtime } from '../../../files/writing/mtime.ts'

// zlib compresses a buffer at its best level, and a few files are compressed at once.
const MAX_BYTES = 128 * 1024 * 1024

/** What there is now in one coding. */
export interface CopyResult {
  readonly coding: Coding
  /** In bytes; undefined when there is no copy that this Node can read. */
  readonly size: number | undefined
  readonly change: 'written' | 'removed' | undefined
}

interface Original {
  readonly file: string
  readonly bytes: Buffer
  readonly stamp: Stamp
  /** In bytes. */
  readonly size: number
  readonly digest: string
}

/**
 * Brings the copies of a file up to date; undefined for a file that is gone, and `too-large` for one that
 * would not fit into memory.
 */
export async function compressFile(place: ServedPlace, path: string) {
  const original = await readOriginal(place, join(place.dir, path))
  if (original === undefined || original === 'too-large') return original
  // Unlike Promise.all, a failure waits for the other copies.
  const copies = await inParallel(CODINGS, CODINGS.length, coding =>
    update(place, original, coding)
  )
  return { size: original.size, copies }
}

function readOriginal(place: ServedPlace, file: string) {
  return withFile(file, async (opened): Promise<Original | 'too-large' | undefined> => {
    if (!(await isInPlace(place)(opened))) return undefined
    if (opened.stats.size > MAX_BYTES) return 'too-large'
    const { bytes, stamp } = await readOpenFile(opened)
    return { file, bytes, stamp, size: bytes.length, digest: digestOf(bytes) }
  })
}

async function update(place: ServedPlace, original: Original, coding: Coding): Promise<CopyResult> {
  const copy = original.file + coding.extension
  const stats = await ifThere(lstat(copy, { bigint: true }))
  // A link, which need not lead to a copy, is replaced or left alone.
  const existing = stats?.isFile() ? stats : undefined
  const remove = async (): Promise<CopyResult> => {
    if (existing) await removeFile(copy)
    return { coding, size: undefined, change: existing && 'removed' }
  }
  if (!coding.compress) {
    const isStale = existing !== undefined && existing.mtimeNs < original.stamp.mtimeNs
    return isStale ? remove() : { coding, size: undefined, change: undefined }
  }
  if (existing && (await isIntact(copy, existing, original, coding))) {
    if (existing.mtimeNs < original.stamp.mtimeNs) {
      await setMtime(copy, mtimeNotBefore(original.stamp.mtimeNs))
    }
    return { coding, size: Number(existing.size), change: undefined }
  }
  const { file, bytes } = original
  const compressed = isCompressible(file, bytes.length) && (await compress(bytes, coding))
  if (!compressed) return remove()
  await writeAtomically(copy, compressed, mtimeNotBefore(original.stamp.mtimeNs), {
    checkLocation: requireInPlace(place),
    checkContent: temporary => requireCopy(temporary, original, coding)
  })
  return { coding, size: compressed.length, change: 'written' }
}

/** Decompressing is a hundred times as fast as compressing. */
async function isIntact(copy: string, stamp: Stamp, original: Original, coding: Coding) {
  if (stamp.size >= original.size) return false
  return (await ifThere(compareCopy(original, () => createReadStream(copy), coding))) === 'equal'
}

/** Checks a copy as it is on disk, before it gets its name. */
async function requireCopy(temporary: string, original: Original, coding: Coding): Promise<void> {
  const { file, stamp } = original
  const now = await statOf(file)
  if (!now || !sameStamp(now, stamp)) {
    throw new AssetError('compress-failed', `${file} was edited while it was compressed: run again`)
  }
  const comparison = await compareCopy(original, () => createReadStream(temporary), coding)
  if (comparison !== 'equal') {
    const message = `the ${coding.name} copy of ${file} did not decompress to it, and was not kept: check the disk`
    throw new AssetError('compress-failed', message)
  }
}
