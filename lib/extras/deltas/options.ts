// What deltas add to options and reports.
import { flag, text, withDefault, type Expectation } from '../../check-options.ts'

export interface DeltaOptions {
  /**
   * Immutable responses whose type compresses say `Use-As-Dictionary` (RFC 9842), precompile writes deltas
   * (`.dcz`) from earlier versions, and a browser that has one of these is sent the delta. Default: `true`.
   */
  deltas?: boolean | undefined
}

export const DELTAS = {
  deltas: withDefault(flag, true)
} satisfies Record<keyof DeltaOptions, Expectation>

export interface DeltaCompressOptions {
  /**
   * A directory with an earlier build, absolute or relative to the working directory: deltas (`.dcz`) are
   * written from its files to those of the same name with another hash, on Node 22.19, 24.6 and newer.
   */
  readonly against?: string | undefined
}

export const DELTA_COMPRESS = {
  against: text
} satisfies Record<keyof DeltaCompressOptions, Expectation>

export interface DeltaSavings {
  /** How many deltas there are. */
  readonly files: number
  /** Their total size, in bytes. */
  readonly bytes: number
  /** Bytes that would be sent without them: for each, the smallest representation of its file. */
  readonly insteadOf: number
}

/** The deltas that lead to the files that changed. */
export interface DeltaReport extends DeltaSavings {
  /** Whether this Node can make deltas: 22.19, 24.6 and newer. */
  readonly isWritable: boolean
}

export interface DeltaPrecompileRow {
  /**
   * What changed gets deltas (`.dcz`) from its last three versions, on Node 22.19, 24.6 and newer. Undefined when
   * no asset changed that has an earlier version, and with `deltas: false`.
   */
  readonly deltas: DeltaReport | undefined
}

export interface DeltaCompressRow {
  /** Undefined without `against`. */
  readonly deltas: DeltaReport | undefined
}
