// Synchronous looks at the disk, for start alone.
import { type Dirent, type Stats, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isMiss, stampOf, type Stamp } from './disk.ts'

/** The entries of a directory; none when it does not exist. */
export function readDirectory(path: string): Dirent[] {
  return ifThere(() => readdirSync(path, { withFileTypes: true })) ?? []
}

export function isDirectory(path: string): boolean {
  return statIfThere(path)?.isDirectory() ?? false
}

export function statIfThere(path: string): Stats | undefined {
  return ifThere(() => statSync(path))
}

export function stampAtStart(path: string): Stamp | undefined {
  return ifThere(() => stampOf(statSync(path, { bigint: true })))
}

export function readIfThere(path: string): Buffer | undefined {
  return ifThere(() => readFileSync(path))
}

/** The real path, or the one that a path will have once it exists. */
export function futureRealpath(path: string): string {
  if (statIfThere(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(futureRealpath(parent), basename(path))
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (isMiss(error)) return undefined
    throw error
  }
}
