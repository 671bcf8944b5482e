// An open file as a stream, and whether what came of it is one state of the file.
import { createReadStream, read, type BigIntStats, type ReadStream } from 'node:fs'
import { callbackify } from 'node:util'
import { statDescriptor, type OpenFile } from './disk.ts'
import { Digester, digestOfStream } from './digest.ts'

/** For `fs.createReadStream`: a stream that leaves closing to whoever opened the file. */
export const BORROWED = { read, close: (_fd: number, done: () => void) => done() }

/** The bytes of an open file, all of them or from one to another, a piece at a time. */
export function streamOf({ path, fd }: OpenFile, range: Span = { start: 0 }): ReadStream {
  return createReadStream(path, { fd, ...range, highWaterMark: PIECE, fs: BORROWED })
}

// Big pieces: each is a call of the system.
const PIECE = 1024 * 1024

/** Both inclusive; without an end, to the end of the file. */
interface Span {
  readonly start: number
  readonly end?: number
}

/** Whether an open file holds what it held when it was opened. */
export async function isUnmodified({ fd, stats }: OpenFile): Promise<boolean> {
  return isSame(stats, await statDescriptor(fd, { bigint: true }))
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
 * Reads a part of an open file from its start to its end, and fails at the last piece when somebody has
 * written over the file since it was opened. What was only added behind its end does no harm.
 */
export function readUnchanged(opened: OpenFile, span: Required<Span>): Read {
  const digester = mayGrow(opened.stats) ? new Digester() : undefined
  const isIntact = callbackify(async (): Promise<boolean> => {
    const digest = digester?.finish()
    if (await isUnmodified(opened)) return true
    return digest !== undefined && digest === (await digestOfStream(streamOf(opened, span)))
  })
  return (fd, buffer, offset, length, position, done) => {
    if (!digester && position + length <= span.end) {
      read(fd, buffer, offset, length, position, done)
      return
    }
    read(fd, buffer, offset, length, position, (error, bytesRead) => {
      digester?.update(buffer.subarray(offset, offset + bytesRead))
      if (error || position + bytesRead <= span.end) done(error, bytesRead, buffer)
      else {
        isIntact((failure, intact) =>
          done(intact ? null : (failure ?? changed(opened)), bytesRead, buffer)
        )
      }
    })
  }
}

const GROWING_MS = 60_000

/** Whether it was written to so lately that it may be a log or a download which goes on growing. */
function mayGrow({ mtimeNs }: BigIntStats): boolean {
  return Date.now() - Number(mtimeNs / 1_000_000n) < GROWING_MS
}

function changed({ path }: OpenFile): Error {
  return new Error(`${path} changed while it was sent`)
}
