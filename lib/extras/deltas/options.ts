// The options of deltas, and their part of reports.
import { flag, withDefault, type Expectation } from '../../runtime/check-options.ts'

export interface DeltaOptions {
  /**
   * Immutable responses whose type compresses have `Use-As-Dictionary` (RFC 9842), precompile writes deltas
   * (`.dcz`) from earlier versions, and a browser that has such a version gets the delta. Default: `true`.
   */
  deltas?: boolean | undefined
}

export const DELTAS = {
  deltas: withDefault(flag, true)
} satisfies Record<keyof DeltaOptions, Expectation>

export interface DeltaSavings {
  /** The number of deltas. */
  readonly files: number
  /** The total size of the deltas, in bytes. */
  readonly bytes: number
  /** The bytes that would be sent without deltas: for each, the smallest representation of its file. */
  readonly insteadOf: number
}

/** The report on deltas to changed files. */
export interface DeltaReport extends DeltaSavings {
  /** True if this Node can make deltas: 22.19, 24.6 and newer. */
  readonly isWritable: boolean
}

export interface DeltaPrecompileRow {
  /**
   * The deltas (`.dcz`) of changed assets from their last three versions, on Node 22.19, 24.6 and newer. Undefined if
   * no asset with an earlier version changed, and with `deltas: false`.
   */
  readonly deltas: DeltaReport | undefined
}
