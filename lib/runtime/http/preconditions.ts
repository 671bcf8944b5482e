// Conditional requests, evaluated in the order of RFC 9110 section 13.2.2.
import type { IncomingHttpHeaders } from 'node:http'
import { parseHttpDate, etagMatches, type Validators } from './validators.ts'

/** The status is 304 or 412 if the request must not be performed; the reason is text. */
export type Evaluation = ReturnType<typeof evaluation>

export type ConditionalHeaders = Pick<
  IncomingHttpHeaders,
  'if-match' | 'if-unmodified-since' | 'if-none-match' | 'if-modified-since'
>

interface PreconditionOptions {
  readonly ifModifiedSince?: 'exact' | 'before'
  /** The time is in milliseconds. Default: `Date.now()`. */
  readonly now?: number
}

/** Tells whether a response describes the current representation: to GET, HEAD or QUERY (RFC 10008). */
export function isRetrieval(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'QUERY'
}

/** Tells whether a method only reads (RFC 9110 section 9.2.1, RFC 10008). */
export function isSafe(method: string): boolean {
  return isRetrieval(method) || method === 'OPTIONS' || method === 'TRACE'
}

/** Evaluates the conditions; a resource without any validator has no current representation. */
export function evaluatePreconditions(
  method: string,
  headers: ConditionalHeaders,
  validators: Validators,
  options: PreconditionOptions = {}
): Evaluation {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  const { 'if-unmodified-since': unmodifiedSince, 'if-modified-since': modifiedSince } = headers

  // Step 0, section 13.2.1: these methods neither select nor modify a representation.
  if (method === 'OPTIONS' || method === 'TRACE' || method === 'CONNECT') return UNCONDITIONAL

  // Steps 1 and 2: If-Unmodified-Since applies only without If-Match.
  if (match !== undefined) {
    if (!etagMatches(match, validators, 'strong')) {
      // Section 13.1.1: the comparison is strong, and servers such as nginx make an ETag weak when they compress.
      const isWeak = match.includes('W/"')
      return evaluation(412, isWeak ? WEAK : 'If-Match does not name the ETag')
    }
  } else if (unmodifiedSince !== undefined && isModifiedSince(unmodifiedSince, validators)) {
    return evaluation(412, 'modified since If-Unmodified-Since')
  }

  // Steps 3 and 4: If-Modified-Since applies only without If-None-Match, and to GET, HEAD and QUERY (RFC 10008).
  if (noneMatch !== undefined) {
    return etagMatches(noneMatch, validators, 'weak')
      ? evaluation(isRetrieval(method) ? 304 : 412, 'If-None-Match names the ETag')
      : evaluation(undefined, 'If-None-Match does not name the ETag')
  }
  if (modifiedSince !== undefined) {
    return isRetrieval(method) && isCurrent(modifiedSince, validators, options)
      ? evaluation(304, 'not modified since If-Modified-Since')
      : evaluation(undefined, 'If-Modified-Since is invalid or differs from Last-Modified')
  }
  if (match !== undefined) return evaluation(undefined, 'If-Match names the ETag')
  if (unmodifiedSince === undefined) return UNCONDITIONAL
  return evaluation(undefined, 'not modified since If-Unmodified-Since')
}

const evaluation = (status: 304 | 412 | undefined, reason: string) => ({ status, reason })

const WEAK = 'If-Match names a weak ETag, which matches nothing'
const UNCONDITIONAL = evaluation(undefined, 'the request has no condition')

// Section 13.1.4: an invalid date is ignored, and so is any date without a modification date to compare it with.
function isModifiedSince(date: string, { lastModified }: Validators): boolean {
  const since = parseHttpDate(date)
  return since !== undefined && lastModified !== undefined && lastModified > since
}

// Section 13.1.3.
function isCurrent(
  date: string,
  { lastModified }: Validators,
  { ifModifiedSince, now = Date.now() }: PreconditionOptions
): boolean {
  const since = parseHttpDate(date, now)
  if (since === undefined || lastModified === undefined) return false
  const isLater = since > lastModified && since <= now
  return since === lastModified || (isLater && ifModifiedSince === 'before')
}

/** Both positions are inclusive and count from 0. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

type RangeChoice = ByteRange | 'whole' | 'unsatisfiable'

// Section 14.2: ranges are for GET, several may be answered with the whole, and unknown or invalid ones are ignored.
export function chooseRange(
  method: string,
  headers: { readonly range?: string | undefined; readonly 'if-range'?: string | undefined },
  validators: Validators,
  size: number,
  now?: number
): RangeChoice {
  const { range } = headers
  if (range === undefined || method !== 'GET') return 'whole'
  const choice = readRange(range, size)
  const ifRange = headers['if-range']
  if (choice === 'whole' || ifRange === undefined) return choice
  return isRangeCurrent(ifRange, validators, now) ? choice : 'whole'
}

const ONE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

function readRange(range: string, size: number): RangeChoice {
  const [, first, last] = ONE_RANGE.exec(range) ?? []
  if (first === undefined || last === undefined || first + last === '') return 'whole'
  // Section 14.1.2 does not define a range of an empty file; nginx's slice module requests a range of every file.
  if (size === 0) return 'whole'
  // A suffix longer than the representation selects all of it.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? Infinity : Number(last)
  if (start > end) return 'whole'
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

// Section 13.1.5: a tag is compared strongly; a date is strong once a second has passed (section 8.8.2.2).
function isRangeCurrent(ifRange: string, { etag, lastModified }: Validators, now = Date.now()) {
  if (ifRange.includes('"')) return ifRange === etag && !etag.startsWith('W/')
  if (lastModified === undefined || now - lastModified < 1000) return false
  return parseHttpDate(ifRange, now) === lastModified
}
