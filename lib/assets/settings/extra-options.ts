// The options of extras, and the types of their helpers. The table of their parts, assets/extras.ts, is above what
// needs these.
import type { EntryHelpers } from '../../extras/bundles/entry.ts'
import type { LiveHelpers } from '../../extras/live/tag.ts'
import { PACKAGES, type PackageOptions } from '../../extras/packages/options.ts'
import { NAMES, type NameOptions } from '../../extras/names/options.ts'
import { DELTAS, type DeltaOptions } from '../../extras/deltas/options.ts'

/** Added to `KoaAssetsOptions`. */
export interface ProjectExtras extends DeltaOptions, NameOptions {}

/** Added to `LayeredOptions`. */
export interface LayeredExtras extends PackageOptions {}

/** Added to `ViewHelpers`. */
export interface HelperExtras extends EntryHelpers, LiveHelpers {}

/** Their rows. What layers add to is a list of sources. */
export const LAYERED_EXTRAS = {
  ...PACKAGES
} as const

export const PROJECT_EXTRAS = {
  ...DELTAS,
  ...NAMES
} as const
