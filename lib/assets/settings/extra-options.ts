// The options of extras. Their table of parts is assets/extras.ts; this one is below the settings.
import { PACKAGES, type PackageOptions } from '../../extras/packages/options.ts'
import { NAMES, type NameOptions } from '../../extras/names/options.ts'
import { DELTAS, type DeltaOptions } from '../../extras/deltas/options.ts'

/** Added to `KoaAssetsOptions`. */
export interface ProjectExtras extends DeltaOptions, NameOptions {}

/** Added to `LayeredOptions`. */
export interface LayeredExtras extends PackageOptions {}

/** Their rows. What layers add to is a list of sources. */
export const LAYERED_EXTRAS = {
  ...PACKAGES
} as const

export const PROJECT_EXTRAS = {
  ...DELTAS,
  ...NAMES
} as const
