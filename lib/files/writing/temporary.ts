// Temporary files: named after the process that writes them, and removed after it has ended.
import { randomBytes } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { ifThere, removeFile, statOf } from '../disk.ts'
import { formatOwner, hasEnded, parseOwner, SELF } from './process-owner.ts'

// A dotfile is never served.
const PREFIX = '.koa-fresh-assets-'
const SUFFIX = '.tmp'
// Threads of one process, and two copies of this library in it, must not share names.
const TOKEN = randomBytes(4).toString('hex')
let count = 0

export function temporaryName(): string {
  return `${PREFIX}${formatOwner(SELF)}-${TOKEN}-${count++}${SUFFIX}`
}

const swept = new Set<string>()
const MAX_SWEPT = 10_000
const HOUR_MS = 3_600_000
const CONCURRENCY = 8

/** Removes what killed processes left in a directory, once per process. */
export async function sweepOnce(directory: string): Promise<void> {
  if (swept.has(directory)) return
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  await sweep(directory)
}

/** @param maxAge in milliseconds, for files of processes on other machines or in other containers */
export async function sweep(directory: string, maxAge = HOUR_MS): Promise<void> {
  const names = (await ifThere(readdir(directory))) ?? []
  const left = names.filter(name => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
  for (const name of left) {
    const path = join(directory, name)
    const ended = await hasEnded(parseOwner(name.slice(PREFIX.length)))
    if (ended ?? (await isOlder(directory, path, maxAge))) await removeFile(path)
  }
}

/** Removes what killed processes left in a directory and in all below it. */
export async function sweepTree(directory: string): Promise<void> {
  const entries = await ifThere(readdir(directory, { withFileTypes: true, recursive: true }))
  const folders = (entries ?? []).filter(entry => entry.isDirectory())
  const paths = folders.map(folder => join(folder.parentPath, folder.name))
  await inParallel([directory, ...paths], CONCURRENCY, path => sweep(path))
}

/** By change time, since the mtime is set to that of a source. */
async function isOlder(directory: string, path: string, age: number): Promise<boolean> {
  const [now, stats] = [await nowOnDisk(directory), await statOf(path)]
  return stats !== undefined && now - stats.ctimeNs > BigInt(age) * 1_000_000n
}

/** The time, in nanoseconds, by the clock that stamps files; it may be that of a file server. */
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
