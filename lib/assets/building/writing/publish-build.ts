// Publishes a build: fingerprinted files first, then plain names and the manifest together.
import { inParallel } from '../../../concurrency.ts'
import { errorCode, statOf } from '../../../files/disk.ts'
import type { Lock } from '../../../files/writing/lock.ts'
import { setMtime } from '../../../files/writing/mtime.ts'
import { rethrowAsPublishError } from '../../../files/writing/publish-error.ts'
import { prepareReplacement } from '../../../files/writing/replacement.ts'
import { manifestApps, manifestFile } from '../../settings/manifest-file.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Assets, Built } from '../built.ts'
import { DeltaWriter } from '../deltas/delta-writer.ts'
import { LastBuild } from '../last-build.ts'
import { entriesOf, serialize, type ManifestEntries } from '../manifest/entries.ts'
import { readEntries } from '../manifest/read-manifest.ts'
import { Publication } from './publication.ts'
import { writeAsset } from './write-asset.ts'

export interface PublishOptions {
  readonly lock: Lock
  readonly signal: AbortSignal | undefined
  readonly onProgress: (done: number, total: number, path: string) => void
}

// Compression runs on the thread pool, four at a time.
const CONCURRENCY = 8

/**
 * Until the final commit, a failure of any kind leaves the manifest, the files it names, and the plain
 * names as they were.
 *
 * @returns the entries of the new manifest and of the one before, how many files of the one before are
 *   kept, and the total size of the smallest representation of each asset, in bytes
 */
export function publishBuild(settings: Settings, assets: Assets, options: PublishOptions) {
  return new BuildPublisher(settings, assets, options).publish()
}

class BuildPublisher {
  readonly #settings: Settings
  readonly #assets: Assets
  readonly #options: PublishOptions
  readonly #publication: Publication
  /** The size of the smallest representation of each asset that was written, in bytes. */
  readonly #written = new Map<Built, number>()

  constructor(settings: Settings, assets: Assets, options: PublishOptions) {
    this.#settings = settings
    this.#assets = assets
    this.#options = options
    this.#publication = new Publication(settings)
  }

  async publish() {
    try {
      return await this.#publish()
    } catch (error) {
      await this.#publication.discard()
      throw error
    }
  }

  async #publish() {
    const { signal, lock } = this.#options
    const lastBuild = await LastBuild.open(this.#settings)
    const before = await this.#readManifest()
    const deltas = new DeltaWriter(this.#settings, before)
    const sizes = await this.#writeAll(lastBuild, deltas)
    signal?.throwIfAborted()
    const entries = entriesOf(this.#assets.values())
    await this.#prepareManifest(entries)
    const kept = await this.#touchSuperseded(before, entries)
    signal?.throwIfAborted()
    await lock.check()
    await this.#publication.commit()
    await lastBuild.save(this.#written)
    const compressedBytes = sizes.reduce((sum, size) => sum + size, 0)
    return { entries, before, kept, compressedBytes, deltas: deltas.report }
  }

  /** @returns the size of each asset's smallest representation, in bytes */
  #writeAll(lastBuild: LastBuild, deltas: DeltaWriter): Promise<number[]> {
    const { signal, onProgress } = this.#options
    const write = async (built: Built): Promise<number> => {
      const known = await lastBuild.find(built)
      if (known !== undefined) return known
      const replacements = this.#publication.open(built.path)
      const size = await writeAsset(this.#settings, built, this.#assets, replacements)
      this.#written.set(built, size)
      await deltas.write(built, size)
      return size
    }
    let done = 0
    const writeOne = async (built: Built): Promise<number> => {
      const size = await write(built).catch(rethrowAsPublishError(this.#settings, built.path))
      onProgress(++done, this.#assets.size, built.path)
      return size
    }
    return inParallel([...this.#assets.values()], CONCURRENCY, writeOne, signal)
  }

  /** The entries of the previous one. */
  #readManifest(): Promise<ManifestEntries> {
    const path = `${this.#settings.prefix}.json`
    const entries = readEntries(manifestFile(this.#settings))
    return entries.catch(rethrowAsPublishError(this.#settings, path))
  }

  async #prepareManifest(entries: ManifestEntries): Promise<void> {
    const path = `${this.#settings.prefix}.json`
    const text = serialize(entries, manifestApps(this.#settings.apps))
    const now = BigInt(Date.now()) * 1_000_000n
    const replacing = prepareReplacement(manifestFile(this.#settings), Buffer.from(text), now)
    const replacement = await replacing.catch(rethrowAsPublishError(this.#settings, path))
    this.#publication.addLast(path, replacement)
  }

  /**
   * Sets the change time of files that the manifest no longer names: open pages still ask for them, and
   * `clean` counts from there. No one can set a change time to a chosen value.
   *
   * @returns how many of them exist
   */
  async #touchSuperseded(before: ManifestEntries, entries: ManifestEntries): Promise<number> {
    const current = new Set(Array.from(entries.values(), ({ target }) => target))
    const superseded = [...before.values()].filter(({ target }) => !current.has(target))
    const found = await inParallel(superseded, CONCURRENCY, async ({ target }) => {
      const file = publicFile(this.#settings, decodeURIComponent(target))
      const stats = await statOf(file)
      if (!stats?.isFile()) return false
      await setMtime(file, stats.mtimeNs).catch(unlessRefused)
      return true
    })
    return found.filter(isFound => isFound).length
  }
}

/** Another user's file keeps its change time. */
function unlessRefused(error: unknown): void {
  if (!['EPERM', 'EACCES', 'EROFS', 'ENOENT'].includes(errorCode(error) ?? '')) throw error
}
