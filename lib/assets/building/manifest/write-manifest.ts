// What a build puts into a manifest.
import type { ManifestApps } from '../../settings/manifest-file.ts'
import { encodePath } from '../../urls/encode.ts'
import { publishedUrl, type Built } from '../places.ts'
import type { ManifestEntries, ManifestEntry } from './manifest.ts'

export function entriesOf(assets: Iterable<Built>): Map<string, ManifestEntry> {
  return new Map(
    Array.from(assets, built => {
      const { path, source, integrity, size, imports, dynamicImports } = built
      const entry = {
        target: publishedUrl(built),
        source: source.path,
        integrity,
        size,
        ...(source.from > 0 && { from: source.from }),
        ...(imports && { imports: imports.map(encodePath) }),
        ...(dynamicImports && { dynamicImports: dynamicImports.map(encodePath) }),
        ...(source.specifiers && { specifiers: source.specifiers })
      }
      return [encodePath(path), entry]
    })
  )
}

/** Keys are sorted: identical sources give an identical file. */
export function serialize(assets: ManifestEntries, apps?: ManifestApps): string {
  const sorted = [...assets].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const whole = { version: 1, apps, assets: Object.fromEntries(sorted) }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}
