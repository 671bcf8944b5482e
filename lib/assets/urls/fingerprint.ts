// The shape of a fingerprint: the digest of an asset's bytes at the end of its name.
import { DIGEST_PATTERN } from '../../files/digest.ts'

/** `admin/app.css` -> `admin/app-<digest>.css`; a name that already bears this digest stays. */
export function withFingerprint(name: string, digest: string): string {
  if (splitFingerprint(name)?.digest === digest) return name
  const dot = extensionAt(name)
  return `${name.slice(0, dot)}-${digest}${name.slice(dot)}`
}

const FINGERPRINT = new RegExp(`-(${DIGEST_PATTERN})$`)

/** `admin/app-<digest>.css` -> `admin/app.css` and the digest; undefined when there is none. */
export function splitFingerprint(name: string): { name: string; digest: string } | undefined {
  const dot = extensionAt(name)
  const match = FINGERPRINT.exec(name.slice(0, dot))
  if (!match?.[1]) return undefined
  return { name: name.slice(0, match.index) + name.slice(dot), digest: match[1] }
}

/** Where the last extension begins, or the end of a name that has none. */
function extensionAt(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot > name.lastIndexOf('/') + 1 ? dot : name.length
}
