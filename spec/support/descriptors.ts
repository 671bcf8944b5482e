// What this process has open.
import { fstatSync, lstatSync, readdirSync, readlinkSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { isWindows } from './windows.ts'

/** How many descriptors are open; those of a file, or of files below a directory, where one is given. */
export function openDescriptors(below?: string): number {
  if (isWindows) return withoutProc(below)
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

/** More than any spec has open. */
const MOST = 512

function withoutProc(below?: string): number {
  const files = below === undefined ? undefined : new Set(filesOf(below).map(identity))
  const all = Array.from({ length: MOST }, (_, fd) => statsOf(fd))
  const open = all.filter(stats => stats !== undefined)
  return open.filter(stats => files?.has(identity(stats)) ?? true).length
}

const EXACT = { bigint: true } as const

const identity = ({ dev, ino }: BigIntStats) => `${dev}:${ino}`

function filesOf(path: string): readonly BigIntStats[] {
  const stats = lstatSync(path, EXACT)
  if (!stats.isDirectory()) return [stats]
  return readdirSync(path).flatMap(name => filesOf(join(path, name)))
}

function statsOf(fd: number): BigIntStats | undefined {
  try {
    return fstatSync(fd, EXACT)
  } catch {
    return undefined
  }
}
