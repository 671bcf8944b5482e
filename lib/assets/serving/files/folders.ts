// The names in the folders of a directory, so that a request does not ask the disk for what is not there: a
// page for a file of its name, a file for its compressed copies. Without them every page behind the
// middleware would cost a stat: 44 instead of 38 µs of CPU for a constant page (wrk, 16 connections).
import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { CODINGS, type Coding } from '../../../files/codings.ts'
import { isUnchangedSince } from '../../../files/clock.ts'
import { namesDelta } from '../../../files/deltas/delta-file.ts'
import { errorCode, sameStamp, stampOf, statOf, type Stamp } from '../../../files/disk.ts'
import { fileIn, type ServedDirectory } from '../directories/served-directory.ts'
import { composed, hasOneSpelling } from '../request-path.ts'

/** `unsure`: a folder that is not known, a link, or names that some file systems do not distinguish. */
export type Kind = 'file' | 'other' | 'missing' | 'unsure'

/** By composed name. One in another case is another name, on every file system. */
type Names = ReadonlyMap<string, Kind>

interface Folder {
  /** Undefined for a served directory that does not exist yet. */
  readonly stamp: Stamp | undefined
  /** False for a folder that changed so recently that it may change again without another stamp. */
  readonly hasRested: boolean
  /** Undefined for a folder that has too many, or that only lets its files be opened. */
  readonly names: Names | undefined
  /** Milliseconds of the monotonic clock. */
  trustedUntil: number
}

/** Of all folders together; one may have a quarter of them. */
const MAX_NAMES = 20_000
/** In names. */
const FOLDER_COST = 20
/** In characters. A longer path may be of very many folders. */
const MAX_LENGTH = 1024

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
    const { urlPath, publishedFolder, isPublishing } = this.#directory
    const end = rawPath.indexOf('/', urlPath.length + 1)
    const first = end === -1 ? rawPath : rawPath.slice(0, end)
    const isLackedWhole = () => hasOneSpelling(rawPath) && this.kindOf(rawPath) === 'missing'
    // Under the prefix a path with a percent sign may be malformed.
    if (first === publishedFolder) return !isPublishing && isLackedWhole()
    // Names are decoded: with a percent sign they are others. Most pages are below no folder.
    return !first.includes('%') && (this.#kindAt(first) === 'missing' || isLackedWhole())
  }

  /** What is known to be at a decoded path. */
  kindOf(path: string): Kind {
    if (path.length > MAX_LENGTH) return 'unsure'
    const kind = this.#kindAt(path)
    if (kind !== 'unsure') return kind
    const above = pathsFrom(this.#directory, path).map(each => this.#kindAt(each))
    return above.some(each => each === 'missing' || each === 'file') ? 'missing' : 'unsure'
  }

  /** Whether there is no file at a decoded path, as far as is known. */
  lacks(path: string): boolean {
    const kind = this.kindOf(path)
    return kind === 'missing' || kind === 'other'
  }

  /** The codings of which there may be a copy beside the file at a decoded path. */
  codingsBeside(path: string): readonly Coding[] {
    const [names, name] = this.#namesAt(path)
    return names ? CODINGS.filter(({ extension }) => names.has(name + extension)) : CODINGS
  }

  /** Whether a folder that is known lacks a delta at a decoded path: no page refers to one by its name. */
  lacksDelta(path: string): boolean {
    const [names, name] = this.#namesAt(path)
    const kind = names?.get(name)
    return names !== undefined && kind !== 'file' && kind !== 'unsure'
  }

  /** Whether there is a delta beside the file at a decoded path; undefined when the folder is not known. */
  hasDelta(path: string): boolean | undefined {
    const [names, name] = this.#namesAt(path)
    return names && namesDelta(names.keys(), name)
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
      if (this.#kindAt(each) === 'missing') return
    }
  }

  /** Whether a decoded path has every name in its case: a guard compares the path as it was sent. */
  async hasNames(path: string): Promise<boolean> {
    const asked = pathsFrom(this.#directory, path).flatMap(each => {
      const [names, name] = this.#namesAt(each)
      return names?.has(name) ? [] : [isNameOf(fileIn(this.#directory, each))]
    })
    return (await Promise.all(asked)).every(Boolean)
  }

  #kindAt(path: string): Kind {
    const [names, name] = this.#namesAt(path)
    // A path with a slash at its end may have an index file.
    if (!names || name === '') return 'unsure'
    // A deploy may just have added a file, and its first page, of whichever process, refers to it at once.
    return names.get(name) ?? (name.includes('.') ? 'unsure' : 'missing')
  }

  /** The names in the folder of a path, if they are known, and its own there. */
  #namesAt(path: string): readonly [names: Names | undefined, name: string] {
    const last = path.lastIndexOf('/')
    return [this.#recall(path.slice(0, last))?.names, composed(path.slice(last + 1))]
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
      if (known?.hasRested && known.stamp && stats && sameStamp(known.stamp, stats)) {
        known.trustedUntil = trustedUntil
        return true
      }
      this.#folders.delete(folder)
      if (stats ? !stats.isDirectory() : folder !== this.#directory.urlPath) return false
      const hasRested = stats !== undefined && isUnchangedSince(stats, readAt)
      const names = stats ? await readNames(path) : new Map<string, Kind>()
      this.#folders.set(folder, { stamp: stats && stampOf(stats), hasRested, names, trustedUntil })
      return true
    } finally {
      this.#looks.delete(folder)
    }
  }
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
  const names = new Map<string, Kind>()
  try {
    for await (const entry of await opendir(path, { bufferSize: 512 })) {
      if (names.size === MAX_NAMES / 4) return undefined
      const name = composed(entry.name)
      names.set(name, names.has(name) ? 'unsure' : kindOf(entry))
    }
    return names
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}

function kindOf(entry: Dirent): Kind {
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'unsure' : 'other'
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
  for await (const entry of await opendir(folder)) {
    if (composed(entry.name) === composed(name)) return true
  }
  return false
}
