// What lies in a directory, judged on real paths: a link may lead out of it.
import { lstat, readlink, unlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { AssetError } from '../errors.ts'
import { isInside, missing, realpathOf, type Opened } from './disk.ts'
import type { Settings } from '../assets/settings/settings.ts'

/** A directory whose contents are served or published. */
export interface Directory {
  /** By the name that the settings give it; absolute. */
  readonly path: string
  /** Where it really lies. */
  readonly real: string
}

/** Where `public` lies, and where `root` did when that was found out. */
interface Placed extends Directory {
  readonly realRoot: string | undefined
}

const placed = new WeakMap<Settings, Placed>()

/**
 * Where `public` lay when it was first seen: a link that is put in its place later leads out of it.
 * Undefined: it does not exist yet.
 */
async function publicDirectory(settings: Settings): Promise<Placed | undefined> {
  const known = placed.get(settings)
  if (known) return known
  const [real, realRoot] = await Promise.all([settings.publicDir, settings.root].map(realpathOf))
  if (real === undefined) return undefined
  // Of two that look at once the first one counts.
  const first = placed.get(settings) ?? { path: settings.publicDir, real, realRoot }
  placed.set(settings, first)
  return first
}

/** Where it lies in another release: links above `root` are those of a deploy, as in `/srv/app/current`. */
async function moved(settings: Settings, before: Placed): Promise<Placed | undefined> {
  const realRoot = await realpathOf(settings.root)
  if (realRoot === undefined || before.realRoot === undefined) return undefined
  if (realRoot === before.realRoot || !isInside(before.realRoot, before.real)) return undefined
  const now = { ...before, realRoot, real: join(realRoot, relative(before.realRoot, before.real)) }
  placed.set(settings, now)
  return now
}

async function isAllowedInPublic(
  settings: Settings,
  isAllowed: (directory: Directory) => Promise<boolean> | boolean
): Promise<boolean> {
  if (settings.symlinks === 'follow') return true
  const directory = await publicDirectory(settings)
  if (!directory) return false
  if (await isAllowed(directory)) return true
  const now = await moved(settings, directory)
  return now !== undefined && isAllowed(now)
}

/**
 * Whether an open file lies in a directory, as far as `symlinks` cares. What is judged is the file that
 * was opened, so that a link which is swapped meanwhile changes nothing.
 */
export async function liesIn(
  { symlinks }: Pick<Settings, 'symlinks'>,
  directory: Directory,
  opened: Opened
): Promise<boolean> {
  if (symlinks === 'follow') return true
  const real = await realPathOfOpened(opened)
  return real !== undefined && isAllowedAt(symlinks, directory, opened.path, real)
}

function isAllowedAt(
  symlinks: Settings['symlinks'],
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
async function realPathOfOpened(opened: Opened): Promise<string | undefined> {
  const path =
    process.platform === 'linux' ? await missing(readlink(`/proc/self/fd/${opened.fd}`)) : undefined
  // Not every Linux has /proc.
  if (path === undefined) return realPathByName(opened)
  // Linux says so of a file whose name was given to another since it was opened.
  const isGone = path.endsWith(DELETED) && !(await isAt(path, opened))
  return isGone ? path.slice(0, -DELETED.length) : path
}

/** Looks at the name again: what has neither a link in it nor another file at its end is what was opened. */
export async function realPathByName(opened: Opened): Promise<string | undefined> {
  const real = await realpathOf(opened.path)
  if (real === undefined || !(await isAt(real, opened))) return undefined
  return (await realpathOf(real)) === real ? real : undefined
}

async function isAt(path: string, { stats }: Opened): Promise<boolean> {
  const there = await missing(lstat(path, { bigint: true }))
  return there !== undefined && there.ino === stats.ino && there.dev === stats.dev
}

/** Whether a file or folder that exists lies in public, as far as `symlinks` cares. */
export async function isWithinPublic(settings: Settings, path: string): Promise<boolean> {
  return isAllowedInPublic(settings, async directory => {
    const real = await realpathOf(path)
    return real !== undefined && isAllowedAt(settings.symlinks, directory, path, real)
  })
}

/** Whether a file would lie in public once it is written: the folders that are there already tell. */
export async function wouldLieInPublic(settings: Settings, file: string): Promise<boolean> {
  for (let at = dirname(file); isInside(settings.publicDir, at); at = dirname(at)) {
    if ((await realpathOf(at)) !== undefined) return isWithinPublic(settings, at)
  }
  return true
}

/** Tells whether an open file lies in public, as far as `symlinks` cares. */
export function liesInPublic(settings: Settings): (opened: Opened) => Promise<boolean> {
  return opened => isAllowedInPublic(settings, directory => liesIn(settings, directory, opened))
}

/**
 * Judges a file that was opened to be written, before anything is written into it: without `openat` a
 * folder above it may have become a link since its path was looked at. One that lies elsewhere is removed.
 * @returns what rejects for one that does not lie in public
 */
export function mustLieInPublic(settings: Settings): (opened: Opened) => Promise<void> {
  const isAllowed = liesInPublic(settings)
  return async opened => {
    if (await isAllowed(opened)) return
    // By its name it may not be found any more.
    const real = await realPathOfOpened(opened)
    if (real !== undefined) await missing(unlink(real))
    throw leavesPublic(settings, dirname(opened.path))
  }
}

/** @param path absolute; what was not written, or the folder of it */
export function leavesPublic({ root, symlinks }: Settings, path: string): AssetError {
  const what =
    symlinks === 'deny' ? 'a symbolic link is on the way' : 'a symbolic link leads out of public'
  return new AssetError(
    'publish-failed',
    `${relative(root, path)} is not written: ${what}; remove the link, or set symlinks to 'follow'`
  )
}
