// What deltas save.
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
