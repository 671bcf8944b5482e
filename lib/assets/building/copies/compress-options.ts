// The options and the report of `compress`.
import { matcherOf } from '../../../globs.ts'
import { abortSignal, callback, isText, listOf, text, type Expectation } from '../../../options.ts'
import type { DeltaReport } from './deltas.ts'

export interface CompressProgress {
  /** Files that are done. */
  readonly done: number
  /** All files whose type compresses. */
  readonly total: number
  /** The latest file, relative to the directory: `assets/app-BcXr2f3k.js`. */
  readonly path: string
}

export interface CompressOptions {
  /** Called after each file. */
  readonly onProgress?: ((progress: CompressProgress) => void) | undefined
  /** Aborting it rejects with its reason. Copies that were finished stay. */
  readonly signal?: AbortSignal | undefined
  /**
   * A directory with an earlier build, absolute or relative to the working directory: deltas (`.dcz`) are
   * written from its files to those of the same name with another hash, on Node 22.19, 24.6 and newer.
   */
  readonly against?: string | undefined
  /**
   * Globs of the files to compress, relative to the directory; one without a slash is for every folder:
   * `['*.js', 'vendor/**']`. Default: all but source maps (`*.map`), which `['**']` takes as well.
   */
  readonly include?: readonly string[] | undefined
  /** Globs of files to leave alone, though they are included. Default: none. */
  readonly exclude?: readonly string[] | undefined
}

/** The copies in one coding. */
export interface CodingReport {
  /** `br`, `zstd` or `gzip`. */
  readonly coding: string
  /** `.br`, `.zst` or `.gz`. */
  readonly extension: string
  /** Whether this Node can write them; zstd needs 22.15 or newer. */
  readonly isWritable: boolean
  /** How many files have a copy now. */
  readonly copies: number
  /** Total size of these files, in bytes. */
  readonly originalBytes: number
  /** Total size of their copies, in bytes. */
  readonly bytes: number
  /** How many copies were written by this run. */
  readonly written: number
  /** How many copies were removed, because they were made from other bytes and a new one does not pay. */
  readonly removed: number
}

export interface CompressReport {
  /** Real path of the directory. */
  readonly directory: string
  /** How many files were considered: those whose type compresses, without `leftOut`. */
  readonly files: number
  /** Total size of these files, in bytes. */
  readonly bytes: number
  /** One for each coding, the expected smallest first. */
  readonly codings: readonly CodingReport[]
  /** Files of more than 128 MiB, which are not compressed; relative to the directory. */
  readonly tooLarge: readonly string[]
  /**
   * Files whose type compresses, and which were skipped because of `include`, `exclude` or as source maps;
   * relative to the directory, sorted. Copies that they already have stay as they are.
   */
  readonly leftOut: readonly string[]
  /** Undefined without `against`. */
  readonly deltas: DeltaReport | undefined
  /** Duration of the run. */
  readonly seconds: number
}

const globs = listOf("a list of globs such as ['*.js']", isText)
export const COMPRESS_OPTIONS = {
  onProgress: callback,
  signal: abortSignal,
  against: text,
  include: globs,
  exclude: globs
} satisfies Record<keyof CompressOptions, Expectation>

/** @throws TypeError for an empty glob */
export function chosenBy({ include, exclude = [] }: CompressOptions): (path: string) => boolean {
  const isIncluded = include ? matcherOf(include) : (path: string) => !path.endsWith('.map')
  const isExcluded = matcherOf(exclude)
  return path => isIncluded(path) && !isExcluded(path)
}
