// The bundle of a mount is read at start, and again before a page once its manifest has changed.
import { AssetError } from '../../runtime/errors.ts'
import { ReloadedFile } from '../../runtime/files/at-start.ts'
import type { MountSettings } from '../../runtime/settings/mounts.ts'
import type { AssetAddress, LoadedUrl } from '../../runtime/views/asset-url.ts'
import { sourceUrl, type EntrySource } from './entry-source.ts'
import type { Bundle, LoadedFile } from './manifests/bundle.ts'
import { isSettled, type Stamp } from '../../runtime/files/disk.ts'
import { addressAt, REMEDY, type BundleMount } from './manifests/read-bundle.ts'
import { BuildReader, type Build, type Reading, type ReadingOptions } from './read-build.ts'

/** A build that has not written its manifest after this time will not: with fixed names it may be the same. */
const FINISHED_MS = 2000

type MountOfBundle = BundleMount & Pick<MountSettings, 'revalidate'>

interface BundleOptions extends ReadingOptions {
  /** In development and in tests, an application starts without a build. */
  readonly env: string
  /** The host with the base; without a trailing slash, empty for none. */
  readonly host: string
}

export class MountedBundle implements EntrySource {
  readonly urlPath: string
  readonly label: string
  readonly #mount: MountOfBundle
  readonly #options: BundleOptions
  readonly #file: ReloadedFile
  /** The last build that was read; undefined until there is one. */
  #reading: Reading | undefined

  /** @throws AssetError for a manifest that is missing or broken, or that names a file that does not exist */
  constructor(mount: MountOfBundle, options: BundleOptions) {
    const { manifest, urlPath } = mount
    this.urlPath = urlPath
    this.label = manifest
    this.#mount = mount
    this.#options = options
    const reader = new BuildReader(mount, options)
    this.#file = new ReloadedFile(manifest, {
      failure: 'keeping the last build',
      warn: options.warn,
      take: async (bytes, stamp) => {
        const reading = await reader.whole(bytes, stamp, this.#reading)
        if (reading) this.#reading = reading
        return reading !== undefined
      }
    })
    // The first page reads it once more, with its files.
    this.#file.distrust()
    this.#reading = reader.atStart()
    if (this.#reading || options.env === 'development' || options.env === 'test') return
    throw new AssetError('manifest-missing', `there is no manifest ${manifest}: ${REMEDY}`)
  }

  get #bundle(): Bundle | undefined {
    return this.#reading?.bundle
  }

  get version(): string {
    return this.#reading?.version ?? ''
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
    if (!this.#reading?.bundle.isVite) return undefined
    return `Vite is not running: tags of the build of ${localTime(this.#reading.builtAt)}`
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

  #addressOf(file: string): AssetAddress {
    const { integrity, imageSize } = this.#reading?.files ?? {}
    const address = addressAt(this.urlPath, file)
    return { ...address, integrity: integrity?.get(file), imageSize: imageSize?.get(file) }
  }

  /** @param file is the decoded path below the mount's directory */
  isHashed(file: string): boolean {
    return this.#reading?.hashed.some(files => files.has(file)) ?? false
  }

  /** Takes over another build, once it has been written. Undefined when there is nothing to wait for. */
  refresh(seconds: number): Promise<void> | undefined {
    return this.#file.refresh(seconds === 0 ? 0 : (this.#mount.revalidate ?? seconds))
  }

  /** The current build; undefined until all of its files have been read. */
  get build(): Build | undefined {
    return this.#reading?.files?.build
  }

  /**
   * Tells whether a file belongs to the build. One that is written when no bundler is at work any more makes the next
   * look read the build again.
   * @param file is the decoded path below the mount's directory
   */
  hasBuilt(file: string, stamp: Stamp): boolean {
    const { paths, build } = this.#reading?.files ?? {}
    if (!paths?.has(file)) return false
    const isFinished = isSettled(stamp, Date.now() - FINISHED_MS)
    const isNewer = build && Number(stamp.ctimeNs / 1_000_000n) > build.changedAt
    if (isFinished && isNewer) this.#file.distrust()
    return true
  }
}

/** Returns `17:17`, or `2026-11-20 17:17` for another day. @param milliseconds since 1970 */
function localTime(milliseconds: number): string {
  const written = (at: number) => {
    const offset = new Date(at).getTimezoneOffset() * 60_000
    return new Date(at - offset).toISOString().slice(0, 16).split('T')
  }
  const [day = '', time = ''] = written(milliseconds)
  return day === written(Date.now())[0] ? time : `${day} ${time}`
}
