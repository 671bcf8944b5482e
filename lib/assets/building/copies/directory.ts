// A directory of files that somebody else built, such as a bundler: what in it can be requested.
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AssetError } from '../../../errors.ts'
import type { ServedPlace } from '../../../files/containment.ts'
import { realpathOf, statOf } from '../../../files/disk.ts'
import { isText, optionError } from '../../../options.ts'
import { canonicalSegments } from '../../urls/canonical-path.ts'
import { encodePath } from '../../urls/encode.ts'

export interface BuiltDirectory {
  /** Its real path. */
  readonly path: string
  /** Nothing is read or written through a symbolic link. */
  readonly place: ServedPlace
  /** The regular files that can be requested, relative to the directory, with slashes; sorted. */
  readonly files: ReadonlySet<string>
}

/**
 * @param given absolute, or relative to the working directory
 * @throws TypeError for anything but a path
 * @throws AssetError with the code `directory-unusable` when it is missing, a file, a project, or empty
 */
export async function openDirectory(given: string): Promise<BuiltDirectory> {
  if (!isText(given)) throw optionError('directory', 'the path of a directory', given)
  const path = await realpathOf(resolve(given))
  const stats = path === undefined ? undefined : await statOf(path)
  if (path === undefined || !stats) throw unusable(`${given} does not exist: build it first`)
  if (!stats.isDirectory())
    throw unusable(`${given} is not a directory: name the one that is served`)
  if (await statOf(join(path, 'package.json'))) {
    throw unusable(
      `${given} contains a package.json, so it is not served: name the directory that a build wrote, such as dist`
    )
  }
  const files = new Set(await requestableFiles(path))
  if (files.size === 0) throw unusable(`${given} contains no file to serve: build it first`)
  return { path, place: { root: path, dir: path, symlinks: 'deny' }, files }
}

function unusable(message: string): AssetError {
  return new AssetError('directory-unusable', message)
}

/** The regular files that can be requested, relative to the directory; sorted. */
export async function requestableFiles(top: string): Promise<readonly string[]> {
  const files: string[] = []
  const folders = ['']
  for (const folder of folders) {
    for (const entry of await readdir(join(top, folder), { withFileTypes: true })) {
      const path = folder + entry.name
      if (!Array.isArray(canonicalSegments(`/${encodePath(path)}`))) continue
      if (entry.isDirectory()) folders.push(`${path}/`)
      if (entry.isFile()) files.push(path)
    }
  }
  return files.toSorted()
}
