// Lists one source directory. The listing is out of date after an event in one of its folders, and always if a folder
// is not watched. Refreshing it takes a stat of every folder, and reads those that have changed.
import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { oneAtATime } from '../../runtime/concurrency.ts'
import {
  classifyEntries,
  type FolderEntries,
  ignoreSystemError,
  isHidden,
  undefinedIfMissing,
  isSameInode,
  isSettled,
  PARTIAL,
  realpathOf,
  sameStamp,
  type Stamp,
  stampOf,
  statOf,
  type Symlinks
} from '../../runtime/files/disk.ts'
import { withSlashes } from '../../runtime/files/paths.ts'

interface Folder extends FolderEntries {
  readonly real: string
  readonly stamp: Stamp
  /** True if every later change of its entries changes the stamp. */
  readonly isSettled: boolean
}

interface Listing {
  /** The folders by path in the directory; the path of the directory itself is empty. */
  readonly folders: Map<string, Folder>
  readonly apart: Set<string>
}

const MAX_WATCHERS = 8192
/** On Windows a watched folder, or one above it, cannot be removed or renamed; a watcher there reports all below it. */
const WATCHES_BELOW = process.platform === 'win32'
/** A lost event is noticed after this time: network drives and some containers send none. */
const VERIFY_EVERY_MS = 1000

export class Tree {
  readonly directory: string
  /** A number that grows with every change of the set of files. */
  version = 0
  readonly #symlinks: Symlinks
  readonly #onEvent: (path?: string) => void
  readonly #isExcluded: (path: string) => boolean
  readonly #watchers = new Map<string, FSWatcher>()
  #listing: Listing = { folders: new Map(), apart: new Set() }
  #listedAt = -Infinity
  #events = 0
  /** The number of events before the listing was made. */
  #listedAfter = -1

  /** @param onEvent is also called if a file was only written to @param isExcluded holds for everything in a folder */
  constructor(
    directory: string,
    symlinks: Symlinks,
    onEvent: (path?: string) => void = () => undefined,
    isExcluded: (path: string) => boolean = () => false
  ) {
    this.directory = directory
    this.#symlinks = symlinks
    this.#onEvent = onEvent
    this.#isExcluded = isExcluded
  }

  /** True if the listing is known to be current without reading the disk. */
  get isCurrent(): boolean {
    const { size } = this.#listing.apart
    return this.#listedAfter === this.#events && size > 0 && this.#watchers.size === size
  }

  /** Brings the listing up to date, unless events would have reported a change. */
  async refresh(): Promise<void> {
    if (!this.isCurrent) await this.verify()
    else if (performance.now() - this.#listedAt >= VERIFY_EVERY_MS) {
      this.verify().catch(() => (this.#listedAfter = -1))
    }
  }

  /** Ends all watching. A later listing is made anew. */
  unwatch(): void {
    for (const at of this.#watchers.keys()) this.#unwatch(at)
  }

  /** Yields paths relative to the directory, with `/`, in no particular order. */
  *files(withPartials = false): Generator<string> {
    for (const [at, { files }] of this.#listing.folders) {
      for (const file of files) if (withPartials || !PARTIAL.test(file)) yield below(at, file)
    }
  }

  get folders(): readonly string[] {
    return this.#listing.folders.get('')?.folders ?? []
  }

  /** Brings the listing up to date even if no event was reported: events may be lost. */
  readonly verify = oneAtATime(async () => {
    const events = this.#events
    this.#listedAt = performance.now()
    const listing: Listing = { folders: new Map(), apart: new Set() }
    await this.#addFolder('', [], listing)
    for (const at of this.#watchers.keys()) if (!listing.apart.has(at)) this.#unwatch(at)
    if (!haveSameFiles(this.#listing, listing)) this.version++
    this.#listing = listing
    this.#listedAfter = events
  })

  /** @param above real paths from the directory down to this folder: a link back into them is not followed */
  async #addFolder(at: string, above: readonly string[], all: Listing): Promise<void> {
    const path = join(this.directory, at)
    const [last, readAt, stats] = [this.#listing.folders.get(at), Date.now(), await statOf(path)]
    if (!stats) return
    const known = last && isSameInode(stats, last.stamp) ? last : undefined
    if (!known) this.#unwatch(at)
    const isApart = !WATCHES_BELOW || (await isLinked(path, above, known))
    if (isApart) this.#watch(at, path)
    const isSame = known?.isSettled && sameStamp(stats, known.stamp)
    const folder = isSame ? known : await this.#read(at, above, stampOf(stats), readAt)
    if (!folder) return
    all.folders.set(at, folder)
    if (isApart) all.apart.add(at)
    const chain = [...above, folder.real]
    await Promise.all(folder.folders.map(name => this.#addFolder(below(at, name), chain, all)))
  }

  async #read(at: string, above: readonly string[], stamp: Stamp, readAt: number) {
    const path = join(this.directory, at)
    const [real, entries] = await Promise.all([
      realpathOf(path),
      undefinedIfMissing(readdir(path, { withFileTypes: true }))
    ])
    if (!real || !entries) return undefined
    const wanted = entries.filter(({ name }) => !this.#isExcluded(below(at, name)))
    const classified = await classifyEntries(path, wanted, [...above, real], this.#symlinks)
    const isUnchanging = isSettled(stamp, readAt) && !classified.isDangling
    return { ...classified, real, stamp, isSettled: isUnchanging }
  }

  #watch(at: string, path: string): void {
    if (this.#watchers.has(at) || this.#watchers.size >= MAX_WATCHERS) return
    try {
      const watcher = watch(path, { persistent: false, recursive: WATCHES_BELOW })
      this.#watchers.set(at, watcher)
      watcher.on('change', (event, file) => {
        if (file && withSlashes(String(file)).split('/').some(isHidden)) return
        // An event without a file means that more has changed than the system could record.
        if (event === 'rename' || !file) this.#events++
        // An event with the folder's own name means that it was moved or deleted, and sends no more events.
        if (event === 'rename' && file === basename(path)) this.#unwatch(at)
        this.#onEvent(file ? join(path, String(file)) : undefined)
      })
      watcher.on('error', () => this.#unwatch(at))
    } catch (error) {
      // There may be no watcher left (ENOSPC, EMFILE), no folder (ENOENT), or no events on this system (ENOSYS).
      ignoreSystemError(error)
    }
  }

  #unwatch(at: string): void {
    this.#watchers.get(at)?.close()
    this.#watchers.delete(at)
  }
}

/** Tells whether a link leads to a folder: events of the folder above then miss changes in it. */
async function isLinked(path: string, above: readonly string[], known?: Folder): Promise<boolean> {
  const parent = above.at(-1)
  if (parent === undefined) return true
  return (known?.real ?? (await realpathOf(path))) !== join(parent, basename(path))
}

function haveSameFiles({ folders: before }: Listing, { folders: now }: Listing): boolean {
  const isSame = ([at, folder]: [string, Folder]) =>
    before.get(at) === folder || isDeepStrictEqual(before.get(at)?.files, folder.files)
  return before.size === now.size && [...now].every(isSame)
}

const below = (at: string, name: string): string => (at === '' ? name : `${at}/${name}`)
