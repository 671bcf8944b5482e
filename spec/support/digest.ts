import { DIGEST_PATTERN } from '../../lib/runtime/files/digest.ts'

/** The pattern with that of a digest for each `DIGEST`. */
export function withDigest({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll('DIGEST', DIGEST_PATTERN), flags)
}
