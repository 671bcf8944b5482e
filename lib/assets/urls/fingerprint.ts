// The shape of a fingerprinted name: `app.css` -> `app-<digest>.css`.
import { DIGEST_PATTERN } from '../../files/digest.ts'

const FINGERPRINT = new RegExp(`-(${DIGEST_PATTERN})$`)

/** A name without its fingerprint, and the digest in that. */
export interface Fingerprinted {
  readonly name: string
  readonly digest: string
}

/** A name that already has this fingerprint stays as it is. */
export function withFingerprint(name: string, digest: string): string {
  if (splitFingerprint(name)?.digest === digest) return name
  const dot = extensionAt(name)
  return `${name.slice(0, dot)}-${digest}${name.slice(dot)}`
}

/** `admin/app-<digest>.css` -> `admin/app.css` and the digest; undefined for a name without one. */
export function splitFingerprint(name: string): Fingerprinted | undefined {
  const dot = extensionAt(name)
  const match = FINGERPRINT.exec(name.slice(0, dot))
  if (!match?.[1]) return undefined
  return { name: name.slice(0, match.index) + name.slice(dot), digest: match[1] }
}

/** The index of the last extension; the length of a name without one. */
function extensionAt(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot > name.lastIndexOf('/') + 1 ? dot : name.length
}
