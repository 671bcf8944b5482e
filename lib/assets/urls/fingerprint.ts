// What the name of a file says about its URL: a fingerprint, `app.css` -> `app-<digest>.css`; the hash of a
// build tool; or that browsers ask for it again at the same URL.
import { basename } from 'node:path'
import { DIGEST_PATTERN } from '../../files/digest.ts'
import { mediaTypeOf } from '../../http/fields.ts'

const FINGERPRINTED = new RegExp(`^([^]*)-(${DIGEST_PATTERN})((?:\\.[^./]*)?)$`)

/** A name without its fingerprint, and the digest in the fingerprint. */
export interface Fingerprinted {
  readonly name: string
  readonly digest: string
}

/** A name that already has this fingerprint stays as it is. */
export function withFingerprint(name: string, digest: string): string {
  if (splitFingerprint(name)?.digest === digest) return name
  const last = name.lastIndexOf('.')
  const dot = last > name.lastIndexOf('/') + 1 ? last : name.length
  return `${name.slice(0, dot)}-${digest}${name.slice(dot)}`
}

/** `admin/app-<digest>.css` -> `admin/app.css` and the digest; undefined for a name without one. */
export function splitFingerprint(name: string): Fingerprinted | undefined {
  const [, before = '', digest, after = ''] = FINGERPRINTED.exec(name) ?? []
  return digest === undefined ? undefined : { name: before + after, digest }
}

/** A path without the hash in its name, by which the next version of the file is recognised. */
export interface WithoutHash {
  /** `/assets/app-` */
  readonly before: string
  /** `.js` */
  readonly after: string
}

/** `/assets/app-<digest>.css`; undefined for a path without a fingerprint. */
export function withoutFingerprint(path: string): WithoutHash | undefined {
  const [, before, digest, after = ''] = FINGERPRINTED.exec(path) ?? []
  return digest === undefined ? undefined : { before: `${before}-`, after }
}

// What build tools write, the most certain first: eight characters of base64url, which may contain the separator
// (Rollup and what is based on it), then the last part that has a digit or capitals (esbuild, webpack, Rspack, Parcel).
// The part that follows a hash has neither: `.chunk.js`, `.module.css`.
const AFTER = String.raw`((?:[.-][a-z]+)*\.[a-z][a-z0-9]*)$`
const HASHES = [
  new RegExp(String.raw`^(.*[^/]-)[\w-]{8}(\.[a-z][a-z0-9]*)$`),
  new RegExp(String.raw`^(.*[^/][.-])(?=[a-z]*[\dA-Z])\w{6,64}${AFTER}`)
]

/** `/build/main.3f9a1c2b.chunk.js`; undefined for a path whose name has nothing beside a hash, or no hash. */
export function withoutHash(path: string): WithoutHash | undefined {
  const [, before, after = ''] = HASHES.map(each => each.exec(path)).find(found => found) ?? []
  return before === undefined ? undefined : { before, after }
}

/** What versions of a built file have in common; undefined for a path without a hash. */
export function versionKey(path: string): string | undefined {
  const without = withoutHash(`/${path}`)
  return without && `${without.before}*${without.after}`
}

const TYPES = new Set(['text/html', 'application/xhtml+xml', 'application/manifest+json'])
// `sw.js`, `sw-3f9a.js`, `service-worker.js`, `firebase-messaging-sw.js`; some apps call theirs `manifest.json`.
const NAMES =
  /^(?:(?:.*[-_.])?(?:ng)?(?:sw|service[-_.]?worker)(?:[-_.].*)?\.[cm]?js|manifest\.json)$/i

/**
 * Whether a file is a page, a service worker or a web app manifest: cached for a year, it would keep a site
 * from being updated.
 * @param path decoded
 */
export function hasFixedUrl(path: string): boolean {
  return TYPES.has(mediaTypeOf(path) ?? '') || NAMES.test(basename(path))
}
