// The assets of all apps, the URL paths under which they are published, and those that cannot be.
import { relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import { printable } from '../../printable.ts'
import { appAt, assetPath } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Listed, Sources } from '../sources/sources.ts'
import { whyNotCanonical } from '../urls/canonical-path.ts'
import { encodePath } from '../urls/encode.ts'

/** A source, and where it is published. */
export interface Place extends Listed {
  /** The plain URL path, decoded: `/assets/app.css`. */
  readonly path: string
}

/** The reason why an asset cannot be published. */
export interface Problem {
  /** The plain URL path, decoded. */
  readonly path: string
  readonly error: AssetError
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
export function findProblems({ root }: Settings, places: readonly Place[]): Problem[] {
  return places.flatMap(place => {
    const { path } = place
    const problems: Problem[] = []
    if (place.rivals.length > 0) problems.push({ path, error: nameTaken(place) })
    const reason = whyNotCanonical(encodePath(path))
    if (reason !== undefined) problems.push({ path, error: nameUnusable(root, place, reason) })
    return problems
  })
}

function nameTaken({ name, source, rivals }: Place): AssetError {
  const paths = [source, ...rivals].map(one => one.path).join(', ')
  const message = `several sources in ${source.directory} are published as ${name}: ${paths}; rename all but one`
  return new AssetError('name-taken', message)
}

function nameUnusable(root: string, { path, source }: Place, reason: string): AssetError {
  const [file, name] = [relative(root, source.file), path].map(printable)
  const message = `${file} is published as ${name}, which cannot be requested: ${reason}; rename it`
  return new AssetError('name-unusable', message)
}
