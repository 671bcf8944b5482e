// Resolves files in the public directory, and refuses to serve a directory that contains anything private.
import { join } from 'node:path'
import { AssetError, type AssetErrorCode } from '../errors.ts'
import { futureRealpath, readIfThere, statIfThere } from '../files/at-start.ts'
import { realpathOf, statOf, type Stamp } from '../files/disk.ts'
import { isRecord } from '../check-options.ts'
import { canonicalSegments } from '../urls/spelling.ts'
import type { CommonSettings } from './table.ts'
import { isInside, pathFrom } from '../files/paths.ts'

export interface Target {
  readonly stamp: Stamp
  /** The bytes that were just written, if they are in memory. */
  readonly bytes?: Uint8Array | undefined
}

/** @param path a decoded URL path */
export function publicFile({ publicDir }: Pick<CommonSettings, 'publicDir'>, path: string): string {
  return join(publicDir, path)
}

export function hiddenMapFile({ root }: Pick<CommonSettings, 'root'>, published: string): string {
  return join(root, 'source-maps', `${published}.map`)
}

type ManifestApps = Readonly<Record<string, { readonly path: string }>>

export function manifestFile(at: Pick<CommonSettings, 'publicDir' | 'prefix'>): string {
  return `${publicFile(at, at.prefix)}.json`
}

/** The apps are sorted, so identical ones give an identical manifest. */
export function manifestApps(apps: readonly { readonly name: string; readonly path: string }[]) {
  const sorted = apps.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(sorted.map(({ name, path }) => [name, { path }]))
}

// Only the paths are used: a manifest is not configuration. A manifest of version 0.1 does not name apps.
export function readApps(apps: unknown): ManifestApps | undefined {
  if (apps === undefined) return undefined
  const entries = Object.entries(isRecord(apps) ? apps : {})
  const named = entries.flatMap(([name, app]) =>
    isRecord(app) && isAppPath(app['path']) ? [{ name, path: app['path'] }] : []
  )
  if (named.length > 0 && named.length === entries.length) return manifestApps(named)
  throw new TypeError('its apps are not of the form { "web": { "path": "/" } }')
}

function isAppPath(path: unknown): path is string {
  // encodeURI throws for a lone surrogate.
  if (typeof path !== 'string' || !path.startsWith('/') || /\p{Cs}/u.test(path)) return false
  return path === '/' || Array.isArray(canonicalSegments(encodeURI(path)))
}

/** Reads the apps of a manifest; a missing or broken one has none, and is reported when it is read whole. */
export function appsAtStart(file: string): ManifestApps | undefined {
  try {
    const text = readIfThere(file)?.toString()
    return readApps((JSON.parse(text ?? '{}') as { apps?: unknown }).apps)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

/** The project's files that a served directory may not expose. */
interface Private extends Pick<CommonSettings, 'root'> {
  readonly apps: readonly { readonly sources: readonly { readonly dir: string }[] }[]
}

/** @param what begins the message: `the mount /static is <directory>` @throws AssetError if it may not be served */
export function requireServable(
  project: Private,
  dir: string,
  what: string,
  code: AssetErrorCode,
  mayBeMissing = true
): void {
  const isThere = statIfThere(dir)?.isDirectory() ?? mayBeMissing
  const reason = isThere ? whyPrivate(project, dir) : 'is not a directory'
  if (reason === undefined) return
  const served = 'everything in it is served, so it needs a directory of its own'
  const readable = reason.startsWith(UNREADABLE) ? 'correct its permissions or its owner' : served
  const advice = isThere ? readable : 'build it first, or correct the path'
  throw new AssetError(code, `${what}, which ${reason}: ${advice}`)
}

/** The beginning of the reason for a directory that cannot be checked. */
const UNREADABLE = 'this process may not read'

/** Returns why a directory may not be served; completes "which …". */
function whyPrivate({ root, apps }: Private, directory: string): string | undefined {
  try {
    return exposed(
      futureRealpath(directory),
      statIfThere(join(directory, PACKAGE)) !== undefined,
      futureRealpath(root),
      sourcesOf(apps).map(source => [pathFrom(root, source), futureRealpath(source)])
    )
  } catch (error) {
    const { code, path = '' } = error as NodeJS.ErrnoException
    if (code === 'EACCES') return `${UNREADABLE} (EACCES: ${pathFrom(root, path)})`
    throw error
  }
}

export async function mayBeServed({ root, apps }: Private, real: string): Promise<boolean> {
  const sources = sourcesOf(apps)
  const [realRoot, ...places] = await Promise.all([root, ...sources].map(realpathOf))
  const isPackage = (await statOf(join(real, PACKAGE))) !== undefined
  const named = sources.map((source, at): SourcePlace => [source, places[at]])
  return realRoot !== undefined && exposed(real, isPackage, realRoot, named) === undefined
}

const PACKAGE = 'package.json'
const PACKAGES = /[/\\]node_modules(?:[/\\]@[^/\\]*)?$/
const INSTALLED = /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\@.][^/\\]*/

type SourcePlace = readonly [shown: string, real: string | undefined]

/** Compares real paths, because files behind links are served as well. */
function exposed(real: string, isPackage: boolean, root: string, sources: readonly SourcePlace[]) {
  if (isInside(real, root)) return "is the project's root, or contains it"
  if (PACKAGES.test(real)) return 'contains all installed packages'
  // Anybody can read an installed package, unless it is the project.
  const [installed] = INSTALLED.exec(real) ?? []
  const isPublished = installed !== undefined && !isInside(installed, root)
  if (isPackage && !isPublished) return 'contains a package.json'
  for (const [shown, source] of sources) {
    if (source === undefined) continue
    if (isInside(real, source)) return `contains the source directory ${shown}`
    if (isInside(source, real)) return `is inside the source directory ${shown}`
  }
  return undefined
}

function sourcesOf(apps: Private['apps']): readonly string[] {
  return [...new Set(apps.flatMap(app => app.sources.map(({ dir }) => dir)))]
}
