// The names in a folder, and a watch that reports when they change.
import { watch, type Dirent, type FSWatcher } from 'node:fs'
import { opendir, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode, statOf } from '../../../files/disk.ts'
import { composed } from '../request-path.ts'

/** `unsure`: a link, or several names that some file systems do not distinguish. */
export type Kind = 'file' | 'other' | 'unsure'

export function isNoFile(kind: Kind | 'missing'): kind is 'missing' | 'other' {
  return kind === 'missing' || kind === 'other'
}

/** By composed name. One in another case is another name, on every file system. */
export type Names = ReadonlyMap<string, Kind>

/**
 * Undefined for a folder that has more names than there is room for, that only lets its files be opened, or
 * that other machines may write to: nothing reports what they add.
 *
 * @param take makes room for one more name, if there is any
 */
export async function readNames(path: string, take: () => boolean): Promise<Names | undefined> {
  const names = new Map<string, Kind>()
  try {
    if (!(await isLocal(path))) return undefined
    for await (const entry of await opendir(path, { bufferSize: 512 })) {
      if (!take()) return undefined
      const name = composed(entry.name)
      names.set(name, names.has(name) ? 'unsure' : kindOf(entry))
    }
    return names
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}

/** Those of a folder that does not exist, as long as the folder above reports no change. */
export async function noNames(path: string): Promise<Names | undefined> {
  const isMissing = (await statOf(path)) === undefined
  return isMissing && (await isLocal(dirname(path))) ? new Map() : undefined
}

/**
 * Whether a folder has a name in this case. Only one that has it in another case as well is read: a file
 * system that ignores case may tell neither by a descriptor nor by realpath(3) how the name is written.
 */
export async function hasName(folder: string, name: string): Promise<boolean> {
  const lower = name.toLowerCase()
  const other = lower === name ? name.toUpperCase() : lower
  if (other === name || !(await statOf(join(folder, other)))) return true
  for await (const entry of await opendir(folder)) {
    if (composed(entry.name) === composed(name)) return true
  }
  return false
}

function kindOf(entry: Dirent): Kind {
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'unsure' : 'other'
}

// By the magic numbers of statfs(2): ext2 to ext4, XFS, Btrfs, ZFS, F2FS, bcachefs, tmpfs, overlayfs.
const LOCAL = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e],
  ...[0x01021994, 0x794c7630]
])

/** Linux says nothing about changes that others make to a network drive or to a file system in user space. */
async function isLocal(path: string): Promise<boolean> {
  return process.platform !== 'linux' || LOCAL.has((await statfs(path)).type)
}

/** Undefined where there are no file-system events, or no more watches (ENOSPC). */
export function watchNames(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    return (
      watch(path, { persistent: false })
        // The other type of event is about what is in a file.
        .on('change', type => type === 'rename' && onChange())
        .on('error', onChange)
    )
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}
