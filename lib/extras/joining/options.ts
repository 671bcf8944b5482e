import type { Expectation, Option } from '../../check-options.ts'

export interface JoiningOptions {
  /**
   * Precompile joins modules with Rolldown, and leaves out what no module uses of packages. `'packages'`: those of
   * each package; modules of the app stay files of their own. `true`: those of the app as well, into the ones that
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

/** Sizes are in bytes, without source maps. */
export interface JoinReport {
  /** The number of modules that were joined. */
  readonly modules: number
  /** The size of these modules. */
  readonly insteadOf: number
  /** The number of files that they became. */
  readonly files: number
  readonly bytes: number
  /** Says why no module was joined: Rolldown cannot be loaded. */
  readonly problem?: string
}

export interface JoinRow {
  /** The joined modules; undefined if there was no module to join. */
  readonly joined?: JoinReport | undefined
}
