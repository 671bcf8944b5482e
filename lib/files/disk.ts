// How the pipeline touches the disk: a miss is a value, a failure is an exception.
import { close, constants, fstat, open as fsOpen, read, stat, type BigIntStats } from 'node:fs'
import { realpath, unlink } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { promisify } from 'node:util'

/** What tells one state of a file from another. */
export interface Stamp {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

// ELOOP: a link that leads to itself leads to no file, like one that dangles.
const MISSES = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

/** Not by `instanceof Error`: in a realm of its own (Jest) Node's errors are of another one. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

export function isMiss(error: unknown): boolean {
  return MISSES.has(errorCode(error) ?? '')
}

/** Turns "not there" into undefined; everything else surfaces. */
export async function ifThere<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (isMiss(error)) return undefined
    throw error
  }
}

/** Follows links. The callback form costs half of the promise form, and every request pays it. */
export function statOf(path: string): Promise<BigIntStats | undefined> {
  return new Promise((resolve, reject) => {
    stat(path, { bigint: true }, (error, stats) => {
      if (!error) resolve(stats)
      else if (isMiss(error)) resolve(undefined)
      else reject(error)
    })
  })
}

export function realpathOf(path: string): Promise<string | undefined> {
  return ifThere(realpath(path))
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: Stamp): Stamp {
  return { dev, ino, size, mtimeNs, ctimeNs }
}

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return (
    a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size && isSameInode(a, b)
  )
}

export function isSameInode(a: Pick<Stamp, 'dev' | 'ino'>, b: Pick<Stamp, 'dev' | 'ino'>): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** Removes a file that may not exist. */
export async function removeFile(path: string): Promise<void> {
  await ifThere(unlink(path))
}

/** Whether `path` is `directory` or lies in it, by segments: `public-secret` is not in `public`. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

// A FIFO that nobody writes to would hold a thread of the pool for ever.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** A regular file that is open. Who opened it closes it. */
export interface OpenFile {
  /** The name under which it was opened. */
  readonly path: string
  readonly fd: number
  /** What it was when it was opened. */
  readonly stats: BigIntStats
}

const openPlain = promisify(fsOpen)
export const statDescriptor = promisify(fstat)
const readPlain = promisify(read)
export const closeDescriptor = promisify(close)

/**
 * Opens a regular file; anything else that bears the name is a miss. A plain descriptor, since reading
 * through a FileHandle costs a fifth more.
 */
export async function openFile(path: string): Promise<OpenFile | undefined> {
  const fd = await ifThere(openPlain(path, READ).catch(unlessSocket))
  if (fd === undefined) return undefined
  try {
    const stats = await statDescriptor(fd, { bigint: true })
    if (stats.isFile()) return { path, fd, stats }
  } catch (error) {
    await closeDescriptor(fd)
    throw error
  }
  await closeDescriptor(fd)
  return undefined
}

/** A socket cannot be opened at all. */
function unlessSocket(error: unknown): undefined {
  if (errorCode(error) !== 'ENXIO') throw error
}

/** What `use` makes of an open file, which is closed afterwards; undefined for a miss. */
export async function withFile<T>(
  path: string,
  use: (opened: OpenFile) => Promise<T>
): Promise<T | undefined> {
  const opened = await openFile(path)
  if (!opened) return undefined
  try {
    return await use(opened)
  } finally {
    await closeDescriptor(opened.fd)
  }
}

/** Bytes and stamp of one and the same state of a file. */
export interface Snapshot {
  readonly bytes: Buffer
  readonly stamp: Stamp
}

export function readSnapshot(path: string): Promise<Snapshot | undefined> {
  return withFile(path, readOpenFile)
}

export async function readOpenFile({ fd, stats }: OpenFile): Promise<Snapshot> {
  let before: Stamp = stats
  for (let attempt = 0; ; attempt++) {
    const bytes = Buffer.allocUnsafeSlow(Number(before.size))
    const { bytesRead } = await readPlain(fd, bytes, 0, bytes.length, 0)
    const after = await statDescriptor(fd, { bigint: true })
    const settled = sameStamp(before, after) && bytesRead === bytes.length
    if (settled || attempt === 4)
      return { bytes: bytes.subarray(0, bytesRead), stamp: stampOf(before) }
    before = after
  }
}

/** Whether two files hold the same bytes, a piece at a time, so that a film costs no memory. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  const isSame = await withFile(one, a => withFile(other, b => sameContent(a, b)))
  return isSame ?? false
}

async function sameContent(a: OpenFile, b: OpenFile): Promise<boolean> {
  if (a.stats.size !== b.stats.size) return false
  const size = Number(a.stats.size)
  const [left, right] = [Buffer.alloc(1 << 18), Buffer.alloc(1 << 18)]
  for (let at = 0; at < size; at += left.length) {
    const [l, r] = await Promise.all([
      readPlain(a.fd, left, 0, left.length, at),
      readPlain(b.fd, right, 0, right.length, at)
    ])
    if (l.bytesRead !== r.bytesRead) return false
    if (!left.subarray(0, l.bytesRead).equals(right.subarray(0, r.bytesRead))) return false
  }
  return true
}
