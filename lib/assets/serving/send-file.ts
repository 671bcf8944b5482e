// Streams an open file through `send`.
import type { ReadStream, Stats } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import send from 'send'
import type { ByteRange } from '../../http/ranges.ts'
import type { OpenFile } from '../../files/disk.ts'
import { WITHOUT_CLOSE, readUnchanged } from '../../files/file-stream.ts'
import { abort } from './connection.ts'
import { removeContentFields, withEarlierVary, type Fields } from './fields.ts'

/**
 * Sends a file, or one range of it, and resolves when the file is no longer read. `send` evaluates
 * preconditions and several ranges in its own way, so it gets a request that has one range at most. It
 * passes its options on to `fs.createReadStream`, and thereby reads the open file.
 * @param fields of a 200, without Content-Length
 */
export function sendFile(
  res: ServerResponse,
  opened: OpenFile,
  size: number,
  fields: Fields,
  range?: ByteRange
): Promise<void> {
  removeContentFields(res)
  // Koa starts at 404, and send never resets it.
  res.statusCode = 200
  const merged = withEarlierVary(res, fields)
  for (let at = 0; at < merged.length; at += 2) {
    res.setHeader(merged[at] as string, merged[at + 1] as string)
  }
  const { start, end } = range ?? { start: 0, end: size - 1 }
  const headers = range ? { range: `bytes=${start}-${end}` } : {}
  const fs = { ...WITHOUT_CLOSE, read: readUnchanged(opened, { start, end }) }
  const options = { cacheControl: false, etag: false, lastModified: false, fd: opened.fd, fs }
  const sending = send({ method: 'GET', headers } as IncomingMessage, opened.path, options)
  return new Promise(resolve => {
    let isReading = false
    sending.on('error', () => abort(res))
    sending.on('stream', (file: ReadStream) => {
      isReading = true
      // A file that shrank would leave the client waiting for the rest.
      file.once('end', () => file.bytesRead <= end - start && abort(res))
      file.once('close', resolve)
    })
    Object.assign(sending, { res })
    sending.send(opened.path, { size } as Stats)
    if (!isReading) resolve()
  })
}
