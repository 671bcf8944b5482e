// Access to paths: what does not exist is `undefined`, a failure is an exception.
import { stat, type BigIntStats, type Dirent } from 'node:fs'
import { lstat, readdir, realpath, unlink } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'

/** The parts of a stat that tell one state of a file from another. */
export interface Stamp {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

// ELOOP: a link to itself leads to no file, like a dangling one. ENXIO: a socket cannot be opened.
const MISSES = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO'])

/** Not by `instanceof Error`: Node's errors belong to another realm inside a VM context (Jest). */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

export function isMiss(error: unknown): boolean {
  return MISSES.has(errorCode(error) ?? '')
}

export async function ifThere<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (isMiss(error)) return undefined
    throw error
  }
}

export const EXACT = { bigint: true } as const

/** For what requests wait for: the callback form of `fs` takes half the time of the promise form. */
export function promised<T>(
  call: (done: (error: Error | null, result: T) => void) => void
): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** Follows links. */
export function statOf(path: string): Promise<BigIntStats | undefined> {
  return ifThere(promised<BigIntStats>(done => stat(path, EXACT, done)))
}

export function realpathOf(path: string): Promise<string | undefined> {
  return ifThere(realpath(path))
}

/** Removes a file that may not exist. */
export async function removeFile(path: string): Promise<void> {
  await ifThere(unlink(path))
}

/** What is in a directory and in all folders below it. `readdir` with `recursive` follows links on Node 26. */
export async function entriesBelow(directory: string): Promise<readonly Dirent[]> {
  const entries: Dirent[] = []
  const folders = [directory]
  for (const folder of folders) {
    for (const entry of (await ifThere(readdir(folder, { withFileTypes: true }))) ?? []) {
      entries.push(entry)
      if (entry.isDirectory()) folders.push(join(folder, entry.name))
    }
  }
  return entries
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: Stamp): Stamp {
  return { dev, ino, size, mtimeNs, ctimeNs }
}

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return (
    a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size && isSameInode(a, b)
  )
}

/** Whether this is what a path names; for a link, the link itself. */
export async function isAt(path: string, file: Stamp): Promise<boolean> {
  const found = await ifThere(lstat(path, EXACT))
  return found !== undefined && isSameInode(found, file)
}

export function isSameInode(a: Stamp, b: Stamp): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** Whether `path` is `directory` or below it, by segments: `public-secret` is not in `public`. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
