// Reads, streams and compares open files, and tells whether they have changed. The code that opens a file closes it.
import * as fs from 'node:fs'
import {
  EXACT,
  hasMtime,
  undefinedIfMissing,
  isInUse,
  isMiss,
  named,
  onceFree,
  promised,
  sameStamp,
  type Stamp,
  stampOf
} from './disk.ts'
import { isRefusal } from './refusals.ts'

/** A regular file that `withFile` opened, and closes. */
export interface OpenFile {
  readonly path: string
  readonly fd: number
  readonly stats: fs.BigIntStats
}

/** The end of reading for files that are still read when `withFile` returns; they are closed after that. */
const readLater = new WeakMap<OpenFile, Promise<void>>()

// Calls are synchronous if the kernel has the answer in memory right after a file was opened, or takes bytes into its
// memory. Passing a call to a thread of the pool takes ten times as long.

// Opening a FIFO without a writer would block a thread of the pool forever.
export const READ = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0)
/** A larger file is closed asynchronously: closing the last descriptor of a replaced file frees its space on disk. */
const SMALL_BYTES = 1024 * 1024
// Each piece is a system call.
const PIECE_BYTES = 1024 * 1024

/** Opens a file for `use` and closes it afterwards; undefined if it is not a regular file. */
export async function withFile<T>(path: string, use: (file: OpenFile) => Promise<T> | T) {
  const fd = await opened(path)
  if (fd === undefined) return undefined
  let file: OpenFile | undefined
  try {
    file = describe(path, fd)
    return file.stats.isFile() ? await use(file) : undefined
  } finally {
    const isRead = file && readLater.get(file)
    if (isRead) void isRead.then(() => closeLater(fd))
    else if (file && file.stats.size > SMALL_BYTES) closeLater(fd)
    else asking(path, () => fs.closeSync(fd))
  }
}

/** Closes a file that has been read. Without a callback, Node would end the process when closing fails. */
const closeLater = (fd: number) => fs.close(fd, () => undefined)

async function opened(path: string): Promise<number | undefined> {
  const now = () => promised<number>(done => fs.open(path, READ, done))
  try {
    return await now()
  } catch (error) {
    if (isMiss(error)) return undefined
    if (!isInUse(error)) throw named(error)
    return undefinedIfMissing(onceFree(now))
  }
}

export function describe(path: string, fd: number): OpenFile {
  return { path, fd, stats: asking(path, () => fs.fstatSync(fd, EXACT)) }
}

/** Makes a call on an open file, and adds its path to an error. */
function asking<T>(path: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw named(error, path)
  }
}

/** Returns the path by which Linux knows an open file (proc_pid_fd(5)); undefined if that cannot be read. */
export function pathOfDescriptor(fd: number): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`)
  } catch (error) {
    // Some Linux systems lack /proc, and sandboxes such as Node's permission model deny it.
    if (isMiss(error) || isRefusal(error)) return undefined
    throw error
  }
}

export interface Snapshot {
  readonly bytes: Buffer
  readonly stamp: Stamp
}

export function readSnapshot(path: string): Promise<Snapshot | undefined> {
  return withFile(path, file => readOpenFile(file))
}

type Read = (
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
  done: (error: NodeJS.ErrnoException | null, bytesRead: number, buffer: Buffer) => void
) => void

function readOf(path: string): Read {
  return (fd, buffer, offset, length, position, done) => {
    fs.read(fd, buffer, offset, length, position, (error, bytesRead) =>
      done(error && named(error, path), bytesRead, buffer)
    )
  }
}

/** Makes the option `fs` of `createReadStream`: the stream leaves its descriptor open. */
const reading = (each: Read) => ({ read: each, close: (_fd: number, done: () => void) => done() })

export function readInto(bytes: Buffer, { path, fd }: Pick<OpenFile, 'path' | 'fd'>, at: number) {
  return promised<number>(done => readOf(path)(fd, bytes, 0, bytes.length, at, done))
}

const MAX_ATTEMPTS = 5

/** Reads the file again while it changes. */
export async function readOpenFile(file: OpenFile, attempt = 1): Promise<Snapshot> {
  const { path, fd, stats } = file
  const bytes = Buffer.allocUnsafeSlow(Number(stats.size))
  const bytesRead = await readInto(bytes, file, 0)
  const after = asking(path, () => fs.fstatSync(fd, EXACT))
  const isComplete = sameStamp(stats, after) && bytesRead === bytes.length
  if (!isComplete && attempt < MAX_ATTEMPTS)
    return readOpenFile({ ...file, stats: after }, attempt + 1)
  return { bytes: bytes.subarray(0, bytesRead), stamp: stampOf(stats) }
}

/** The kernel takes this many bytes into its memory. */
const WRITTEN_AT_ONCE = 64 * 1024

export async function writeBytes({ path, fd }: OpenFile, bytes: Uint8Array): Promise<void> {
  const isSmall = bytes.length <= WRITTEN_AT_ONCE
  for (let at = 0; at < bytes.length;) {
    const [from, length] = [at, bytes.length - at]
    at += isSmall
      ? asking(path, () => fs.writeSync(fd, bytes, from, length))
      : await promised<number>(done => fs.write(fd, bytes, from, length, null, done))
  }
}

export type Content = Uint8Array | Copy

/** Content that comes from another file, not from memory. */
interface Copy {
  readonly copyOf: string
  /** Checks the file once it is open: a link may have been swapped meanwhile. */
  readonly isAllowed?: ((file: OpenFile) => Promise<boolean> | boolean) | undefined
}

/** @throws ENOENT if the original does not exist or may not be copied */
export async function withOriginal<T>(
  { copyOf, isAllowed }: Copy,
  use: (original: OpenFile) => Promise<T>
): Promise<T> {
  const used = await withFile(copyOf, async original =>
    !isAllowed || (await isAllowed(original)) ? { result: await use(original) } : undefined
  )
  if (used) return used.result
  const error = new Error(`ENOENT: no such file to copy, open '${copyOf}'`)
  throw Object.assign(error, { code: 'ENOENT', syscall: 'open', path: copyOf })
}

export async function readContent(content: Content): Promise<Uint8Array> {
  if (!('copyOf' in content)) return content
  return withOriginal(content, async original => (await readOpenFile(original)).bytes)
}

/** @param end the last byte. Default: that of the file */
export function streamOf({ path, fd }: OpenFile, end?: number): fs.ReadStream {
  const options = { fd, start: 0, highWaterMark: PIECE_BYTES, fs: reading(readOf(path)) }
  return fs.createReadStream(path, end === undefined ? options : { ...options, end })
}

/** Returns a stream that may be read after `withFile` has returned: the file stays open until the stream closes. */
export function lastingStreamOf(
  file: OpenFile,
  options: Exclude<Parameters<typeof fs.createReadStream>[1], string>
): fs.ReadStream {
  const stream = fs.createReadStream(file.path, options)
  readLater.set(file, new Promise(resolve => stream.once('close', resolve)))
  return stream
}

/** Tells whether an open file has not been written to since it was opened. */
export async function isUnmodified({ fd, stats }: OpenFile): Promise<boolean> {
  // This is asynchronous, as a network file system may ask its server again.
  const now = await promised<fs.BigIntStats>(done => fs.fstat(fd, EXACT, done))
  // A name that is added, removed or replaced changes the ctime, but not the bytes.
  const { ctimeNs } = now.nlink === stats.nlink ? now : stats
  return sameStamp(stats, { ...stampOf(now), ctimeNs })
}

// Tells whether the bytes that a file had are still there: it has grown, like a log or a download in progress, or was
// not written to. The change time does not show it: a precompile renews that of files that it supersedes.
function isIntact({ stats }: OpenFile, now: fs.BigIntStats): boolean {
  if (now.size > stats.size) return now.mtimeNs >= stats.mtimeNs
  return now.size === stats.size && hasMtime(now, stats.mtimeNs)
}

// Reads an open file up to and including the byte `end`. If that fails, or the file was overwritten since it was opened
// or is shorter, `cut` is called, and the stream ends before its last piece. Appended bytes do no harm.
export function readUnchanged(file: OpenFile, end: number, cut: () => void) {
  const readChecked: Read = (fd, buffer, offset, length, position, done) => {
    const pass = (bytesRead: number) => {
      if (bytesRead === 0) cut()
      done(null, bytesRead, buffer)
    }
    fs.read(fd, buffer, offset, length, position, (error, bytesRead) => {
      if (error) pass(0)
      else if (position + bytesRead <= end) pass(bytesRead)
      else
        fs.fstat(fd, EXACT, (failed, now) => pass(!failed && isIntact(file, now) ? bytesRead : 0))
    })
  }
  return reading(readChecked)
}

/** Compares files in pieces, as they may be larger than memory. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  return (await withFile(one, a => withFile(other, b => sameContent(a, b)))) ?? false
}

async function sameContent(a: OpenFile, b: OpenFile): Promise<boolean> {
  if (a.stats.size !== b.stats.size) return false
  const length = Math.min(PIECE_BYTES, Number(a.stats.size))
  const [left, right] = [Buffer.alloc(length), Buffer.alloc(length)]
  for (let at = 0; at < a.stats.size; at += length) {
    const [one, other] = await Promise.all([readInto(left, a, at), readInto(right, b, at)])
    if (one !== other || !left.equals(right)) return false
  }
  return true
}
