// Lists the options of extras and their rows of reports, with the options and the report of precompile.
import { BUILD, settleBuild, type BuildOptions, type Place } from '../../extras/vite/options.ts'
import { MODULES, type JoinRow, type ModuleOptions } from '../../extras/modules/options.ts'
import { INLINE, type InlineOptions } from '../../extras/media/options.ts'
import {
  PRECOMPILE_STYLES,
  STYLES,
  type PrecompileStyleOptions,
  type StyleOptions,
  type StyleRows
} from '../../extras/styles/options.ts'
import { ROUTES, type RouteOptions } from '../../extras/routes/options.ts'
import { NAMES, type NameOptions } from '../../extras/names/options.ts'
import { HOT, type HotOptions } from '../../extras/hot/options.ts'
import { DELTAS, type DeltaOptions, type DeltaPrecompileRow } from '../../extras/deltas/options.ts'

export interface ProjectExtras extends DeltaOptions, HotOptions, NameOptions, RouteOptions {}
export interface LayeredExtras extends InlineOptions, ModuleOptions, StyleOptions {}
export interface MountExtras extends BuildOptions {}
export interface PrecompileExtras extends PrecompileStyleOptions {}

// The rows of these options. Layers append to a list of sources.
export const PROJECT_EXTRAS = { ...DELTAS, ...HOT, ...NAMES, ...ROUTES } as const
export const LAYERED_EXTRAS = { ...INLINE, ...MODULES, ...STYLES } as const
export const MOUNT_EXTRAS = { ...BUILD } as const
/** The options that a build must know. */
export const BUILD_EXTRAS = { ...LAYERED_EXTRAS, ...NAMES } as const
export const PRECOMPILE_EXTRAS = { ...PRECOMPILE_STYLES } as const

/** The settings around a mount that its extras need. */
interface MountPlace extends Place {}

export const settleMountExtras = (options: MountExtras, at: MountPlace) => ({
  ...settleBuild(options, at)
})

export interface PrecompileRows extends DeltaPrecompileRow, JoinRow, StyleRows {}

export interface Progress {
  /** `compile` comes first and changes nothing in `public`. */
  readonly stage: 'compile' | 'write'
  /** The number of assets that have passed this stage. */
  readonly done: number
  /** The number of all assets of this stage. */
  readonly total: number
  /** The plain URL path of the latest asset, decoded: `/assets/app.css`. */
  readonly path: string
}

export interface PrecompileOptions extends PrecompileExtras {
  /** Called after each asset of each stage. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Aborting rejects with its reason; the previous manifest and its files stay. Final renames are not interrupted. */
  readonly signal?: AbortSignal | undefined
  /** Receives each warning once. Default: `console.warn`. */
  readonly warn?: ((message: string) => void) | undefined
}

export interface PrecompileReport extends PrecompileRows {
  /** The absolute path of the manifest. */
  readonly manifest: string
  /** The number of published assets. */
  readonly assets: number
  /** The total size of all assets, in bytes. */
  readonly bytes: number
  /** The total size of the smallest representation of each asset, in bytes. */
  readonly compressedBytes: number
  /** The duration of the run, in seconds. */
  readonly seconds: number
  /** The five largest assets: plain URL path, and size in bytes. */
  readonly largest: readonly { readonly path: string; readonly size: number }[]
  /** The plain URL paths of assets that differ from the previous manifest; a damaged file counts as changed. */
  readonly changes: {
    readonly added: readonly string[]
    readonly changed: readonly string[]
    readonly removed: readonly string[]
  }
  /** The number of fingerprinted files of the previous build that are kept for pages that name them; see `clean`. */
  readonly kept: number
}
