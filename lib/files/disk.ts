// Looks at the disk: what does not exist is `undefined`, a failure is an exception.
import {
  close,
  closeSync,
  constants,
  fstat,
  fstatSync,
  open,
  read,
  readlinkSync,
  stat,
  type BigIntStats,
  type Dirent
} from 'node:fs'
import { readdir, realpath, unlink } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'

/** The parts of a stat that tell one state of a file from another. */
export interface Stamp {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

// ELOOP: a link to itself leads to no file, like a dangling one.
const MISSES = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

/** Not by `instanceof Error`: Node's errors belong to another realm inside a VM context (Jest). */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

export function isMiss(error: unknown): boolean {
  return MISSES.has(errorCode(error) ?? '')
}

export async function ifThere<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (isMiss(error)) return undefined
    throw error
  }
}

type Callback<T> = (error: Error | null, result: T) => void

// Requests wait for these calls. The callback form takes half the time of the promise form.
const EXACT = { bigint: true } as const

/** A miss becomes undefined. */
function unlessMissing<T>(call: (done: Callback<T>) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      if (!error) resolve(result)
      else if (isMiss(error)) resolve(undefined)
      else reject(error)
    })
  })
}

/** Follows links. */
export function statOf(path: string): Promise<BigIntStats | undefined> {
  return unlessMissing(done => stat(path, EXACT, done))
}

export function realpathOf(path: string): Promise<string | undefined> {
  return ifThere(realpath(path))
}

/** Removes a file that may not exist. */
export async function removeFile(path: string): Promise<void> {
  await ifThere(unlink(path))
}

/** What is in a directory and in all folders below it. `readdir` with `recursive` follows links on Node 26. */
export async function entriesBelow(directory: string): Promise<readonly Dirent[]> {
  const entries: Dirent[] = []
  const folders = [directory]
  for (const folder of folders) {
    for (const entry of (await ifThere(readdir(folder, { withFileTypes: true }))) ?? []) {
      entries.push(entry)
      if (entry.isDirectory()) folders.push(join(folder, entry.name))
    }
  }
  return entries
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: Stamp): Stamp {
  return { dev, ino, size, mtimeNs, ctimeNs }
}

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return (
    a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size && isSameInode(a, b)
  )
}

export function isSameInode(a: Stamp, b: Stamp): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** Whether `path` is `directory` or below it, by segments: `public-secret` is not in `public`. */
export function isInside(directory: string, path: string): boolean {
  // Most are, and plainly so.
  if (path.startsWith(directory) && path[directory.length] === sep && !path.includes('..')) {
    return true
  }
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

// Opening a FIFO without a writer would block a thread of the pool forever.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** A regular file that `withFile` opened, and closes. */
export interface OpenFile {
  /** The path that was opened. */
  readonly path: string
  readonly fd: number
  /** As of when it was opened. */
  readonly stats: BigIntStats
}

/** Undefined for a miss. */
function openDescriptor(path: string): Promise<number | undefined> {
  return unlessMissing((done: Callback<number | undefined>) => {
    // A socket cannot be opened.
    open(path, READ, (error, fd) => done(error?.code === 'ENXIO' ? null : error, fd))
  })
}

// What the kernel has in its memory right after a file was opened, it is asked for synchronously. A thread of
// the pool takes ten times as long to pass on the answer.

/** For a file that was opened a while ago: a network file system may ask its server again. */
export function statDescriptor(fd: number): Promise<BigIntStats> {
  return new Promise((resolve, reject) => {
    fstat(fd, EXACT, (error, stats) => (error ? reject(error) : resolve(stats)))
  })
}

/** The path that Linux knows an open file by (proc_pid_fd(5)); undefined where that cannot be asked. */
export function pathOfDescriptor(fd: number): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch (error) {
    // Some Linux systems lack /proc, and Node's permission model may deny it.
    if (isMiss(error) || errorCode(error) === 'ERR_ACCESS_DENIED') return undefined
    throw error
  }
}

/** Resolves to the number of bytes read. */
function readDescriptor(fd: number, bytes: Buffer, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, bytes, 0, bytes.length, position, (error, count) =>
      error ? reject(error) : resolve(count)
    )
  })
}

/** Closing the last descriptor of a file that was replaced meanwhile frees its space on disk. */
const SMALL_BYTES = 1024 * 1024

/** Opens a file for `use` and closes it afterwards; undefined when it is not a regular file. */
export async function withFile<T>(
  path: string,
  use: (file: OpenFile) => Promise<T> | T
): Promise<T | undefined> {
  const fd = await openDescriptor(path)
  if (fd === undefined) return undefined
  let file: OpenFile | undefined
  try {
    file = { path, fd, stats: fstatSync(fd, EXACT) }
    return file.stats.isFile() ? await use(file) : undefined
  } finally {
    const until = file && keptOpen.get(file)
    if (until) void until.then(() => close(fd))
    else if (file && file.stats.size > SMALL_BYTES) close(fd)
    else closeSync(fd)
  }
}

const keptOpen = new WeakMap<OpenFile, Promise<void>>()

/** Lets `withFile` return while the file is still read. It is closed when the promise, which never rejects, is settled. */
export function keepOpen(file: OpenFile, until: Promise<void>): void {
  keptOpen.set(file, until)
}

/** The bytes of a file and the stamp that belongs to them. */
export interface Snapshot {
  readonly bytes: Buffer
  readonly stamp: Stamp
}

export function readSnapshot(path: string): Promise<Snapshot | undefined> {
  return withFile(path, readOpenFile)
}

/** Reads again while the file changes, five times at most. */
export async function readOpenFile({ fd, stats }: OpenFile): Promise<Snapshot> {
  let before: Stamp = stats
  for (let attempt = 1; ; attempt++) {
    const bytes = Buffer.allocUnsafeSlow(Number(before.size))
    const count = await readDescriptor(fd, bytes, 0)
    const after = fstatSync(fd, EXACT)
    const isComplete = sameStamp(before, after) && count === bytes.length
    if (isComplete || attempt === 5) {
      return { bytes: bytes.subarray(0, count), stamp: stampOf(before) }
    }
    before = after
  }
}

/** Whether two files have the same bytes; reads them in pieces, as they may be larger than memory. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  return (await withFile(one, a => withFile(other, b => sameContent(a, b)))) ?? false
}

async function sameContent(a: OpenFile, b: OpenFile): Promise<boolean> {
  if (a.stats.size !== b.stats.size) return false
  const size = Number(a.stats.size)
  const [left, right] = [Buffer.alloc(1 << 18), Buffer.alloc(1 << 18)]
  for (let at = 0; at < size; at += left.length) {
    const [l, r] = await Promise.all([
      readDescriptor(a.fd, left, at),
      readDescriptor(b.fd, right, at)
    ])
    if (l !== r || !left.subarray(0, l).equals(right.subarray(0, r))) return false
  }
  return true
}
