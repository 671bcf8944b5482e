// Streams an open file.
import type { ReadStream } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { ByteRange } from '../../http/preconditions.ts'
import { lastingStreamOf, readUnchanged, type OpenFile } from '../../files/open-file.ts'
import { abort, endOnReset, isHttp2, HTTP2_PIECE_BYTES } from './connection.ts'

/** A file, or one range of it. */
export interface FilePart {
  readonly file: OpenFile
  /** In bytes, of the whole file. */
  readonly size: number
  readonly range: ByteRange | undefined
}

/** A file as a body, which Koa reads later. */
export function bodyOf(res: ServerResponse, part: FilePart): ReadStream {
  return lastingStreamOf(part.file, { ...sourceOf(res, part), ...spanOf(part) })
}

function spanOf({ size, range }: FilePart): ByteRange {
  return range ?? { start: 0, end: size - 1 }
}

/**
 * Where a stream reads. When reading fails, or the file has changed, the response is cut off: a client
 * can detect that, whatever middleware in front does with the stream.
 */
export function sourceOf(res: ServerResponse, part: FilePart) {
  const fs = readUnchanged(part.file, spanOf(part).end, () => abort(res))
  endOnReset(res)
  const pace = isHttp2(res) ? { highWaterMark: HTTP2_PIECE_BYTES } : {}
  return { fd: part.file.fd, fs, ...pace }
}
