// The listing of one source directory, kept current: file-system events tell at once which folders
// changed; where they cannot be had, and on every miss, the folders' own stats do.
import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { showsChangesAfter } from '../../files/clock.ts'
import {
  stampOf,
  ifThere,
  isSameInode,
  realpathOf,
  sameStamp,
  statOf,
  type Stamp
} from '../../files/disk.ts'
import { isHidden, classifyEntries, type FolderEntries } from '../../files/folder-entries.ts'
import { oneAtATime } from '../../concurrency.ts'
import type { Symlinks } from '../../files/containment.ts'

interface Folder extends FolderEntries {
  readonly stamp: Stamp
  /** Real paths from the top down to this folder, so that a link back up ends the descent. */
  readonly chain: readonly string[]
  /** In milliseconds since 1970; a folder that had not rested then may change again unseen. */
  readonly readAt: number
}

/** Beyond this many folders the rest is looked at by stat. */
const MAX_WATCHERS = 8192
/** Seconds-old news at most, where events get lost: network drives, some containers. */
const VERIFY_EVERY_MS = 1000

export class Tree {
  readonly directory: string
  /** Grows with every change of the set of files. */
  version = 0
  readonly #symlinks: Symlinks
  readonly #folders = new Map<string, Folder>()
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #changed = new Set([''])
  #verifiedAt = -Infinity
  #reading = false
  readonly #refresh = oneAtATime(() => this.#reread())
  readonly #verify = oneAtATime(() => this.#compareFolders())

  constructor(directory: string, symlinks: Symlinks) {
    this.directory = directory
    this.#symlinks = symlinks
  }

  /** Whether the listing is known to be current, without a look at the disk. */
  get isCurrent(): boolean {
    return this.#changed.size === 0 && !this.#reading && this.#isWatched
  }

  get #isWatched(): boolean {
    return this.#folders.size > 0 && this.#watchers.size === this.#folders.size
  }

  /** Brings the listing up to date with what events told, or with every folder's stat. */
  async refresh({ thorough = false } = {}): Promise<void> {
    if (thorough || !this.#isWatched) await this.#verify()
    if (this.#changed.size > 0 || this.#reading) await this.#refresh()
    else this.#verifyBehind()
  }

  /** Paths below the directory, with `/`, in no order. */
  *files(): Generator<string> {
    for (const [at, { files }] of this.#folders) {
      for (const file of files) yield at === '' ? file : `${at}/${file}`
    }
  }

  /** The first level of folders. */
  get folders(): readonly string[] {
    return this.#folders.get('')?.folders ?? []
  }

  /** Nobody waits for this one: it catches what no event told of. */
  #verifyBehind(): void {
    if (performance.now() - this.#verifiedAt < VERIFY_EVERY_MS) return
    this.#verify().catch(() => this.#changed.add(''))
  }

  async #compareFolders(): Promise<void> {
    this.#verifiedAt = performance.now()
    await Promise.all(
      [...this.#folders].map(async ([at, folder]) => {
        const stats = await statOf(join(this.directory, at))
        const isSettled = showsChangesAfter(folder.stamp, folder.readAt) && !folder.isDangling
        if (!stats || !isSameInode(stats, folder.stamp)) this.#unwatch(at)
        if (!stats || !isSettled || !sameStamp(stats, folder.stamp)) this.#changed.add(at)
      })
    )
    if (this.#folders.size === 0) this.#changed.add('')
  }

  async #reread(): Promise<void> {
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#reading = true
    try {
      await Promise.all(changed.map(at => this.#read(at, this.#chainAbove(at))))
    } catch (error) {
      for (const at of changed) this.#changed.add(at)
      throw error
    } finally {
      this.#reading = false
    }
  }

  #chainAbove(at: string): readonly string[] | undefined {
    return this.#folders.get(at)?.chain.slice(0, -1)
  }

  /** Reads one folder, and those in it that are new. */
  async #read(at: string, above: readonly string[] = []): Promise<void> {
    const path = join(this.directory, at)
    this.#watch(at, path)
    const readAt = Date.now()
    const [stats, real] = await Promise.all([statOf(path), realpathOf(path)])
    const entries = await ifThere(readdir(path, { withFileTypes: true }))
    if (!stats || !real || !entries) return this.#forget(at)
    const chain = [...above, real]
    const sorted = await classifyEntries(path, entries, chain, this.#symlinks)
    const { files, folders, partials } = sorted
    const before = this.#folders.get(at)
    this.#folders.set(at, { ...sorted, chain, readAt, stamp: stampOf(stats) })
    const isSame = before && sameList(before.files, files) && sameList(before.partials, partials)
    if (!isSame) this.version++
    for (const gone of before?.folders.filter(name => !folders.includes(name)) ?? []) {
      this.#forget(below(at, gone))
    }
    await Promise.all(folders.map(name => this.#readIfNew(below(at, name), chain)))
  }

  async #readIfNew(at: string, above: readonly string[]): Promise<void> {
    const known = this.#folders.get(at)
    const stats = known && (await statOf(join(this.directory, at)))
    if (known && stats && isSameInode(stats, known.stamp)) return
    this.#unwatch(at)
    await this.#read(at, above)
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
        if (event !== 'rename' || (file && isHidden(String(file)))) return
        // Under its own name a folder tells that it was moved or deleted: nothing more comes of it.
        if (file === basename(path)) this.#unwatch(at)
        this.#changed.add(at)
      })
      watcher.on('error', () => this.#unwatch(at))
    } catch {
      // No events here (ENOSPC, ENOENT, a file system without them): stats tell then.
      this.#unwatch(at)
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

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, at) => name === b[at])
}
