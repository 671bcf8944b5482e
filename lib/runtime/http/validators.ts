// Validators of responses: entity tags (RFC 9110 section 8.8.3) and HTTP dates (section 5.6.7).
import { optionError } from '../check-options.ts'

/** Validators distinguish one state of a resource from another (RFC 9110 section 8.8). */
export interface Validators {
  /** The entity tag in the form of the field: `"x"` or `W/"x"`. */
  readonly etag?: string | undefined
  /** The last modification in milliseconds, truncated to whole seconds. */
  readonly lastModified?: number | undefined
}

const ENTITY_TAG = /^(?:W\/)?"[!\x23-\x7e]*"$/
const OPAQUE = /^[!\x23-\x7e]+$/
// A comma ends a member unless it is between quotes.
const MEMBERS = /(?:[^,"]|"[^"]*(?:"|$))+/g

/** @throws TypeError for characters that a tag may not contain, and for non-ASCII, which Node would send as Latin-1 */
export function formatEtag(opaque: string, weak = false): string {
  const isTag = ENTITY_TAG.test(opaque)
  if (!isTag && !OPAQUE.test(opaque))
    throw optionError('an ETag', 'visible ASCII characters without quotes', opaque)
  const tag = isTag ? opaque : `"${opaque}"`
  return weak && !isWeak(tag) ? `W/${tag}` : tag
}

// RFC 9110 sections 8.8.3.2, 13.1.1 and 13.1.2. A tag without quotes is tolerated, as some clients drop them. The list
// is read in one pass, because the client controls its length.
export function etagMatches(
  list: string,
  { etag, lastModified }: Validators,
  comparison: 'strong' | 'weak'
): boolean {
  if (list === '*') return etag !== undefined || lastModified !== undefined
  const isStrong = comparison === 'strong'
  if (etag === undefined || (isStrong && isWeak(etag))) return false
  // Browsers send a single tag.
  if (list === etag) return true
  const opaque = opaqueOf(etag)
  const members = list.includes(',') ? (list.match(MEMBERS) ?? []) : [list]
  return members.some(text => {
    const member = text.trim()
    const tag = opaqueOf(member)
    if (tag === '' || (isStrong && isWeak(member))) return false
    return tag === opaque || `"${tag}"` === opaque
  })
}

const isWeak = (tag: string) => tag.startsWith('W/')
const opaqueOf = (tag: string) => (isWeak(tag) ? tag.slice(2) : tag)

const DAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun'
const LONG_DAYS = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const MONTH = `(?<month>${MONTHS.join('|')})`
// A leap second is :60.
const TIME = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`

// The redundant day name is checked only for its form: recipients are "encouraged to be robust in parsing".
const FORMATS = [
  String.raw`(?:${DAYS}), (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT`,
  String.raw`(?:${LONG_DAYS}), (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT`,
  String.raw`(?:${DAYS}) ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`
].map(format => new RegExp(`^${format}$`))

const EARLIEST = Date.parse('0000-01-01T00:00:00Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/** Earlier dates are invented: zip and npm archives, Nix and others write one of 1970, 1980 or 1985. */
const FIRST = Date.parse('1990-01-01T00:00:00Z')

/** Tells whether a date, in milliseconds, can be that of a modification: an invented one is the same for all versions. */
export const isModificationDate = (milliseconds: number): boolean => milliseconds >= FIRST

/** Formats an IMF-fixdate, `Thu, 01 Jan 1970 00:00:00 GMT`. @throws TypeError for NaN and years of over four digits */
export function formatHttpDate(milliseconds: number): string {
  if (milliseconds >= EARLIEST && milliseconds <= LATEST)
    return new Date(milliseconds).toUTCString()
  throw new TypeError(`an HTTP date must be in the years 0000 to 9999, got ${milliseconds}`)
}

/** Parses an HTTP date, always as GMT, into milliseconds; undefined for other text, as invalid dates are ignored. */
export function parseHttpDate(text: string, now = Date.now()): number | undefined {
  const parts = FORMATS.map(format => format.exec(text)?.groups).find(groups => groups)
  if (!parts) return undefined
  const { year = '', month = '', day, hour, minute, second } = parts
  // RFC 850 has two digits: a time "more than 50 years in the future" is in the most recent such year of the past.
  const latest = new Date(now)
  const last = latest.getUTCFullYear() + 50
  latest.setUTCFullYear(last)
  const fullYear = year.length === 2 ? last - ((last - Number(year)) % 100) : Number(year)
  // Date.UTC would map the years 0 to 99 to 1900 to 1999.
  const date = new Date(0)
  date.setUTCFullYear(fullYear, MONTHS.indexOf(month), Number(day))
  // The month has no such day.
  if (date.getUTCDate() !== Number(day)) return undefined
  date.setUTCHours(Number(hour), Number(minute), Number(second))
  const isTooLate = year.length === 2 && date > latest
  return isTooLate ? date.setUTCFullYear(fullYear - 100) : date.getTime()
}
