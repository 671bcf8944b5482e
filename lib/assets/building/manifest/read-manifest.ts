// Reads public/assets.json.
import { readFile } from 'node:fs/promises'
import { AssetError, reasonOf } from '../../../errors.ts'
import { errorCode, ifThere } from '../../../files/disk.ts'
import { isRecord } from '../../../options.ts'
import { readApps } from '../../settings/manifest-file.ts'
import type { ManifestEntries, ManifestEntry } from './entries.ts'
import { Manifest } from './manifest.ts'

const REMEDY = 'run koa-fresh-assets precompile'

/** @param advice what else may be done */
export function manifestMissing(file: string, advice = ''): AssetError {
  return new AssetError('manifest-missing', `there is no manifest ${file}: ${REMEDY}${advice}`)
}

/** @throws AssetError for a missing or invalid manifest: it names the file and the command */
export async function readManifest(file: string): Promise<Manifest> {
  const bytes = await ifThere(readFile(file))
  if (bytes === undefined) throw manifestMissing(file)
  return parseManifest(bytes, file)
}

/** None when the file is missing, or is invalid and about to be replaced. */
export async function readEntries(file: string): Promise<ManifestEntries> {
  try {
    return (await readManifest(file)).assets
  } catch (error) {
    const code = errorCode(error)
    if (code === 'manifest-missing' || code === 'manifest-broken') return new Map()
    throw error
  }
}

/** @throws AssetError for anything but a manifest of version 1 */
export function parseManifest(bytes: Buffer, file: string): Manifest {
  try {
    const { version, assets, apps } = (JSON.parse(bytes.toString()) ?? {}) as Record<
      string,
      unknown
    >
    if (version !== 1) throw new TypeError(`its version is ${JSON.stringify(version)}, not 1`)
    if (!isRecord(assets)) throw new TypeError('its assets are not an object')
    readApps(apps)
    const entries = Object.entries(assets)
    for (const [path, entry] of entries) {
      if (!isEntry(entry)) throw new TypeError(`the entry ${path} is incomplete`)
      // View helpers decode them: a malformed path must fail here, not on a page.
      decodeURIComponent(path)
      decodeURIComponent(entry.target)
    }
    return new Manifest(new Map(entries as [string, ManifestEntry][]), file)
  } catch (error) {
    const message = `${file} is not a manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

function isEntry(value: unknown): value is ManifestEntry {
  const {
    target,
    source,
    integrity,
    size,
    imports = [],
    dynamicImports = []
  } = (value ?? {}) as Partial<ManifestEntry>
  const typed = typeof target === 'string' && typeof source === 'string' && Number.isInteger(size)
  return typed && [integrity, imports, dynamicImports].every(isListOfStrings)
}

function isListOfStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}
