// Reads and writes the hashes in names of files: fingerprints, `app.css` -> `app-<digest>.css`, and those of build
// tools; and recognises files that browsers request again at the same URL.
import { basename } from 'node:path'
import { DIGEST_PATTERN } from '../files/digest.ts'
import { mediaTypeOf } from '../http/fields.ts'

const FINGERPRINTED = new RegExp(`^([^]*)-(${DIGEST_PATTERN})((?:\\.[^./]*)?)$`)

/** A name without its fingerprint, and the digest in the fingerprint. */
export interface Fingerprinted {
  readonly name: string
  readonly digest: string
}

/** Adds a fingerprint; a name that already has this one stays as it is. */
export function withFingerprint(name: string, digest: string): string {
  if (splitFingerprint(name)?.digest === digest) return name
  const last = name.lastIndexOf('.')
  const dot = last > name.lastIndexOf('/') + 1 ? last : name.length
  return `${name.slice(0, dot)}-${digest}${name.slice(dot)}`
}

/**
 * Splits `admin/app-<digest>.css` into `admin/app.css` and the digest; undefined for a name without a fingerprint.
 */
export function splitFingerprint(name: string): Fingerprinted | undefined {
  const [, before = '', digest, after = ''] = FINGERPRINTED.exec(name) ?? []
  return digest === undefined ? undefined : { name: before + after, digest }
}

/** The parts of a path around its hash, by which the next version of the file is recognised. */
export interface WithoutHash {
  /** The part before the hash: `/assets/app-` */
  readonly before: string
  /** The part after the hash: `.js` */
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

/**
 * Splits `/build/main.3f9a1c2b.chunk.js` around its hash; undefined for a path without a hash, or with nothing else
 * in its name.
 */
export function withoutHash(path: string): WithoutHash | undefined {
  const [, before, after = ''] = HASHES.map(each => each.exec(path)).find(found => found) ?? []
  return before === undefined ? undefined : { before, after }
}

const TYPES = new Set(['text/html', 'application/xhtml+xml', 'application/manifest+json'])
// `sw.js`, `sw-3f9a.js`, `service-worker.js`, `firebase-messaging-sw.js`; some apps call theirs `manifest.json`.
const NAMES =
  /^(?:(?:.*[-_.])?(?:ng)?(?:sw|service[-_.]?worker)(?:[-_.].*)?\.[cm]?js|manifest\.json)$/i

/**
 * Tells whether a file is a page, a service worker or a web app manifest: cached for a year, it would keep a site
 * from being updated.
 * @param path decoded
 */
export function hasFixedUrl(path: string): boolean {
  return TYPES.has(mediaTypeOf(path) ?? '') || NAMES.test(basename(path))
}
