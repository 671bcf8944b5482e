// What lies in a directory, judged on real paths: a link may lead out of it.
import { lstat, readlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { AssetError } from '../errors.ts'
import { isInside, isSameInode, ifThere, realpathOf, removeFile, type OpenFile } from './disk.ts'

export type Symlinks = 'inside' | 'follow' | 'deny'

/** Where what is published lies, and which links may lead there. */
export interface PublicPlace {
  /** The project's; absolute. */
  readonly root: string
  /** Absolute. */
  readonly publicDir: string
  readonly symlinks: Symlinks
}

/** A directory whose contents are served or published. */
export interface Directory {
  /** By the name that the place give it; absolute. */
  readonly path: string
  /** Where it really lies. */
  readonly real: string
}

/** Where `public` lies, and where `root` did when that was found out. */
interface Placed extends Directory {
  readonly realRoot: string | undefined
}

const placed = new WeakMap<PublicPlace, Placed>()

/**
 * Where `public` lay when it was first seen: a link that is put in its place later leads out of it.
 * Undefined: it does not exist yet.
 */
async function publicDirectory(place: PublicPlace): Promise<Placed | undefined> {
  const known = placed.get(place)
  if (known) return known
  const [real, realRoot] = await Promise.all([place.publicDir, place.root].map(realpathOf))
  if (real === undefined) return undefined
  // Of two that look at once the first one counts.
  const first = placed.get(place) ?? { path: place.publicDir, real, realRoot }
  placed.set(place, first)
  return first
}

/** Where it lies in another release: links above `root` are those of a deploy, as in `/srv/app/current`. */
async function moved(place: PublicPlace, before: Placed): Promise<Placed | undefined> {
  const realRoot = await realpathOf(place.root)
  if (realRoot === undefined || before.realRoot === undefined) return undefined
  if (realRoot === before.realRoot || !isInside(before.realRoot, before.real)) return undefined
  const now = { ...before, realRoot, real: join(realRoot, relative(before.realRoot, before.real)) }
  placed.set(place, now)
  return now
}

async function isAllowedInPublic(
  place: PublicPlace,
  isAllowed: (directory: Directory) => Promise<boolean> | boolean
): Promise<boolean> {
  if (place.symlinks === 'follow') return true
  const directory = await publicDirectory(place)
  if (!directory) return false
  if (await isAllowed(directory)) return true
  const now = await moved(place, directory)
  return now !== undefined && isAllowed(now)
}

/**
 * Whether an open file lies in a directory, as far as `symlinks` cares. What is judged is the file that
 * was opened, so that a link which is swapped meanwhile changes nothing.
 */
export async function isInDirectory(
  { symlinks }: Pick<PublicPlace, 'symlinks'>,
  directory: Directory,
  opened: OpenFile
): Promise<boolean> {
  if (symlinks === 'follow') return true
  const real = await realPathOfOpened(opened)
  return real !== undefined && isAllowedAt(symlinks, directory, opened.path, real)
}

function isAllowedAt(
  symlinks: Symlinks,
  directory: Directory,
  path: string,
  real: string
): boolean {
  return symlinks === 'deny'
    ? real === join(directory.real, relative(directory.path, path))
    : isInside(directory.real, real)
}

const DELETED = ' (deleted)'

/** Where an open file lies; undefined when that cannot be told. */
async function realPathOfOpened(opened: OpenFile): Promise<string | undefined> {
  const path =
    process.platform === 'linux' ? await ifThere(readlink(`/proc/self/fd/${opened.fd}`)) : undefined
  // Not every Linux has /proc.
  if (path === undefined) return realPathByName(opened)
  // Linux says so of a file whose name was given to another since it was opened.
  const isGone = path.endsWith(DELETED) && !(await isAt(path, opened))
  return isGone ? path.slice(0, -DELETED.length) : path
}

/** Looks at the name again: what has neither a link in it nor another file at its end is what was opened. */
export async function realPathByName(opened: OpenFile): Promise<string | undefined> {
  const real = await realpathOf(opened.path)
  if (real === undefined || !(await isAt(real, opened))) return undefined
  return (await realpathOf(real)) === real ? real : undefined
}

async function isAt(path: string, { stats }: OpenFile): Promise<boolean> {
  const there = await ifThere(lstat(path, { bigint: true }))
  return there !== undefined && isSameInode(there, stats)
}

/** Whether a file or folder that exists lies in public, as far as `symlinks` cares. */
export async function isPathInPublic(place: PublicPlace, path: string): Promise<boolean> {
  return isAllowedInPublic(place, async directory => {
    const real = await realpathOf(path)
    return real !== undefined && isAllowedAt(place.symlinks, directory, path, real)
  })
}

/** Whether a file would lie in public once it is written: the folders that are there already tell. */
export async function wouldBeInPublic(place: PublicPlace, file: string): Promise<boolean> {
  for (let at = dirname(file); isInside(place.publicDir, at); at = dirname(at)) {
    if ((await realpathOf(at)) !== undefined) return isPathInPublic(place, at)
  }
  return true
}

/** Tells whether an open file lies in public, as far as `symlinks` cares. */
export function isInPublic(place: PublicPlace): (opened: OpenFile) => Promise<boolean> {
  return opened => isAllowedInPublic(place, directory => isInDirectory(place, directory, opened))
}

/**
 * Judges a file that was opened to be written, before anything is written into it: without `openat` a
 * folder above it may have become a link since its path was looked at. One that lies elsewhere is removed.
 * @returns what rejects for one that does not lie in public
 */
export function requireInPublic(place: PublicPlace): (opened: OpenFile) => Promise<void> {
  const isAllowed = isInPublic(place)
  return async opened => {
    if (await isAllowed(opened)) return
    // By its name it may not be found any more.
    const real = await realPathOfOpened(opened)
    if (real !== undefined) await removeFile(real)
    throw outsidePublic(place, dirname(opened.path))
  }
}

/** @param path absolute; what was not written, or the folder of it */
export function outsidePublic({ root, symlinks }: PublicPlace, path: string): AssetError {
  const what =
    symlinks === 'deny' ? 'a symbolic link is on the way' : 'a symbolic link leads out of public'
  return new AssetError(
    'publish-failed',
    `${relative(root, path)} is not written: ${what}; remove the link, or set symlinks to 'follow'`
  )
}
