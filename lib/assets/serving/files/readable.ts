// Files that this process may not read are served as little as those that do not exist.
import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { warnOnce } from '../../../printable.ts'
import { errorCode, ifThere } from '../../../files/disk.ts'

const warn = warnOnce()

// The last one is that of Node's permission model.
const DENIED = new Set(['EACCES', 'EPERM', 'ERR_ACCESS_DENIED'])

function isDenied(error: unknown): boolean {
  return DENIED.has(errorCode(error) ?? '')
}

/**
 * Undefined, and a warning that comes once, where permission to read the path is lacking.
 * @param path absolute
 */
export async function ifReadable<T>(path: string, outcome: Promise<T> | T): Promise<T | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (!isDenied(error)) throw error
    warn(
      `${await deniedAt(path)} is not served, because this process may not read it: correct its permissions, or move it`
    )
    return undefined
  }
}

/** The path itself, or the folder above it that may not be entered: it is one for any number of paths. */
async function deniedAt(path: string): Promise<string> {
  try {
    await ifThere(lstat(path))
    return path
  } catch (error) {
    if (!isDenied(error)) throw error
    const above = dirname(path)
    return above === path ? path : deniedAt(above)
  }
}
