// Lists the options of extras, the types of their helpers, and their rows of reports. It is below the files that need
// these; the table of the parts of extras, assets/extras.ts, is above them.
import type { EntryHelpers } from '../../extras/vite/entry.ts'
import type { LiveHelpers } from '../../extras/live/tag.ts'
import { BUILD, settleBuild, type BuildOptions } from '../../extras/vite/options.ts'
import { MODULES, type JoinRow, type ModuleOptions } from '../../extras/modules/options.ts'
import { INLINE, type InlineOptions } from '../../extras/media/options.ts'
import type { MediaHelpers } from '../../extras/media/inline.ts'
import {
  PRECOMPILE_STYLES,
  STYLES,
  type PrecompileStyleOptions,
  type StyleOptions,
  type StyleRows
} from '../../extras/styles/options.ts'
import { ROUTES, type RouteOptions } from '../../extras/routes/options.ts'
import type { PreloadHelpers } from '../../extras/routes/preload-links.ts'
import { NAMES, type NameOptions } from '../../extras/names/options.ts'
import { DELTAS, type DeltaOptions, type DeltaPrecompileRow } from '../../extras/deltas/options.ts'

/** Options of extras in `KoaAssetsOptions`. */
export interface ProjectExtras extends DeltaOptions, NameOptions, RouteOptions {}

/** Options of extras in `LayeredOptions`. */
export interface LayeredExtras extends InlineOptions, ModuleOptions, StyleOptions {}

/** Options of extras in `MountOptions`. */
export interface MountExtras extends BuildOptions {}

/** Helpers of extras in `ViewHelpers`. */
export interface HelperExtras extends EntryHelpers, LiveHelpers, MediaHelpers, PreloadHelpers {}

/** The rows of these options. Layers append to a list of sources. */
export const LAYERED_EXTRAS = {
  ...INLINE,
  ...MODULES,
  ...STYLES
} as const

export const PROJECT_EXTRAS = {
  ...DELTAS,
  ...NAMES,
  ...ROUTES
} as const

/** Options of extras in `PrecompileOptions`. */
export interface PrecompileExtras extends PrecompileStyleOptions {}

export const PRECOMPILE_EXTRAS = {
  ...PRECOMPILE_STYLES
} as const

/** Rows of extras in `PrecompileReport`. */
export interface PrecompileRows extends DeltaPrecompileRow, JoinRow, StyleRows {}

export const MOUNT_EXTRAS = {
  ...BUILD
} as const

/** The surroundings of a mount, as its extras see them. */
interface MountPlace {
  readonly root: string
  readonly env: string
  readonly base: string
  readonly urlPath: string
  /** The place of the mount in the options, such as `mounts./static.` */
  readonly place: string
  /** The file named by the option `fallback`. */
  readonly fallback: string | undefined
}

/** Settles the options that extras add to a mount. */
export const settleMountExtras = (options: MountExtras, at: MountPlace) => ({
  ...settleBuild(options, at)
})
