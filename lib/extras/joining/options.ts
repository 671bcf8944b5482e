import type { Expectation, Option } from '../../check-options.ts'

export interface JoiningOptions {
  /**
   * Whether precompile joins modules, by Rolldown, and leaves out what no module uses of packages. `'packages'`: those
   * of each package; modules of the app stay files of their own. `true`: those of the app as well, into the ones that
   * no other imports, that `import()` loads, that are workers, or that views name (see `views`). `false`: none.
   * Needs fingerprints. Default: `'packages'`, if Rolldown can be loaded.
   */
  bundle?: boolean | 'packages' | undefined
}

const bundle: Option<JoiningOptions['bundle'], unknown> = {
  expected: "'packages', true or false",
  holds: value => value === 'packages' || typeof value === 'boolean',
  default: () => undefined
}

export const JOINING = { bundle } satisfies Record<keyof JoiningOptions, Expectation>

/** What became of modules, in bytes without source maps. */
export interface JoinReport {
  /** How many modules were joined. */
  readonly modules: number
  /** Of these modules. */
  readonly insteadOf: number
  /** How many files they became. */
  readonly files: number
  readonly bytes: number
  /** Why none was: Rolldown cannot be loaded. */
  readonly problem?: string
}

export interface JoinRow {
  /** Undefined where no module could be joined. */
  readonly joined?: JoinReport | undefined
}
