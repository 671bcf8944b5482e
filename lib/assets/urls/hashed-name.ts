// Where the hash is in a name, so that the next version of a file can be recognised: ours, and a bundler's.
import { DIGEST_PATTERN } from '../../files/digest.ts'

/** A path without the hash in its name. */
export interface WithoutHash {
  /** `/assets/app-` */
  readonly before: string
  /** `.js` */
  readonly after: string
}

const FINGERPRINT = new RegExp(`^(.*-)${DIGEST_PATTERN}((?:\\.[^./]*)?)$`)

/** `/assets/app-<digest>.css`; undefined for a path without a fingerprint. */
export function withoutFingerprint(path: string): WithoutHash | undefined {
  return split(FINGERPRINT, path)
}

// What bundlers write, the most certain first: eight characters of base64url, which may contain the separator
// (Vite and Rollup), then the last part that has a digit or capitals (esbuild, webpack, Rspack, Parcel).
// What follows a hash has neither: `.chunk.js`, `.module.css`.
const AFTER = String.raw`((?:[.-][a-z]+)*\.[a-z][a-z0-9]*)$`
const BUNDLERS = [
  new RegExp(String.raw`^(.*[^/]-)[\w-]{8}(\.[a-z][a-z0-9]*)$`),
  new RegExp(String.raw`^(.*[^/][.-])(?=[a-z]*[\dA-Z])\w{6,64}${AFTER}`)
]

/** `/build/main.3f9a1c2b.chunk.js`; undefined for a path whose name has nothing beside a hash, or no hash. */
export function withoutHash(path: string): WithoutHash | undefined {
  for (const pattern of BUNDLERS) {
    const found = split(pattern, path)
    if (found) return found
  }
  return undefined
}

function split(pattern: RegExp, path: string): WithoutHash | undefined {
  const [, before, after] = pattern.exec(path) ?? []
  return before === undefined || after === undefined ? undefined : { before, after }
}
