// What is in the folder of `public` that assets are published to, as the names of files tell.
import { join, relative, sep } from 'node:path'
import { splitDelta } from '../../../files/deltas/delta-file.ts'
import { entriesBelow } from '../../../files/disk.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'

export interface PublishedFile {
  /** The decoded URL path. */
  readonly path: string
  /** Absolute. */
  readonly file: string
}

/** Every regular file, deltas and compressed copies included. No link is followed. */
export async function listPublished(settings: Settings): Promise<readonly PublishedFile[]> {
  const entries = await entriesBelow(publicFile(settings, settings.prefix))
  const files = entries.filter(entry => entry.isFile())
  return files.map(({ parentPath, name }) => {
    const file = join(parentPath, name)
    return { file, path: `/${relative(settings.publicDir, file).split(sep).join('/')}` }
  })
}

export interface PublishedDelta extends PublishedFile {
  /** The digest of the bytes that it starts from. */
  readonly from: string
}

/** The deltas beside each file, by its path. */
export function deltasByTarget(
  files: readonly PublishedFile[]
): ReadonlyMap<string, readonly PublishedDelta[]> {
  const deltas = new Map<string, PublishedDelta[]>()
  for (const { path, file } of files) {
    const split = splitDelta(path)
    if (!split) continue
    const beside = deltas.get(split.name) ?? []
    beside.push({ path, file, from: split.digest })
    deltas.set(split.name, beside)
  }
  return deltas
}
