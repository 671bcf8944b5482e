// The names in folders show whether a file is spelled like its path, which guards compare, and what is beside it.
import { opendir, readdir } from 'node:fs/promises'
import { basename, dirname, sep } from 'node:path'
import { LRUCache } from 'lru-cache'
import {
  errorCode,
  isMiss,
  isSameFileAt,
  isSameInode,
  isSettled,
  sameStamp,
  statOf,
  type Stamp
} from '../files/disk.ts'
import type { OpenFile } from '../files/open-file.ts'
import { composed } from '../files/paths.ts'
import { isRefusal } from '../files/refusals.ts'

/** @param directory above the file: each name below it is checked, as a link may lead to another file system */
export async function isSpelled(directory: string, { path: file }: OpenFile, trust: number) {
  for (let path = file; path.length > directory.length; path = dirname(path))
    if (!(await isListed(path, trust)) && !(await isNameIn(dirname(path) + sep, basename(path))))
      return false
  return true
}

/** Tells whether the list of names has this spelling, which saves the stats of other spellings. */
async function isListed(path: string, trust: number): Promise<boolean> {
  const name = basename(path)
  return name === composed(name) && (await namesAround(path, trust))?.has(name) === true
}

/** Tells whether a name is spelled so on disk: where case is ignored, a descriptor and realpath(3) need not show it. */
async function isNameIn(folder: string, name: string): Promise<boolean> {
  const whole = composed(name)
  const twin = name === whole ? undefined : await statOf(folder + whole)
  // On macOS the composed name leads to the same file, and is its only spelling in a URL.
  if (twin && (await isSameFileAt(folder + name, twin))) return false
  const lower = name.toLowerCase()
  const other = lower === name ? name.toUpperCase() : lower
  const alike = other === name ? undefined : await statOf(folder + other)
  if (!alike) return true
  // Two files prove that case matters here.
  const own = await statOf(folder + name)
  if (own && !isSameInode(own, alike)) return true
  return (await namesIn(folder)).some(each => composed(each) === whole)
}

/** Lists the names in a folder; none if its files can be opened but not listed. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (!isMiss(error) && !isRefusal(error) && errorCode(error) !== 'EACCES') throw error
    return []
  }
}

export type FolderNames = ReadonlySet<string>

/** Lists at most `most` names; undefined for a folder with more, and for one that cannot be listed. */
export async function namesUpTo(most: number, folder: string): Promise<FolderNames | undefined> {
  const names = new Set<string>()
  try {
    for await (const { name } of await opendir(folder, { bufferSize: 512 })) {
      if (names.size === most) return undefined
      names.add(composed(name))
    }
    return names
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return isMiss(error) ? names : undefined
  }
}

interface Listing {
  /** The names; undefined if there are too many, or the folder cannot be listed. */
  readonly names: FolderNames | undefined
  /** The names are current as long as the folder has this stamp; undefined if it may not show the next change. */
  readonly stamp: Stamp | undefined
  /** The time of the listing, in milliseconds since 1970. */
  seenAt: number
}

/** The limit for the names of all folders together; one folder may have a twentieth of it. */
const MAX_NAMES = 100_000
/** The shortest time between two listings of a folder that keeps changing, in milliseconds. */
const PAUSE_MS = 1000
/** The longest time between writing a file and its copies and deltas, in milliseconds. */
const WRITTEN_MS = 60_000

const listings = new LRUCache<string, Listing>({
  maxSize: MAX_NAMES,
  sizeCalculation: ({ names }) => 20 + (names?.size ?? 0)
})

// The one memory of copies, deltas and spellings. A folder is looked at again after `trust` ms, or for a new file.
export function namesAround(file: string, trust: number, stamp?: Pick<Stamp, 'ctimeNs'>) {
  const folder = dirname(file)
  const known = listings.get(folder)
  // A list without the file itself is older than the file, as when a folder was renamed into place.
  const isOlder = known?.names?.has(composed(basename(file))) === false
  const changedAt = Number((stamp?.ctimeNs ?? 0n) / 1_000_000n)
  const isNew = !known || isOlder || changedAt > known.seenAt - WRITTEN_MS
  return isNew || Date.now() >= known.seenAt + trust ? look(folder, known) : known.names
}

async function look(folder: string, known: Listing | undefined): Promise<FolderNames | undefined> {
  const seenAt = Date.now()
  const stamp = await statOf(folder)
  if (known?.stamp && stamp && sameStamp(known.stamp, stamp)) {
    known.seenAt = seenAt
    return known.names
  }
  if (known && seenAt < known.seenAt + PAUSE_MS) return undefined
  const names = await namesUpTo(MAX_NAMES / 20, folder)
  const isSure = stamp && isSettled(stamp, seenAt)
  listings.set(folder, { names, stamp: isSure ? stamp : undefined, seenAt })
  return names
}
