// The manifest's path, and the apps that it names: at start they stand in for source directories.
import { join } from 'node:path'
import { canonicalSegments } from '../urls/canonical-path.ts'
import { readIfThere } from '../../files/at-start.ts'

/** By name. */
export type ManifestApps = Readonly<Record<string, { readonly path: string }>>

export function manifestFile({ publicDir, prefix }: { publicDir: string; prefix: string }): string {
  return `${join(publicDir, prefix)}.json`
}

/** Sorted, so identical apps give an identical file. */
export function manifestApps(
  apps: readonly { readonly name: string; readonly path: string }[]
): ManifestApps {
  const sorted = apps.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(sorted.map(({ name, path }) => [name, { path }]))
}

/**
 * The apps of a manifest; undefined for one of version 0.1, which does not name them.
 * @throws TypeError for another shape
 */
export function readApps(apps: unknown): ManifestApps | undefined {
  if (apps === undefined) return undefined
  const entries = Object.entries(apps ?? {}) as [string, { path?: unknown } | null][]
  const named = entries.flatMap(([name, app]) =>
    isAppPath(app?.path) ? [{ name, path: app.path }] : []
  )
  if (named.length > 0 && named.length === entries.length) return manifestApps(named)
  throw new TypeError('its apps are not of the form { "web": { "path": "/" } }')
}

function isAppPath(path: unknown): path is string {
  // encodeURI throws for a lone surrogate.
  if (typeof path !== 'string' || !path.startsWith('/') || /\p{Cs}/u.test(path)) return false
  return path === '/' || Array.isArray(canonicalSegments(encodeURI(path)))
}

/** Undefined also for a file that is missing or broken, which is reported where the whole manifest is read. */
export function appsAtStart(file: string): ManifestApps | undefined {
  const bytes = readIfThere(file)
  if (bytes === undefined) return undefined
  try {
    return readApps((JSON.parse(bytes.toString()) as { apps?: unknown }).apps)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
