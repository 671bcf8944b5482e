// Exports the functions and types of extras for the entry points.
import type { RouteMethods } from '../../extras/routes/extra.ts'
export type {
  EntryFile,
  EntryFiles,
  EntryOptions,
  EntryScriptFile
} from '../../extras/vite/entry.ts'
export type { LiveTagOptions } from '../../extras/live/tag.ts'
export type { DeltaReport, DeltaSavings } from '../../extras/deltas/options.ts'
export type { JoinReport } from '../../extras/modules/options.ts'
export * from '../../extras/releases/exports.ts'
export type { KeepOptions, KeepReport } from '../../extras/releases/keep.ts'
export type { CleanKeptOptions, CleanOptions, CleanReport } from '../../extras/releases/clean.ts'
export type {
  CodingReport,
  CompressOptions,
  CompressProgress,
  CompressReport
} from '../../extras/releases/compress.ts'
export type { VerifyCopiesReport } from '../../extras/releases/copies.ts'
export type { VerifyReport } from '../../extras/releases/verify.ts'
export type { Preload } from '../../extras/routes/extra.ts'
export type { NamesThenPreloadOptions, PreloadOptions } from '../../extras/routes/preload-links.ts'
export type { SendFile, SendFileOptions } from '../../extras/routes/send-file.ts'

export interface ContextExtras extends RouteMethods {}
