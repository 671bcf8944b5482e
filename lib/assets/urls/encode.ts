// Percent-encodes paths and URLs for pages, headers and the manifest, and decodes them (RFC 3986 section 2).

// Unreserved and reserved characters, and `%` of existing escapes. `'` is not among them, as the WHATWG URL
// standard encodes it in a query.
const OUTSIDE_OF_URLS = /[^\w\-.~:/?#[\]@!$&()*+,;=%]/gu
// Unreserved characters, and `@` for names such as `logo@2x.png`. Bare sub-delimiters are legal, but `'`
// could end a CSS url('…'), and `,` separates the entries of a srcset.
const OUTSIDE_OF_SEGMENTS = /[^\w\-.~@]/gu

export function encodePath(decoded: string): string {
  const segments = decoded.split('/').map(segment => segment.replace(OUTSIDE_OF_SEGMENTS, encode))
  return segments.join('/')
}

/** Leaves existing escapes as they are. */
export function encodeUrl(url: string): string {
  return url.replace(OUTSIDE_OF_URLS, encode)
}

// encodeURIComponent throws for a lone surrogate.
function encode(character: string): string {
  const bytes = new TextEncoder().encode(character)
  return Array.from(bytes, byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** Undefined for what cannot be decoded. */
export function decodeIfValid(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/**
 * The path as a browser writes it that resolves a bundler's `import './a+(b).js'`: a module is loaded
 * twice if two spellings of its URL differ (URL Standard, "path percent-encode set").
 */
export function encodeAsImported(decoded: string): string {
  const escaped = decoded.replace(/[%?#\\]/g, encodeURIComponent)
  return new URL(`http://localhost${escaped}`).pathname
}
