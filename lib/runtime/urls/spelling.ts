// The spelling of URL paths, where only one form is handled so that no other gets past a guard, and of hashes in names.
import { basename } from 'node:path'
import { isText } from '../check-options.ts'
import { DIGEST_PATTERN } from '../files/digest.ts'
import { mediaTypeOf } from '../http/fields.ts'

/** A path that cannot be decoded, or contains a NUL. */
export const MALFORMED = Symbol('malformed')

// Percent-encoded unreserved characters (RFC 3986 section 2.3).
const NEEDLESS_ENCODING = /%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/i
// Some file systems and proxies interpret these characters, and a colon in names of files.
const AMBIGUOUS = /[\\\u0000-\u001f\u007f/]/
// Windows opens devices under these names, and drops dots and spaces at the end of others.
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** The reasons complete "the path is not handled: …". */
const REJECTIONS = {
  relative: { reason: 'it does not start with a slash' },
  raw: { reason: 'it contains a character that must be percent-encoded' },
  malformed: { reason: 'it cannot be decoded' },
  needless: { reason: 'it percent-encodes a character that needs no encoding' },
  empty: { reason: 'it has an empty segment' },
  dot: { reason: 'it has a segment that starts with a dot' },
  ambiguous: {
    reason: 'it contains a backslash, a colon, a control character or an encoded slash'
  },
  windows: { reason: 'Windows interprets one of its segments as another name' }
}
type Rejection = (typeof REJECTIONS)[keyof typeof REJECTIONS]

// Returns the decoded segments of a canonical path; undefined for any other path that can be decoded. A page may have
// more paths than a file: `/types/api::article`, `/firms/Acme%20Inc.`.
export function canonicalSegments(
  raw: string,
  isPage = false
): string[] | typeof MALFORMED | undefined {
  const parsed = parsePath(raw, isPage)
  if (Array.isArray(parsed)) return parsed
  return parsed === REJECTIONS.malformed ? MALFORMED : undefined
}

/** Tells whether a decoded relative path, such as `reports/may.pdf`, may be the end of a canonical path. */
export function isCanonicalBelow(path: string): boolean {
  return path.split('/').every(segment => rejectionOf(segment, false) === undefined)
}

/** Returns why a raw path is not canonical; undefined when it is. */
export function whyNotCanonical(raw: string): string | undefined {
  const parsed = parsePath(raw)
  return Array.isArray(parsed) ? undefined : parsed.reason
}

function parsePath(raw: string, isPage = false): string[] | Rejection {
  if (!raw.startsWith('/')) return REJECTIONS.relative
  const segments: string[] = []
  for (const encoded of raw.slice(1).split('/')) {
    const segment = decodeSegment(encoded)
    if (typeof segment !== 'string') return segment
    const rejection = rejectionOf(segment, segments.length === 0, isPage)
    if (rejection) return rejection
    segments.push(segment)
  }
  return segments
}

function decodeSegment(encoded: string): string | Rejection {
  // A request target is ASCII without a fragment (RFC 9112 section 3.2).
  if (/[#\u0080-\uffff]/.test(encoded)) return REJECTIONS.raw
  if (!encoded.includes('%')) return encoded
  if (/%00/.test(encoded) || /%(?![0-9a-f]{2})/i.test(encoded)) return REJECTIONS.malformed
  if (NEEDLESS_ENCODING.test(encoded)) return REJECTIONS.needless
  return decodeIfValid(encoded) ?? REJECTIONS.malformed
}

function rejectionOf(segment: string, isFirst: boolean, isPage = false): Rejection | undefined {
  if (segment === '') return REJECTIONS.empty
  if (AMBIGUOUS.test(segment) || (!isPage && segment.includes(':'))) return REJECTIONS.ambiguous
  // RFC 8615.
  if (isFirst && segment === '.well-known') return undefined
  if (segment.startsWith('.')) return REJECTIONS.dot
  const isOther = DEVICE.test(segment) || (!isPage && /[. ]$/.test(segment))
  return isOther ? REJECTIONS.windows : undefined
}

/** Yields the path itself, then the part after each of its slashes. */
export function* tailsOf(path: string): Generator<string> {
  for (let at = 0; at !== -1; at = path.indexOf('/', at)) {
    if (path[at] === '/') at++
    yield path.slice(at)
  }
}

// Tells whether a file at a tail would collide with names: it has the name of a folder, or is below a name.
export function meetsNames(
  tail: string,
  folders: ReadonlySet<string>,
  isName: (path: string) => boolean
): boolean {
  const parts = tail.split('/')
  if (folders.has(parts.at(-1) ?? '')) return true
  return parts.some((_, at) => at > 0 && isName(parts.slice(0, at).join('/')))
}

// Matches all but unreserved and reserved characters and `%`; but `'` is encoded, as in a query of the URL Standard.
const OUTSIDE_OF_URLS = /[^\w\-.~:/?#[\]@!$&()*+,;=%]/gu
// Matches all but unreserved characters, and `@` in names such as `logo@2x.png`. Bare sub-delimiters are legal, but `'`
// could end a CSS url('…'), and `,` separates the entries of a srcset.
const OUTSIDE_OF_PATHS = /[^\w\-.~@/]/gu

export const encodePath = (decoded: string): string => decoded.replace(OUTSIDE_OF_PATHS, encode)

/** Encodes a URL; existing escapes stay as they are. */
export const encodeUrl = (url: string): string => url.replace(OUTSIDE_OF_URLS, encode)

// encodeURIComponent throws for a lone surrogate.
function encode(character: string): string {
  const bytes = new TextEncoder().encode(character)
  return Array.from(bytes, byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

export function decodeIfValid(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

// A module is loaded twice if two spellings of its URL differ (URL Standard, "path percent-encode set").
export function encodeAsImported(decoded: string): string {
  return new URL(`http://localhost${decoded.replace(/[%?#\\]/g, encodeURIComponent)}`).pathname
}

/** A path of only these characters needs no escaping wherever a URL is written. */
const PLAIN = /^[\w\-.~@%/]+$/

/** The check of the option `base`, of koaAssets and of the plugin for Vite. */
export const BASE = {
  expected: "a path such as '/shop', percent-encoded, without a slash at its end",
  holds: (value: unknown) =>
    value === '' || (isText(value) && PLAIN.test(value) && Array.isArray(canonicalSegments(value)))
}

/** Removes the base from a URL's path, as the proxy in front does. */
export function withoutBase(path: string, base: string): string {
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path
}

const FINGERPRINTED = new RegExp(`^([^]*)-(${DIGEST_PATTERN})((?:\\.[^./]*)?)$`)

/** Adds a fingerprint; a name that already has it is unchanged. */
export function withFingerprint(name: string, digest: string): string {
  if (splitFingerprint(name)?.digest === digest) return name
  const last = name.lastIndexOf('.')
  const dot = last > name.lastIndexOf('/') + 1 ? last : name.length
  return `${name.slice(0, dot)}-${digest}${name.slice(dot)}`
}

export interface Fingerprinted {
  readonly name: string
  readonly digest: string
}

/** Splits `admin/app-<digest>.css` into `admin/app.css` and the digest; undefined for a name without a fingerprint. */
export function splitFingerprint(name: string): Fingerprinted | undefined {
  const [, before = '', digest, after = ''] = FINGERPRINTED.exec(name) ?? []
  return digest === undefined ? undefined : { name: before + after, digest }
}

/** The parts of a path around its hash, `/assets/app-` and `.js`, which identify the next version of the file. */
export interface WithoutHash {
  readonly before: string
  readonly after: string
}

/** Splits `/assets/app-<digest>.css` around its fingerprint; undefined for a path without one. */
export function withoutFingerprint(path: string): WithoutHash | undefined {
  const [, before, digest, after = ''] = FINGERPRINTED.exec(path) ?? []
  return digest === undefined ? undefined : { before: `${before}-`, after }
}

// The hashes of build tools, the most certain first: eight characters of base64url, which may contain the separator
// (Rollup and tools based on it), then the last part that has a digit or capitals (esbuild, webpack, Rspack, Parcel).
// The part that follows a hash has neither: `.chunk.js`, `.module.css`.
const AFTER = String.raw`((?:[.-][a-z]+)*\.[a-z][a-z0-9]*)$`
const HASHES = [
  new RegExp(String.raw`^(.*[^/]-)[\w-]{8}(\.[a-z][a-z0-9]*)$`),
  new RegExp(String.raw`^(.*[^/][.-])(?=[a-z]*[\dA-Z])\w{6,64}${AFTER}`)
]

/** Splits `/build/main.3f9a1c2b.chunk.js` around its hash; undefined for a path without one, or with only one. */
export function withoutHash(path: string): WithoutHash | undefined {
  const [, before, after = ''] = HASHES.map(each => each.exec(path)).find(found => found) ?? []
  return before === undefined ? undefined : { before, after }
}

const TYPES = new Set(['text/html', 'application/xhtml+xml', 'application/manifest+json'])
// `sw.js`, `sw-3f9a.js`, `service-worker.js`, `firebase-messaging-sw.js`; some apps call theirs `manifest.json`.
const NAMES =
  /^(?:(?:.*[-_.])?(?:ng)?(?:sw|service[-_.]?worker)(?:[-_.].*)?\.[cm]?js|manifest\.json)$/i

/** Tells whether a file is a page, a service worker or a web app manifest, which would block updates if cached long. */
export function hasFixedUrl(path: string): boolean {
  return TYPES.has(mediaTypeOf(path) ?? '') || NAMES.test(basename(path))
}
