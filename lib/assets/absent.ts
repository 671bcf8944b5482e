// What is not in public, so that a page's route costs no look at the disk: one event tells of
// everything that comes into the folder, and none of it is trusted for longer than `revalidate`.
import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { errorCode, isMiss, statOf } from './disk.ts'
import type { Settings } from './settings.ts'

export interface Absent {
  /** Whether it is known that nothing in public bears this path. */
  has(path: string): boolean
  /** Remembers the first folder of a path that led to no file, if that is not there. */
  remember(path: string): Promise<void>
}

const MAX_NAMES = 1000

export function makeAbsent({ publicDir, prefix, revalidate }: Settings): Absent {
  const names = new Map<string, number>()
  let watcher: FSWatcher | undefined
  let changes = 0

  const forget = () => {
    changes++
    names.clear()
  }

  const stop = () => {
    watcher?.close()
    watcher = undefined
    forget()
  }

  const start = () => {
    try {
      watcher = watch(publicDir, { persistent: false })
      watcher.on('change', forget)
      watcher.on('error', stop)
    } catch (error) {
      // Without events nothing is remembered.
      if (!isMiss(error) && errorCode(error) === undefined) throw error
    }
  }

  return {
    has: path => (names.get(firstFolder(path)) ?? 0) > Date.now(),
    async remember(path) {
      // Under the prefix a miss is more than a look that can be spared.
      if (revalidate === 0 || firstFolder(prefix) === firstFolder(path)) return
      if (!watcher) start()
      const name = firstFolder(path)
      const before = changes
      const isThere = await statOf(join(publicDir, name))
      if (!watcher || isThere || changes !== before) return
      if (names.size >= MAX_NAMES) names.clear()
      names.set(name, Date.now() + revalidate * 1000)
    }
  }
}

/** `/users/42` -> `/users` */
function firstFolder(path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}
