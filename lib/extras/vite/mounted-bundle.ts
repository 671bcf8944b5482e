// The bundle of a mount is read at start, and again before a page once its manifest has changed.
import { AssetError } from '../../runtime/errors.ts'
import { ReloadedFile } from '../../runtime/files/at-start.ts'
import { isSettled, type Stamp } from '../../runtime/files/disk.ts'
import type { MountSettings } from '../../runtime/settings/mounts.ts'
import type { AssetAddress } from '../../runtime/views/asset-url.ts'
import { sourceUrl, type EntrySource, type FoundEntry } from './entry-source.ts'
import type { Bundle } from './manifests/bundle.ts'
import { addressAt, REMEDY } from './manifests/read-bundle.ts'
import {
  readAtStart,
  readWhole,
  type Build,
  type MountOfBuild,
  type Reading
} from './read-build.ts'

/** A build that has not written its manifest after this time will not: with fixed names it may be the same. */
const FINISHED_MS = 2000

interface MountOfBundle extends MountOfBuild, Pick<MountSettings, 'revalidate'> {
  /** In development and in tests, an application starts without a build. */
  readonly env: string
  /** The host with the base; without a trailing slash, empty for none. */
  readonly host: string
}

export class MountedBundle implements EntrySource {
  readonly urlPath: string
  readonly label: string
  readonly #mount: MountOfBundle
  readonly #file: ReloadedFile
  /** The last build that was read; undefined until there is one. */
  #reading: Reading | undefined

  /** @throws AssetError for a manifest that is missing or broken, or that names a file that does not exist */
  constructor(mount: MountOfBundle) {
    const { manifest, urlPath, env, warn } = mount
    this.urlPath = urlPath
    this.label = manifest
    this.#mount = mount
    this.#file = new ReloadedFile(manifest, {
      failure: 'keeping the last build',
      warn,
      take: async (bytes, stamp) => {
        const reading = await readWhole(mount, bytes, stamp, this.build)
        this.#reading = reading ?? this.#reading
        return reading !== undefined
      }
    })
    // The first page reads it once more, with its files.
    this.#file.distrust()
    this.#reading = readAtStart(mount)
    if (this.#reading || env === 'development' || env === 'test') return
    throw new AssetError('manifest-missing', `there is no manifest ${manifest}: ${REMEDY}`)
  }

  get #bundle(): Bundle | undefined {
    return this.#reading?.bundle
  }

  get version(): string {
    return this.#reading?.version ?? ''
  }

  get names(): readonly string[] | undefined {
    return this.#bundle && [...this.#bundle.entries.keys(), ...this.#bundle.lazy.keys()]
  }

  get state(): string | undefined {
    if (!this.#reading?.bundle.isVite) return undefined
    return `Vite is not running: tags of the build of ${localTime(this.#reading.builtAt)}`
  }

  get sourceNames(): readonly string[] | undefined {
    return this.#bundle && [...this.#bundle.sources.keys()]
  }

  entry(name: string): FoundEntry | undefined {
    if (!this.#bundle) return { kind: 'possible', load: () => this.#withoutBuild(name) }
    const { entries, lazy } = this.#bundle
    const load = entries.get(name) ?? lazy.get(name)
    if (!load) return undefined
    const urlOf = (file: string) => {
      const { path, integrity } = this.#addressOf(file)
      return { url: this.#mount.host + path, integrity }
    }
    const kind = entries.has(name) ? 'entry' : 'lazy'
    return { kind, load: () => load().map(({ file, as }) => ({ ...urlOf(file), as })) }
  }

  /** Tests are about the application, not the build. */
  #withoutBuild(name: string) {
    const { env, host } = this.#mount
    if (env === 'test') return [sourceUrl(host, this.urlPath, name)]
    const message = `the mount ${this.urlPath || '/'} has neither a build nor a dev server: there is no ${this.label}, and Vite is not running with the plugin freshAssets (npx vite)`
    // The page is a developer's own, and the remedy is not in its code.
    throw Object.assign(new AssetError('manifest-missing', message), { expose: true })
  }

  entriesWith(name: string): readonly string[] {
    const { entries, fileWith, usedBy } = this.#bundle ?? {}
    const file = fileWith?.(name)
    if (file === undefined) return []
    return [...(entries?.keys() ?? [])].filter(entry => usedBy?.(entry).includes(file))
  }

  file(name: string): AssetAddress | undefined {
    if (!this.#bundle && this.#mount.env === 'test') return addressAt(this.urlPath, name)
    const file = this.#bundle?.sources.get(name)
    return file === undefined ? undefined : this.#addressOf(file)
  }

  #addressOf(file: string): AssetAddress {
    return { ...addressAt(this.urlPath, file), ...this.#reading?.facts.get(file) }
  }

  /** @param file is the decoded path below the mount's directory */
  isHashed(file: string): boolean {
    return this.#reading?.hashed.has(file) ?? false
  }

  /** Takes over another build, once it has been written. Undefined when there is nothing to wait for. */
  refresh(seconds: number): Promise<void> | undefined {
    return this.#file.refresh(seconds === 0 ? 0 : (this.#mount.revalidate ?? seconds))
  }

  /** The current build; undefined until all of its files have been read. */
  get build(): Build | undefined {
    return this.#reading?.build
  }

  /**
   * Tells whether a file belongs to the build. One that is written when no bundler is at work any more makes the next
   * look read the build again.
   * @param file is the decoded path below the mount's directory
   */
  hasBuilt(file: string, stamp: Stamp): boolean {
    const { build } = this
    if (!build || !this.#bundle?.paths.has(file)) return false
    const isFinished = isSettled(stamp, Date.now() - FINISHED_MS)
    const isNewer = Number(stamp.ctimeNs / 1_000_000n) > build.changedAt
    if (isFinished && isNewer) this.#file.distrust()
    return true
  }
}

/** Returns `17:17`, or `2026-11-20 17:17` for another day. @param milliseconds since 1970 */
function localTime(milliseconds: number): string {
  // Sweden writes a time as ISO 8601 does, but for the `T`.
  const [time = '', today = ''] = [milliseconds, Date.now()].map(at =>
    new Date(at).toLocaleString('sv').slice(0, 16)
  )
  return time.startsWith(today.slice(0, 10)) ? time.slice(11) : time
}
