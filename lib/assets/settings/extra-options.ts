// The options of extras, the types of their helpers, and their rows of reports. The table of their parts, assets/extras.ts, is above what
// needs these.
import type { EntryHelpers } from '../../extras/bundles/entry.ts'
import type { LiveHelpers } from '../../extras/live/tag.ts'
import { MANIFEST, settleManifest, type ManifestOptions } from '../../extras/bundles/options.ts'
import { DEV, settleDev, type DevOptions } from '../../extras/vite/options.ts'
import { JOINING, type JoiningOptions, type JoinRow } from '../../extras/joining/options.ts'
import { PACKAGES, type PackageOptions } from '../../extras/packages/options.ts'
import type { MediaHelpers } from '../../extras/media/media.ts'
import {
  MINIFY,
  PRECOMPILE_MINIFY,
  type MinifyOptions,
  type MinifyRow,
  type PrecompileMinifyOptions
} from '../../extras/minify/options.ts'
import { ROUTES, type RouteOptions } from '../../extras/routes/options.ts'
import type { PreloadHelpers } from '../../extras/routes/preload-links.ts'
import { NAMES, type NameOptions } from '../../extras/names/options.ts'
import {
  DELTA_COMPRESS,
  DELTAS,
  type DeltaCompressOptions,
  type DeltaCompressRow,
  type DeltaOptions,
  type DeltaPrecompileRow
} from '../../extras/deltas/options.ts'

/** Added to `KoaAssetsOptions`. */
export interface ProjectExtras extends DeltaOptions, NameOptions, RouteOptions {}

/** Added to `LayeredOptions`. */
export interface LayeredExtras extends PackageOptions, MinifyOptions, JoiningOptions {}

/** Added to `MountOptions`. */
export interface MountExtras extends ManifestOptions, DevOptions {}

/** Added to `ViewHelpers`. */
export interface HelperExtras extends EntryHelpers, LiveHelpers, MediaHelpers, PreloadHelpers {}

/** Their rows. What layers add to is a list of sources. */
export const LAYERED_EXTRAS = {
  ...PACKAGES,
  ...MINIFY,
  ...JOINING
} as const

export const PROJECT_EXTRAS = {
  ...DELTAS,
  ...NAMES,
  ...ROUTES
} as const

/** Added to `PrecompileOptions`. */
export interface PrecompileExtras extends PrecompileMinifyOptions {}

export const PRECOMPILE_EXTRAS = {
  ...PRECOMPILE_MINIFY
} as const

/** Added to `CompressOptions`. */
export interface CompressExtras extends DeltaCompressOptions {}

export const COMPRESS_EXTRAS = {
  ...DELTA_COMPRESS
} as const

/** Added to `PrecompileReport` and to `CompressReport`. */
export interface PrecompileRows extends DeltaPrecompileRow, MinifyRow, JoinRow {}
export interface CompressRows extends DeltaCompressRow {}

export const MOUNT_EXTRAS = {
  ...MANIFEST,
  ...DEV
} as const

/** Where a mount is. */
interface MountPlace {
  readonly root: string
  readonly env: string
  readonly base: string
  readonly urlPath: string
  /** That of the options, such as `mounts./static.` */
  readonly place: string
  /** The file of `fallback`. */
  readonly fallback: string | undefined
}

/** What the options of a mount come to. */
export const settleMountExtras = (options: MountExtras, at: MountPlace) => ({
  ...settleManifest(options, at),
  ...settleDev(options, at)
})
