// The listing of one source directory. File-system events report which folders changed; where there
// are none, and whenever a name is not found, the stat of every folder does.
import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { oneAtATime } from '../../concurrency.ts'
import { showsChangesAfter } from '../../files/clock.ts'
import type { Symlinks } from '../../files/containment.ts'
import {
  errorCode,
  ifThere,
  isSameInode,
  realpathOf,
  sameStamp,
  stampOf,
  statOf,
  type Stamp
} from '../../files/disk.ts'
import { classifyEntries, isHidden, type FolderEntries } from '../../files/folder-entries.ts'

interface Folder extends FolderEntries {
  readonly stamp: Stamp
  /** Real paths from the directory down to this folder: a link back into them is not followed. */
  readonly chain: readonly string[]
  /** Milliseconds since 1970; a change within the same clock tick leaves the stamp as it is. */
  readonly readAt: number
}

/** Folders beyond this number are checked by stat. */
const MAX_WATCHERS = 8192
/** How soon a lost event is noticed: network drives and some containers send none. */
const VERIFY_EVERY_MS = 1000

export class Tree {
  readonly directory: string
  /** Grows with every change of the set of files. */
  version = 0
  readonly #symlinks: Symlinks
  readonly #onEvent: () => void
  readonly #isExcluded: (path: string) => boolean
  readonly #folders = new Map<string, Folder>()
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #changed = new Set([''])
  #comparedAt = -Infinity
  #reading = false
  readonly #reread = oneAtATime(() => this.#readChanged())
  readonly #compare = oneAtATime(() => this.#compareFolders())

  /**
   * @param onEvent is called after each event, also when a file was only written to
   * @param isExcluded whether a file, or a folder with everything in it, is left out
   */
  constructor(
    directory: string,
    symlinks: Symlinks,
    onEvent: () => void = () => undefined,
    isExcluded: (path: string) => boolean = () => false
  ) {
    this.directory = directory
    this.#symlinks = symlinks
    this.#onEvent = onEvent
    this.#isExcluded = isExcluded
  }

  /** Whether the listing is known to be current without reading the disk. */
  get isCurrent(): boolean {
    return !this.#isStale && this.#isWatched
  }

  get #isStale(): boolean {
    return this.#changed.size > 0 || this.#reading
  }

  get #isWatched(): boolean {
    return this.#folders.size > 0 && this.#watchers.size === this.#folders.size
  }

  /** Brings the listing up to date from events, or from the stat of every folder if any has none. */
  async refresh(): Promise<void> {
    if (!this.#isWatched) await this.verify()
    else if (this.#isStale) await this.#reread()
    else if (performance.now() - this.#comparedAt >= VERIFY_EVERY_MS) {
      this.#compare().catch(() => this.#changed.add(''))
    }
  }

  /** Brings the listing up to date from the stat of every folder, since events may be lost. */
  async verify(): Promise<void> {
    await this.#compare()
    if (this.#isStale) await this.#reread()
  }

  /** Paths relative to the directory, with `/`, in no particular order. */
  *files(kind: 'files' | 'partials' = 'files'): Generator<string> {
    for (const [at, folder] of this.#folders) {
      for (const file of folder[kind]) yield below(at, file)
    }
  }

  /** The first level of folders. */
  get folders(): readonly string[] {
    return this.#folders.get('')?.folders ?? []
  }

  async #compareFolders(): Promise<void> {
    this.#comparedAt = performance.now()
    await Promise.all(
      [...this.#folders].map(async ([at, folder]) => {
        const stats = await statOf(join(this.directory, at))
        const isConclusive = showsChangesAfter(folder.stamp, folder.readAt) && !folder.isDangling
        if (!stats || !isSameInode(stats, folder.stamp)) this.#unwatch(at)
        if (!stats || !isConclusive || !sameStamp(stats, folder.stamp)) this.#changed.add(at)
      })
    )
    if (this.#folders.size === 0) this.#changed.add('')
  }

  async #readChanged(): Promise<void> {
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#reading = true
    try {
      await Promise.all(
        changed.map(at => this.#read(at, this.#folders.get(at)?.chain.slice(0, -1)))
      )
    } catch (error) {
      for (const at of changed) this.#changed.add(at)
      throw error
    } finally {
      this.#reading = false
    }
  }

  /** Reads one folder, and the new folders in it. */
  async #read(at: string, above: readonly string[] = []): Promise<void> {
    const path = join(this.directory, at)
    this.#watch(at, path)
    const readAt = Date.now()
    const [stats, real] = await Promise.all([statOf(path), realpathOf(path)])
    const entries = await ifThere(readdir(path, { withFileTypes: true }))
    if (!stats || !real || !entries) return this.#forget(at)
    const chain = [...above, real]
    const wanted = entries.filter(({ name }) => !this.#isExcluded(below(at, name)))
    const classified = await classifyEntries(path, wanted, chain, this.#symlinks)
    const { files, folders, partials } = classified
    const before = this.#folders.get(at)
    this.#folders.set(at, { ...classified, chain, readAt, stamp: stampOf(stats) })
    if (!isDeepStrictEqual([before?.files, before?.partials], [files, partials])) this.version++
    for (const gone of before?.folders.filter(name => !folders.includes(name)) ?? []) {
      this.#forget(below(at, gone))
    }
    const readIfNew = async (name: string) => {
      const known = this.#folders.get(below(at, name))
      const inside = known && (await statOf(join(path, name)))
      if (known && inside && isSameInode(inside, known.stamp)) return
      this.#unwatch(below(at, name))
      await this.#read(below(at, name), chain)
    }
    await Promise.all(folders.map(readIfNew))
  }

  #forget(at: string): void {
    this.#unwatch(at)
    const folder = this.#folders.get(at)
    if (!folder) return
    this.#folders.delete(at)
    this.version++
    for (const name of folder.folders) this.#forget(below(at, name))
  }

  #watch(at: string, path: string): void {
    if (this.#watchers.has(at) || this.#watchers.size >= MAX_WATCHERS) return
    try {
      const watcher = watch(path, { persistent: false })
      this.#watchers.set(at, watcher)
      watcher.on('change', (event, file) => {
        if (file && isHidden(String(file))) return
        if (event === 'rename') {
          // An event under the folder's own name: it was moved or deleted, and sends no more events.
          if (file === basename(path)) this.#unwatch(at)
          this.#changed.add(at)
        }
        this.#onEvent()
      })
      watcher.on('error', () => this.#unwatch(at))
    } catch (error) {
      // No watcher left (ENOSPC, EMFILE), no folder (ENOENT), no events on this system (ENOSYS).
      if (errorCode(error) === undefined) throw error
    }
  }

  #unwatch(at: string): void {
    this.#watchers.get(at)?.close()
    this.#watchers.delete(at)
  }
}

function below(at: string, name: string): string {
  return at === '' ? name : `${at}/${name}`
}
