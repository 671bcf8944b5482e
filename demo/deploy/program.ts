/** Finds programs that are not on every machine. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Debian has servers in directories that are not in a user's PATH. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/**
 * Returns the absolute path of a program.
 * @throws Error that says which Debian package contains it
 */
export function program(name: string, debianPackage: string): string {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), ...SBIN]
  const found = directories.map(directory => join(directory, name)).find(isExecutable)
  if (found) return found
  throw new Error(`${name} was not found: apt-get install ${debianPackage}`)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // For whatever reason, it cannot be run from here.
    return false
  }
}
