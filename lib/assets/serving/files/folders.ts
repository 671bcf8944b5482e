// The names in the folders of a directory, so that a request does not ask the disk for what they lack: without
// this every page behind the middleware would cost a stat, 44 instead of 38 µs of CPU for a constant page
// (wrk, 16 connections).
import { opendir, readdir } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import {
  errorCode,
  isMiss,
  isSameInode,
  isSettled,
  sameStamp,
  stampOf,
  statOf,
  type Stamp
} from '../../../files/disk.ts'
import { isRefusal } from '../../../files/refusals.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { composed } from '../../../files/paths.ts'

/** The names in a folder. They are not known if they are too many, or the folder only lets its files be opened. */
interface Listing {
  readonly names: Names | undefined
  /** True if the folder has its path in this case on disk, so that all of its names have. */
  readonly isSpelled: boolean
  /** The folder has the same names as long as it has this stamp; undefined if it may not show the next change. */
  readonly stamp: Stamp | undefined
}

/** The composed names, each with whether it is a folder and not a link. */
export type Names = ReadonlyMap<string, boolean>

/** The facts about the place of a file. */
export interface Spot {
  /** True if its path has every name in its case on disk: a guard compares the path as it was sent. */
  readonly isSpelled: boolean
  /** The names beside it; undefined if they are not known. */
  readonly names: Names | undefined
}

/** The number of names of all folders together; one folder may have a quarter of them. */
const MAX_NAMES = 20_000

export class Folders {
  readonly #directory: ServedDirectory
  /** The listings by URL path, with a slash at its end. */
  readonly #known: LRUCache<string, Listing, number>

  constructor(directory: ServedDirectory) {
    this.#directory = directory
    this.#known = new LRUCache({
      maxSize: MAX_NAMES,
      sizeCalculation: ({ names }) => 20 + (names?.size ?? 0),
      fetchMethod: (folder, known, { context }) => this.#list(folder, known, context),
      noDeleteOnStaleGet: true,
      // Otherwise one that is evicted while it is read would be an error.
      ignoreFetchAbort: true,
      ttlResolution: 0
    })
  }

  /** Tells whether there is no file at a decoded path, whose characters are composed, as far as is known. */
  lack(path: string): boolean {
    const { top, index } = this.#directory
    const [last, file] = lastPart(path)
    // A folder whose names are known is there.
    const isThere = this.#known.get(last)?.names?.size
    if (isThere && !isRemembered(file)) return false
    const parts = isThere ? [[last, file] as const] : partsOf(this.#directory, path)
    let isFolder: boolean | undefined
    for (const [folder, name] of parts) {
      const names = this.#known.get(folder)?.names
      if (!names || !isRemembered(name) || (folder === '/' && name === top)) return false
      isFolder = names.get(name)
      if (isFolder === undefined) return true
    }
    return isFolder === true && index === undefined
  }

  /** Reads the folders that tell why no file was found at a path. */
  async learn(path: string, seconds: number): Promise<void> {
    for (const [folder, name] of partsOf(this.#directory, path)) {
      if (!isRemembered(name)) return
      const listing = await this.#read(folder, seconds)
      if (!listing?.names?.has(composed(name))) return
    }
  }

  /** Looks where an existing file is; a listing without the file itself is older than it. */
  spotOf(path: string, seconds: number): Promise<Spot> | Spot {
    const [folder, name] = lastPart(path)
    const known = this.#known.get(folder)
    const names = withName(known, name)
    if (known?.isSpelled && names && isComposed(path)) return { isSpelled: true, names }
    return this.#lookAround(path, seconds)
  }

  async #lookAround(path: string, seconds: number): Promise<Spot> {
    const [folder, name] = lastPart(path)
    const isSpelled = await this.#areOnDisk(path, seconds)
    const listing = this.#known.get(folder) ?? (await this.#read(folder, seconds))
    return { isSpelled, names: withName(listing, name) }
  }

  async #areOnDisk(path: string, seconds: number): Promise<boolean> {
    const checked = Array.from(partsOf(this.#directory, path), async ([folder, name]) => {
      const listing = await this.#read(folder, seconds)
      const isKnown = isComposed(name) && withName(listing, name) !== undefined
      return isKnown || isNameIn(fileIn(this.#directory, folder), name)
    })
    return (await Promise.all(checked)).every(Boolean)
  }

  /** @param seconds for which it is trusted; 0: it is not read */
  async #read(folder: string, seconds: number): Promise<Listing | undefined> {
    if (seconds === 0) return undefined
    return this.#known.fetch(folder, { ttl: seconds * 1000, context: seconds })
  }

  /** @param known what it was when it was last read */
  async #list(folder: string, known: Listing | undefined, seconds: number): Promise<Listing> {
    const path = fileIn(this.#directory, folder)
    const lookedAt = Date.now()
    const above = folder.slice(0, -1)
    const isSpelled =
      above.length <= this.#directory.urlPath.length ||
      (await this.spotOf(above, seconds)).isSpelled
    try {
      const stats = await statOf(path)
      if (!stats) return { names: new Map(), isSpelled, stamp: undefined }
      if (known?.stamp && sameStamp(stats, known.stamp))
        return { names: known.names, isSpelled, stamp: known.stamp }
      const stamp = isSettled(stats, lookedAt) ? stampOf(stats) : undefined
      return { names: await namesOf(path), isSpelled, stamp }
    } catch (error) {
      if (errorCode(error) === undefined) throw error
      return { names: isMiss(error) ? new Map() : undefined, isSpelled, stamp: undefined }
    }
  }
}

/** A deploy may just have added a file, and its first page, from whichever process, refers to it at once. */
function isRemembered(name: string): boolean {
  return name !== '' && !name.includes('.')
}

/** Lists the names in a folder; undefined if they are too many. */
async function namesOf(folder: string): Promise<Names | undefined> {
  const names = new Map<string, boolean>()
  for await (const entry of await opendir(folder, { bufferSize: 512 })) {
    if (names.size === MAX_NAMES / 4) return undefined
    names.set(composed(entry.name), entry.isDirectory())
  }
  return names
}

/**
 * Only a folder in which the opposite case of the name leads to the same file is read: on a file system that ignores case,
 * neither a descriptor nor realpath(3) may show how the name is written.
 * @param folder with a slash at its end
 */
async function isNameIn(folder: string, name: string): Promise<boolean> {
  if (!isComposed(name) && (await areOneFile(folder + name, folder + composed(name)))) return false
  const lower = name.toLowerCase()
  const other = lower === name ? name.toUpperCase() : lower
  const twin = other === name ? undefined : await statOf(folder + other)
  if (!twin) return true
  // Two files prove that case is told apart here.
  const own = await statOf(folder + name)
  if (own && !isSameInode(own, twin)) return true
  const names = await readdir(folder).catch((error: unknown) => {
    // No descriptor left, for one, is no answer.
    if (!isMiss(error) && !isRefusal(error)) throw error
    return []
  })
  return names.some(each => composed(each) === composed(name))
}

function isComposed(name: string): boolean {
  return name === composed(name)
}

/** On macOS the composed name leads to the same file, and is its only spelling in a URL. */
async function areOneFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map(statOf))
  return a !== undefined && b !== undefined && isSameInode(a, b)
}

/** Lists the names in a folder; none for one that only lets its files be opened. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return []
  }
}

type Part = readonly [folder: string, name: string]

function lastPart(path: string): Part {
  const start = path.lastIndexOf('/') + 1
  return [path.slice(0, start), path.slice(start)]
}

function withName(listing: Listing | undefined, name: string): Names | undefined {
  return listing?.names?.has(composed(name)) ? listing.names : undefined
}

/** The names of a path and the folders that they are in, down from the directory: `/a/b` has a in `/`, b in `/a/`. */
function* partsOf({ urlPath }: ServedDirectory, path: string): Generator<Part> {
  for (let end = urlPath.length; end !== -1;) {
    const start = end + 1
    end = path.indexOf('/', start)
    yield [path.slice(0, start), path.slice(start, end === -1 ? undefined : end)]
  }
}
