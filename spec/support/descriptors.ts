// What this process has open.
import { readdirSync, readlinkSync } from 'node:fs'

/** How many descriptors are open; those of a file, or of files below a directory, where one is given. */
export function openDescriptors(below?: string): number {
  return readdirSync(`/proc/${process.pid}/fd`).filter(fd => {
    if (below === undefined) return true
    try {
      const path = readlinkSync(`/proc/${process.pid}/fd/${fd}`)
      return path === below || path.startsWith(`${below}/`)
    } catch {
      // The descriptor of the listing itself is closed by now.
      return false
    }
  }).length
}
