// The files of public, found, checked and prepared once, so that a request only writes a response.
import { LRUCache } from 'lru-cache'
import { isUnchangedSince } from '../../files/clock.ts'
import { isPathInPublic } from '../../files/containment.ts'
import { sameStamp, statOf, type OpenFile, type Stamp } from '../../files/disk.ts'
import { publicFile } from '../settings/public-directory.ts'
import type { Settings } from '../settings/settings.ts'
import { KnownMisses } from './known-misses.ts'
import { isUnchanged, withPublicFile, type IsOrdinary, type PublicFile } from './public-file.ts'
import type { Representation } from './representation.ts'
import { hasOneSpelling, type Wanted } from './request-path.ts'
import { MAX_ONE_WRITE_BYTES } from './write-response.ts'

type Found = PublicFile | undefined

interface Held extends PublicFile {
  readonly isInMemory: boolean
  /** False for a file that changed so recently that it may change again without another stamp. */
  readonly hasRested: boolean
  /** Milliseconds of the monotonic clock; Infinity for a verified fingerprint. */
  trustedUntil: number
}

export class PublicFiles {
  readonly #settings: Settings
  readonly #isOrdinary: IsOrdinary
  readonly #held: LRUCache<string, Held>
  readonly #misses: KnownMisses
  readonly #loads = new Map<string, Promise<Found>>()
  readonly #lookups = new Map<string, Promise<Found>>()
  /** How often `forget` was called: a file that was being loaded meanwhile may be out of date. */
  #forgotten = 0

  constructor(settings: Settings, isOrdinary: IsOrdinary) {
    this.#settings = settings
    this.#isOrdinary = isOrdinary
    this.#misses = new KnownMisses(settings)
    this.#held = new LRUCache({
      maxSize: Math.max(1, settings.memory.maxBytes),
      sizeCalculation: ({ representations }) =>
        representations.reduce((sum, representation) => sum + memoryCostOf(representation), 0)
    })
  }

  /** Whether public is known, without reading the disk, to lack the first folder of a raw path. */
  lacksFirstFolderOf(rawPath: string): boolean {
    return this.#misses.hasFirstFolderOf(rawPath)
  }

  /** Whether public is known, without reading the disk, to lack the file of a raw path. */
  lacks(rawPath: string): boolean {
    return this.#misses.has(rawPath) && hasOneSpelling(rawPath)
  }

  /** The file of a raw path, if it is in memory and still trusted. */
  recall(rawPath: string): Found {
    const known = this.#held.get(rawPath)
    if (!known || known.trustedUntil <= performance.now()) return undefined
    return known.isInMemory && hasOneSpelling(rawPath) ? known : undefined
  }

  /**
   * The file as it is on disk now or, within `revalidate`, was when it was last looked up.
   * @param stamp the target's stamp, if the caller has just looked it up
   */
  find(wanted: Wanted, stamp?: Stamp): Promise<Found> | Found {
    const known = this.#held.get(wanted.path)
    if (known && !stamp && known.trustedUntil > performance.now()) return known
    if (stamp || trustOfMiss(wanted) === 0) return this.#lookUp(wanted, known, stamp)
    return this.#misses.has(wanted.path) ? undefined : this.#lookUpOnce(wanted, known)
  }

  /** Makes the next `find` read the disk. */
  forget(path: string): void {
    this.#forgotten++
    this.#held.delete(path)
    this.#lookups.delete(path)
  }

  /** Uses the file while it is open; undefined for a miss. */
  withOpened<T>(
    wanted: Wanted,
    use: (file: PublicFile, opened: OpenFile) => Promise<T> | T
  ): Promise<T | undefined> {
    return withPublicFile(this.#settings, wanted, this.#isOrdinary, use)
  }

  /** Whether there is a file that can be sent; it is not read. */
  async has({ path }: Wanted): Promise<boolean> {
    const file = publicFile(this.#settings, path)
    const stats = await statOf(file)
    return stats !== undefined && stats.isFile() && isPathInPublic(this.#settings, file)
  }

  /** Where a stat result may be reused, concurrent requests share one stat. */
  #lookUpOnce(wanted: Wanted, known: Held | undefined): Promise<Found> {
    const { path } = wanted
    const lookup =
      this.#lookups.get(path) ??
      this.#lookUp(wanted, known, undefined).finally(() => this.#lookups.delete(path))
    this.#lookups.set(path, lookup)
    return lookup
  }

  async #lookUp(wanted: Wanted, known: Held | undefined, stamp: Stamp | undefined): Promise<Found> {
    const now = stamp ?? (await this.#misses.lookUp(wanted.path, trustOfMiss(wanted)))
    if (!now) {
      this.#held.delete(wanted.path)
      return undefined
    }
    if (!known?.hasRested || !(await isUnchanged(wanted, known, now))) {
      return this.#loadCurrent(wanted, now)
    }
    known.trustedUntil = trustedUntil(wanted, known)
    return known
  }

  async #loadCurrent(wanted: Wanted, stamp: Stamp): Promise<Found> {
    const { path } = wanted
    const [loadedAt, forgottenBefore] = [Date.now(), this.#forgotten]
    const joined = await this.#loads.get(path)
    // A load in progress may have opened the file before it was replaced.
    const isCurrent = joined && sameStamp(joined.representations[0].stamp, stamp)
    const file = isCurrent ? joined : await this.#load(wanted)
    if (!file) this.#held.delete(path)
    else if (this.#forgotten === forgottenBefore) this.#hold(wanted, file, loadedAt)
    return file
  }

  #load(wanted: Wanted): Promise<Found> {
    const { path } = wanted
    const load = this.withOpened(wanted, file => file).finally(() => this.#loads.delete(path))
    this.#loads.set(path, load)
    return load
  }

  #hold(wanted: Wanted, file: PublicFile, loadedAt: number): void {
    const { representations } = file
    this.#held.set(wanted.path, {
      ...file,
      isInMemory: representations.every(({ body }) => body !== undefined),
      hasRested: representations.every(({ stamp }) => isUnchangedSince(stamp, loadedAt)),
      trustedUntil: trustedUntil(wanted, file)
    })
  }
}

function trustedUntil({ app }: Wanted, { isVerified }: PublicFile): number {
  return isVerified ? Infinity : performance.now() + app.revalidate * 1000
}

/** In seconds. A source may appear at any time, and its target is looked up within the same request. */
function trustOfMiss({ app }: Wanted): number {
  return app.compile ? 0 : app.revalidate
}

// What a representation costs beside its body, measured in resident memory: strings, fields, stamps, the
// buffer itself, and garbage that is not yet collected.
const OVERHEAD_BYTES = 12 * 1024

/** A small body is held twice: the second time it follows a kept head. */
function memoryCostOf({ body }: Representation): number {
  const length = body?.length ?? 0
  return OVERHEAD_BYTES + (length < MAX_ONE_WRITE_BYTES ? 2 * length : length)
}
