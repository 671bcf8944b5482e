// Entity tags: how they are written and compared (RFC 9110 section 8.8.3).

/** What tells one state of a resource from another. */
export interface Validators {
  /** The entity tag in the form of the header: `"x"` or `W/"x"`. */
  readonly etag?: string | undefined
  /** The last modification in milliseconds, whole seconds. */
  readonly lastModified?: number | undefined
}

const ENTITY_TAG = /^(?:W\/)?"[!\x23-\x7e]*"$/
const QUOTE = 0x22
const COMMA = 0x2c
const OPAQUE = /^[!\x23-\x7e]+$/

/**
 * The identifier as an entity tag. One that is written as a tag already is taken as it is.
 *
 * @throws TypeError for what RFC 9110 section 8.8.3 does not allow between the quotes (quotes, blanks,
 *   control characters), for anything beyond ASCII, which Node would send as Latin-1, and for the
 *   empty string
 */
export function formatEtag(opaque: string, weak = false): string {
  const tag = ENTITY_TAG.test(opaque) ? opaque : quote(opaque)
  return weak && !isWeak(tag) ? `W/${tag}` : tag
}

function quote(opaque: string): string {
  if (OPAQUE.test(opaque)) return `"${opaque}"`
  throw new TypeError(
    `an ETag must be of visible ASCII characters without quotes, got ${JSON.stringify(opaque)}`
  )
}

/**
 * Whether a list of entity tags, the value of If-Match or If-None-Match, names this one
 * (RFC 9110 section 8.8.3.2). `*` names every tag. A tag without quotes is tolerated, for clients that
 * lose them. One pass, since the list is the client's.
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
  for (let start = 0; start < list.length;) {
    const end = endOfMember(list, start)
    if (names(list.slice(start, end).trim(), opaque, comparison)) return true
    start = end + 1
  }
  return false
}

function names(member: string, opaque: string, comparison: 'strong' | 'weak'): boolean {
  if (comparison === 'strong' && isWeak(member)) return false
  const tag = opaqueOf(member)
  return tag === opaque || `"${tag}"` === opaque
}

function isWeak(tag: string): boolean {
  return tag.startsWith('W/')
}

function opaqueOf(tag: string): string {
  return isWeak(tag) ? tag.slice(2) : tag
}

// A comma ends a member unless it stands between quotes.
function endOfMember(list: string, start: number): number {
  let quoted = false
  for (let at = start; at < list.length; at++) {
    const code = list.charCodeAt(at)
    if (code === QUOTE) quoted = !quoted
    else if (code === COMMA && !quoted) return at
  }
  return list.length
}
