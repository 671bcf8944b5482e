// Streams of open files, and whether a file changed while it was read.
import { createReadStream, read, type BigIntStats, type ReadStream } from 'node:fs'
import { callbackify } from 'node:util'
import { statDescriptor, type OpenFile } from './disk.ts'
import { hasMtime } from './clock.ts'

/** For the option `fs` of `createReadStream`: the stream leaves its descriptor open. */
export const WITHOUT_CLOSE = { read, close: (_fd: number, done: () => void) => done() }

// Each piece is a system call.
const PIECE_BYTES = 1024 * 1024

/** In bytes, both inclusive; `end` defaults to the end of the file. */
interface Span {
  readonly start: number
  readonly end?: number
}

export function streamOf({ path, fd }: OpenFile, span: Span = { start: 0 }): ReadStream {
  return createReadStream(path, { fd, ...span, highWaterMark: PIECE_BYTES, fs: WITHOUT_CLOSE })
}

/** Whether an open file has not been written to since it was opened. */
export async function isUnmodified({ fd, stats }: OpenFile): Promise<boolean> {
  const now = await statDescriptor(fd)
  // Removing or replacing the file's name changes its ctime, but not its bytes.
  const isTouched = now.ctimeNs !== stats.ctimeNs && now.nlink === stats.nlink
  return now.size === stats.size && now.mtimeNs === stats.mtimeNs && !isTouched
}

/**
 * Whether the bytes that a file had are still there: it has grown, as logs and downloads in progress do, or
 * was not written to. Its change time does not tell: a precompile renews that of files that it supersedes.
 */
function isIntact({ stats }: OpenFile, now: BigIntStats): boolean {
  if (now.size > stats.size) return now.mtimeNs >= stats.mtimeNs
  return now.size === stats.size && hasMtime(now, stats.mtimeNs)
}

export type Read = (
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
  done: (error: NodeJS.ErrnoException | null, bytesRead: number, buffer: Buffer) => void
) => void

/**
 * A `read` for a span of an open file, read from start to end. Its last call fails when the file was
 * overwritten since it was opened, or ends before the span; bytes that were only appended do no harm.
 */
export function readUnchanged(file: OpenFile, span: Required<Span>): Read {
  const requireIntact = callbackify(async (isComplete: boolean): Promise<void> => {
    const now = await statDescriptor(file.fd)
    if (isComplete && isIntact(file, now)) return
    throw new Error(`${file.path} changed while it was being sent`)
  })
  return (fd, buffer, offset, length, position, done) => {
    read(fd, buffer, offset, length, position, (error, bytesRead) => {
      const isComplete = position + bytesRead > span.end
      if (error || (bytesRead > 0 && !isComplete)) done(error, bytesRead, buffer)
      else requireIntact(isComplete, failure => done(failure, bytesRead, buffer))
    })
  }
}
