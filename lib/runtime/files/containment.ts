// Tells by real paths whether files are inside a directory, as links may lead out of it.
import { dirname, join, relative } from 'node:path'
import { AssetError } from '../errors.ts'
import { isSameFileAt, isSameInode, realpathOf, removeFile, statOf, type Symlinks } from './disk.ts'
import { folded, isInside, pathFrom } from './paths.ts'
import { pathOfDescriptor, readOpenFile, withFile, type OpenFile } from './open-file.ts'

/** A directory whose files are served, such as `public` or a mount, and which links may lead there. */
export interface Boundary {
  readonly root: string
  readonly dir: string
  readonly symlinks: Symlinks
  /** Tells whether a directory inside the root may be served once the link was switched; undefined if none may. */
  readonly mayLeadTo?: (real: string) => Promise<boolean>
  /** True if it did not exist at start, so `mayLeadTo` must still check it. */
  readonly isExpected?: boolean
}

/** The real paths of each directory and of its root, as first seen: a link that replaces one of them leads out. */
const seen = new WeakMap<Boundary, { readonly real: string; readonly root: string }>()

// Looks up real paths at first and after a deploy, which may switch links above `root` (`/srv/app/current`) or below.
async function lookFor(place: Boundary): Promise<void> {
  const [real, root] = await Promise.all([place.dir, place.root].map(realpathOf))
  const before = seen.get(place)
  if (real === undefined || root === undefined) return
  if (!before) {
    const isAccepted = !place.isExpected || (await place.mayLeadTo?.(real))
    // The first one of two concurrent lookups wins.
    if (isAccepted) seen.set(place, seen.get(place) ?? { real, root })
    return
  }
  if (root !== before.root) {
    if (!isInside(before.root, before.real)) return
    seen.set(place, { root, real: join(root, relative(before.root, before.real)) })
  } else if (real !== before.real && isInside(root, real) && (await place.mayLeadTo?.(real))) {
    seen.set(place, { root, real })
  }
}

/** @param path the path as named, which `deny` compares with the real one */
function isKnownInPlace(place: Boundary, path: string, real: string | undefined): boolean {
  const directory = seen.get(place)?.real
  if (directory === undefined || real === undefined) return false
  if (place.symlinks !== 'deny') return isInside(directory, real)
  return real === join(directory, relative(place.dir, path))
}

async function isRealInPlace(place: Boundary, path: string, real: string | undefined) {
  if (isKnownInPlace(place, path, real)) return true
  await lookFor(place)
  if (isKnownInPlace(place, path, real)) return true
  return isKnownInPlace(place, path, await respelled(place, real))
}

// Linux spells the path of a descriptor as any process last looked up its folders, if the disk ignores case.
async function respelled(place: Boundary, real = ''): Promise<string | undefined> {
  const directory = seen.get(place)?.real ?? ''
  const [start, rest] = [real.slice(0, directory.length), real.slice(directory.length)]
  if (start === directory || folded(start) !== folded(directory)) return undefined
  const [one, other] = await Promise.all([start, directory].map(statOf))
  return one && other && isSameInode(one, other) ? directory + rest : undefined
}

/** Returns the real path of an open file; undefined if it cannot be determined. */
export async function realPathOfOpen(file: OpenFile): Promise<string | undefined> {
  const path = pathOfDescriptor(file.fd)
  if (path === undefined) return realPathByName(file)
  const isGone = path.endsWith(DELETED) && !(await isSameFileAt(path, file.stats))
  return isGone ? path.slice(0, -DELETED.length) : path
}

/** Linux appends this once the name was removed or given to another file. */
const DELETED = ' (deleted)'

/** Looks the name up again: a stable real path with the same inode is that of the open file. */
async function realPathByName(file: OpenFile): Promise<string | undefined> {
  const real = await realpathOf(file.path)
  if (real === undefined || !(await isSameFileAt(real, file.stats))) return undefined
  return (await realpathOf(real)) === real ? real : undefined
}

/** Tells, by the nearest existing directory, whether a file would be in a place once it is written. */
export async function wouldBeInPlace(place: Boundary, file: string): Promise<boolean> {
  if (place.symlinks === 'follow') return true
  for (let at = dirname(file); isInside(place.dir, at); at = dirname(at)) {
    const real = await realpathOf(at)
    if (real !== undefined) return isRealInPlace(place, at, real)
  }
  return true
}

/** Tells whether `symlinks` allows an open file. It checks the descriptor, so swapping a link has no effect. */
export function isInPlace(place: Boundary) {
  return (file: OpenFile): Promise<boolean> | boolean => {
    if (place.symlinks === 'follow') return true
    const path = pathOfDescriptor(file.fd)
    if (!path?.endsWith(DELETED) && isKnownInPlace(place, file.path, path)) return true
    return realPathOfOpen(file).then(real => isRealInPlace(place, file.path, real))
  }
}

export function readInPlace(place: Boundary, path: string, maxBytes: number) {
  return withFile(path, async file => {
    if (!(await isInPlace(place)(file))) return undefined
    return file.stats.size > maxBytes ? 'too-large' : readOpenFile(file)
  })
}

export async function requireInPlace(place: Boundary, file: OpenFile): Promise<void> {
  // A directory above the place was created for it.
  if (!isInside(place.dir, file.path) || (await isInPlace(place)(file))) return
  throw outsidePlace(place, dirname(file.path))
}

/** Removes a file if it exists. @throws AssetError if it is outside */
export async function removeInPlace(place: Boundary, path: string): Promise<void> {
  if (!(await wouldBeInPlace(place, path))) throw outsidePlace(place, path, 'removed')
  await removeFile(path)
}

/** @param path absolute path of the file that was not written or removed, or of its directory */
export function outsidePlace({ root, symlinks }: Boundary, path: string, done = 'written') {
  const reason =
    symlinks === 'deny'
      ? 'its path contains a symbolic link'
      : 'a symbolic link leads out of public'
  const message = `${pathFrom(root, path)} was not ${done}: ${reason}; remove the link, or set symlinks to 'follow'`
  return new AssetError('publish-failed', message)
}
