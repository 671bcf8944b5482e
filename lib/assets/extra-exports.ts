// What the extras add to the entry points.
export type {
  EntryFile,
  EntryFiles,
  EntryOptions,
  EntryScriptFile
} from '../extras/bundles/entry.ts'
export type { LiveTagOptions } from '../extras/live/tag.ts'
export type { DeltaReport, DeltaSavings } from '../extras/deltas/options.ts'
export { cleanKept, keep } from '../extras/releases/exports.ts'
export type { CleanKeptOptions, KeepOptions, KeepReport } from '../extras/releases/keep.ts'
