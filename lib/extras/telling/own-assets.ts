// Lists the project's own assets: those that have a source, and those that only a manifest has.
import type { Asset, AssetsByPath } from '../../runtime/urls/manifest.ts'
import { publishingIn, sourcedNameIn } from '../../publishing/building/on-request.ts'
import { listAssets, type ListedAsset } from '../../publishing/building/assets.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { locate, rawPath } from '../../runtime/serving/request.ts'
import { assetPath, type AppSettings } from '../../runtime/settings/app-settings.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { encodePath, withoutBase, splitFingerprint } from '../../runtime/urls/spelling.ts'
import { AssetError } from '../../runtime/errors.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

export interface OwnAsset {
  /** The plain URL path, encoded. */
  readonly path: string
  /**
   * The place of the source; undefined where it is gone, and for an asset made together with another, as source maps
   * are.
   */
  readonly place: ListedAsset | undefined
  /** The path relative to the project root; as in the manifest when the source no longer exists. */
  readonly source: string
  /** The entry in the manifest, if there is one. */
  readonly entry: Asset | undefined
}

/** Lists all in the order of paths. @param published has them by plain URL path */
export async function listOwn(
  settings: Settings,
  sources: Sources,
  published: AssetsByPath
): Promise<OwnAsset[]> {
  const listed = await listAssets(settings, sources).catch((error: unknown) => {
    if (published.size === 0 || !isAbsent(error, settings.apps)) throw error
    return []
  })
  const places = new Map(listed.map(place => [encodePath(place.path), place]))
  const paths = new Set([...places.keys(), ...published.keys()])
  return [...paths].toSorted().map(path => {
    const [place, entry] = [places.get(path), published.get(path)]
    // A source map belongs to a source.
    const { file } = (place ?? places.get(path.replace(/\.map$/, '')))?.source ?? {}
    const source = file === undefined ? (entry?.source ?? '') : pathFrom(settings.root, file)
    return { path, place, source, entry }
  })
}

/** Returns the path that a path, a URL or a name stands for; a name belongs to the app at `/`, the last one. */
export function pathOf(asked: string, { apps, base }: Settings): string {
  if (/^(?:\/|https?:\/\/)/i.test(asked)) return withoutBase(rawPath(asked), base)
  return encodePath(`${apps.at(-1)?.urlPrefix ?? ''}/${asked}`)
}

/** Returns the plain URL path, decoded, of the asset of a path or a name, with a fingerprint or without. */
export async function ownPath(pipeline: Pipeline, asked: string) {
  const { settings, sources } = publishingIn(pipeline)
  const wanted = locate(pathOf(asked, settings), settings)
  if (typeof wanted !== 'object' || wanted.app === settings.publicApp) return undefined
  const { app, name } = wanted
  const sourced = await sourcedNameIn(sources, app, name)
  const source = sourced === undefined ? undefined : await sources.of(app).find(sourced)
  return source && assetPath(app, source.name)
}

/** Chooses the source of a name, with a fingerprint or without; of a package that is absent, the warning says so. */
export async function choiceOf(sources: Sources, app: AppSettings, given: string) {
  const name = splitFingerprint(given)?.name ?? given
  try {
    const sourced = (await sourcedNameIn(sources, app, given)) ?? name
    return { name: sourced, ...(await sources.of(app).explain(sourced)) }
  } catch (error) {
    if (!isAbsent(error, [app])) throw error
    return { name, source: undefined, clash: undefined, warning: error.message, candidates: [] }
  }
}

/** A server in production has what a precompile made of packages, but seldom the packages. */
function isAbsent(error: unknown, apps: readonly AppSettings[]): error is AssetError {
  const isUnusable = error instanceof AssetError && error.code === 'package-unusable'
  return isUnusable && apps.every(({ fingerprint }) => fingerprint)
}
