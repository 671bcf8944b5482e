// Streams of open files, and whether a file changed while it was read.
import { createReadStream, read, type BigIntStats, type ReadStream } from 'node:fs'
import { callbackify } from 'node:util'
import { statDescriptor, type OpenFile } from './disk.ts'

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
export async function isUnmodified(file: OpenFile): Promise<boolean> {
  return isSame(file, await statDescriptor(file.fd))
}

function isSame({ stats }: OpenFile, now: BigIntStats): boolean {
  // Removing or replacing the file's name changes its ctime, but not its bytes.
  const isTouched = now.ctimeNs !== stats.ctimeNs && now.nlink === stats.nlink
  return now.size === stats.size && now.mtimeNs === stats.mtimeNs && !isTouched
}

/** As logs and downloads in progress do. */
function hasGrown({ stats }: OpenFile, now: BigIntStats): boolean {
  return now.size > stats.size && now.mtimeNs >= stats.mtimeNs
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
    if (isComplete && (isSame(file, now) || hasGrown(file, now))) return
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
