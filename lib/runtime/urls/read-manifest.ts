// Reads public/assets.json once, or at start and again before a page if it has changed.
import { join } from 'node:path'
import { inParallel } from '../concurrency.ts'
import { AssetError, reasonOf } from '../errors.ts'
import { isDirectory, readIfThere, ReloadedFile } from '../files/at-start.ts'
import { bytesOf, errorCode, statOf } from '../files/disk.ts'
import { isRecord } from '../check-options.ts'
import { unknownToBuild } from '../settings/of-build.ts'
import { manifestFile, publicFile, readApps } from '../settings/public-directory.ts'
import type { Settings } from '../settings/settings.ts'
import { assetSources } from '../settings/third-party.ts'
import { Names, type Asset, type AssetsByPath } from './manifest.ts'
import { pathFrom } from '../files/paths.ts'

export const REMEDY = 'run npx koa-fresh-assets precompile'

function manifestMissing(file: string, advice = ''): AssetError {
  return new AssetError('manifest-missing', `there is no manifest ${file}: ${REMEDY}${advice}`)
}

/** @throws AssetError for a missing or invalid manifest: it names the file and the command */
export async function readNames(file: string, apps: Settings['apps'] = []): Promise<Names> {
  const bytes = await bytesOf(file)
  if (bytes === undefined) throw manifestMissing(file)
  return new Names({ ...parse(bytes, file), apps })
}

/** Reads the assets, none if the file is missing. @param isReplaced none if it is invalid, as it will be replaced */
export async function readAssets(file: string, isReplaced = false): Promise<AssetsByPath> {
  try {
    const bytes = await bytesOf(file)
    return new Names(bytes ? parse(bytes, file) : { assets: [] }).assets
  } catch (error) {
    if (isReplaced && errorCode(error) === 'manifest-broken') return new Map()
    throw error
  }
}

/** @throws AssetError for anything but a manifest of version 1 */
function parse(bytes: Buffer, file: string) {
  try {
    const whole = (JSON.parse(bytes.toString()) ?? {}) as Record<string, unknown>
    const { version, assets, apps, inViews = [], options } = whole
    if (version !== 1) throw new TypeError(`its version is ${JSON.stringify(version)}, not 1`)
    if (!isRecord(assets)) throw new TypeError('its assets are not an object')
    if (!isListOfStrings(inViews)) throw new TypeError('its inViews are not a list of strings')
    readApps(apps)
    const all = Object.entries(assets).map(([path, line]) => {
      const asset: Partial<Asset> = { ...(isRecord(line) && line), path }
      if (!isAsset(asset)) throw new TypeError(`the entry ${path} is incomplete`)
      // View helpers decode the paths: a malformed one must fail here, not on a page.
      decodeURIComponent(path)
      decodeURIComponent(asset.target)
      return asset
    })
    return { assets: all, file, inViews, options: isRecord(options) ? options : undefined }
  } catch (error) {
    const message = `${file} is not a manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

const LISTS = ['imports', 'dynamicImports', 'unresolved', 'specifiers', 'sources'] as const

function isAsset(line: Partial<Asset>): line is Asset {
  const { target, source, integrity, size } = line
  const isNamed = typeof target === 'string' && typeof source === 'string'
  const lists = LISTS.map(name => line[name]).filter(each => each !== undefined)
  return isNamed && Number.isInteger(size) && [integrity, ...lists].every(isListOfStrings)
}

function isListOfStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}

const CONCURRENCY = 8

export class ReloadedNames extends ReloadedFile {
  current: Names
  version: string
  readonly #settings: Settings

  constructor(settings: Settings, warn: (message: string) => void) {
    const path = manifestFile(settings)
    super(path, { failure: 'keeping the last manifest', warn, take: bytes => this.#take(bytes) })
    this.#settings = settings
    const bytes = readIfThere(path)
    if (bytes === undefined) requireNoManifest(settings, path)
    const none = { assets: [], file: `${path}, which does not exist`, options: undefined }
    const { options: known, ...given } = bytes ? parse(bytes, path) : none
    const { apps } = settings
    const built = apps.filter(({ fingerprint, compile }) => fingerprint && !compile)
    const difference = known && unknownToBuild(built, known)
    if (difference !== undefined) warn(difference)
    this.current = new Names({ ...given, apps }).prepare()
    this.version = this.current.version
  }

  async #take(bytes: Buffer): Promise<true> {
    const given = parse(bytes, this.path)
    const named = new Set(given.assets.map(({ path }) => path))
    // A precompile for the next release drops lines that pages of the running release need.
    const dropped = [...this.current.assets.values()].filter(({ path }) => !named.has(path))
    const kept = await inParallel(dropped, CONCURRENCY, async asset => {
      const file = publicFile(this.#settings, decodeURIComponent(asset.target))
      return (await statOf(file))?.isFile() ? [asset] : []
    })
    const { apps } = this.#settings
    this.current = new Names({ ...given, apps, kept: kept.flat() }).prepare()
    this.version = this.current.version
    return true
  }
}

// Without mounts, a site without assets of its own looks like a server that was deployed without its manifest.
function requireNoManifest({ root, publicDir, mounts, apps }: Settings, path: string): void {
  const own = apps.flatMap(({ sources }) => sources.map(({ dir }) => dir))
  const source = [...own, ...assetSources.list()].find(isDirectory)
  // Many folders named assets contain other things.
  const doubt = ', or, if the folder assets is something else, set apps: false'
  if (source !== undefined)
    throw manifestMissing(path, source === join(root, 'assets') ? doubt : '')
  if (mounts.length > 0) return
  const mount = `mounts: { '/': '${pathFrom(root, publicDir)}' }`
  throw manifestMissing(path, `, or, for a site without assets to build, set ${mount}`)
}
