// The result of a precompile.
import type { DeltaReport } from './deltas/deltas.ts'
import type { ManifestEntries } from './manifest/entries.ts'

export interface PrecompileReport {
  /** Absolute path of the manifest. */
  readonly manifest: string
  /** How many assets were published. */
  readonly assets: number
  /** Total size of all assets, in bytes. */
  readonly bytes: number
  /** Total size of the smallest representation of each asset, in bytes. */
  readonly compressedBytes: number
  /** Duration of the run. */
  readonly seconds: number
  /** The five largest assets: plain URL path, and size in bytes. */
  readonly largest: readonly { readonly path: string; readonly size: number }[]
  /** Plain URL paths, compared with the previous manifest. */
  readonly changes: {
    readonly added: readonly string[]
    readonly changed: readonly string[]
    readonly removed: readonly string[]
  }
  /**
   * How many fingerprinted files of changed and removed assets the previous build left. They are kept for
   * pages that name them; see `clean`.
   */
  readonly kept: number
  /** Undefined when no asset changed that has an earlier version, and with `deltas: false`. */
  readonly deltas: DeltaReport | undefined
}

/** @param before the entries of the previous manifest */
export function reportOn(entries: ManifestEntries, before: ManifestEntries) {
  const paths = [...entries.keys()].toSorted()
  const sized = Array.from(entries, ([path, { size }]) => ({ path, size }))
  return {
    assets: entries.size,
    bytes: sized.reduce((sum, { size }) => sum + size, 0),
    largest: sized.toSorted((a, b) => b.size - a.size).slice(0, 5),
    changes: {
      added: paths.filter(path => !before.has(path)),
      changed: paths.filter(
        path => before.has(path) && before.get(path)?.target !== entries.get(path)?.target
      ),
      removed: [...before.keys()].filter(path => !entries.has(path)).toSorted()
    }
  }
}
