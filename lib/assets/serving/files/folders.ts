// The names in the folders of a directory, so that a request does not ask the disk for what they lack: without
// this every page behind the middleware would cost a stat, 44 instead of 38 µs of CPU for a constant page
// (wrk, 16 connections).
import { opendir, readdir } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { splitDelta } from '../../../files/delta-format.ts'
import { errorCode, isMiss, statOf } from '../../../files/disk.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { composed } from '../request-path.ts'

/** What a folder has, by composed names. */
interface Listing {
  /** Whether it is a folder, not a link. Undefined if it has too many names, or only lets its files be opened. */
  readonly isFolder: ReadonlyMap<string, boolean> | undefined
  /** The files with deltas beside them. */
  readonly withDeltas: ReadonlySet<string>
  /** In milliseconds of the monotonic clock. */
  readonly until: number
}

/** Of all folders together; one may have a quarter of them. */
const MAX_NAMES = 20_000

export class Folders {
  readonly #directory: ServedDirectory
  /** By URL path, with a slash at its end. */
  readonly #known = new LRUCache<string, Listing>({
    maxSize: MAX_NAMES,
    sizeCalculation: ({ isFolder }) => 20 + (isFolder?.size ?? 0)
  })
  readonly #reading = new Map<string, Promise<Listing>>()

  constructor(directory: ServedDirectory) {
    this.#directory = directory
  }

  /** Whether there is no file at a decoded path, as far as is known. */
  lack(path: string): boolean {
    const { urlPath, top, index } = this.#directory
    for (let end = urlPath.length; ;) {
      const start = end + 1
      const isFolder = this.peek(path.slice(0, start))?.isFolder
      end = path.indexOf('/', start)
      const name = composed(end === -1 ? path.slice(start) : path.slice(start, end))
      if (!isFolder || !isRemembered(name) || (start === 1 && name === top)) return false
      if (!isFolder.has(name)) return true
      if (end === -1) return isFolder.get(name) === true && index === undefined
    }
  }

  /** Reads the folders that tell why no file was found at a path. */
  async learn(path: string, seconds: number): Promise<void> {
    for (const [folder, name] of partsOf(this.#directory, path)) {
      if (!isRemembered(name)) return
      const listing = await this.read(folder, seconds)
      if (!listing?.isFolder?.has(composed(name))) return
    }
  }

  /** What a folder had when it was last read, if that is still trusted. */
  peek(folder: string): Listing | undefined {
    const known = this.#known.get(folder)
    return known && known.until > performance.now() ? known : undefined
  }

  /** @param seconds for which it is trusted; 0: it is not read */
  read(folder: string, seconds: number): Promise<Listing | undefined> | Listing | undefined {
    if (seconds === 0) return undefined
    const known = this.peek(folder)
    if (known) return known
    const reading = this.#reading.get(folder) ?? this.#read(folder, seconds)
    this.#reading.set(folder, reading)
    return reading
  }

  async #read(folder: string, seconds: number): Promise<Listing> {
    try {
      const until = performance.now() + seconds * 1000
      const listing = await listingOf(fileIn(this.#directory, folder), until)
      this.#known.set(folder, listing)
      return listing
    } finally {
      this.#reading.delete(folder)
    }
  }

  /** Whether a decoded path has every name in its case on disk: a guard compares the path as it was sent. */
  async haveNames(path: string, seconds: number): Promise<boolean> {
    const checked = partsOf(this.#directory, path).map(async ([folder, name]) => {
      const listing = await this.read(folder, seconds)
      return (
        listing?.isFolder?.has(composed(name)) || isNameIn(fileIn(this.#directory, folder), name)
      )
    })
    return (await Promise.all(checked)).every(Boolean)
  }
}

/** A deploy may just have added a file, and its first page, from whichever process, refers to it at once. */
function isRemembered(name: string): boolean {
  return name !== '' && !name.includes('.')
}

async function listingOf(folder: string, until: number): Promise<Listing> {
  const isFolder = new Map<string, boolean>()
  const withDeltas = new Set<string>()
  try {
    for await (const entry of await opendir(folder, { bufferSize: 512 })) {
      if (isFolder.size === MAX_NAMES / 4) return { isFolder: undefined, withDeltas, until }
      const name = composed(entry.name)
      isFolder.set(name, entry.isDirectory())
      const delta = splitDelta(name)
      if (delta) withDeltas.add(delta.name)
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    if (!isMiss(error)) return { isFolder: undefined, withDeltas, until }
  }
  return { isFolder, withDeltas, until }
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

/** The folder of a path, with a slash at its end. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
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
function partsOf({ urlPath }: ServedDirectory, path: string): [folder: string, name: string][] {
  const parts: [string, string][] = []
  for (let end = urlPath.length; end !== -1;) {
    const start = end + 1
    end = path.indexOf('/', start)
    parts.push([path.slice(0, start), path.slice(start, end === -1 ? undefined : end)])
  }
  return parts
}
