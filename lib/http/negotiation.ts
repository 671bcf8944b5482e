// Selects a content coding by Accept-Encoding (RFC 9110 section 12.5.3).
import type { IncomingHttpHeaders } from 'node:http'
import { isOwnPage } from './requests.ts'

/**
 * The offer with the highest weight; among equals the smallest. Identity without the header, although any coding
 * is then acceptable, and when no offer is acceptable.
 * @param offers including identity
 */
export function chooseCoding<T extends { readonly coding: string; readonly size: number }>(
  acceptEncoding: string | undefined,
  offers: readonly T[]
): T | undefined {
  const identity = offers.find(offer => offer.coding === 'identity')
  if (acceptEncoding === undefined || offers.length < 2) return identity
  const weights = readWeights(acceptEncoding)
  let [best, bestWeight] = [identity, 0]
  for (const offer of offers) {
    const { coding, size } = offer
    // Identity is acceptable unless it is excluded, but comes after every coding that is named.
    const unnamed = coding === 'identity' ? Number.MIN_VALUE : 0
    const weight = weights.get(coding) ?? weights.get('*') ?? unnamed
    if (weight === 0 || weight < bestWeight) continue
    if (weight === bestWeight && best && size >= best.size) continue
    ;[best, bestWeight] = [offer, weight]
  }
  return best
}

const MEMBER = /^([!#$%&'*+\-.^_`|~\w]+)[ \t]*(?:;[ \t]*q=([01](?:\.\d{0,3})?)[ \t]*)?$/i

/** The first weight of each coding; invalid members are skipped. */
function readWeights(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const member of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = MEMBER.exec(member.trim()) ?? []
    if (name === undefined) continue
    // Section 8.4.1.3: x-gzip is gzip.
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip')
    if (!weights.has(coding)) weights.set(coding, Math.min(1, Number(weight)))
  }
  return weights
}

// Compression Dictionary Transport (RFC 9842): which dictionary a request offers, and for which requests a
// response may become one.

/** The content coding of a delta, Dictionary-Compressed Zstandard (section 5). */
export const DELTA_CODING = 'dcz'

// Section 2.2: a Byte Sequence of RFC 9651, here of the 32 bytes of a SHA-256.
const AVAILABLE = /^:[A-Za-z0-9+/]{43}=:$/

/**
 * The SHA-256 of the dictionary that a client has and a response may use; undefined when it has none, does
 * not accept deltas by name, or could not read the response: the size of one that it cannot read must not
 * depend on what is in its cache (section 9.3).
 */
export function offeredDictionary(headers: IncomingHttpHeaders): Buffer | undefined {
  const offered = headers['available-dictionary']
  if (typeof offered !== 'string' || !AVAILABLE.test(offered)) return undefined
  // `*` is not enough for a coding that needs more than a decoder.
  const weight = readWeights(headers['accept-encoding'] ?? '').get(DELTA_CODING) ?? 0
  // The response of another site, for a page that may not read it (Fetch Standard).
  const isOpaque = headers['sec-fetch-mode'] === 'no-cors' && !isOwnPage(headers)
  return weight > 0 && !isOpaque ? Buffer.from(offered, 'base64') : undefined
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
