// Directories and files as they are at start; nothing here is for a request's path.
import { type Dirent, type Stats, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isMiss } from './disk.ts'

export function readDirectory(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (isMiss(error)) return []
    throw error
  }
}

export function isDirectory(path: string): boolean {
  return statIfThere(path)?.isDirectory() ?? false
}

/** `throwIfNoEntry: false` would still throw ENOTDIR. */
export function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if (isMiss(error)) return undefined
    throw error
  }
}

/** The real path; of what is not there yet, the one that it would have. */
export function futureRealpath(path: string): string {
  if (statIfThere(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(futureRealpath(parent), basename(path))
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMiss(error)) return undefined
    throw error
  }
}
