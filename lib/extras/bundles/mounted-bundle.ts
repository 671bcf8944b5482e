// The bundle of a mount: read at start, and again before a page once its manifest has changed.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { readIfThere, ReloadedFile, statIfThere } from '../../files/at-start.ts'
import { checksumsOf, digestOf, type IntegrityAlgorithm } from '../../files/digest.ts'
import { ifThere, statOf, type Stamp } from '../../files/disk.ts'
import { readSnapshot } from '../../files/open-file.ts'
import type { MountSettings } from '../../assets/settings/mounts.ts'
import type { AssetAddress } from '../../assets/views/asset-url.ts'
import type { LoadedUrl } from '../../assets/views/preload.ts'
import type { Build, EntrySource, Followed } from '../../assets/parts.ts'
import type { FileList } from '../../assets/parts/builds.ts'
import type { Bundle, LoadedFile } from './manifests/bundle.ts'
import { sourceUrl } from '../../assets/views/source-url.ts'
import {
  addressAt,
  readBundle,
  REMEDY,
  withoutQuery,
  type BundleMount
} from './manifests/read-bundle.ts'

const CONCURRENCY = 4
/** A file that was written more recently may be half written. */
const RESTED_MS = 1000
/** A build that has not written its manifest by then never will: with fixed names it may be the same. */
const FINISHED_MS = 2000

type MountOfBundle = BundleMount & Pick<MountSettings, 'revalidate'>

interface BundleOptions {
  /** In development and in tests, an application starts without a build. */
  readonly env: string
  /** Without a trailing slash; empty for none. */
  readonly host: string
  readonly algorithms: readonly IntegrityAlgorithm[]
  readonly warn: (message: string) => void
  readonly lists: readonly FileList[]
}

export class MountedBundle implements EntrySource, Followed {
  readonly urlPath: string
  readonly label: string
  version = ''
  build: Build | undefined
  readonly #mount: MountOfBundle
  readonly #options: BundleOptions
  readonly #file: ReloadedFile
  /** Undefined until there is a build. */
  #bundle: Bundle | undefined
  /** When its manifest was written: milliseconds since 1970. */
  #builtAt = 0
  /** By file, of those that tags may name: computed before the first page, and after each build. */
  #hashes: ReadonlyMap<string, readonly string[]> | undefined
  /** Of its files. */
  #paths: ReadonlySet<string> = new Set()
  /** Files of earlier builds, by list. */
  #kept: readonly ReadonlySet<string>[] = []

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
    const stats = statIfThere(manifest)
    const bytes = stats?.isFile() ? readIfThere(manifest) : undefined
    if (bytes) {
      this.#builtAt = Number(stats?.mtimeMs)
      this.version = digestOf(bytes)
      this.#bundle = readBundle(bytes, mount)
      this.#kept = options.lists.map(list => list.hashed(readIfThere(list.in(dir)), dir))
      const isMissing = (file: string) => !statIfThere(this.#pathOf(file))?.isFile()
      const missing = [...this.#bundle.tagged].find(isMissing)
      if (missing !== undefined) throw this.#incomplete(missing)
    } else if (options.env !== 'development' && options.env !== 'test') {
      throw new AssetError('manifest-missing', `there is no manifest ${manifest}: ${REMEDY}`)
    }
  }

  get names(): EntrySource['names'] {
    if (!this.#bundle) return undefined
    const { entries, lazy } = this.#bundle
    return {
      has: name => entries.has(name) || lazy.has(name),
      keys: () => [...entries.keys(), ...lazy.keys()]
    }
  }

  get state(): string | undefined {
    if (!this.#bundle?.isVite) return undefined
    return `Vite is not running: tags of the build of ${localTime(this.#builtAt)}`
  }

  get sourceNames(): readonly string[] | undefined {
    return this.#bundle && [...this.#bundle.sources.keys()]
  }

  entry(name: string): readonly LoadedUrl[] | undefined {
    const { host, env } = this.#options
    // Tests are about the application, not the build.
    if (!this.#bundle && env === 'test') return [sourceUrl(host, this.urlPath, name)]
    if (!this.#bundle) {
      const message = `the mount ${this.urlPath || '/'} has neither a build nor a dev server: there is no ${this.label}, and Vite is not running with the plugin freshAssets (npx vite)`
      // The page is a developer's own, and the remedy is not in its code.
      throw Object.assign(new AssetError('manifest-missing', message), { expose: true })
    }
    return this.#urlsOf(this.#bundle.entries.get(name)?.())
  }

  lazy(name: string): readonly LoadedUrl[] | undefined {
    return this.#urlsOf(this.#bundle?.lazy.get(name)?.())
  }

  entriesWith(name: string): readonly string[] {
    const { entries, fileWith, usedBy } = this.#bundle ?? {}
    const file = fileWith?.(name)
    if (file === undefined) return []
    return [...(entries?.keys() ?? [])].filter(entry => usedBy?.(entry).includes(file))
  }

  #urlsOf(loaded: readonly LoadedFile[] | undefined): readonly LoadedUrl[] | undefined {
    return loaded?.map(({ file, as }) => {
      const { path, integrity } = this.#addressOf(file)
      return { url: this.#options.host + path, integrity, as }
    })
  }

  file(name: string): AssetAddress | undefined {
    if (!this.#bundle && this.#options.env === 'test') return addressAt(this.urlPath, name)
    const file = this.#bundle?.sources.get(name)
    return file === undefined ? undefined : this.#addressOf(file)
  }

  /** @param file decoded path below the mount's directory */
  isHashed(file: string): boolean {
    return this.#bundle?.hashed.has(file) || this.#kept.some(files => files.has(file))
  }

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
  async #take(bytes: Buffer, { ctimeNs, mtimeNs }: Stamp): Promise<boolean> {
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
    this.#kept = await this.#listed()
    this.#bundle = bundle
    this.#builtAt = Number(mtimeNs / 1_000_000n)
    this.#hashes = hashes
    this.#paths = new Set(Array.from(bundle.files, withoutQuery))
    this.version = digestOf(`${digestOf(bytes)} ${[...hashes.values()].flat().join(' ')}`)
    const version = `${this.version} ${changedAt}`
    if (version !== this.build?.version)
      this.build = { version, changedAt: Math.max(changedAt, Number(ctimeNs / 1_000_000n)) }
    return true
  }

  #listed(): Promise<ReadonlySet<string>[]> {
    const { dir } = this.#mount
    return inParallel(this.#options.lists, 1, async list =>
      list.hashed((await readSnapshot(list.in(dir)))?.bytes, dir)
    )
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
    const files = algorithms.length > 0 ? [...bundle.taggable] : []
    const hashes = await inParallel(files, CONCURRENCY, async file => {
      const checksums = checksumsOf({ copyOf: this.#pathOf(file) }, algorithms)
      // As at start: what no entry's tags name may be missing.
      const known = bundle.tagged.has(file) ? await checksums : await ifThere(checksums)
      return known ? [[file, known.integrity] as const] : []
    })
    return new Map(hashes.flat())
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

/** `17:17`, or `2026-11-20 17:17` if that was on another day. @param milliseconds since 1970 */
function localTime(milliseconds: number): string {
  const written = (at: number) => {
    const offset = new Date(at).getTimezoneOffset() * 60_000
    return new Date(at - offset).toISOString().slice(0, 16).split('T')
  }
  const [day = '', time = ''] = written(milliseconds)
  return day === written(Date.now())[0] ? time : `${day} ${time}`
}
