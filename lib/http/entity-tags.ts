// Entity tags: formatting and comparison (RFC 9110 section 8.8.3).
import { optionError } from '../options.ts'

/** Metadata that distinguishes one state of a resource from another (RFC 9110 section 8.8). */
export interface Validators {
  /** The entity tag as in the field: `"x"` or `W/"x"`. */
  readonly etag?: string | undefined
  /** The last modification in milliseconds, truncated to whole seconds. */
  readonly lastModified?: number | undefined
}

const ENTITY_TAG = /^(?:W\/)?"[!\x23-\x7e]*"$/
const OPAQUE = /^[!\x23-\x7e]+$/
// A comma ends a member unless it is between quotes.
const MEMBERS = /(?:[^,"]|"[^"]*(?:"|$))+/g

/**
 * The entity tag of an identifier. One that has the form of a tag is used as it is.
 *
 * @throws TypeError for characters that RFC 9110 section 8.8.3 does not allow between the quotes (quotes, spaces,
 * control characters), for non-ASCII ones, which Node would send as Latin-1, and for the empty
 *   string
 */
export function formatEtag(opaque: string, weak = false): string {
  const isTag = ENTITY_TAG.test(opaque)
  if (!isTag && !OPAQUE.test(opaque)) {
    throw optionError('an ETag', 'visible ASCII characters without quotes', opaque)
  }
  const tag = isTag ? opaque : `"${opaque}"`
  return weak && !isWeak(tag) ? `W/${tag}` : tag
}

/**
 * Whether a list of entity tags, the value of If-Match or If-None-Match, names the current representation
 * (RFC 9110 sections 8.8.3.2, 13.1.1 and 13.1.2); `*` matches any. A tag without quotes is tolerated, because
 * some clients drop them. One pass, because the client controls the list's length.
 */
export function etagMatches(
  list: string,
  { etag, lastModified }: Validators,
  comparison: 'strong' | 'weak'
): boolean {
  if (list === '*') return etag !== undefined || lastModified !== undefined
  const isStrong = comparison === 'strong'
  if (etag === undefined || (isStrong && isWeak(etag))) return false
  const opaque = opaqueOf(etag)
  const members = list.includes(',') ? (list.match(MEMBERS) ?? []) : [list]
  return members.some(text => {
    const member = text.trim()
    const tag = opaqueOf(member)
    if (tag === '' || (isStrong && isWeak(member))) return false
    return tag === opaque || `"${tag}"` === opaque
  })
}

function isWeak(tag: string): boolean {
  return tag.startsWith('W/')
}

function opaqueOf(tag: string): string {
  return isWeak(tag) ? tag.slice(2) : tag
}
