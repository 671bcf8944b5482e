// The bundle of a mount: read at start, and again before a page once its manifest has changed.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inParallel } from '../../concurrency.ts'
import { AssetError, reasonOf } from '../../errors.ts'
import { readIfThere, ReloadedFile, statIfThere } from '../../files/at-start.ts'
import { checksumsOf, checksumsOfBytes, type IntegrityAlgorithm } from '../../files/checksums.ts'
import { digestOf } from '../../files/digest.ts'
import { ifThere, statOf } from '../../files/disk.ts'
import { isRecord } from '../../options.ts'
import type { MountSettings } from '../settings/mounts.ts'
import { encodeAsImported, encodeUrl } from '../urls/encode.ts'
import type { AssetUrl } from '../views/asset-url.ts'
import type { EntryUrls } from '../views/entry.ts'
import type { Bundle } from './bundle.ts'
import { readEsbuild } from './esbuild.ts'
import { readVite } from './vite.ts'
import { readWebpack } from './webpack.ts'

const CONCURRENCY = 4
/** A file that was written more recently may be half written. */
const RESTED_MS = 1000

type BundleMount = Pick<MountSettings, 'dir' | 'urlPath'> & { readonly manifest: string }
type Hashes = ReadonlyMap<string, readonly string[]>

interface Build {
  readonly bundle: Bundle
  readonly hashes: Hashes
  readonly version: string
  /** As many as the bundle has. */
  readonly entries: Map<string, EntryUrls>
}

interface BundleOptions {
  /** Without a trailing slash; empty for none. */
  readonly host: string
  readonly algorithms: readonly IntegrityAlgorithm[]
  readonly warn: (message: string) => void
}

export class MountedBundle {
  readonly #mount: BundleMount
  readonly #options: BundleOptions
  readonly #file: ReloadedFile
  #build: Build

  /** @throws AssetError for a manifest that is missing or broken, or names a file that does not exist */
  constructor(mount: BundleMount, options: BundleOptions) {
    this.#mount = mount
    this.#options = options
    this.#file = new ReloadedFile(mount.manifest, {
      failure: 'keeping the last build',
      warn: options.warn,
      take: bytes => this.#take(bytes)
    })
    const isThere = statIfThere(mount.manifest)?.isFile() ?? false
    const bytes = isThere ? readIfThere(mount.manifest) : undefined
    if (!bytes) throw bundleMissing(mount)
    const bundle = readBundle(bytes, mount)
    this.#build = buildOf(bytes, bundle, this.#hashesAtStart(bundle))
  }

  /** Changes with the tags of any entry. */
  get version(): string {
    return this.#build.version
  }

  get names(): readonly string[] {
    return this.#build.bundle.names
  }

  /** Undefined for an unknown name. */
  entry(name: string): EntryUrls | undefined {
    const { bundle, entries } = this.#build
    const known = entries.get(name)
    if (known) return known
    const found = bundle.entry(name)
    if (!found) return undefined
    const assetOf = (file: string): AssetUrl => this.#assetOf(file)
    const entry = {
      stylesheets: found.stylesheets.map(assetOf),
      scripts: found.scripts.map(({ file, kind }) => ({ ...assetOf(file), kind })),
      preloads: found.preloads.map(assetOf)
    }
    entries.set(name, entry)
    return entry
  }

  /** @param file decoded path below the mount's directory */
  isHashed(file: string): boolean {
    return this.#build.bundle.hashed.has(file)
  }

  refresh(seconds: number): Promise<void> | undefined {
    return this.#file.refresh(seconds)
  }

  #assetOf(file: string): AssetUrl {
    const path = encodeAsImported(`${this.#mount.urlPath}/${withoutQuery(file)}`)
    const query = encodeUrl(file.slice(withoutQuery(file).length))
    return { url: this.#options.host + path + query, integrity: this.#build.hashes.get(file) }
  }

  #hashesAtStart({ tagged }: Bundle): Hashes {
    const hashes = new Map<string, readonly string[]>()
    for (const file of tagged) {
      const path = this.#pathOf(file)
      const stats = statIfThere(path)
      if (!stats?.isFile()) throw incomplete(this.#mount, file)
      if (msToRest(stats.ctimeMs) > 0) this.#file.distrust()
      const bytes = this.#options.algorithms.length > 0 ? readIfThere(path) : undefined
      if (bytes) hashes.set(file, checksumsOfBytes(bytes, this.#options.algorithms).integrity)
    }
    return hashes
  }

  /** Takes over a new build as a whole, once all its files are written. */
  async #take(bytes: Buffer): Promise<boolean> {
    const bundle = readBundle(bytes, this.#mount)
    const changedAt = await this.#changedAt(bundle)
    if (changedAt === undefined) return false
    const ms = msToRest(changedAt)
    if (ms > 0) {
      await setTimeout(ms)
      if ((await this.#changedAt(bundle)) !== changedAt) return false
    }
    const hashes = await inParallel([...bundle.tagged], CONCURRENCY, file => this.#hashesOf(file))
    if (hashes.includes(undefined)) return false
    const byFile = [...bundle.tagged].map((file, at) => [file, hashes[at] ?? []] as const)
    this.#build = buildOf(bytes, bundle, new Map(byFile))
    return true
  }

  /** When the last of its files was written, in milliseconds; undefined while one is missing. */
  async #changedAt({ files }: Bundle): Promise<number | undefined> {
    let [last, missing] = [0, '']
    await inParallel([...files], CONCURRENCY, async file => {
      const stats = await statOf(this.#pathOf(file))
      if (stats?.isFile()) last = Math.max(last, Number(stats.ctimeMs))
      else missing ||= file
    })
    if (!missing) return last
    this.#options.warn(`keeping the last build: ${incomplete(this.#mount, missing).message}`)
    return undefined
  }

  /** Undefined for a file that is gone. */
  async #hashesOf(file: string): Promise<readonly string[] | undefined> {
    if (this.#options.algorithms.length === 0) return []
    const checksums = checksumsOf({ copyOf: this.#pathOf(file) }, this.#options.algorithms)
    return (await ifThere(checksums))?.integrity
  }

  #pathOf(file: string): string {
    return join(this.#mount.dir, withoutQuery(file))
  }
}

function buildOf(manifest: Buffer, bundle: Bundle, hashes: Hashes): Build {
  const version = digestOf(`${digestOf(manifest)} ${[...hashes.values()].flat().join(' ')}`)
  return { bundle, hashes, version, entries: new Map() }
}

/** webpack may put a hash there: `app.js?0fc1a5ed`. */
function withoutQuery(file: string): string {
  return file.replace(/\?.*$/s, '')
}

/** 0 also for a time in the future: the clock of the disk may be ahead of ours. */
function msToRest(changedAt: number): number {
  const age = Date.now() - changedAt
  return age < 0 ? 0 : Math.max(0, RESTED_MS - age)
}

function incomplete({ manifest, dir }: BundleMount, file: string): AssetError {
  return new AssetError(
    'manifest-broken',
    `${manifest} names ${file}, which is not in ${dir}: build again, and let the mount's dir be the bundler's output directory`
  )
}

const REMEDY =
  'build with Vite (`vite build` with build.manifest: true), or write to it what esbuild (metafile: true) ' +
  'or webpack and Rspack (stats.toJson({ all: false, entrypoints: true, assets: true, cachedAssets: true })) return'

function bundleMissing({ manifest }: BundleMount): AssetError {
  return new AssetError('manifest-missing', `there is no manifest ${manifest}: ${REMEDY}`)
}

/** @throws AssetError for anything but the manifest of a build with at least one entry */
function readBundle(bytes: Buffer, mount: BundleMount): Bundle {
  try {
    const manifest: unknown = JSON.parse(bytes.toString())
    const bundle = recognize(manifest, mount)
    if (!bundle) throw new TypeError('its shape is of no bundler that is known')
    if (bundle.names.length > 0) return bundle
    throw new TypeError('it has no entry')
  } catch (error) {
    const message = `${mount.manifest} is not a bundler's manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}

function recognize(manifest: unknown, { dir, urlPath }: BundleMount): Bundle | undefined {
  if (!isRecord(manifest)) return undefined
  return readWebpack(manifest, urlPath) ?? readEsbuild(manifest, dir) ?? readVite(manifest)
}
