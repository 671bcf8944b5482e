// A body over HTTP/2. Node counts what waits to be sent on all streams of a session against
// `maxSessionMemory`, 10 MB by default, and above that it resets new streams with ENHANCE_YOUR_CALM: fifty
// images of 300 KB at once, each written as a whole, are enough.
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { isHttp2 } from './connection.ts'

/** In bytes. Browsers open up to 256 streams at once (Chromium). */
export const HTTP2_PIECE_BYTES = 32 * 1024

/** The body in pieces, if the whole must not wait to be sent. */
export function pacedBody(res: ServerResponse, body: Buffer): Buffer | Readable {
  return isHttp2(res) && body.length > HTTP2_PIECE_BYTES ? Readable.from(piecesOf(body)) : body
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += HTTP2_PIECE_BYTES) {
    yield body.subarray(at, at + HTTP2_PIECE_BYTES)
  }
}
