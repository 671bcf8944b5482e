// The names in folders, kept while a watch reports what enters them. What no event reports (a folder above was
// replaced, a link was retargeted) is noticed after `revalidate`, as with files.
import type { FSWatcher } from 'node:fs'
import { dirname } from 'node:path'
import { isUnchangedSince } from '../../../files/clock.ts'
import { sameStamp, stampOf, statOf, type Stamp } from '../../../files/disk.ts'
import { noNames, readNames, watchNames, type Names } from './folder-names.ts'

interface Folder {
  /** Undefined for a directory that does not exist yet. */
  readonly stamp: Stamp | undefined
  /** False for a folder that changed so recently that it may change again without another stamp. */
  readonly hasRested: boolean
  /** Milliseconds of the monotonic clock, as the next one. */
  readAgainAt: number
  trustedUntil: number
  /** Undefined while the folder is read, once it has changed, and when it cannot be known. */
  names: Names | undefined
  /** How many names it has of those that there may be. */
  taken: number
  watcher: FSWatcher | undefined
}

const MAX_FOLDERS = 100
/** Of all folders together; one may have a quarter of them. */
const MAX_NAMES = 20_000
/** A folder that changes all the time is not read for each request. */
const READ_AGAIN_MS = 1000
/** For one that could not be read: it has too many names, or no watch. */
const TRY_AGAIN_MS = 60_000

/** One for all directories that are served; a key tells their folders apart. */
export class FolderMemory {
  readonly #folders = new Map<string, Folder>()
  /** How many more names there may be. */
  #left = MAX_NAMES
  readonly #reads = new Map<string, Promise<boolean>>()

  /** The names in a folder, if they are known. @param now milliseconds of the monotonic clock */
  recall(key: string, now: number): Names | undefined {
    const folder = this.#folders.get(key)
    return folder && folder.trustedUntil > now ? folder.names : undefined
  }

  /**
   * Reads a folder, unless that was done lately.
   * @param path absolute
   * @param isTop whether it is a directory that is served, which may not exist yet
   * @returns whether it is a folder, or may become one
   */
  learn(key: string, path: string, revalidate: number, isTop: boolean): Promise<boolean> | boolean {
    const reading = this.#reads.get(key)
    if (reading) return reading
    const folder = this.#folders.get(key)
    const settledUntil = folder?.names ? folder.trustedUntil : folder?.readAgainAt
    if (settledUntil !== undefined && settledUntil > performance.now()) return true
    const read = this.#read(key, path, revalidate, isTop).finally(() => this.#reads.delete(key))
    this.#reads.set(key, read)
    return read
  }

  async #read(key: string, path: string, revalidate: number, isTop: boolean): Promise<boolean> {
    const [now, readAt] = [performance.now(), Date.now()]
    const trustedUntil = now + revalidate * 1000
    const known = this.#folders.get(key)
    const stats = await statOf(path)
    if (known?.names && known.hasRested && stats && known.stamp && sameStamp(known.stamp, stats)) {
      known.trustedUntil = trustedUntil
      return true
    }
    if (known) this.#forget(key, known)
    if (stats ? !stats.isDirectory() : !isTop) return false
    if (!this.#hasRoom(now)) return true
    const folder: Folder = {
      stamp: stats && stampOf(stats),
      hasRested: stats !== undefined && isUnchangedSince(stats, readAt),
      readAgainAt: now + READ_AGAIN_MS,
      trustedUntil,
      names: undefined,
      taken: 0,
      watcher: undefined
    }
    this.#folders.set(key, folder)
    // Watched before it is read: otherwise what enters in between would not be reported.
    folder.watcher = watchNames(stats ? path : dirname(path), () => this.#close(folder))
    const take = () => this.#take(folder)
    const names = folder.watcher && (await (stats ? readNames(path, take) : noNames(path)))
    if (!names) folder.readAgainAt = now + TRY_AGAIN_MS
    if (names && folder.watcher) folder.names = names
    else this.#close(folder)
    return true
  }

  /** Whether one more folder may be kept. Folders that nobody asked about lately make room for it. */
  #hasRoom(now: number): boolean {
    if (this.#folders.size >= MAX_FOLDERS) {
      for (const [key, folder] of this.#folders) {
        if (Math.max(folder.trustedUntil, folder.readAgainAt) < now) this.#forget(key, folder)
      }
    }
    return this.#folders.size < MAX_FOLDERS && this.#left > 0
  }

  /** Makes room for one more name, if there is any. */
  #take(folder: Folder): boolean {
    if (this.#left === 0 || folder.taken === MAX_NAMES / 4) return false
    this.#left--
    folder.taken++
    return true
  }

  #forget(key: string, folder: Folder): void {
    this.#close(folder)
    this.#folders.delete(key)
  }

  #close(folder: Folder): void {
    folder.names = undefined
    this.#left += folder.taken
    folder.taken = 0
    folder.watcher?.close()
    folder.watcher = undefined
  }
}
