// What the folders of a directory lack, so that a request does not ask the disk for it again: without this
// every page behind the middleware would cost a stat, 44 instead of 38 µs of CPU for a constant page (wrk,
// 16 connections). And what they have, and how their names are written.
import { opendir, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { errorCode, statOf } from '../../../files/disk.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { composed } from '../request-path.ts'

/** Of all missing paths of a directory together. */
const MAX_CHARACTERS = 500_000
/** In characters. A longer path may have thousands of folders, each of which is looked up. */
const MAX_LENGTH = 512

export class Missing {
  readonly #directory: ServedDirectory
  /**
   * Until when there is no file at a decoded path or, for one with a slash at its end, below it: in
   * milliseconds of the monotonic clock.
   */
  readonly #until = new LRUCache<string, number>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_, path) => path.length + 100
  })

  constructor(directory: ServedDirectory) {
    this.#directory = directory
  }

  /** Whether there is no file at a decoded path, as far as is known. */
  has(path: string): boolean {
    if (path.length > MAX_LENGTH) return false
    for (let end = this.#directory.urlPath.length; end !== -1;) {
      end = path.indexOf('/', end + 1)
      const until = this.#until.get(end === -1 ? path : path.slice(0, end + 1))
      if (until !== undefined && until > performance.now()) return true
    }
    return false
  }

  /** @param seconds for how long it is believed */
  add(path: string, seconds: number): void {
    this.#until.set(path, performance.now() + seconds * 1000)
  }

  /** Remembers which part of a path at which no file was found is missing. */
  async learn(path: string, seconds: number): Promise<void> {
    for (const part of partsOf(this.#directory, path)) {
      const name = basename(part)
      // A deploy may just have added a file, and its first page, of whichever process, refers to it at once.
      if (part.endsWith('/') || name.includes('.')) return
      const stats = await statOf(fileIn(this.#directory, part))
      if (!stats) {
        this.add(part, seconds)
        this.add(`${part}/`, seconds)
        return
      }
      if (part === path && stats.isDirectory()) this.add(path, seconds)
    }
  }
}

type Names = ReadonlySet<string> | undefined

/** Of all folders together; one may have a quarter of them. */
const MAX_NAMES = 20_000

/** The names in folders, so that what is beside a file is not asked of the disk one by one. */
export class Listings {
  readonly #known = new LRUCache<string, { readonly names: Names; readonly until: number }>({
    maxSize: MAX_NAMES,
    sizeCalculation: ({ names }) => 20 + (names?.size ?? 0)
  })
  readonly #reading = new Map<string, Promise<Names>>()

  /**
   * The names in a folder, composed; undefined for one that has too many, or only lets its files be opened.
   * @param seconds for which they are believed; 0: not at all
   */
  of(folder: string, seconds: number): Promise<Names> | Names {
    if (seconds === 0) return undefined
    const known = this.#known.get(folder)
    if (known && known.until > performance.now()) return known.names
    const reading = this.#reading.get(folder) ?? this.#read(folder, seconds)
    this.#reading.set(folder, reading)
    return reading
  }

  async #read(folder: string, seconds: number): Promise<Names> {
    const until = performance.now() + seconds * 1000
    try {
      const names = await someNamesIn(folder)
      this.#known.set(folder, { names, until })
      return names
    } finally {
      this.#reading.delete(folder)
    }
  }
}

async function someNamesIn(folder: string): Promise<Names> {
  const names = new Set<string>()
  try {
    for await (const { name } of await opendir(folder, { bufferSize: 512 })) {
      if (names.size === MAX_NAMES / 4) return undefined
      names.add(composed(name))
    }
    return names
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}

/** Whether a decoded path has every name in its case on disk: a guard compares the path as it was sent. */
export async function hasNames(
  directory: ServedDirectory,
  path: string,
  namesOf: (folder: string) => Promise<Names> | Names
): Promise<boolean> {
  const checked = partsOf(directory, path).map(async part => {
    const file = fileIn(directory, part)
    const names = await namesOf(dirname(file))
    return names?.has(composed(basename(file))) || isNameOf(file)
  })
  return (await Promise.all(checked)).every(Boolean)
}

/**
 * Only a folder that has the name in another case as well is read: a file system that ignores case may tell
 * neither by a descriptor nor by realpath(3) how the name is written.
 */
async function isNameOf(file: string): Promise<boolean> {
  const [folder, name] = [dirname(file), basename(file)]
  const lower = name.toLowerCase()
  const other = lower === name ? name.toUpperCase() : lower
  if (other === name || !(await statOf(join(folder, other)))) return true
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

/** The path and those of the folders above it, down from the directory: `/a/b` has `/a` and `/a/b`. */
function partsOf({ urlPath }: ServedDirectory, path: string): string[] {
  const parts: string[] = []
  for (let at = urlPath.length; at !== -1;) {
    at = path.indexOf('/', at + 1)
    parts.push(at === -1 ? path : path.slice(0, at))
  }
  return parts
}
