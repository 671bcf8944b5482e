// The assets of all apps, the URL paths under which they are published, and those that cannot be.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import type { Content } from '../../files/open-file.ts'
import { printable } from '../../printable.ts'
import type { ImageSize, Mention } from '../parts.ts'
import { appAt, assetPath } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Listed, Sources } from '../sources/sources.ts'
import { encodePath, whyNotCanonical } from '../urls/canonical-path.ts'
import { withFingerprint } from '../urls/fingerprint.ts'
import type { ManifestEntry } from './manifest/manifest.ts'

/** A source, and where it is published. */
export interface Place extends Listed {
  /** The plain URL path, decoded: `/assets/app.css`. */
  readonly path: string
}

/** An asset that cannot be published. */
export interface Failure {
  /** The plain URL path, decoded. */
  readonly path: string
  readonly error: AssetError
}

/** What a script imports by literal specifiers: the plain URL paths of assets, decoded, in their order. */
export interface Imports {
  /** Undefined for what is not a script, and for scripts whose references are not rewritten. */
  readonly imports?: readonly string[]
  /** By `import()`; undefined for none. */
  readonly dynamicImports?: readonly string[]
  /** Specifiers of it that only an import map resolves; `*` stands for any. */
  readonly unresolved?: readonly string[]
}

export interface Built extends Place, Imports {
  /** The paths of the assets that it was made from, decoded; undefined for its source alone. */
  readonly sources?: readonly string[] | undefined
  /** The final bytes, or the source when its bytes are published unchanged. */
  readonly content: Content
  /** In bytes. */
  readonly size: number
  readonly digest: string
  readonly integrity: readonly string[]
  readonly imageSize?: ImageSize | undefined
}

export type Assets = ReadonlyMap<string, Built>

/** The decoded URL path that pages and stylesheets ask for: fingerprinted, if the app has fingerprints. */
export function publishedPath({ app, path, digest }: Built): string {
  return app.fingerprint ? withFingerprint(path, digest) : path
}

/** The same, encoded. */
export function publishedUrl(built: Built): string {
  return encodePath(publishedPath(built))
}

/** What a build puts into a manifest. */
export function entriesOf(assets: Iterable<Built>): Map<string, ManifestEntry> {
  return new Map(
    Array.from(assets, built => {
      const { path, source, integrity, size, imageSize, sources } = built
      const { imports, dynamicImports, unresolved } = built
      const entry = {
        target: publishedUrl(built),
        source: source.path,
        integrity,
        size,
        ...(source.from > 0 && { from: source.from }),
        ...(imports && { imports: imports.map(encodePath) }),
        ...(dynamicImports && { dynamicImports: dynamicImports.map(encodePath) }),
        ...(unresolved && { unresolved }),
        ...(source.specifiers && { specifiers: source.specifiers }),
        ...(imageSize && { imageSize }),
        ...(sources && { sources: sources.map(encodePath) })
      }
      return [encodePath(path), entry]
    })
  )
}

/** What of these inline scripts in views import, as they write it: bare specifiers, and plain URL paths. */
export function importedInViews(
  mentions: readonly Mention[],
  assets: Assets,
  { apps }: Settings
): string[] {
  const imported = new Set(mentions.flatMap(({ name, isImported }) => (isImported ? name : [])))
  if (imported.size === 0) return []
  const byOption = apps.flatMap(({ imports }) => [...imports.keys()])
  const names = ({ path, source }: Built) => [encodePath(path), ...(source.specifiers ?? [])]
  const known = new Set([...byOption, ...[...assets.values()].flatMap(names)])
  return [...imported].filter(name => known.has(name)).toSorted()
}

/** Every asset, in the order of paths. */
export async function listPlaces(
  settings: Settings,
  sources: Sources,
  only: (app: AppSettings) => boolean = () => true
): Promise<readonly Place[]> {
  const all: Place[] = []
  for (const app of settings.apps.filter(only)) {
    for (const listed of await sources.of(app).list()) {
      const path = assetPath(app, listed.name)
      // Otherwise requests for it reach the app with the longer prefix.
      if (appAt(settings, path) === app) all.push({ ...listed, path })
    }
  }
  return all.toSorted(byPath)
}

export function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1
}

/** Names that several sources share, and names that cannot be requested. */
export function findFailures(
  { root }: Settings,
  places: readonly Place[],
  warn: (message: string) => void
): Failure[] {
  return places.flatMap(({ path, clash, rivals, source }) => {
    const failures: Failure[] = []
    if (clash !== undefined && rivals.length > 0) {
      failures.push({ path, error: new AssetError('name-taken', clash) })
    } else if (clash !== undefined) warn(clash)
    const reason = whyNotCanonical(encodePath(path))
    if (reason !== undefined) {
      const [file, shown] = [relative(root, source.file), path].map(printable)
      const message = `${file} is published as ${shown}, which cannot be requested: ${reason}; rename it`
      failures.push({ path, error: new AssetError('name-unusable', message) })
    }
    return failures
  })
}
