// What the folders of a directory hold, so that a request does not ask the disk for what is not there: a
// page for a file of its name, a file for its compressed copies. Without it every page behind the middleware
// would cost a stat: 44 instead of 38 µs of CPU for a constant page (wrk, 16 connections).
// A watched folder reports what enters it, and from then on its names are not trusted. What no event reports
// (a folder above was replaced, a link was retargeted) is noticed after `revalidate`, as with files.
import type { FSWatcher } from 'node:fs'
import { isUnchangedSince } from '../../../files/clock.ts'
import { sameStamp, stampOf, statOf, type Stamp } from '../../../files/disk.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { folded, hasOneSpelling } from '../request-path.ts'
import { readNames, watchNames, type Kind, type Names } from './folder-names.ts'

interface Folder {
  readonly stamp: Stamp
  /** False for a folder that changed so recently that it may change again without another stamp. */
  readonly hasRested: boolean
  /** Milliseconds of the monotonic clock, as the next one. */
  readonly readAgainAt: number
  trustedUntil: number
  /** Undefined while the folder is read, once it has changed, and when it cannot be known. */
  names: Names | undefined
  /** How many names it may have. */
  room: number
  watcher: FSWatcher | undefined
}

/** In characters. A longer path may have very many folders. */
const MAX_LENGTH = 1024
const MAX_FOLDERS = 100
/** Of all folders together; one may have a quarter of them. */
const MAX_NAMES = 20_000
/** A folder that changes all the time is not read for each request. */
const READ_AGAIN_MS = 1000

export class KnownFolders {
  readonly #directory: ServedDirectory
  /** By decoded URL path, without a slash at its end. */
  readonly #folders = new Map<string, Folder>()
  readonly #reads = new Map<string, Promise<boolean>>()

  constructor(directory: ServedDirectory) {
    this.#directory = directory
  }

  /** Whether the directory is known to lack a path, exactly as it was sent. */
  lackRaw(rawPath: string): boolean {
    const { urlPath, publishedFolder, isPublishing } = this.#directory
    const end = rawPath.indexOf('/', urlPath.length + 1)
    const first = end === -1 ? rawPath : rawPath.slice(0, end)
    if (first === publishedFolder && isPublishing) return false
    if (hasOneSpelling(rawPath)) return this.kindOf(rawPath) === 'missing'
    // Names are decoded: with a percent sign they are others. Under the prefix such a path may be malformed.
    return first !== publishedFolder && !first.includes('%') && this.kindOf(first) === 'missing'
  }

  /** What is known to be at a decoded path. */
  kindOf(path: string): Kind | 'missing' {
    if (path.length > MAX_LENGTH) return 'unsure'
    const now = performance.now()
    for (let at = this.#directory.urlPath.length; ;) {
      const end = path.indexOf('/', at + 1)
      const kind = this.#kindAt(path, at, end, now)
      if (end === -1) return kind
      if (kind === 'missing' || kind === 'file') return 'missing'
      at = end
    }
  }

  /** Reads the folders above a decoded path that are not known. */
  async learn(path: string, revalidate: number): Promise<void> {
    for (let at = this.#directory.urlPath.length; at !== -1;) {
      const folder = path.slice(0, at)
      const isFolder = this.#isSettled(folder) || (await this.#readOnce(folder, revalidate))
      const end = path.indexOf('/', at + 1)
      if (!isFolder || this.#kindAt(path, at, end, performance.now()) === 'missing') return
      at = end
    }
  }

  /** What is in the folder before the slash `at`, under the name that ends at `end`. */
  #kindAt(path: string, at: number, end: number, now: number): Kind | 'missing' {
    const folder = this.#folders.get(path.slice(0, at))
    const name = path.slice(at + 1, end === -1 ? undefined : end)
    if (!folder?.names || folder.trustedUntil <= now || name === '') return 'unsure'
    return folder.names.get(folded(name)) ?? 'missing'
  }

  /** Whether a folder need not be read now. */
  #isSettled(at: string): boolean {
    const folder = this.#folders.get(at)
    if (!folder) return false
    return (folder.names ? folder.trustedUntil : folder.readAgainAt) > performance.now()
  }

  #readOnce(at: string, revalidate: number): Promise<boolean> {
    const read =
      this.#reads.get(at) ?? this.#read(at, revalidate).finally(() => this.#reads.delete(at))
    this.#reads.set(at, read)
    return read
  }

  /** Resolves to whether it is a folder. */
  async #read(at: string, revalidate: number): Promise<boolean> {
    const path = fileIn(this.#directory, at)
    const [now, readAt] = [performance.now(), Date.now()]
    const trustedUntil = now + revalidate * 1000
    const known = this.#folders.get(at)
    const stats = await statOf(path)
    if (known?.names && known.hasRested && stats && sameStamp(known.stamp, stats)) {
      known.trustedUntil = trustedUntil
      return true
    }
    if (known) this.#forget(at, known)
    if (!stats?.isDirectory()) return false
    const room = this.#room(now)
    if (room === 0) return true
    const folder: Folder = {
      stamp: stampOf(stats),
      hasRested: isUnchangedSince(stats, readAt),
      readAgainAt: now + READ_AGAIN_MS,
      trustedUntil,
      names: undefined,
      room,
      watcher: undefined
    }
    this.#folders.set(at, folder)
    // Watched before it is read: otherwise what enters in between would not be reported.
    folder.watcher = watchNames(path, () => close(folder))
    const names = folder.watcher && (await readNames(path, room))
    if (names && folder.watcher) Object.assign(folder, { names, room: names.size })
    else close(folder)
    return true
  }

  /** How many names one more folder may have. Those that nobody asked for lately make room for it. */
  #room(now: number): number {
    if (this.#folders.size >= MAX_FOLDERS) {
      for (const [at, folder] of this.#folders) {
        if (Math.max(folder.trustedUntil, folder.readAgainAt) < now) this.#forget(at, folder)
      }
    }
    if (this.#folders.size >= MAX_FOLDERS) return 0
    let left = MAX_NAMES
    for (const { room } of this.#folders.values()) left -= room
    return Math.min(left, MAX_NAMES / 4)
  }

  #forget(at: string, folder: Folder): void {
    close(folder)
    this.#folders.delete(at)
  }
}

function close(folder: Folder): void {
  folder.names = undefined
  folder.room = 0
  folder.watcher?.close()
  folder.watcher = undefined
}
