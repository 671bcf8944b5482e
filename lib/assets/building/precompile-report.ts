// What a precompile tells of itself.
import type { ManifestEntries } from './manifest/manifest.ts'

export interface PrecompileReport {
  /** Absolute path of the manifest. */
  readonly manifest: string
  readonly assets: number
  /** Bytes of all assets, and of the smallest representation of each. */
  readonly bytes: number
  readonly compressedBytes: number
  readonly seconds: number
  /** The five largest, by URL path. */
  readonly largest: readonly { readonly path: string; readonly size: number }[]
  /** URL paths, against the manifest of before. */
  readonly changes: {
    readonly added: readonly string[]
    readonly changed: readonly string[]
    readonly removed: readonly string[]
  }
}

/** What the manifests of now and before tell of a precompile. */
export function reportOn(
  entries: ManifestEntries,
  before: ManifestEntries
): Pick<PrecompileReport, 'assets' | 'bytes' | 'largest' | 'changes'> {
  const paths = [...entries.keys()].toSorted()
  const sized = Array.from(entries, ([path, { size }]) => ({ path, size }))
  return {
    assets: entries.size,
    bytes: sized.reduce((sum, { size }) => sum + size, 0),
    largest: sized.toSorted((a, b) => b.size - a.size).slice(0, 5),
    changes: {
      added: paths.filter(path => !before.has(path)),
      changed: paths.filter(path => {
        const old = before.get(path)
        return old !== undefined && old.target !== entries.get(path)?.target
      }),
      removed: [...before.keys()].filter(path => !entries.has(path)).toSorted()
    }
  }
}
