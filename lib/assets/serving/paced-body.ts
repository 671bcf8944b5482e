// A body over HTTP/2. Node counts what waits to be sent on all streams of a session against
// `maxSessionMemory`, 10 MB by default, and above that it resets new streams with ENHANCE_YOUR_CALM: fifty
// images of 300 KB at once, each written as a whole, are enough.
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { endOnReset, isHttp2 } from './connection.ts'

/** In bytes. Browsers open up to 256 streams at once (Chromium). */
export const HTTP2_PIECE_BYTES = 32 * 1024

/** The body as it is handed on once all fields are set: in pieces, if the whole must not be. */
export function pacedBody(res: ServerResponse, body: Buffer): Buffer | Readable {
  if (!isHttp2(res)) {
    const isGarbled = NOT_ASCII.test(String(res.getHeader('Content-Disposition')))
    return isGarbled ? Readable.from([body]) : body
  }
  if (body.length <= HTTP2_PIECE_BYTES) return body
  endOnReset(res)
  return Readable.from(piecesOf(body))
}

// With a body that `end` is given whole, Node garbles such a Content-Disposition: `processHeader` makes it a
// Buffer of Latin-1, which is then read as UTF-8 (Node 20 to 26).
const NOT_ASCII = /[^\x00-\x7f]/

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += HTTP2_PIECE_BYTES) {
    yield body.subarray(at, at + HTTP2_PIECE_BYTES)
  }
}
