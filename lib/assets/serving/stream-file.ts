// Streams an open file: through `send`, or as the body of a response that Koa sends.
import type { ReadStream, Stats } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type send from 'send'
import type { ByteRange } from '../../http/preconditions.ts'
import { lastingStreamOf, readUnchanged, type OpenFile } from '../../files/open-file.ts'
import { abort, endOnReset, isHttp2, HTTP2_PIECE_BYTES } from './connection.ts'
import { removeContentFields, setFields } from './response-fields.ts'
import type { PreparedResponse } from './write-response.ts'

/** A file, or one range of it. */
export interface FilePart {
  readonly file: OpenFile
  /** In bytes, of the whole file. */
  readonly size: number
  readonly range: ByteRange | undefined
}

let loaded: Promise<{ readonly default: typeof send }> | undefined

/**
 * Loads `send`, which with its packages takes a quarter as long as this package: a server does it during the rest
 * of its start, so that no request waits.
 */
export function loadSend() {
  return (loaded ??= import('send'))
}

/**
 * Sends a file, and resolves when it is no longer read. `send` evaluates preconditions and several ranges
 * in its own way, so it gets a request that has one range at most. It passes its options on to
 * `fs.createReadStream`, and thereby reads the open file.
 */
export async function streamFile(
  res: ServerResponse,
  response: PreparedResponse,
  part: FilePart
): Promise<void> {
  const { default: send } = await loadSend()
  const { file, size, range } = part
  removeContentFields(res)
  // Koa starts at 404, and send never resets it.
  res.statusCode = 200
  setFields(res, response)
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {}
  const options = { cacheControl: false, etag: false, lastModified: false, ...sourceOf(res, part) }
  const sending = send({ method: 'GET', headers } as IncomingMessage, file.path, options)
  return new Promise(resolve => {
    let isReading = false
    sending.on('error', () => abort(res))
    sending.on('stream', (stream: ReadStream) => {
      isReading = true
      stream.once('close', resolve)
    })
    Object.assign(sending, { res })
    sending.send(file.path, { size } as Stats)
    if (!isReading) resolve()
  })
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
function sourceOf(res: ServerResponse, part: FilePart) {
  const fs = readUnchanged(part.file, spanOf(part).end, () => abort(res))
  endOnReset(res)
  const pace = isHttp2(res) ? { highWaterMark: HTTP2_PIECE_BYTES } : {}
  return { fd: part.file.fd, fs, ...pace }
}
