// Lists the assets of all apps by the URL paths under which they are published, and finds unpublishable ones.
import { firstAnswer, inParallel } from '../../runtime/concurrency.ts'
import { AssetError, printable, type Warn } from '../../runtime/errors.ts'
import type { Content } from '../../runtime/files/open-file.ts'
import type { Mention } from '../../runtime/app/transform.ts'
import { ownerOf } from '../../runtime/settings/apps.ts'
import { isAbsoluteUrl } from '../../runtime/settings/table.ts'
import type { AppSettings, Settings } from '../../runtime/settings/settings.ts'
import type { Draft } from '../rendering/draft.ts'
import type { Failure, Listed, Sourced } from '../sources/snapshot.ts'
import { adviseOn } from '../sources/advice.ts'
import type { Sources } from '../sources/sources.ts'
import { encodePath, whyNotCanonical } from '../../runtime/urls/spelling.ts'
import { Names, type Asset, type GivenNames } from '../../runtime/urls/manifest.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

/** A line of assets.json, and the content of its files. */
export interface Built extends Sourced {
  readonly asset: Asset
  /** The final bytes, or the source when its bytes are published unchanged. */
  readonly content: Content
  readonly digest: string
  /** The source map that is written where no server finds it. */
  readonly hiddenMap?: Uint8Array
}

export type Assets = ReadonlyMap<string, Built>

export function namesOf(built: Assets, more: Omit<GivenNames, 'assets'>): Names {
  return new Names({ ...more, assets: Array.from(built.values(), ({ asset }) => asset) })
}

export const publishedPath = ({ asset }: Built): string => decodeURIComponent(asset.target)

/** Returns the specifiers and plain URL paths by which inline scripts of views import these assets. */
export function importedInViews(mentions: readonly Mention[], assets: Assets, { apps }: Settings) {
  const imported = new Set(mentions.flatMap(({ name, isImported }) => (isImported ? name : [])))
  if (imported.size === 0) return []
  const byOption = apps.flatMap(({ imports }) => [...imports.keys()])
  const names = ({ asset }: Built) => [asset.path, ...(asset.specifiers ?? [])]
  const known = new Set([...byOption, ...[...assets.values()].flatMap(names)])
  return [...imported].filter(name => known.has(name)).toSorted()
}

/**
 * Finds entries of the option `imports` whose asset no app has: an import map with them could not be written.
 * One that a module imports is reported elsewhere, with its place.
 */
export async function findLostImports(
  settings: Settings,
  sources: Sources,
  all: readonly Draft[],
  warn: Warn
): Promise<Failure[]> {
  const keyOf = (app: AppSettings, specifier: string) => `${app.name}\n${specifier}`
  const own = all.filter(({ source }) => source.packageName === undefined)
  const imported = new Set(
    own.flatMap(({ app, text }) => text?.references.map(({ path }) => keyOf(app, path)) ?? [])
  )
  const byName = new Map<string, { app: AppSettings; specifier: string }[]>()
  for (const app of settings.apps.filter(each => each.fingerprint && each.missing !== 'ignore'))
    for (const [specifier, name] of app.imports)
      if (!isAbsoluteUrl(name)) byName.set(name, [...(byName.get(name) ?? []), { app, specifier }])
  const failures: Failure[] = []
  for (const [name, given] of byName) {
    const owners = given.map(({ app }) => ownerOf(settings, app, name))
    // The option may be set for all apps, only one of which has the asset.
    const found = await firstAnswer(owners, each => sources.of(each.app).find(each.name))
    const lost = given.find(({ app, specifier }) => !imported.has(keyOf(app, specifier)))
    if (found || !lost) continue
    const advice = await firstAnswer(given, each => adviseOn(sources, each.app, name))
    const reason = advice === undefined ? '' : `: ${advice}`
    const message = `the option imports leads '${lost.specifier}' to ${name}, which was not found${reason}`
    if (lost.app.missing === 'warn') warn(message)
    else failures.push({ path: '', error: new AssetError('reference-missing', message) })
  }
  return failures
}

export async function listAssets(
  settings: Settings,
  sources: Sources,
  only: (app: AppSettings) => boolean = () => true
): Promise<readonly Listed[]> {
  const all = await inParallel(settings.apps.filter(only), 1, app => sources.of(app).list())
  return all.flat().toSorted(byPath)
}

export function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1
}

/** Finds names that several sources share, and names that cannot be requested. */
export function findFailures({ root }: Settings, places: readonly Listed[], warn: Warn): Failure[] {
  const failures: Failure[] = []
  for (const { path, clash, rivals, source } of places) {
    if (clash !== undefined && rivals.length > 0)
      failures.push({ path, error: new AssetError('name-taken', clash) })
    else if (clash !== undefined) warn(clash)
    const reason = whyNotCanonical(encodePath(path))
    if (reason === undefined) continue
    const [file, shown] = [pathFrom(root, source.file), path].map(printable)
    const message = `${file} is published as ${shown}, which cannot be requested: ${reason}; rename it`
    failures.push({ path, error: new AssetError('name-unusable', message) })
  }
  return failures
}
