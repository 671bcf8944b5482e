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

/** The decoded segments of a canonical path; undefined when it is not ours. */
export function canonicalSegments(raw: string): string[] | typeof MALFORMED | undefined {
  if (!raw.startsWith('/')) return undefined
  const segments: string[] = []
  for (const written of raw.slice(1).split('/')) {
    const segment = decodeSegment(written)
    if (typeof segment !== 'string') return segment
    if (!isCanonical(segment, segments.length === 0)) return undefined
    segments.push(segment)
  }
  return segments
}

function decodeSegment(written: string): string | typeof MALFORMED | undefined {
  // Beyond ASCII, and a fragment, a request target holds nothing (RFC 9112 3.2).
  if (/[#\u0080-\uffff]/.test(written)) return undefined
  if (!written.includes('%')) return written
  if (/%00/.test(written) || /%(?![0-9a-f]{2})/i.test(written)) return MALFORMED
  if (NEEDLESS_ENCODING.test(written)) return undefined
  try {
    return decodeURIComponent(written)
  } catch (error) {
    if (error instanceof URIError) return MALFORMED
    throw error
  }
}

function isCanonical(segment: string, first: boolean): boolean {
  if (segment === '' || STRANGE.test(segment)) return false
  if (segment.startsWith('.')) return first && segment === '.well-known'
  return !/[. ]$/.test(segment) && !DEVICE.test(segment)
}
