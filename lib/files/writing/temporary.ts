// Temporary files: named for the process that writes them, and swept once it has ended.
import { randomBytes } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere, removeFile, statOf } from '../disk.ts'
import { formatOwner, hasEnded, readOwner, SELF } from './process-owner.ts'

// A dotfile, so that no request finds it.
const PREFIX = '.koa-fresh-assets-'
// Threads of one process, and two copies of this library in it, write files of their own.
const TOKEN = randomBytes(4).toString('hex')
let count = 0

export function temporaryName(): string {
  return `${PREFIX}${formatOwner(SELF)}-${TOKEN}-${count++}.tmp`
}

const swept = new Set<string>()
const MAX_SWEPT = 10_000
const HOUR_MS = 3_600_000

/** Removes what killed processes left in a directory, once in the life of this one. */
export async function sweepOnce(directory: string): Promise<void> {
  if (swept.has(directory)) return
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  await sweep(directory)
}

/** @param age in milliseconds, for the files of processes that cannot be asked after from here */
export async function sweep(directory: string, age = HOUR_MS): Promise<void> {
  const names = (await ifThere(readdir(directory))) ?? []
  const left = names.filter(name => name.startsWith(PREFIX) && name.endsWith('.tmp'))
  for (const name of left) {
    const path = join(directory, name)
    const ended = await hasEnded(readOwner(name.slice(PREFIX.length)))
    if (ended ?? (await isOlder(directory, path, age))) await removeFile(path)
  }
}

/** By the time at which it was last written, on the clock of its disk; its mtime is set to a source's. */
async function isOlder(directory: string, path: string, age: number): Promise<boolean> {
  const [now, stats] = [await nowOnDisk(directory), await statOf(path)]
  return stats !== undefined && now - stats.ctimeNs > BigInt(age) * 1_000_000n
}

/** What the clock says that a disk stamps its files by: that of another machine perhaps. */
export async function nowOnDisk(directory: string): Promise<bigint> {
  const path = join(directory, temporaryName())
  const handle = await open(path, 'wx')
  try {
    return (await handle.stat({ bigint: true })).ctimeNs
  } finally {
    await handle.close()
    await removeFile(path)
  }
}
