// How the pipeline touches the disk: a miss is a value, a failure is an exception.
import { close, constants, fstat, open as fsOpen, stat, type BigIntStats } from 'node:fs'
import { open, realpath, type FileHandle } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { promisify } from 'node:util'

/** What tells one state of a file from another. */
export interface Mark {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

// ELOOP: a link that leads to itself leads to no file, like one that dangles.
const MISSES = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
}

export function isMiss(error: unknown): boolean {
  return MISSES.has(errorCode(error) ?? '')
}

/** Turns "not there" into undefined; everything else surfaces. */
export async function missing<T>(outcome: Promise<T>): Promise<T | undefined> {
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
  return missing(realpath(path))
}

export function markOf({ dev, ino, size, mtimeNs, ctimeNs }: Mark): Mark {
  return { dev, ino, size, mtimeNs, ctimeNs }
}

export function sameMark(a: Mark, b: Mark): boolean {
  return (
    a.ctimeNs === b.ctimeNs &&
    a.mtimeNs === b.mtimeNs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.dev === b.dev
  )
}

/** Whether `path` is `directory` or lies in it, by segments: `public-secret` is not in `public`. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

// A FIFO that nobody writes to would hold a thread of the pool for ever.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Opens a regular file; anything else that bears the name is a miss. */
export async function openFile(
  path: string
): Promise<{ handle: FileHandle; stats: BigIntStats } | undefined> {
  const handle = await missing(open(path, READ))
  if (!handle) return undefined
  try {
    const stats = await handle.stat({ bigint: true })
    if (stats.isFile()) return { handle, stats }
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  return undefined
}

const openPlain = promisify(fsOpen)
const statPlain = promisify(fstat)
export const closeDescriptor = promisify(close)

/**
 * The same as a plain descriptor, for streams: reading through a FileHandle costs a fifth more. Who
 * gets it closes it.
 */
export async function openDescriptor(
  path: string
): Promise<{ fd: number; stats: BigIntStats } | undefined> {
  const fd = await missing(openPlain(path, READ))
  if (fd === undefined) return undefined
  try {
    const stats = await statPlain(fd, { bigint: true })
    if (stats.isFile()) return { fd, stats }
  } catch (error) {
    await closeDescriptor(fd)
    throw error
  }
  await closeDescriptor(fd)
  return undefined
}

/** Bytes and mark of one and the same state of a file. */
export async function readWhole(path: string): Promise<{ bytes: Buffer; mark: Mark } | undefined> {
  const opened = await openFile(path)
  if (!opened) return undefined
  const { handle } = opened
  try {
    let before: Mark = opened.stats
    for (let attempt = 0; ; attempt++) {
      const bytes = Buffer.allocUnsafeSlow(Number(before.size))
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
      const after = await handle.stat({ bigint: true })
      const settled = sameMark(before, after) && bytesRead === bytes.length
      if (settled || attempt === 4)
        return { bytes: bytes.subarray(0, bytesRead), mark: markOf(before) }
      before = after
    }
  } finally {
    await handle.close()
  }
}

/** Whether two files hold the same bytes, a piece at a time, so that a film costs no memory. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  const a = await openFile(one)
  if (!a) return false
  try {
    const b = await openFile(other)
    if (!b) return false
    try {
      return await sameStreams(a, b)
    } finally {
      await b.handle.close()
    }
  } finally {
    await a.handle.close()
  }
}

type Opened = NonNullable<Awaited<ReturnType<typeof openFile>>>

async function sameStreams(a: Opened, b: Opened): Promise<boolean> {
  if (a.stats.size !== b.stats.size) return false
  const size = Number(a.stats.size)
  const [left, right] = [Buffer.alloc(1 << 18), Buffer.alloc(1 << 18)]
  for (let at = 0; at < size; at += left.length) {
    const [l, r] = await Promise.all([
      a.handle.read(left, 0, left.length, at),
      b.handle.read(right, 0, right.length, at)
    ])
    if (l.bytesRead !== r.bytesRead) return false
    if (!left.subarray(0, l.bytesRead).equals(right.subarray(0, r.bytesRead))) return false
  }
  return true
}
