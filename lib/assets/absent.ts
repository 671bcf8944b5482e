// What is not in public, so that a miss costs one look at the disk and not one for each request. A folder
// that is watched tells of everything that comes into it, and then nothing is remembered of it any more;
// nor is anything trusted for longer than `revalidate`.
import { type FSWatcher, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode, isMiss, statOf, type Mark } from './disk.ts'
import type { Settings } from './settings.ts'

export interface Absent {
  /** Whether it is known that public has no such folder as the first of a path, just as it was sent. */
  lacksFirstFolderOf(rawPath: string): boolean
  /** Whether it is known that public has no such file. */
  lacks(path: string): boolean
  /** Looks at a file, and remembers for `revalidate` seconds that it is not there. */
  look(path: string, revalidate: number): Promise<Mark | undefined>
}

interface Folder {
  readonly watcher: FSWatcher
  /** Paths of what is not in it, and until when that is trusted, in milliseconds. */
  readonly names: Map<string, number>
}

const MAX_FOLDERS = 100
const MAX_NAMES = 1000

export function makeAbsent({ publicDir, prefix }: Settings): Absent {
  const folders = new Map<string, Folder>()
  const prefixFolder = firstFolder(prefix)

  const drop = (path: string, folder: Folder): void => {
    folder.watcher.close()
    if (folders.get(path) === folder) folders.delete(path)
  }

  const watchFolder = (path: string): Folder | undefined => {
    try {
      const watcher = watch(join(publicDir, path), { persistent: false })
      const folder: Folder = { watcher, names: new Map() }
      watcher.on('change', () => drop(path, folder))
      watcher.on('error', () => drop(path, folder))
      for (const [oldest, kept] of folders) if (folders.size >= MAX_FOLDERS) drop(oldest, kept)
      folders.set(path, folder)
      return folder
    } catch (error) {
      // Without events nothing is remembered.
      if (!isMiss(error) && errorCode(error) === undefined) throw error
      return undefined
    }
  }

  /** @param folder what was watching before it was looked, lest something came in between */
  const remember = (path: string, folder: Folder | undefined, revalidate: number): void => {
    if (!folder || folders.get(dirname(path)) !== folder) return
    if (folder.names.size >= MAX_NAMES) folder.names.clear()
    folder.names.set(path, Date.now() + revalidate * 1000)
  }

  const isKnown = (folder: string, path: string): boolean =>
    (folders.get(folder)?.names.get(path) ?? 0) > Date.now()

  const lacksFolder = async (first: string, revalidate: number): Promise<boolean> => {
    const top = folders.get('/') ?? watchFolder('/')
    if (await statOf(join(publicDir, first))) return false
    remember(first, top, revalidate)
    return true
  }

  return {
    lacksFirstFolderOf(rawPath) {
      const first = firstFolder(rawPath)
      // Under the prefix a miss is more than a look that can be spared. What is remembered is decoded:
      // with a percent sign it is the name of something else.
      return first !== prefixFolder && isKnown('/', first) && !first.includes('%')
    },
    lacks: path => isKnown(dirname(path), path),
    async look(path, revalidate) {
      const watched = folders.get(dirname(path))
      const stats = await statOf(join(publicDir, path))
      if (stats || revalidate === 0) return stats
      const first = firstFolder(path)
      const isDeeper = first !== path && first !== prefixFolder
      if (isDeeper && (await lacksFolder(first, revalidate))) return undefined
      if (watched) remember(path, watched, revalidate)
      else watchFolder(dirname(path))
      return undefined
    }
  }
}

/** `/users/42` -> `/users` */
function firstFolder(path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}
