// Paths and URLs as they are written into pages, headers and the manifest (RFC 3986).

// RFC 3986 section 2 names what may stand in a URL. Less `'`, which the WHATWG encodes in a query,
// and with the `%` of what is encoded already.
const OUTSIDE_OF_URLS = /[^\w\-.~:/?#[\]@!$&()*+,;=%]/gu
// Unreserved characters, and `@` for the sake of `logo@2x.png`. Sub-delimiters would be legal, but
// then `'` could leave a CSS url('…'), and `,` a srcset.
const NOT_BARE_IN_SEGMENT = /[^\w\-.~@]/gu

/** A decoded path as it stands in a URL. */
export function encodePath(path: string): string {
  const segments = path.split('/').map(segment => segment.replace(NOT_BARE_IN_SEGMENT, encode))
  return segments.join('/')
}

/** Encodes what may not stand in a URL, and leaves alone what is encoded. */
export function encodeUrl(url: string): string {
  return url.replace(OUTSIDE_OF_URLS, encode)
}

// Not encodeURIComponent: it throws for half of a surrogate pair.
function encode(character: string): string {
  const bytes = new TextEncoder().encode(character)
  return Array.from(bytes, byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
