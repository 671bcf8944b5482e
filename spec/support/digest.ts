import { DIGEST_LENGTHS, DIGEST_PATTERN } from '../../lib/runtime/files/digest.ts'

/** Of the names that are made now. */
export const [DIGEST_LENGTH] = DIGEST_LENGTHS

/** The pattern with that of a digest for each `DIGEST`. */
export function withDigest({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll('DIGEST', DIGEST_PATTERN), flags)
}
