// Compresses the files of a directory that a bundler, or anybody else, built.
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../../concurrency.ts'
import { AssetError, reasonOf } from '../../../errors.ts'
import { mtimeNotBefore } from '../../../files/clock.ts'
import { CODINGS, compareFile, copyFor, type Coding } from '../../../files/codings.ts'
import { readInPlace, requireInPlace, type ServedPlace } from '../../../files/containment.ts'
import { canMakeDeltas } from '../../../files/delta-format.ts'
import { digestOf } from '../../../files/digest.ts'
import { errorCode, EXACT, ifThere, removeFile, sameStamp, statOf } from '../../../files/disk.ts'
import { prepareReplacement, sweepTree } from '../../../files/writing/atomic-write.ts'
import { isCompressibleType } from '../../../http/fields.ts'
import { check } from '../../../options.ts'
import { savingsOf, writerAgainst, type DeltaSizes } from './deltas.ts'
import {
  chosenBy,
  COMPRESS_OPTIONS,
  type CompressOptions,
  type CompressReport
} from './compress-options.ts'
import { openDirectory } from './directory.ts'
import { sum } from '../published-files.ts'

// Node compresses four buffers at once by default (UV_THREADPOOL_SIZE).
const CONCURRENCY = 4
// zlib compresses a buffer at its best level, and a few files are compressed at once.
const MAX_BYTES = 128 * 1024 * 1024

export async function compress(
  directory: string,
  options: CompressOptions = {}
): Promise<CompressReport> {
  const startedAt = performance.now()
  check(options, COMPRESS_OPTIONS)
  const { onProgress, signal, against } = options
  const served = await openDirectory(directory)
  const writeAgainst = against === undefined ? undefined : await writerAgainst(against, served)
  await sweepTree(served.path)
  const compressible = [...served.files].filter(isCompressibleType)
  const isWanted = chosenBy(options)
  const candidates = compressible.filter(isWanted)
  const tooLarge: string[] = []
  const originals: number[] = []
  const copies: (CopyResult & { readonly original: number })[] = []
  const deltas: DeltaSizes[] = []
  let done = 0
  const compressOne = async (path: string): Promise<void> => {
    const result = await compressFile(served.place, path)
    if (result === 'too-large') tooLarge.push(path)
    else if (result) {
      const original = result.bytes.length
      originals.push(original)
      copies.push(...result.copies.map(copy => ({ ...copy, original })))
      deltas.push(...((await writeAgainst?.(path, result)) ?? []))
    }
    onProgress?.({ done: ++done, total: candidates.length, path })
  }
  const compressAny = (path: string) => compressOne(path).catch(rethrowAsCompressError(path))
  await inParallel(candidates, CONCURRENCY, compressAny, signal)
  return {
    directory: served.path,
    files: candidates.length,
    bytes: sum(originals),
    codings: CODINGS.map(coding => {
      const all = copies.filter(copy => copy.coding === coding)
      const present = all.filter(({ size }) => size !== undefined)
      return {
        coding: coding.name,
        extension: coding.extension,
        isWritable: coding.compress !== undefined,
        copies: present.length,
        originalBytes: sum(present.map(({ original }) => original)),
        bytes: sum(present.map(({ size = 0 }) => size)),
        written: all.filter(({ change }) => change === 'written').length,
        removed: all.filter(({ change }) => change === 'removed').length
      }
    }),
    tooLarge: tooLarge.toSorted(),
    leftOut: compressible.filter(path => !isWanted(path)),
    deltas: writeAgainst && { isWritable: await canMakeDeltas(), ...savingsOf(deltas) },
    seconds: (performance.now() - startedAt) / 1000
  }
}

/** A failed system call gets an error that names the file; any other error stays as it is. */
function rethrowAsCompressError(path: string) {
  return (error: unknown): never => {
    if (errorCode(error) === undefined || error instanceof AssetError) throw error
    throw failed(`cannot compress ${path}: ${reasonOf(error)}`, error)
  }
}

/** What exists now in one coding. */
interface CopyResult {
  readonly coding: Coding
  /** In bytes; undefined when there is no copy that this Node can read. */
  readonly size?: number
  readonly change?: 'written' | 'removed'
}

/** Brings the copies of a file up to date; undefined for a file that is gone. */
async function compressFile(place: ServedPlace, path: string) {
  const file = join(place.dir, path)
  const read = await readInPlace(place, file, MAX_BYTES)
  if (!read || read === 'too-large') return read
  const { bytes, stamp } = read
  const mtimeNs = mtimeNotBefore(stamp.mtimeNs)
  const original = { size: bytes.length, digest: digestOf(bytes) }
  const update = async (coding: Coding): Promise<CopyResult> => {
    const target = file + coding.extension
    const copy = await copyFor(file, original, coding, async () => bytes)
    if (!copy) {
      const stats = await ifThere(lstat(target, EXACT))
      // What this Node cannot read may be right, unless it is older. A link is left alone.
      const isWrong = coding.compress !== undefined || (stats && stats.mtimeNs < stamp.mtimeNs)
      if (!stats?.isFile() || !isWrong) return { coding }
      await removeFile(target)
      return { coding, change: 'removed' }
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
    const checks = { checkLocation: requireInPlace(place), checkContent }
    const made = await prepareReplacement(target, copy.content, mtimeNs, checks)
    await made.commit()
    return { coding, size: copy.size, ...(made.isNew && { change: 'written' }) }
  }
  // Unlike Promise.all, a failure waits for the other copies.
  const copies = await inParallel(CODINGS, CODINGS.length, update)
  const smallest = Math.min(original.size, ...copies.map(({ size = Infinity }) => size))
  return { file, bytes, mtimeNs, copies, smallest }
}

function failed(message: string, cause?: unknown): AssetError {
  return new AssetError('compress-failed', message, { cause })
}
