// What was seen of a file when it was read, so that a later look can tell whether it is still the same;
// and of a folder when something in it was looked for in vain.
import { basename, dirname, join } from 'node:path'
import { hasRested } from './clock.ts'
import { stampOf, readWhole, sameStamp, statOf, type Stamp } from './disk.ts'
import { digestOf } from './digest.ts'

export type Seen = SeenFile | SeenFolder

export interface SeenFile {
  readonly path: string
  readonly stamp: Stamp
  /** Kept for a file that changed so recently that it may change again without a new stamp. */
  readonly digest?: string | undefined
}

export interface SeenFolder {
  readonly path: string
  /** Absent for a folder that changed so recently that it may change again without a new stamp. */
  readonly stamp?: Stamp | undefined
  /** The names that were looked for and not there. */
  readonly lacks: readonly string[]
}

export function isFile(seen: Seen): seen is SeenFile {
  return !('lacks' in seen)
}

/** The newest mtime of all. */
export function newestOf(files: readonly SeenFile[]): bigint {
  return files.reduce((newest, { stamp }) => (stamp.mtimeNs > newest ? stamp.mtimeNs : newest), 0n)
}

/** @param readAt when the reading began, in milliseconds since 1970 */
export function seen(path: string, stamp: Stamp, bytes: () => Uint8Array, readAt = Date.now()) {
  return hasRested(stamp, readAt) ? { path, stamp } : { path, stamp, digest: digestOf(bytes()) }
}

/**
 * What is not there, by the folders that lack it: a folder's stamp tells of whatever comes into it. Of a
 * path whose folders are not there either, the first that is missing stands for the rest.
 */
export async function seenLacking(paths: Iterable<string>): Promise<SeenFolder[]> {
  const folders = new Map<string, Set<string>>()
  const add = async (path: string): Promise<void> => {
    const folder = dirname(path)
    if (folder === path) return undefined
    if (!folders.has(folder) && !(await statOf(folder))) return add(folder)
    folders.set(folder, (folders.get(folder) ?? new Set()).add(basename(path)))
    return undefined
  }
  for (const path of paths) await add(path)
  return Promise.all(
    Array.from(folders, async ([path, names]) => {
      const lacks = [...names]
      return (await lookAtFolder({ path, lacks })) ?? { path, lacks }
    })
  )
}

/** What was seen, as it is now: itself when there is no news, undefined when it has changed. */
export function lookAgain(seen: Seen): Promise<Seen | undefined> {
  return isFile(seen) ? lookAtFile(seen) : lookAtFolder(seen)
}

async function lookAtFile(seen: SeenFile): Promise<Seen | undefined> {
  const { path, stamp, digest } = seen
  if (digest === undefined) {
    const stats = await statOf(path)
    return stats && sameStamp(stats, stamp) ? seen : undefined
  }
  const lookedAt = Date.now()
  const now = await readWhole(path)
  if (!now || !sameStamp(now.stamp, stamp) || digestOf(now.bytes) !== digest) return undefined
  return hasRested(stamp, lookedAt) ? { path, stamp } : seen
}

/** The folder's stamp is taken before the names are looked for: what comes meanwhile is news to the next look. */
async function lookAtFolder(seen: SeenFolder): Promise<SeenFolder | undefined> {
  const { path, stamp, lacks } = seen
  const lookedAt = Date.now()
  const stats = await statOf(path)
  if (stats && stamp && sameStamp(stats, stamp)) return seen
  const there = await Promise.all(lacks.map(name => statOf(join(path, name))))
  if (there.some(Boolean)) return undefined
  return stats && hasRested(stats, lookedAt) ? { path, stamp: stampOf(stats), lacks } : seen
}
