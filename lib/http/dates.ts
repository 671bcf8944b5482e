// HTTP dates: one format is written, three are parsed (RFC 9110 section 5.6.7).

const DAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun'
const LONG_DAYS = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const MONTH = `(?<month>${MONTHS.join('|')})`
// A leap second is :60.
const TIME = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`

// The day name is redundant, so only its form is checked: "recipients of timestamp values are
// encouraged to be robust in parsing".
const FORMATS = [
  String.raw`(?:${DAYS}), (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT`,
  String.raw`(?:${LONG_DAYS}), (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT`,
  String.raw`(?:${DAYS}) ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`
].map(format => new RegExp(`^${format}$`))

const EARLIEST = Date.parse('0000-01-01T00:00:00Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Formats a time as an IMF-fixdate, `Thu, 01 Jan 1970 00:00:00 GMT`, truncated to whole seconds.
 *
 * @throws TypeError for NaN and for a year of more than four digits
 */
export function formatHttpDate(milliseconds: number): string {
  if (milliseconds >= EARLIEST && milliseconds <= LATEST) {
    return new Date(milliseconds).toUTCString()
  }
  throw new TypeError(`an HTTP date must be in the years 0000 to 9999, got ${milliseconds}`)
}

/**
 * The time of an HTTP date in any of the three formats, in milliseconds, always as GMT. `undefined` for
 * everything else: a recipient ignores an invalid date.
 */
export function parseHttpDate(text: string, now?: number): number | undefined {
  for (const format of FORMATS) {
    const parts = format.exec(text)?.groups
    if (!parts) continue
    const year = Number(parts.year)
    return parts.year?.length === 2 ? timeNear(year, parts, now) : timeIn(year, parts)
  }
  return undefined
}

type Parts = Readonly<Record<string, string>>

// RFC 850's two-digit year: one that is "more than 50 years in the future" is the most recent year in the past
// with the same last two digits.
function timeNear(digits: number, parts: Parts, now = Date.now()): number | undefined {
  const horizon = new Date(now)
  horizon.setUTCFullYear(horizon.getUTCFullYear() + 50)
  const last = horizon.getUTCFullYear()
  const year = last - ((last - digits) % 100)
  const time = timeIn(year, parts)
  return time !== undefined && time > horizon.getTime() ? timeIn(year - 100, parts) : time
}

/** Undefined for a day that its month does not have. */
function timeIn(year: number, parts: Parts): number | undefined {
  const month = MONTHS.indexOf(parts.month ?? '')
  const day = Number(parts.day)
  // Not Date.UTC, which maps the years 0 to 99 to 1900 to 1999.
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return undefined
  return date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second))
}
