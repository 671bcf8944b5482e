// What is not in public, so that a miss costs one look at the disk and not one for each request. A folder
// that is watched tells of everything that comes into it, and then nothing is remembered of it any more.
// What no event tells of (a folder above it was replaced, a link leads elsewhere) is seen after
// `revalidate`, as with files.
import { type BigIntStats, type FSWatcher, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode, isMiss, statOf } from '../../files/disk.ts'
import type { Settings } from '../settings/settings.ts'

export interface Absent {
  /** Whether it is known that public has no such folder as the first of a path, just as it was sent. */
  lacksFirstFolderOf(rawPath: string): boolean
  /** Whether it is known that public has no such file. */
  lacks(path: string): boolean
  /** Looks at a file, and remembers for `revalidate` seconds that it is not there. */
  look(path: string, revalidate: number): Promise<BigIntStats | undefined>
}

interface Miss {
  /** In which nothing was found, and what tells of what comes into it. */
  readonly folder: string
  readonly watcher: FSWatcher
  /** Milliseconds of the monotonic clock. */
  readonly trustedUntil: number
}

const MAX_FOLDERS = 100
const MAX_MISSES = 1000
/** In characters. Nobody's page has a longer one, and all of them together stay small. */
const MAX_LENGTH = 256

export function makeAbsent({ publicDir, prefix }: Settings): Absent {
  const folders = new Map<string, FSWatcher>()
  const misses = new Map<string, Miss>()
  const prefixFolder = firstFolder(prefix)

  const drop = (folder: string, watcher: FSWatcher): void => {
    watcher.close()
    if (folders.get(folder) === watcher) folders.delete(folder)
  }

  /** What comes while somebody looks is not told of: only the next miss is remembered. */
  const watchFolder = async (folder: string): Promise<void> => {
    const path = join(publicDir, folder)
    if (!(await statOf(path))?.isDirectory() || folders.has(folder)) return
    try {
      const watcher = watch(path, { persistent: false })
      watcher.on('change', () => drop(folder, watcher))
      watcher.on('error', () => drop(folder, watcher))
      for (const [oldest, kept] of folders) if (folders.size >= MAX_FOLDERS) drop(oldest, kept)
      folders.set(folder, watcher)
    } catch (error) {
      // Without events nothing is remembered.
      if (!isMiss(error) && errorCode(error) === undefined) throw error
    }
  }

  /** @param watcher what was watching before somebody looked; a miss is known as long as it does */
  const remember = (path: string, watcher: FSWatcher, revalidate: number): void => {
    if (path.length > MAX_LENGTH) return
    if (misses.size >= MAX_MISSES) misses.clear()
    const trustedUntil = performance.now() + revalidate * 1000
    misses.set(path, { folder: dirname(path), watcher, trustedUntil })
  }

  const lacks = (path: string): boolean => {
    const miss = misses.get(path)
    if (!miss || miss.trustedUntil <= performance.now()) return false
    return folders.get(miss.folder) === miss.watcher
  }

  /** Undefined for what is not there: it is remembered, or its folder watched from now on. */
  const look = async (path: string, revalidate: number): Promise<BigIntStats | undefined> => {
    const watcher = folders.get(dirname(path))
    const stats = await statOf(join(publicDir, path))
    if (stats || revalidate === 0) return stats
    if (watcher) remember(path, watcher, revalidate)
    else await watchFolder(dirname(path))
    return undefined
  }

  return {
    lacksFirstFolderOf(rawPath) {
      const first = firstFolder(rawPath)
      // Under the prefix a miss is more than a look that can be spared. What is remembered is decoded:
      // with a percent sign it is the name of something else.
      return first !== prefixFolder && lacks(first) && !first.includes('%')
    },
    lacks,
    async look(path, revalidate) {
      const stats = await look(path, revalidate)
      const first = firstFolder(path)
      const isDeeper = first !== path && first !== prefixFolder
      if (!stats && isDeeper && revalidate > 0) await look(first, revalidate)
      return stats
    }
  }
}

/** `/users/42` -> `/users` */
function firstFolder(path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}
