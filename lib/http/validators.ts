// Entity tags: formatting and comparison (RFC 9110 section 8.8.3).

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
 * @throws TypeError for characters that RFC 9110 section 8.8.3 does not allow between the quotes (quotes,
 *   blanks, control characters), for non-ASCII ones, which Node would send as Latin-1, and for the empty
 *   string
 */
export function formatEtag(opaque: string, weak = false): string {
  const tag = ENTITY_TAG.test(opaque) ? opaque : inQuotes(opaque)
  return weak && !isWeak(tag) ? `W/${tag}` : tag
}

function inQuotes(opaque: string): string {
  if (OPAQUE.test(opaque)) return `"${opaque}"`
  throw new TypeError(
    `an ETag must be visible ASCII characters without quotes, got ${JSON.stringify(opaque)}`
  )
}

/**
 * Whether a list of entity tags, the value of If-Match or If-None-Match, contains this one (RFC 9110 section
 * 8.8.3.2). `*` matches every tag. A tag without quotes is tolerated, because some clients drop them. One
 * pass, because the client controls the list's length.
 */
export function etagMatches(
  list: string,
  etag: string | undefined,
  comparison: 'strong' | 'weak'
): boolean {
  if (etag === undefined) return false
  if (list === '*') return true
  if (comparison === 'strong' && isWeak(etag)) return false
  const opaque = opaqueOf(etag)
  const members = list.includes(',') ? (list.match(MEMBERS) ?? []) : [list]
  return members.some(member => matchesMember(member.trim(), opaque, comparison))
}

function matchesMember(member: string, opaque: string, comparison: 'strong' | 'weak'): boolean {
  if (comparison === 'strong' && isWeak(member)) return false
  const tag = opaqueOf(member)
  return tag !== '' && (tag === opaque || `"${tag}"` === opaque)
}

function isWeak(tag: string): boolean {
  return tag.startsWith('W/')
}

function opaqueOf(tag: string): string {
  return isWeak(tag) ? tag.slice(2) : tag
}
