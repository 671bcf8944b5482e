/** Programs that are not on every machine. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Debian keeps servers out of the way of people. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/**
 * The absolute path of a program.
 * @throws Error that says which Debian package brings it
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
    // Whatever the reason, it cannot be run from here.
    return false
  }
}
