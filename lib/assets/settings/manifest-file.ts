// Where the manifest lies, and what it tells at start where no source directory does: the apps.
import { join } from 'node:path'
import { canonicalSegments } from '../urls/canonical-path.ts'
import { readIfThere } from '../../files/at-start.ts'

/** By name. */
export type ManifestApps = Readonly<Record<string, { readonly path: string }>>

export function manifestFile({ publicDir, prefix }: { publicDir: string; prefix: string }): string {
  return `${join(publicDir, prefix)}.json`
}

/** As the manifest has them: sorted, so that identical apps make an identical file. */
export function manifestApps(
  apps: readonly { readonly name: string; readonly path: string }[]
): ManifestApps {
  const sorted = apps.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(sorted.map(({ name, path }) => [name, { path }]))
}

/**
 * The apps that a manifest was made for; undefined when it does not tell, as those of 0.1 do not.
 * @throws TypeError for another shape
 */
export function readApps({ apps }: { apps?: unknown }): ManifestApps | undefined {
  if (apps === undefined) return undefined
  const named = Object.entries(apps ?? {}).map(([name, app]) => [name, pathOf(app)] as const)
  const isWhole = named.length > 0 && named.every(([, path]) => path !== undefined)
  if (!isWhole) throw new TypeError('its apps are not of the shape { "web": { "path": "/" } }')
  return Object.fromEntries(named.map(([name, path = '/']) => [name, { path }]))
}

function pathOf(app: unknown): string | undefined {
  const { path } = (app ?? {}) as { path?: unknown }
  if (typeof path !== 'string' || !path.startsWith('/') || /\p{Cs}/u.test(path)) return undefined
  return path === '/' || Array.isArray(canonicalSegments(encodeURI(path))) ? path : undefined
}

/** Undefined for a file that is missing or broken as well: whoever needs all of it complains. */
export function appsAtStart(file: string): ManifestApps | undefined {
  const text = readIfThere(file)
  if (text === undefined) return undefined
  try {
    return readApps(JSON.parse(text) as { apps?: unknown })
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
