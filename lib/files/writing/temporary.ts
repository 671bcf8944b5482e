// Temporary files: their names, and removing those that killed processes left.
import { open, readdir } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { entriesBelow, EXACT, ifThere, removeFile, rethrowNamed, statOf } from '../disk.ts'

// A dotfile is never served.
const PREFIX = '.koa-fresh-assets-'
const SUFFIX = '.tmp'
const TOKEN = randomBytes(8).toString('hex')
let count = 0

export function temporaryName(): string {
  return `${PREFIX}${TOKEN}-${count++}${SUFFIX}`
}

/** The directories that were swept: once per process. */
const swept = new Set<string>()
const MAX_SWEPT = 10_000
/** Longer than a precompile keeps what it has written under temporary names. */
const HOUR_MS = 3_600_000
const CONCURRENCY = 8

/** The same as `sweep` for the first file that a process writes to a directory. */
export async function sweepOnce(directory: string): Promise<void> {
  if (!swept.has(directory)) await sweep(directory)
}

/**
 * Removes what killed processes left in a directory.
 * @param maxAge in milliseconds, by change time: the mtime is set to that of a source
 */
export async function sweep(directory: string, maxAge = HOUR_MS): Promise<void> {
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  const names = (await ifThere(readdir(directory))) ?? []
  const left = names.filter(name => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
  if (left.length === 0) return
  const oldest = (await nowOnDisk(directory)) - BigInt(maxAge) * 1_000_000n
  for (const path of left.map(name => join(directory, name))) {
    const stats = await statOf(path)
    if (stats && stats.ctimeNs < oldest) await removeFile(path)
  }
}

/** Removes what killed processes left in a directory and in all below it. */
export async function sweepTree(directory: string, maxAge?: number): Promise<void> {
  const folders = (await entriesBelow(directory)).filter(entry => entry.isDirectory())
  const paths = folders.map(folder => join(folder.parentPath, folder.name))
  await inParallel([directory, ...paths], CONCURRENCY, path => sweep(path, maxAge))
}

/** The time, in nanoseconds, by the clock that stamps files; it may be that of a file server. */
export async function nowOnDisk(directory: string): Promise<bigint> {
  const path = join(directory, temporaryName())
  const handle = await open(path, 'wx')
  try {
    return (await handle.stat(EXACT).catch(rethrowNamed(path))).ctimeNs
  } finally {
    await handle.close().catch(rethrowNamed(path))
    await removeFile(path)
  }
}
