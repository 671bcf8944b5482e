// Writes a file completely or not at all: a temporary file in the same directory, then a rename. Old temporary
// files were left by processes that were killed, and are removed.
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readdir, realpath, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { setMtime } from '../clock.ts'
import { withOriginal, type Content } from '../content.ts'
import {
  entriesBelow,
  ifThere,
  isSameInode,
  removeFile,
  statOf,
  type OpenFile,
  type Stamp
} from '../disk.ts'
import { streamOf } from '../file-stream.ts'

/** A complete file under a temporary name. */
export interface StagedFile {
  /** Its real path. */
  readonly temporary: string
  readonly target: string
  readonly stamp: Stamp
}

/** Each rejects to keep the target as it is. */
export interface WriteChecks {
  /** Checks where the temporary file was created, before anything is written to it. */
  readonly checkLocation?: ((file: OpenFile) => Promise<void>) | undefined
  /** Checks the bytes that were written. */
  readonly checkContent?: ((temporary: string) => Promise<void>) | undefined
}

/**
 * Writes a target with mode 0644 and the given mtime. Returns its stamp; undefined when another process
 * has already replaced it.
 */
export async function writeAtomically(
  target: string,
  content: Content,
  mtimeNs: bigint,
  checks: WriteChecks = {}
): Promise<Stamp | undefined> {
  return commitFile(await stageFile(target, content, mtimeNs, checks))
}

/** Everything up to the rename. */
export async function stageFile(
  target: string,
  content: Content,
  mtimeNs: bigint,
  { checkLocation, checkContent }: WriteChecks = {}
): Promise<StagedFile> {
  const directory = dirname(target)
  await makeDirectory(directory)
  await sweepOnce(directory)
  const temporary = join(directory, temporaryName())
  try {
    await writeNew(temporary, content, checkLocation)
    await checkContent?.(temporary)
    await chmod(temporary, 0o644)
    await setMtime(temporary, mtimeNs)
    const stamp = await stat(temporary, { bigint: true })
    return { temporary: await realpath(temporary), target, stamp }
  } catch (error) {
    await removeFile(temporary)
    throw error
  }
}

export async function commitFile(staged: StagedFile): Promise<Stamp | undefined> {
  const { temporary, target, stamp } = staged
  try {
    // Into the real directory: rename() resolves its two paths one after the other, and a link above
    // them may be swapped in between.
    await rename(temporary, join(dirname(temporary), basename(target)))
  } catch (error) {
    await removeFile(temporary)
    throw Object.assign(error as Error, { dest: target })
  }
  const stats = await statOf(target)
  return stats && isSameInode(stats, stamp) ? stats : undefined
}

async function writeNew(
  path: string,
  content: Content,
  checkLocation: WriteChecks['checkLocation']
): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await checkLocation?.({ path, fd: handle.fd, stats: await handle.stat({ bigint: true }) })
    if (!('copyOf' in content)) return await handle.writeFile(content)
    await withOriginal(content, original => writeFile(handle, streamOf(original)))
  } catch (error) {
    throw withPath(path, error)
  } finally {
    await handle.close()
  }
}

/** Errors of calls on a descriptor do not name the file. */
function withPath(path: string, error: unknown): unknown {
  const { syscall, path: named = path } = error as NodeJS.ErrnoException
  return syscall === undefined ? error : Object.assign(error as Error, { path: named })
}

/** Creates directories that a front web server can read, whatever the umask. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let path = directory; path.length >= first.length; path = dirname(path)) {
    await chmod(path, 0o755)
  }
}

// A dotfile is never served.
const PREFIX = '.koa-fresh-assets-'
const SUFFIX = '.tmp'
const TOKEN = randomBytes(8).toString('hex')
let count = 0

export function temporaryName(): string {
  return `${PREFIX}${TOKEN}-${count++}${SUFFIX}`
}

const swept = new Set<string>()
const MAX_SWEPT = 10_000
/** Longer than a precompile keeps what it has written under temporary names. */
const HOUR_MS = 3_600_000
const CONCURRENCY = 8

/** Removes what killed processes left in a directory, once per process. */
export async function sweepOnce(directory: string): Promise<void> {
  if (swept.has(directory)) return
  if (swept.size >= MAX_SWEPT) swept.clear()
  swept.add(directory)
  await sweep(directory)
}

/** @param maxAge in milliseconds, by change time: the mtime is set to that of a source */
export async function sweep(directory: string, maxAge = HOUR_MS): Promise<void> {
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
    return (await handle.stat({ bigint: true })).ctimeNs
  } finally {
    await handle.close()
    await removeFile(path)
  }
}
