// The bundle of a mount: read at start, and again before a page once its manifest has changed.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inParallel } from '../../concurrency.ts'
import { AssetError, reasonOf } from '../../errors.ts'
import { readIfThere, ReloadedFile, statIfThere } from '../../files/at-start.ts'
import { checksumsOf, digestOf, type IntegrityAlgorithm } from '../../files/digest.ts'
import { ifThere, statOf, type Stamp } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { isRecord } from '../../check-options.ts'
import type { MountSettings } from '../settings/mounts.ts'
import { encodeAsImported, encodeUrl } from '../urls/canonical-path.ts'
import type { AssetAddress } from '../views/asset-url.ts'
import type { EntryUrl } from '../views/entry.ts'
import { sourceUrl, type Bundle, type EntrySource } from './bundle.ts'
import { readEsbuild } from './esbuild.ts'
import { keptListIn, readKept, type KeptFiles } from './kept-files.ts'
import { readVite } from './vite.ts'
import { readWebpack } from './webpack.ts'

const CONCURRENCY = 4
/** A file that was written more recently may be half written. */
const RESTED_MS = 1000
/** A build that has not written its manifest by then never will: with fixed names it may be the same. */
const FINISHED_MS = 2000

type BundleMount = Pick<MountSettings, 'dir' | 'urlPath'> & { readonly manifest: string }

type MountOfBundle = BundleMount & Pick<MountSettings, 'revalidate'>

interface BundleOptions {
  /** In development and in tests, an application starts without a build. */
  readonly env: string
  /** Without a trailing slash; empty for none. */
  readonly host: string
  readonly algorithms: readonly IntegrityAlgorithm[]
  readonly warn: (message: string) => void
}

/** A state of the files of a build. */
interface Build {
  /** Another one once any file that the manifest names has been written. */
  readonly version: string
  /** When the last of them, or the manifest, was written: milliseconds since 1970. */
  readonly changedAt: number
}

export class MountedBundle implements EntrySource {
  readonly urlPath: string
  readonly label: string
  version = ''
  /** Undefined until all its files were looked at. */
  build: Build | undefined
  readonly #mount: MountOfBundle
  readonly #options: BundleOptions
  readonly #file: ReloadedFile
  /** Undefined until there is a build. */
  #bundle: Bundle | undefined
  /** By file, of those in tags: computed before the first page, and after each build. */
  #hashes: ReadonlyMap<string, readonly string[]> | undefined
  /** Of its files. */
  #paths: ReadonlySet<string> = new Set()
  /** Of earlier builds. */
  #kept: KeptFiles = new Map()

  /** @throws AssetError for a manifest that is missing or broken, or names a file that does not exist */
  constructor(mount: MountOfBundle, options: BundleOptions) {
    const { manifest, urlPath, dir } = mount
    this.urlPath = urlPath
    this.label = manifest
    this.#mount = mount
    this.#options = options
    this.#file = new ReloadedFile(manifest, {
      failure: 'keeping the last build',
      warn: options.warn,
      take: (bytes, stamp) => this.#take(bytes, stamp)
    })
    this.#file.distrust()
    const bytes = statIfThere(manifest)?.isFile() ? readIfThere(manifest) : undefined
    if (bytes) {
      this.version = digestOf(bytes)
      this.#bundle = readBundle(bytes, mount)
      this.#kept = readKept(readIfThere(keptListIn(dir)), dir)
      const isMissing = (file: string) => !statIfThere(this.#pathOf(file))?.isFile()
      const missing = [...this.#bundle.tagged].find(isMissing)
      if (missing !== undefined) throw this.#incomplete(missing)
    } else if (options.env !== 'development' && options.env !== 'test') {
      throw new AssetError('manifest-missing', `there is no manifest ${manifest}: ${REMEDY}`)
    }
  }

  get names(): EntrySource['names'] {
    return this.#bundle?.entries
  }

  get sourceNames(): readonly string[] | undefined {
    return this.#bundle && [...this.#bundle.sources.keys()]
  }

  entry(name: string): readonly EntryUrl[] | undefined {
    const { host, env } = this.#options
    // Tests are about the application, not the build.
    if (!this.#bundle && env === 'test') return [sourceUrl(host, this.urlPath, name)]
    if (!this.#bundle) {
      const message = `the mount ${this.urlPath || '/'} has neither a build nor a dev server: there is no ${this.label}, and Vite is not running with the plugin freshAssets (npx vite)`
      // The page is a developer's own, and the remedy is not in its code.
      throw Object.assign(new AssetError('manifest-missing', message), { expose: true })
    }
    return this.#bundle.entries
      .get(name)?.()
      .map(({ file, as }) => {
        const { path, integrity } = this.#addressOf(file)
        return { url: host + path, integrity, as }
      })
  }

  file(name: string): AssetAddress | undefined {
    if (!this.#bundle && this.#options.env === 'test') return addressAt(this.urlPath, name)
    const file = this.#bundle?.sources.get(name)
    return file === undefined ? undefined : this.#addressOf(file)
  }

  /** @param file decoded path below the mount's directory */
  isHashed(file: string): boolean {
    return this.#bundle?.hashed.has(file) || (this.#kept.get(file)?.isHashed ?? false)
  }

  /**
   * Whether the manifest names a file.
   * @param file decoded path below the mount's directory
   * @param writtenAt milliseconds since 1970
   */
  hasBuilt(file: string, writtenAt: number): boolean {
    if (!this.#paths.has(file)) return false
    const isFinished = Date.now() - writtenAt > FINISHED_MS
    if (isFinished && this.build && writtenAt > this.build.changedAt) this.#file.distrust()
    return true
  }

  /** Takes over another build, once it has been written. Undefined when there is nothing to wait for. */
  refresh(seconds: number): Promise<void> | undefined {
    return this.#file.refresh(seconds === 0 ? 0 : (this.#mount.revalidate ?? seconds))
  }

  /** Takes over a build as a whole, once all its files are written. */
  async #take(bytes: Buffer, { ctimeNs }: Stamp): Promise<boolean> {
    const bundle = readBundle(bytes, this.#mount)
    const changedAt = await this.#changedAt(bundle)
    if (changedAt === undefined) return false
    // 0 also for a time in the future: the clock of the disk may be ahead of ours.
    const age = Date.now() - changedAt
    if (age >= 0 && age < RESTED_MS) {
      await setTimeout(RESTED_MS - age)
      if ((await this.#changedAt(bundle)) !== changedAt) return false
    }
    const hashes = await ifThere(this.#hashesOf(bundle))
    if (!hashes) return false
    const { dir } = this.#mount
    this.#kept = readKept((await readSnapshot(keptListIn(dir)))?.bytes, dir)
    this.#bundle = bundle
    this.#hashes = hashes
    this.#paths = new Set(Array.from(bundle.files, withoutQuery))
    this.version = digestOf(`${digestOf(bytes)} ${[...hashes.values()].flat().join(' ')}`)
    const version = `${this.version} ${changedAt}`
    if (version !== this.build?.version)
      this.build = { version, changedAt: Math.max(changedAt, Number(ctimeNs / 1_000_000n)) }
    return true
  }

  /** When the last of its files was written, in milliseconds; undefined while one is missing. */
  async #changedAt(bundle: Bundle): Promise<number | undefined> {
    let [last, missing] = [0, '']
    // As at start, what is in no tag may be missing.
    const needed = this.#hashes ? bundle.files : bundle.tagged
    await inParallel([...bundle.files], CONCURRENCY, async file => {
      const stats = await statOf(this.#pathOf(file))
      if (stats?.isFile()) last = Math.max(last, Number(stats.ctimeMs))
      else if (needed.has(file)) missing ||= file
    })
    if (!missing) return last
    this.#options.warn(`keeping the last build: ${this.#incomplete(missing).message}`)
    return undefined
  }

  async #hashesOf(bundle: Bundle): Promise<ReadonlyMap<string, readonly string[]>> {
    const { algorithms } = this.#options
    const files = algorithms.length > 0 ? [...bundle.tagged] : []
    const hashes = await inParallel(files, CONCURRENCY, async file => {
      const { integrity } = await checksumsOf({ copyOf: this.#pathOf(file) }, algorithms)
      return [file, integrity] as const
    })
    return new Map(hashes)
  }

  #addressOf(file: string): AssetAddress {
    return { ...addressAt(this.urlPath, file), integrity: this.#hashes?.get(file) }
  }

  #pathOf(file: string): string {
    return join(this.#mount.dir, withoutQuery(file))
  }

  #incomplete(file: string): AssetError {
    return new AssetError(
      'manifest-broken',
      `${this.label} names ${file}, which is not in ${this.#mount.dir}: build again, and let the mount's dir be the bundler's output directory`
    )
  }
}

export function addressAt(urlPath: string, file: string): AssetAddress {
  const path = withoutQuery(file)
  return { path: encodeAsImported(`${urlPath}/${path}`) + encodeUrl(file.slice(path.length)) }
}

/** webpack may put a hash there: `app.js?0fc1a5ed`. */
export function withoutQuery(file: string): string {
  return file.replace(/\?.*$/s, '')
}

const REMEDY =
  'build with Vite (`vite build` with build.manifest: true), or write to it what esbuild (metafile: true) ' +
  'or webpack and Rspack (stats.toJson({ all: false, entrypoints: true, assets: true, cachedAssets: true })) return'

/** @throws AssetError for anything but the manifest of a build with at least one entry */
export function readBundle(bytes: Buffer, { manifest, dir, urlPath }: BundleMount): Bundle {
  try {
    const json: unknown = JSON.parse(bytes.toString())
    const bundle = isRecord(json)
      ? (readWebpack(json, urlPath) ?? readEsbuild(json, dir) ?? readVite(json))
      : undefined
    if (!bundle) throw new TypeError('no known bundler writes this shape')
    if (bundle.entries.size > 0) return bundle
    throw new TypeError('it has no entry')
  } catch (error) {
    const message = `${manifest} is not a bundler's manifest (${reasonOf(error)}): ${REMEDY}`
    throw new AssetError('manifest-broken', message, { cause: error })
  }
}
