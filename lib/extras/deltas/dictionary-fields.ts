// Reads and writes the fields of Compression Dictionary Transport (RFC 9842): the dictionary that a request offers,
// and the requests for which a response may become one.
import type { IncomingHttpHeaders } from 'node:http'
import { isOwnPage, weightsIn } from '../../runtime/http/requests.ts'

/** The content coding of a delta, Dictionary-Compressed Zstandard (section 5). */
export const DELTA_CODING = 'dcz'

// The value is a Byte Sequence (section 2.2; RFC 9651), here the 32 bytes of a SHA-256.
const AVAILABLE = /^:[A-Za-z0-9+/]{43}=:$/

/**
 * Returns the SHA-256 of the dictionary that a client has and a response may use; undefined when it has none, does
 * not accept deltas by name, or could not read the response: the size of one that it cannot read must not
 * depend on what is in its cache (section 9.3).
 */
export function offeredDictionary(headers: IncomingHttpHeaders): Buffer | undefined {
  const offered = headers['available-dictionary']
  if (typeof offered !== 'string' || !AVAILABLE.test(offered)) return undefined
  // `*` is not enough for a coding that needs more than a decoder.
  const weight = weightsIn(headers['accept-encoding'] ?? '').get(DELTA_CODING) ?? 0
  // The response of another site, for a page that may not read it (Fetch Standard).
  const isOpaque = headers['sec-fetch-mode'] === 'no-cors' && !isOwnPage(headers)
  return weight > 0 && !isOpaque ? Buffer.from(offered, 'base64') : undefined
}

// These characters are escaped in a pattern (URL Pattern Standard, "escape a pattern string").
const SPECIAL = /[+*?:{}()\\]/g

/**
 * Returns a value of `Use-As-Dictionary` (section 2.1) for all URLs that differ in one part of the path.
 * @param before the path in front of that part, percent-encoded
 * @param after the path behind it
 */
export function useAsDictionary(before: string, after: string): string {
  const [start, end] = [before, after].map(text => text.replace(SPECIAL, String.raw`\\$&`))
  return `match="${start}*${end}"`
}
