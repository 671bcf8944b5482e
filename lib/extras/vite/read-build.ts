// Reads the build of a mount: its manifest, and what tags say about its files. A start needs only what is known
// without the files; from the first page on a build is read as a whole, once no bundler is writing it.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { readIfThere, statIfThere } from '../../runtime/files/at-start.ts'
import { checksumsOf, digestOf, type IntegrityAlgorithm } from '../../runtime/files/digest.ts'
import { undefinedIfMissing, statOf, type Stamp } from '../../runtime/files/disk.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import type { Extra, ImageSize } from '../../runtime/app/parts.ts'
import { detailsIn } from '../../runtime/app/details.ts'
import { hashedKept, keptListIn } from './kept-files.ts'
import type { Bundle } from './manifests/bundle.ts'
import { readBundle, withoutQuery, type BundleMount } from './manifests/read-bundle.ts'

const CONCURRENCY = 4
/** A file that was written more recently may be half written. */
const RESTED_MS = 1000

export interface Reading {
  readonly bundle: Bundle
  /** The time when its manifest was written: milliseconds since 1970. */
  readonly builtAt: number
  /** Changes with the tags of any entry. */
  readonly version: string
  /** The files whose names contain a hash: those of the manifest, and by list those of earlier builds. */
  readonly hashed: readonly ReadonlySet<string>[]
  /** The facts about its files; undefined until the first page. */
  readonly files: FilesRead | undefined
}

export interface Build {
  /** A text that changes once any of the files has been written. */
  readonly version: string
  /** The time at which the last of them was written, in milliseconds since 1970. */
  readonly changedAt: number
}

interface FilesRead {
  /** The paths have no queries. */
  readonly paths: ReadonlySet<string>
  /** The hashes of files that tags may name. */
  readonly integrity: ReadonlyMap<string, readonly string[]>
  /** The sizes of images that pages name by their sources. */
  readonly imageSize: ReadonlyMap<string, ImageSize>
  readonly build: Build
}

export interface ReadingOptions {
  readonly algorithms: readonly IntegrityAlgorithm[]
  readonly extras: readonly Extra[]
  readonly warn: (message: string) => void
}

export class BuildReader {
  readonly #mount: BundleMount
  readonly #options: ReadingOptions

  constructor(mount: BundleMount, options: ReadingOptions) {
    this.#mount = mount
    this.#options = options
  }

  /**
   * Returns undefined if there is no manifest.
   * @throws AssetError for one that is broken, or whose tags name a file that does not exist
   */
  atStart(): Reading | undefined {
    const { manifest, dir } = this.#mount
    const stats = statIfThere(manifest)
    const bytes = stats?.isFile() ? readIfThere(manifest) : undefined
    if (!bytes) return undefined
    const bundle = readBundle(bytes, this.#mount)
    const kept = hashedKept(readIfThere(keptListIn(dir)), dir)
    const missing = [...bundle.tagged].find(file => !statIfThere(this.#pathOf(file))?.isFile())
    if (missing !== undefined) throw this.#incomplete(missing)
    return {
      bundle,
      builtAt: Number(stats?.mtimeMs),
      version: digestOf(bytes),
      hashed: [bundle.hashed, kept],
      files: undefined
    }
  }

  /**
   * Returns undefined while a file is missing or is being written: the build before it stays.
   * @param known is what was read before
   * @throws AssetError for a manifest that is broken
   */
  async whole(bytes: Buffer, stamp: Stamp, known: Reading | undefined) {
    const bundle = readBundle(bytes, this.#mount)
    const last = known?.files?.build
    // As at start, a file that is in no tag may be missing.
    const needed = last ? bundle.files : bundle.tagged
    const changedAt = await this.#whenAtRest(bundle, needed)
    if (changedAt === undefined) return undefined
    const integrity = await undefinedIfMissing(this.#integrityOf(bundle))
    if (!integrity) return undefined
    const version = digestOf(`${digestOf(bytes)} ${[...integrity.values()].flat().join(' ')}`)
    const build = {
      version: `${version} ${changedAt}`,
      changedAt: Math.max(changedAt, Number(stamp.ctimeNs / 1_000_000n))
    }
    return {
      bundle,
      builtAt: Number(stamp.mtimeNs / 1_000_000n),
      version,
      hashed: [bundle.hashed, await this.#kept()],
      files: {
        paths: new Set(Array.from(bundle.files, withoutQuery)),
        integrity,
        imageSize: await this.#imageSizesIn(bundle),
        // The manifest alone may have been touched.
        build: last?.version === build.version ? last : build
      }
    } satisfies Reading
  }

  /** Returns the time when the last of the files was written: milliseconds since 1970. */
  async #whenAtRest(bundle: Bundle, needed: ReadonlySet<string>): Promise<number | undefined> {
    const changedAt = await this.#changedAt(bundle, needed)
    const rest = changedAt === undefined ? 0 : RESTED_MS - (Date.now() - changedAt)
    // The rest is longer for a time in the future: the clock of the disk may be ahead of ours.
    if (rest <= 0 || rest > RESTED_MS) return changedAt
    await setTimeout(rest)
    return (await this.#changedAt(bundle, needed)) === changedAt ? changedAt : undefined
  }

  async #changedAt(bundle: Bundle, needed: ReadonlySet<string>): Promise<number | undefined> {
    let [last, missing] = [0, '']
    await inParallel([...bundle.files], CONCURRENCY, async file => {
      const stats = await statOf(this.#pathOf(file))
      if (stats?.isFile()) last = Math.max(last, Number(stats.ctimeMs))
      else if (needed.has(file)) missing ||= file
    })
    if (!missing) return last
    this.#options.warn(`keeping the last build: ${this.#incomplete(missing).message}`)
    return undefined
  }

  async #integrityOf(bundle: Bundle): Promise<FilesRead['integrity']> {
    const { algorithms } = this.#options
    const files = algorithms.length > 0 ? [...bundle.taggable] : []
    const hashes = await inParallel(files, CONCURRENCY, async file => {
      const checksums = checksumsOf({ copyOf: this.#pathOf(file) }, algorithms)
      // A file that is in no tag of an entry may be missing.
      const known = bundle.tagged.has(file) ? await checksums : await undefinedIfMissing(checksums)
      return known ? [[file, known.integrity] as const] : []
    })
    return new Map(hashes.flat())
  }

  async #imageSizesIn(bundle: Bundle): Promise<FilesRead['imageSize']> {
    const { extras } = this.#options
    const isFor = (file: string) => extras.some(({ details }) => details?.isFor(withoutQuery(file)))
    const files = [...bundle.sources.values()].filter(isFor)
    if (files.length === 0) return new Map()
    const found = await inParallel(files, CONCURRENCY, async file => {
      const content = { copyOf: this.#pathOf(file) }
      const details = await undefinedIfMissing(detailsIn(extras, withoutQuery(file), content))
      return details?.imageSize ? [[file, details.imageSize] as const] : []
    })
    return new Map(found.flat())
  }

  async #kept(): Promise<ReadonlySet<string>> {
    const { dir } = this.#mount
    return hashedKept((await readSnapshot(keptListIn(dir)))?.bytes, dir)
  }

  #pathOf(file: string): string {
    return join(this.#mount.dir, withoutQuery(file))
  }

  #incomplete(file: string): AssetError {
    const { manifest, dir } = this.#mount
    return new AssetError(
      'manifest-broken',
      `${manifest} names ${file}, which is not in ${dir}: build again, and let the mount's dir be the bundler's output directory`
    )
  }
}
