// The names in the folders of a directory, so that a request does not ask the disk for what is not there: a
// page for a file of its name, a file for its compressed copies. Without them every page behind the
// middleware would cost a stat: 44 instead of 38 µs of CPU for a constant page (wrk, 16 connections).
import { opendir, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { isUnchangedSince } from '../../../files/clock.ts'
import { errorCode, sameStamp, stampOf, statOf, type Stamp } from '../../../files/disk.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { composed, hasOneSpelling, isBelow } from '../request-path.ts'

/** By composed name: whether it is a folder. One in another case is another name, on every file system. */
type Names = ReadonlyMap<string, boolean>

interface Folder {
  /** Undefined while it does not exist, or may change again without another stamp. */
  readonly stamp: Stamp | undefined
  /** Undefined for a folder that has too many, or that only lets its files be opened. */
  readonly names: Names | undefined
  /** Milliseconds of the monotonic clock. */
  trustedUntil: number
}

/** Of all folders together; one may have a quarter of them. */
const MAX_NAMES = 20_000
/** In names. */
const FOLDER_COST = 20

export class Folders {
  readonly #directory: ServedDirectory
  /** By decoded URL path. */
  readonly #folders = new LRUCache<string, Folder>({
    maxSize: MAX_NAMES,
    sizeCalculation: ({ names }) => FOLDER_COST + (names?.size ?? 0)
  })
  readonly #looks = new Map<string, Promise<boolean>>()

  constructor(directory: ServedDirectory) {
    this.#directory = directory
  }

  /** Whether the directory is known to lack a path, exactly as it was sent. */
  lackRaw(rawPath: string): boolean {
    const { publishedFolder, isPublishing } = this.#directory
    // Under the prefix a path with a percent sign may be malformed.
    const isPublished = publishedFolder !== undefined && isBelow(rawPath, publishedFolder)
    if (isPublished && (isPublishing || !hasOneSpelling(rawPath))) return false
    return this.#lacksPartOf(rawPath, true)
  }

  /** Whether there is no file at a decoded path, as far as is known. */
  lacks(path: string): boolean {
    return this.#at(path) === 'folder' || this.#lacksPartOf(path, false)
  }

  /** The composed names in the folder of a decoded path; undefined where they are not known. */
  namesBeside(path: string): Names | undefined {
    return this.#recall(path.slice(0, path.lastIndexOf('/')))?.names
  }

  /** Whether a folder is known to lack the file at a decoded path, which is only made beside another. */
  lacksBeside(path: string): boolean {
    return this.namesBeside(path)?.has(nameOf(path)) === false
  }

  /** Looks at the folders above a decoded path, unless that was done within `revalidate`, in seconds. */
  async learn(path: string, revalidate: number): Promise<void> {
    for (const each of pathsFrom(this.#directory, path)) {
      const folder = each.slice(0, each.lastIndexOf('/'))
      if (!this.#recall(folder)) {
        const look = this.#looks.get(folder) ?? this.#look(folder, revalidate)
        this.#looks.set(folder, look)
        if (!(await look)) return
      }
      if (this.#at(each) === 'missing') return
    }
  }

  /** Whether a decoded path has every name in its case: a guard compares the path as it was sent. */
  async hasNames(path: string): Promise<boolean> {
    const unknown = pathsFrom(this.#directory, path).filter(
      each => !this.namesBeside(each)?.has(nameOf(each))
    )
    return (await Promise.all(unknown.map(each => isNameOf(fileIn(this.#directory, each))))).every(
      Boolean
    )
  }

  #lacksPartOf(path: string, isRaw: boolean): boolean {
    for (let end = this.#directory.urlPath.length; end < path.length;) {
      const slash = path.indexOf('/', end + 1)
      end = slash === -1 ? path.length : slash
      const part = path.slice(0, end)
      // Names are decoded: with a percent sign they are others.
      if (isRaw && !hasOneSpelling(part)) return false
      const kind = this.#at(part)
      if (kind !== 'folder') return kind === 'missing'
    }
    return false
  }

  #at(path: string): 'missing' | 'folder' | undefined {
    const [names, name] = [this.namesBeside(path), nameOf(path)]
    // A path with a slash at its end may have an index file.
    if (!names || name === '') return undefined
    if (names.has(name)) return names.get(name) ? 'folder' : undefined
    // A deploy may just have added a file, and its first page, of whichever process, refers to it at once.
    return name.includes('.') ? undefined : 'missing'
  }

  #recall(folder: string): Folder | undefined {
    const known = this.#folders.get(folder)
    return known && known.trustedUntil > performance.now() ? known : undefined
  }

  /** Concurrent requests share one look. @returns whether it is a folder, or may become one */
  async #look(folder: string, revalidate: number): Promise<boolean> {
    const [path, readAt] = [fileIn(this.#directory, folder), Date.now()]
    const trustedUntil = performance.now() + revalidate * 1000
    try {
      const stats = await statOf(path)
      const known = this.#folders.get(folder)
      if (known?.stamp && stats && sameStamp(known.stamp, stats)) {
        known.trustedUntil = trustedUntil
        return true
      }
      this.#folders.delete(folder)
      if (stats ? !stats.isDirectory() : folder !== this.#directory.urlPath) return false
      const stamp = stats && isUnchangedSince(stats, readAt) ? stampOf(stats) : undefined
      const names = stats ? await readNames(path) : new Map<string, boolean>()
      this.#folders.set(folder, { stamp, names, trustedUntil })
      return true
    } finally {
      this.#looks.delete(folder)
    }
  }
}

function nameOf(path: string): string {
  return composed(path.slice(path.lastIndexOf('/') + 1))
}

/** The path and those of the folders above it, down from the directory: `/a/b` has `/a` and `/a/b`. */
function pathsFrom({ urlPath }: ServedDirectory, path: string): string[] {
  const paths: string[] = []
  for (let at = urlPath.length; at !== -1;) {
    at = path.indexOf('/', at + 1)
    paths.push(at === -1 ? path : path.slice(0, at))
  }
  return paths
}

/** Undefined for a folder that has too many names, or that only lets its files be opened. */
async function readNames(path: string): Promise<Names | undefined> {
  const names = new Map<string, boolean>()
  try {
    for await (const entry of await opendir(path, { bufferSize: 512 })) {
      if (names.size === MAX_NAMES / 4) return undefined
      const name = composed(entry.name)
      // Two names may be one when they are composed.
      names.set(name, entry.isDirectory() && names.get(name) !== false)
    }
    return names
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}

/**
 * Whether a file's name is in this case on disk. Only a folder that has it in another case as well is read: a
 * file system that ignores case may tell neither by a descriptor nor by realpath(3) how the name is written.
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
