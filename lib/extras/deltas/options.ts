import { flag, withDefault, type Expectation } from '../../check-options.ts'

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
