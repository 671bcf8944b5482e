// The project's own assets: those that have a source, and those that only a manifest has.
import type { ManifestEntries, ManifestEntry } from '../building/manifest/manifest.ts'
import { sourcedNameIn } from '../building/on-request/app-files.ts'
import { listPlaces, type Place } from '../building/places.ts'
import type { Pipeline } from '../pipeline.ts'
import { locate, rawPath } from '../serving/request-path.ts'
import { assetPath } from '../settings/app-settings.ts'
import type { Settings } from '../settings/settings.ts'
import type { Sources } from '../sources/sources.ts'
import { encodePath } from '../urls/canonical-path.ts'

export interface OwnAsset {
  /** The plain URL path, encoded. */
  readonly path: string
  /** Undefined where the source is gone, and for what was made together with another asset, as source maps are. */
  readonly place: Place | undefined
  /** Undefined for what is not published under a fingerprint. */
  readonly entry: ManifestEntry | undefined
}

/** All of them, in the order of paths. @param published by plain URL path */
export async function listOwn(
  settings: Settings,
  sources: Sources,
  published: ManifestEntries
): Promise<OwnAsset[]> {
  const listed = await listPlaces(settings, sources)
  const places = new Map(listed.map(place => [encodePath(place.path), place]))
  const paths = new Set([...places.keys(), ...published.keys()])
  return [...paths].toSorted().map(path => {
    return { path, place: places.get(path), entry: published.get(path) }
  })
}

/** The path that a path, a URL or a name stands for; a name, as a view writes it, belongs to the app at `/`. */
export function pathOf(asked: string, { apps }: Settings): string {
  if (/^(?:\/|https?:\/\/)/i.test(asked)) return rawPath(asked)
  const app = apps.find(({ path }) => path === '/') ?? apps.at(-1)
  return encodePath(`${app?.urlPrefix ?? ''}/${asked}`)
}

/** The plain URL path, decoded, of the asset of a path or a name, with a fingerprint or without. */
export async function ownPath({ settings, sources }: Pipeline, asked: string) {
  const wanted = locate(pathOf(asked, settings), settings)
  if (typeof wanted !== 'object' || wanted.app === settings.publicApp) return undefined
  const { app, name } = wanted
  const sourced = await sourcedNameIn(sources, app, name)
  const source = sourced === undefined ? undefined : await sources.of(app).find(sourced)
  return source && assetPath(app, source.name)
}
