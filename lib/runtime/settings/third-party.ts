// Lists the source directories of third-party packages, once for the process.
import { isAbsolute } from 'node:path'
import { absolutePath } from '../files/paths.ts'
import { inspect } from 'node:util'

// The list is shared even when two copies of this package are loaded.
const LIST = Symbol.for('koa-fresh-assets.sources')
const shared = globalThis as { [LIST]?: string[] }
const list: string[] = (shared[LIST] ??= [])

/** The process-wide list of source directories of third-party packages. */
export const assetSources = Object.freeze({
  /**
   * Appends directories. Every app searches them after its own, whether it was created before or after
   * this call. A directory that is in the list already keeps its position.
   * @param directories absolute paths
   * @throws TypeError for anything but absolute paths; then nothing is appended
   * @example
   * assetSources.append(join(import.meta.dirname, 'assets'))
   */
  append(directories: string | readonly string[]): void {
    for (const directory of [directories].flat().map(resolved)) {
      if (!list.includes(directory)) list.push(directory)
    }
  },
  /** The directories, in search order. */
  list(): readonly string[] {
    return [...list]
  }
})

function resolved(directory: unknown): string {
  if (typeof directory === 'string' && isAbsolute(directory)) return absolutePath(directory)
  throw new TypeError(
    `assetSources.append expects absolute paths, got ${inspect(directory)}: build them from import.meta.dirname`
  )
}
