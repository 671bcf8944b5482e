// The names in the folders of a directory, so that a request does not ask the disk for what they lack: without
// this every page behind the middleware would cost a stat, 44 instead of 38 µs of CPU for a constant page
// (wrk, 16 connections).
import { opendir, readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { LRUCache } from 'lru-cache'
import { errorCode, isMiss, statOf } from '../../../files/disk.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { composed } from '../request-path.ts'

/** What a folder has, by composed names; nothing is known if they are too many, or it only lets its files be opened. */
interface Listing {
  /** Whether it is a folder, not a link. */
  readonly isFolder?: ReadonlyMap<string, boolean>
}

/** Of all folders together; one may have a quarter of them. */
const MAX_NAMES = 20_000

export class Folders {
  readonly #directory: ServedDirectory
  /** By URL path, with a slash at its end. */
  readonly #known: LRUCache<string, Listing>

  constructor(directory: ServedDirectory) {
    this.#directory = directory
    this.#known = new LRUCache({
      maxSize: MAX_NAMES,
      sizeCalculation: ({ isFolder }) => 20 + (isFolder?.size ?? 0),
      fetchMethod: folder => listingOf(fileIn(directory, folder)),
      // Otherwise one that is evicted while it is read would be an error.
      ignoreFetchAbort: true,
      ttlResolution: 0
    })
  }

  /** Whether there is no file at a decoded path, as far as is known. */
  lack(path: string): boolean {
    const { top, index } = this.#directory
    let isFolder: boolean | undefined
    for (const [folder, name] of partsOf(this.#directory, path)) {
      const names = this.#known.get(folder)?.isFolder
      if (!names || !isRemembered(name) || (folder === '/' && name === top)) return false
      isFolder = names.get(composed(name))
      if (isFolder === undefined) return true
    }
    return isFolder === true && index === undefined
  }

  /** Reads the folders that tell why no file was found at a path. */
  async learn(path: string, seconds: number): Promise<void> {
    for (const [folder, name] of partsOf(this.#directory, path)) {
      if (!isRemembered(name)) return
      const listing = await this.#read(folder, seconds)
      if (!listing?.isFolder?.has(composed(name))) return
    }
  }

  /** What is beside an existing file, as far as is known: a listing without the file itself is older. */
  async beside(path: string, seconds: number): Promise<Listing['isFolder']> {
    const listing = await this.#read(path.slice(0, path.lastIndexOf('/') + 1), seconds)
    return listing?.isFolder?.has(composed(basename(path))) ? listing.isFolder : undefined
  }

  /** Whether a decoded path has every name in its case on disk: a guard compares the path as it was sent. */
  async haveNames(path: string, seconds: number): Promise<boolean> {
    const checked = Array.from(partsOf(this.#directory, path), async ([folder, name]) => {
      const listing = await this.#read(folder, seconds)
      return (
        listing?.isFolder?.has(composed(name)) || isNameIn(fileIn(this.#directory, folder), name)
      )
    })
    return (await Promise.all(checked)).every(Boolean)
  }

  /** @param seconds for which it is trusted; 0: it is not read */
  async #read(folder: string, seconds: number): Promise<Listing | undefined> {
    return seconds === 0 ? undefined : this.#known.fetch(folder, { ttl: seconds * 1000 })
  }
}

/** A deploy may just have added a file, and its first page, from whichever process, refers to it at once. */
function isRemembered(name: string): boolean {
  return name !== '' && !name.includes('.')
}

async function listingOf(folder: string): Promise<Listing> {
  const isFolder = new Map<string, boolean>()
  try {
    for await (const entry of await opendir(folder, { bufferSize: 512 })) {
      if (isFolder.size === MAX_NAMES / 4) return {}
      isFolder.set(composed(entry.name), entry.isDirectory())
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    if (!isMiss(error)) return {}
  }
  return { isFolder }
}

/**
 * Only a folder in which the name also exists in the opposite case is read: on a file system that ignores case,
 * neither a descriptor nor realpath(3) may show how the name is written.
 * @param folder with a slash at its end
 */
async function isNameIn(folder: string, name: string): Promise<boolean> {
  const lower = name.toLowerCase()
  const other = lower === name ? name.toUpperCase() : lower
  if (other === name || !(await statOf(folder + other))) return true
  return (await namesIn(folder)).some(each => composed(each) === composed(name))
}

/** None for a folder that only lets its files be opened. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return []
  }
}

/** The names of a path and the folders that they are in, down from the directory: `/a/b` has a in `/`, b in `/a/`. */
function* partsOf(
  { urlPath }: ServedDirectory,
  path: string
): Generator<[folder: string, name: string]> {
  for (let end = urlPath.length; end !== -1;) {
    const start = end + 1
    end = path.indexOf('/', start)
    yield [path.slice(0, start), path.slice(start, end === -1 ? undefined : end)]
  }
}
