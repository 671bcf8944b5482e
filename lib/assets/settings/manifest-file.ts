// The manifest's path, and the apps that it names: at start they stand in for source directories.
import { join } from 'node:path'
import { readIfThere } from '../../files/at-start.ts'
import { isRecord } from '../../options.ts'

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
  const given = Object.values(isRecord(apps) ? apps : {}) as ({ path?: unknown } | null)[]
  const isNamed = given.length > 0 && given.every(app => String(app?.path).startsWith('/'))
  if (isNamed) return apps as ManifestApps
  throw new TypeError('its apps are not of the form { "web": { "path": "/" } }')
}

/** Undefined also for a file that is missing or broken, which is reported where the whole manifest is read. */
export function appsAtStart(file: string): ManifestApps | undefined {
  try {
    const text = readIfThere(file)?.toString()
    return readApps((JSON.parse(text ?? '{}') as { apps?: unknown }).apps)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
