// The directories that third-party packages bring along: one list per process.
import { isAbsolute, resolve } from 'node:path'
import { inspect } from 'node:util'

// Also when two copies of this package are loaded.
const LIST = Symbol.for('koa-fresh-assets.sources')
const shared = globalThis as { [LIST]?: string[] }
const list: string[] = (shared[LIST] ??= [])

/** The list itself, which grows. */
export const thirdParty: readonly string[] = list

/** The process-wide list of directories that third-party packages bring along. */
export const assetSources = Object.freeze({
  /**
   * Appends directories; every app searches them after its own, whether it was made before or after.
   * A directory that is in the list already stays where it is.
   * @param directories absolute paths
   * @throws TypeError for anything but absolute paths
   */
  append(directories: string | readonly string[]): void {
    const given: readonly unknown[] = [directories].flat()
    for (const directory of given) {
      if (typeof directory !== 'string' || !isAbsolute(directory)) {
        throw new TypeError(
          `assetSources.append takes absolute directories, got ${inspect(directory)}: use import.meta.dirname`
        )
      }
    }
    for (const directory of given as string[]) {
      if (!list.includes(resolve(directory))) list.push(resolve(directory))
    }
  },
  /** The directories in the order in which they are searched. */
  list(): readonly string[] {
    return [...list]
  }
})
