// Only canonical paths are ours, so that no guard in front can be talked past by another spelling of
// the same path.

/** A path that cannot be decoded, or that holds a NUL. */
export const MALFORMED = Symbol('malformed')

// A percent-encoded unreserved character (RFC 3986 2.3) is another spelling of the plain one.
const NEEDLESS_ENCODING = /%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/i
// Characters that some file system or some proxy reads as something else.
const STRANGE = /[\\:\u0000-\u001f\u007f/]/
// Windows opens a device under these names and drops dots and blanks at the end of others.
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** Why a path is not ours. */
interface Refusal {
  readonly reason: string
  readonly isMalformed?: true
}

const REFUSALS = {
  relative: { reason: 'it does not start with a slash' },
  raw: { reason: 'it holds a character that has to be percent-encoded' },
  malformed: { reason: 'it cannot be decoded', isMalformed: true },
  needless: { reason: 'it percent-encodes a character that needs none' },
  empty: { reason: 'it has an empty segment' },
  dot: { reason: 'it has a segment that starts with a dot' },
  strange: { reason: 'it holds a backslash, a colon, a control character or an encoded slash' },
  windows: { reason: 'Windows reads one of its segments as another name' }
} satisfies Record<string, Refusal>

/** The decoded segments of a canonical path; undefined when it is not ours. */
export function canonicalSegments(raw: string): string[] | typeof MALFORMED | undefined {
  const read = readSegments(raw)
  if (Array.isArray(read)) return read
  return read.isMalformed ? MALFORMED : undefined
}

/** What keeps a path, as it was sent, from being canonical; undefined for one that is. */
export function whyNotCanonical(raw: string): string | undefined {
  const read = readSegments(raw)
  return Array.isArray(read) ? undefined : read.reason
}

function readSegments(raw: string): string[] | Refusal {
  if (!raw.startsWith('/')) return REFUSALS.relative
  const segments: string[] = []
  for (const written of raw.slice(1).split('/')) {
    const segment = decodeSegment(written)
    if (typeof segment !== 'string') return segment
    const refusal = refusalOf(segment, segments.length === 0)
    if (refusal) return refusal
    segments.push(segment)
  }
  return segments
}

function decodeSegment(written: string): string | Refusal {
  // Beyond ASCII, and a fragment, a request target holds nothing (RFC 9112 3.2).
  if (/[#\u0080-\uffff]/.test(written)) return REFUSALS.raw
  if (!written.includes('%')) return written
  if (/%00/.test(written) || /%(?![0-9a-f]{2})/i.test(written)) return REFUSALS.malformed
  if (NEEDLESS_ENCODING.test(written)) return REFUSALS.needless
  try {
    return decodeURIComponent(written)
  } catch (error) {
    if (error instanceof URIError) return REFUSALS.malformed
    throw error
  }
}

function refusalOf(segment: string, first: boolean): Refusal | undefined {
  if (segment === '') return REFUSALS.empty
  if (STRANGE.test(segment)) return REFUSALS.strange
  if (segment.startsWith('.')) return first && segment === '.well-known' ? undefined : REFUSALS.dot
  return /[. ]$/.test(segment) || DEVICE.test(segment) ? REFUSALS.windows : undefined
}
