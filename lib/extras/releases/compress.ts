// Compresses the files of a directory that another tool built.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import { errorCode, lstatOf, sameStamp, statOf } from '../../runtime/files/disk.ts'
import { CODINGS, compareOpen, copyFor, type Coding } from '../../runtime/files/codings.ts'
import { readInPlace, removeInPlace, type Boundary } from '../../runtime/files/containment.ts'
import { digestOf } from '../../runtime/files/digest.ts'
import type { OpenFile } from '../../runtime/files/open-file.ts'
import { prepareReplacement, sweepTree } from '../../publishing/writing/write.ts'
import { withUnsaved, type Unsaved } from '../../publishing/writing/unsaved.ts'
import { matcherOf } from '../../runtime/files/paths.ts'
import { isCompressibleType } from '../../runtime/http/fields.ts'
import {
  abortSignal,
  callback,
  check,
  isGlob,
  listOf,
  text,
  type Expectation
} from '../../runtime/check-options.ts'
import { openDirectory } from '../deltas/directory.ts'
import type { DeltaReport } from '../deltas/options.ts'
import { writerAgainst } from '../deltas/write-deltas.ts'

export interface CompressProgress {
  readonly done: number
  /** The number of all files whose type compresses. */
  readonly total: number
  /** The latest file, relative to the directory: `assets/app-BcXr2f3k.js`. */
  readonly path: string
}

export interface CopyOptions {
  readonly onProgress?: ((progress: CompressProgress) => void) | undefined
  /** Aborting it rejects with its reason. Finished copies stay. */
  readonly signal?: AbortSignal | undefined
  /**
   * Globs of the files to compress, relative to the directory; one without a slash is for every folder:
   * `['*.js', 'vendor/**']`. Default: all but source maps (`*.map`), which `['**']` takes as well.
   */
  readonly include?: readonly string[] | undefined
  /** Globs of files to leave out of those included. Default: none. */
  readonly exclude?: readonly string[] | undefined
}

export interface CompressOptions extends CopyOptions {
  /**
   * A directory with an earlier build, absolute or relative to the working directory: deltas (`.dcz`) are
   * written from its files to those of the same name with another hash, on Node 22.19, 24.6 and newer.
   */
  readonly against?: string | undefined
}

export interface CodingReport {
  /** `br`, `zstd` or `gzip`. */
  readonly coding: string
  /** `.br`, `.zst` or `.gz`. */
  readonly extension: string
  /** False if this Node cannot write them; zstd needs 22.15 or newer. */
  readonly isWritable: boolean
  /** The number of files that have a copy now. */
  readonly copies: number
  /** The total size of these files, in bytes. */
  readonly originalBytes: number
  /** The total size of their copies, in bytes. */
  readonly bytes: number
  /** The number of copies that were written by this run. */
  readonly written: number
  /** The number of copies that were removed, as they were made from other bytes and a new one does not pay. */
  readonly removed: number
}

export interface CompressReport {
  /** The real path of the directory. */
  readonly directory: string
  /** The number of files whose type compresses, without `leftOut`. */
  readonly files: number
  /** The total size of these files, in bytes. */
  readonly bytes: number
  /** Codings are listed by the size to expect, the smallest first. */
  readonly codings: readonly CodingReport[]
  /** Files of more than 128 MiB, which are not compressed; relative to the directory. */
  readonly tooLarge: readonly string[]
  /**
   * Files whose type compresses, but which were skipped because of `include`, `exclude` or as source maps;
   * relative to the directory, sorted. Their existing copies stay unchanged.
   */
  readonly leftOut: readonly string[]
  /** The deltas from the build `against`; undefined if there is none. */
  readonly deltas: DeltaReport | undefined
  readonly seconds: number
}

const globs = listOf("a list of globs such as ['*.js']", isGlob)
export const COPY_OPTIONS = {
  onProgress: callback,
  signal: abortSignal,
  include: globs,
  exclude: globs
} satisfies Record<keyof CopyOptions, Expectation>

// Node compresses four buffers at once by default (UV_THREADPOOL_SIZE).
const CONCURRENCY = 4
// The limit of memory: zlib compresses whole buffers, and a few files are compressed at once.
const MAX_BYTES = 128 * 1024 * 1024

export async function compress(directory: string, options: CompressOptions = {}) {
  const startedAt = performance.now()
  check(options, { ...COPY_OPTIONS, against: text })
  const { onProgress, signal, against, include, exclude = [] } = options
  const served = await openDirectory(directory)
  await sweepTree(served.path)
  const isIncluded = include ? matcherOf(include) : (path: string) => !path.endsWith('.map')
  const isExcluded = matcherOf(exclude)
  const isWanted = (path: string) => isIncluded(path) && !isExcluded(path)
  const compressible = [...served.files].filter(isCompressibleType)
  const candidates = compressible.filter(isWanted)
  const tooLarge: string[] = []
  const tallies = CODINGS.map(tallyOf)
  let [bytes, done] = [0, 0]
  const deltas = await withUnsaved(async unsaved => {
    const writer = await writerAgainst(served, unsaved, against)
    const compressOne = async (path: string): Promise<void> => {
      const result = await compressFile(served.place, path, unsaved, tallies)
      if (result === 'too-large') tooLarge.push(path)
      else if (result) {
        bytes += result.bytes.length
        await writer.write(path, result)
      }
      onProgress?.({ done: ++done, total: candidates.length, path })
    }
    // A failed system call gets an error that names the file.
    const compressAny = (path: string) =>
      compressOne(path).catch((error: unknown) => {
        if (errorCode(error) === undefined || error instanceof AssetError) throw error
        throw failed(`cannot compress ${path}: ${reasonOf(error)}`, error)
      })
    await inParallel(candidates, CONCURRENCY, compressAny, signal)
    return writer.report()
  })
  return {
    directory: served.path,
    files: candidates.length,
    bytes,
    codings: tallies.map(({ coding, ...tally }): CodingReport => {
      const { name, extension } = coding
      return { coding: name, extension, isWritable: coding.compress !== undefined, ...tally }
    }),
    tooLarge: tooLarge.toSorted(),
    leftOut: compressible.filter(path => !isWanted(path)),
    deltas,
    seconds: (performance.now() - startedAt) / 1000
  }
}

type Tally = ReturnType<typeof tallyOf>

function tallyOf(coding: Coding) {
  return { coding, copies: 0, originalBytes: 0, bytes: 0, written: 0, removed: 0 }
}

/** Brings the copies of a file up to date; undefined if the file no longer exists. */
async function compressFile(place: Boundary, path: string, unsaved: Unsaved, tallies: Tally[]) {
  const file = join(place.dir, path)
  const read = await readInPlace(place, file, MAX_BYTES)
  if (!read || read === 'too-large') return read
  const { bytes, stamp } = read
  const original = { size: bytes.length, digest: digestOf(bytes) }
  /** Returns the size of the copy, or that of the file if there is none that this Node can read. */
  const update = async (tally: Tally): Promise<number> => {
    const { coding } = tally
    const target = file + coding.extension
    const copy = await copyFor(file, original, coding, async () => bytes)
    if (!copy) {
      const stats = await lstatOf(target)
      // A copy that this Node cannot read may be right, unless it is older. A link is left alone.
      const isWrong = coding.compress !== undefined || (stats && stats.mtimeNs < stamp.mtimeNs)
      if (!stats?.isFile() || !isWrong) return original.size
      await removeInPlace(place, target)
      tally.removed++
      return original.size
    }
    // The copy is read back from disk before it gets its name.
    const checkContent = async (temporary: OpenFile): Promise<void> => {
      const now = await statOf(file)
      if (!now || !sameStamp(now, stamp))
        throw failed(`${file} was edited while it was compressed: run again`)
      if ((await compareOpen(original, temporary, coding)) === 'equal') return
      throw failed(
        `the ${coding.name} copy of ${file} did not decompress to it, and was not kept: check the disk`
      )
    }
    const made = await prepareReplacement(target, copy.content, { place, checkContent, unsaved })
    await made.commit()
    tally.copies++
    tally.originalBytes += original.size
    tally.bytes += copy.size
    if (made.isNew) tally.written++
    return copy.size
  }
  // Unlike Promise.all, a failure waits for the other copies.
  const sizes = await inParallel(tallies, tallies.length, update)
  return { bytes, smallest: Math.min(...sizes) }
}

function failed(message: string, cause?: unknown): AssetError {
  return new AssetError('compress-failed', message, { cause })
}
