// An open file as a stream, and whether what came of it is one state of the file.
import { createReadStream, fstat, read, type BigIntStats, type ReadStream } from 'node:fs'
import { statOpened, type Opened } from './disk.ts'

/** For `fs.createReadStream`: a stream that leaves closing to who opened the file. */
export const BORROWED = { read, close: (_fd: number, done: () => void) => done() }

/** All of an open file, a piece at a time. */
export function streamOf({ path, fd }: Opened): ReadStream {
  return createReadStream(path, { fd, start: 0, fs: BORROWED })
}

/** Whether an open file holds what it held when it was opened. */
export async function isAsOpened({ fd, stats }: Opened): Promise<boolean> {
  return isSame(stats, await statOpened(fd, { bigint: true }))
}

function isSame(before: BigIntStats, now: BigIntStats): boolean {
  // A file whose name is removed or given to another gets another ctime, but keeps its bytes.
  const isTouched = now.ctimeNs !== before.ctimeNs && now.nlink === before.nlink
  return now.size === before.size && now.mtimeNs === before.mtimeNs && !isTouched
}

type Read = (
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
  done: (error: NodeJS.ErrnoException | null, bytesRead: number, buffer: Buffer) => void
) => void

/**
 * Reads an open file, and fails at the last piece when somebody has written to the file since it was opened.
 * @param end the last byte that will be read
 */
export function readUnchanged(opened: Opened, end: number): Read {
  return (fd, buffer, offset, length, position, done) => {
    if (position + length <= end) {
      read(fd, buffer, offset, length, position, done)
      return
    }
    read(fd, buffer, offset, length, position, (error, bytesRead) => {
      if (error || position + bytesRead <= end) done(error, bytesRead, buffer)
      else judge(opened, failure => done(failure, bytesRead, buffer))
    })
  }
}

function judge({ path, fd, stats }: Opened, done: (error: Error | null) => void): void {
  fstat(fd, { bigint: true }, (error, now) => {
    const isChanged = !error && !isSame(stats, now)
    done(isChanged ? new Error(`${path} changed while it was sent`) : error)
  })
}
