// Directories as they are at start; nothing here is for a request's path.
import { type Dirent, type Stats, readdirSync, realpathSync, statSync } from 'node:fs'
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

export function realpathIfThere(path: string): string {
  return isDirectory(path) ? realpathSync(path) : path
}
