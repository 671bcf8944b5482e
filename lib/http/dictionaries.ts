// Compression Dictionary Transport (RFC 9842): which dictionary a request offers, and for which requests a
// response may be one.
import type { IncomingHttpHeaders } from 'node:http'
import { acceptsByName } from './content-coding.ts'

/** The content coding of a delta, Dictionary-Compressed Zstandard (section 5). */
export const DELTA_CODING = 'dcz'

// Section 2.2: a Byte Sequence of RFC 9651, here of the 32 bytes of a SHA-256.
const AVAILABLE = /^:[A-Za-z0-9+/]{43}=:$/

/**
 * The SHA-256 of the dictionary that a client has and may be answered with; undefined when it has none, does
 * not accept deltas by name, or could not read the response: the size of one that it cannot read must not
 * depend on what is in its cache (section 9.3).
 */
export function offeredDictionary(headers: IncomingHttpHeaders): Buffer | undefined {
  const offered = headers['available-dictionary']
  if (typeof offered !== 'string' || !AVAILABLE.test(offered)) return undefined
  if (!acceptsByName(headers['accept-encoding'], DELTA_CODING) || isOpaque(headers))
    return undefined
  return Buffer.from(offered, 'base64')
}

/** Whether the response is one of another site, for a page that may not read it (Fetch Standard). */
function isOpaque(headers: IncomingHttpHeaders): boolean {
  if (headers['sec-fetch-mode'] !== 'no-cors') return false
  return !['same-origin', 'none', undefined].includes(headers['sec-fetch-site'])
}

// URL Pattern Standard, "escape a pattern string".
const SPECIAL = /[+*?:{}()\\]/g

/**
 * The value of `Use-As-Dictionary` (section 2.1) for all URLs that differ in one part of the path.
 * @param before what precedes that part, percent-encoded
 * @param after what follows it
 */
export function useAsDictionary(before: string, after: string): string {
  const [start, end] = [before, after].map(text => text.replace(SPECIAL, String.raw`\\$&`))
  return `match="${start}*${end}"`
}
