// The entries of a manifest, and their layout in public/assets.json.
import type { ManifestApps } from '../../settings/manifest-file.ts'
import { encodePath } from '../../urls/encode.ts'
import { publishedUrl, type Built } from '../places.ts'

/** The value of an asset; the key is its plain URL path, `/assets/app.css`. */
export interface ManifestEntry {
  /** The URL path of the fingerprinted file. */
  readonly target: string
  /** The path in its source directory: `stylesheets/app.css.scss`. */
  readonly source: string
  /** Subresource Integrity; empty when that is off. */
  readonly integrity: readonly string[]
  /** In bytes. */
  readonly size: number
  /** The position of its source directory in the search order; absent for the app's own. */
  readonly from?: number
  /**
   * The plain URL paths of the assets that a script imports, in its order; absent for other assets and
   * in manifests of earlier releases.
   */
  readonly imports?: readonly string[]
  /** The same for `import()`; absent for none. */
  readonly dynamicImports?: readonly string[]
}

/** By plain URL path. */
export type ManifestEntries = ReadonlyMap<string, ManifestEntry>

export type Entry = readonly [path: string, entry: ManifestEntry]

export function entriesOf(assets: Iterable<Built>): Map<string, ManifestEntry> {
  return new Map(
    Array.from(assets, built => {
      const { path, source, integrity, size, from, imports, dynamicImports } = built
      const entry = {
        target: publishedUrl(built),
        source: source.path,
        integrity,
        size,
        ...(from > 0 && { from }),
        ...(imports && { imports: imports.map(encodePath) }),
        ...(dynamicImports && { dynamicImports: dynamicImports.map(encodePath) })
      }
      return [encodePath(path), entry]
    })
  )
}

/** Keys are sorted: identical sources make an identical file. */
export function serialize(assets: ManifestEntries, apps?: ManifestApps): string {
  const sorted = [...assets].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const whole = { version: 1, apps, assets: Object.fromEntries(sorted) }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}
