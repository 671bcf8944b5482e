// Lists the files of a built directory that can be requested, and the versions and deltas of published files.
import { join, resolve } from 'node:path'
import { AssetError } from '../../runtime/errors.ts'
import { entriesBelow, realpathOf, statOf } from '../../runtime/files/disk.ts'
import { isText, optionError } from '../../runtime/check-options.ts'
import {
  canonicalSegments,
  encodePath,
  splitFingerprint,
  type Fingerprinted
} from '../../runtime/urls/spelling.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import type { Boundary } from '../../runtime/files/containment.ts'
import { groupBy } from '../../runtime/lists.ts'
import { splitDelta } from './delta-format.ts'

export type BuiltDirectory = Awaited<ReturnType<typeof openDirectory>>

/** @throws TypeError for anything but a path; AssetError for a missing or empty directory, a file, or a project */
export async function openDirectory(given: string) {
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
  const files: ReadonlySet<string> = new Set(await requestableFiles(path))
  if (files.size === 0) throw unusable(`${given} contains no file to serve: build it first`)
  // Nothing is read or written through a symbolic link.
  const place: Boundary = { root: path, dir: path, symlinks: 'deny' }
  return { path, place, files }
}

const unusable = (message: string): AssetError => new AssetError('directory-unusable', message)

/** Lists the files that can be requested, sorted; none without a directory. @throws AssetError for a vanished folder */
export async function requestableFiles(top: string): Promise<readonly string[]> {
  // Other folders may be large, or unreadable: `.git`, `.Trash-0`.
  const isWanted = (path: string) => Array.isArray(canonicalSegments(`/${encodePath(path)}`))
  const pathOf = (file: string) => pathFrom(top, file)
  const isEntered = (folder: string) => isWanted(pathOf(folder))
  const entries = await entriesBelow(top, isEntered, folder => {
    throw unusable(`${folder} was removed while ${top} was read: run it again when nothing changes`)
  })
  const files = entries.filter(entry => entry.isFile())
  const paths = files.map(({ parentPath, name }) => pathOf(join(parentPath, name)))
  return paths.filter(isWanted).toSorted()
}

/** A fingerprinted file, or a delta beside one. */
export interface PublishedFile {
  /** The decoded URL path. */
  readonly path: string
  readonly file: string
  /** The path without the fingerprint; for a delta, that of its original. */
  readonly base: string
  /** The digest in its name: that of its bytes or, for a delta, of the bytes to which it is applied. */
  readonly digest: string
}

export async function listPublished(settings: Settings) {
  const files = await requestableFiles(publicFile(settings, settings.prefix))
  const named = (split: (path: string) => Fingerprinted | undefined) => {
    const found = files.flatMap((name): PublishedFile[] => {
      const path = `${settings.prefix}/${name}`
      const { name: base, digest = '' } = split(path) ?? {}
      return base === undefined ? [] : [{ path, file: publicFile(settings, path), base, digest }]
    })
    return groupBy(found, ({ base }) => base)
  }
  return { versions: named(splitFingerprint), deltas: named(splitDelta) }
}
