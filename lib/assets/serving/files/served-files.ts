// The files of a directory, found, checked and prepared once, so that a request only writes a response.
import { isPathInPlace } from '../../../files/containment.ts'
import { ifReadable } from './readable.ts'
import { realpathOf, sameStamp, statOf, type OpenFile, type Stamp } from '../../../files/disk.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { CODINGS, type Coding } from '../../../files/codings.ts'
import { Deltas } from './deltas.ts'
import { Folders } from './folders.ts'
import {
  hasSameCopies,
  withServedFile,
  type Loading,
  type Memory,
  type ServedFile
} from './served-file.ts'
import type { Wanted } from '../request-path.ts'

type Found = ServedFile | undefined

export class ServedFiles {
  readonly directory: ServedDirectory
  readonly #memory: Memory
  readonly #folders: Folders
  readonly #loading: Loading
  readonly #loads = new Map<string, Promise<Found>>()
  readonly #lookups = new Map<string, Promise<Found>>()
  /** How often `forget` was called: a file that was being loaded meanwhile may be out of date. */
  #forgotten = 0

  /** @param maxFileBytes of a file that is kept in memory */
  constructor(directory: ServedDirectory, memory: Memory, maxFileBytes: number) {
    this.directory = directory
    this.#memory = memory
    this.#folders = new Folders(directory)
    const deltas = new Deltas(directory, memory, this.#folders, maxFileBytes)
    const deltasOf: Loading['deltasOf'] = (...file) => deltas.of(...file)
    this.#loading = { directory, folders: this.#folders, deltasOf, maxFileBytes }
  }

  /** What is known of a raw path without reading the disk: its file, or that there is none. */
  recall(rawPath: string): Found | 'missing' {
    const known = this.#memory.get(this.#key(rawPath))
    if (known?.isAtHand && known.trustedUntil > performance.now()) return known
    return this.#folders.lackRaw(rawPath) ? 'missing' : undefined
  }

  /**
   * The file as it is on disk now or, within `revalidate`, was when it was last looked up.
   * @param stamp the target's stamp, if the caller has just looked it up
   */
  find(wanted: Wanted, stamp?: Stamp): Promise<Found> | Found {
    const known = this.#memory.get(this.#key(wanted.path))
    if (known && !stamp && known.trustedUntil > performance.now()) return known
    const file = fileIn(this.directory, wanted.path)
    if (stamp || this.#trustOfMiss(wanted) === 0) {
      return ifReadable(file, this.#lookUp(wanted, known, stamp))
    }
    if (this.#folders.lacks(wanted.path)) return undefined
    return ifReadable(file, this.#lookUpOnce(wanted, known))
  }

  /** Makes the next `find` read the disk. */
  forget({ path }: Pick<Wanted, 'path'>): void {
    this.#forgotten++
    this.#memory.delete(this.#key(path))
    this.#lookups.delete(path)
  }

  /** Uses the file while it is open; undefined for a miss. */
  withOpened<T>(
    wanted: Wanted,
    use: (file: ServedFile, opened: OpenFile) => Promise<T> | T
  ): Promise<T | undefined> {
    return withServedFile(this.#loading, wanted, this.#codingsBeside(wanted), use)
  }

  /** Whether there is a file that can be sent; it is not read. */
  async has({ path }: Pick<Wanted, 'path'>): Promise<boolean> {
    const file = fileIn(this.directory, path)
    return (await ifReadable(file, this.#isThere(path, file))) ?? false
  }

  async #isThere(path: string, file: string): Promise<boolean> {
    const { place, isHidden } = this.directory
    if (isHidden?.(file) || !(await statOf(file))?.isFile()) return false
    if (isHidden?.((await realpathOf(file)) ?? file)) return false
    return (await this.#folders.hasNames(path)) && isPathInPlace(place, file)
  }

  /** Where a stat result may be reused, concurrent requests share one stat. */
  #lookUpOnce(wanted: Wanted, known: Found): Promise<Found> {
    const lookup = this.#lookups.get(wanted.path) ?? this.#lookUpInFolder(wanted, known)
    this.#lookups.set(wanted.path, lookup)
    return lookup
  }

  async #lookUpInFolder(wanted: Wanted, known: Found): Promise<Found> {
    const { path } = wanted
    try {
      if (this.#folders.kindOf(path) === 'unsure') {
        await this.#folders.learn(path, this.#trustOfMiss(wanted))
      }
      if (this.#folders.lacks(path)) return this.#drop(wanted)
      // Opening a file shows its stamp.
      const isThere = this.#folders.kindOf(path) === 'file'
      return await (isThere && !known ? this.#load(wanted) : this.#lookUp(wanted, known))
    } finally {
      this.#lookups.delete(path)
    }
  }

  async #lookUp(wanted: Wanted, known: Found, stamp?: Stamp): Promise<Found> {
    const now = stamp ?? (await regularStamp(fileIn(this.directory, wanted.path)))
    if (!now) return this.#drop(wanted)
    if (!known?.hasRested || !(await this.#isUnchanged(wanted, known, now))) {
      return this.#loadCurrent(wanted, now)
    }
    this.#trust(wanted, known)
    return known
  }

  async #isUnchanged(wanted: Wanted, known: ServedFile, stamp: Stamp): Promise<boolean> {
    if (!sameStamp(known.representations[0].stamp, stamp)) return false
    const now = performance.now()
    if (known.copiesTrustedUntil > now) return true
    known.copiesTrustedUntil = now + this.#trustOfCopies(wanted)
    return hasSameCopies(known, this.#codingsBeside(wanted))
  }

  async #loadCurrent(wanted: Wanted, stamp: Stamp): Promise<Found> {
    const joined = await this.#loads.get(wanted.path)
    // A load in progress may have opened the file before it was replaced.
    if (joined && sameStamp(joined.representations[0].stamp, stamp)) return joined
    const load = this.#load(wanted).finally(() => this.#loads.delete(wanted.path))
    this.#loads.set(wanted.path, load)
    return load
  }

  async #load(wanted: Wanted): Promise<Found> {
    const forgottenBefore = this.#forgotten
    const file = await this.withOpened(wanted, loaded => loaded)
    if (!file) return this.#drop(wanted)
    if (this.#forgotten === forgottenBefore) this.#memory.set(this.#key(wanted.path), file)
    this.#trust(wanted, file)
    file.copiesTrustedUntil = performance.now() + this.#trustOfCopies(wanted)
    return file
  }

  #drop(wanted: Wanted): undefined {
    this.#memory.delete(this.#key(wanted.path))
  }

  /** The codings of which there may be a copy beside a file. */
  #codingsBeside(wanted: Wanted): readonly Coding[] {
    if (this.directory.isPublishedOnRequest(wanted)) return []
    return this.#trustOfMiss(wanted) === 0 ? CODINGS : this.#folders.codingsBeside(wanted.path)
  }

  #key(path: string): string {
    return this.directory.memoryKey + path
  }

  #trust(wanted: Wanted, file: ServedFile): void {
    const trusted = this.directory.revalidate(wanted) * 1000
    if (!file.isVerified) file.trustedUntil = performance.now() + trusted
  }

  /** In milliseconds. */
  #trustOfCopies(wanted: Wanted): number {
    return (this.directory.revalidateCopies?.(wanted) ?? 0) * 1000
  }

  /** In seconds. A source may appear at any time, and its target is looked up within the same request. */
  #trustOfMiss(wanted: Wanted): number {
    return this.directory.isPublishedOnRequest(wanted) ? 0 : this.directory.revalidate(wanted)
  }
}

async function regularStamp(path: string): Promise<Stamp | undefined> {
  const stats = await statOf(path)
  return stats?.isFile() ? stats : undefined
}
