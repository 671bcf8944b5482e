// Conditional requests, evaluated in the order of RFC 9110 section 13.2.2.
import type { IncomingHttpHeaders } from 'node:http'
import { parseHttpDate } from './dates.ts'
import { etagMatches, type Validators } from './validators.ts'

/** The status 304 or 412 that the request gets instead of being performed, if any, and the reason in words. */
export interface Judgement {
  readonly status: 304 | 412 | undefined
  readonly reason: string
}

// Shared by all requests: a reason costs nothing where nobody reads it.
const UNCONDITIONAL = { status: undefined, reason: 'the request has no condition' } as const
const OTHER_STATE = { status: 412, reason: 'If-Match does not name the ETag' } as const
const SAME_STATE = { status: undefined, reason: 'If-Match names the ETag' } as const
const MODIFIED = { status: 412, reason: 'modified since If-Unmodified-Since' } as const
const UNMODIFIED = { status: undefined, reason: 'not modified since If-Unmodified-Since' } as const
const OTHER_COPY = { status: undefined, reason: 'If-None-Match does not name the ETag' } as const
const SAME_COPY = { status: 304, reason: 'If-None-Match names the ETag' } as const
const EXISTS = { status: 412, reason: 'If-None-Match names the ETag' } as const
const OLD_COPY = {
  status: undefined,
  reason: 'If-Modified-Since is invalid or differs from Last-Modified'
} as const
const CURRENT_COPY = { status: 304, reason: 'not modified since If-Modified-Since' } as const

/** The request fields that make a request conditional, If-Range excepted. */
export type ConditionalHeaders = Pick<
  IncomingHttpHeaders,
  'if-match' | 'if-unmodified-since' | 'if-none-match' | 'if-modified-since'
>

export interface PreconditionOptions {
  /**
   * The If-Modified-Since that gets a 304: `exact`, a date equal to the last modification; `before`, also a
   * later one that is not in the future. Default: `exact`.
   */
  readonly ifModifiedSince?: 'exact' | 'before' | undefined
  /** The server's clock in milliseconds. Default: `Date.now()`. */
  readonly now?: number | undefined
}

/** Whether the response describes the current representation: to GET, HEAD, and QUERY (RFC 10008). */
export function isRetrieval(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'QUERY'
}

/** Whether the method only reads (RFC 9110 section 9.2.1, RFC 10008). */
export function isSafe(method: string): boolean {
  return isRetrieval(method) || method === 'OPTIONS' || method === 'TRACE'
}

/**
 * Evaluates a request's preconditions, for a resource whose current representation has these validators.
 * Without any validator there is no current representation.
 */
export function evaluatePreconditions(
  method: string,
  headers: ConditionalHeaders,
  validators: Validators,
  options?: PreconditionOptions
): Judgement {
  const ifMatch = headers['if-match']
  const ifUnmodifiedSince = headers['if-unmodified-since']
  const ifNoneMatch = headers['if-none-match']
  const ifModifiedSince = headers['if-modified-since']

  // Step 0, section 13.2.1: these methods neither select nor modify a representation.
  if (method === 'OPTIONS' || method === 'TRACE' || method === 'CONNECT') return UNCONDITIONAL

  // Steps 1 and 2: If-Unmodified-Since applies only without If-Match.
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, validators, 'strong')) return OTHER_STATE
  } else if (ifUnmodifiedSince !== undefined) {
    if (isModifiedSince(ifUnmodifiedSince, validators)) return MODIFIED
  }

  // Steps 3 and 4: If-Modified-Since applies only without If-None-Match, and to GET and HEAD. A conditional
  // QUERY is evaluated like GET (RFC 10008).
  const reads = isRetrieval(method)
  if (ifNoneMatch !== undefined) {
    if (!matches(ifNoneMatch, validators, 'weak')) return OTHER_COPY
    return reads ? SAME_COPY : EXISTS
  }
  if (ifModifiedSince !== undefined) {
    const isCurrent = reads && isUnmodifiedSince(ifModifiedSince, validators, options)
    return isCurrent ? CURRENT_COPY : OLD_COPY
  }
  if (ifMatch !== undefined) return SAME_STATE
  return ifUnmodifiedSince === undefined ? UNCONDITIONAL : UNMODIFIED
}

// Sections 13.1.1 and 13.1.2: `*` matches any current representation.
function matches(list: string, validators: Validators, comparison: 'strong' | 'weak'): boolean {
  const { etag, lastModified } = validators
  if (list === '*') return etag !== undefined || lastModified !== undefined
  return etagMatches(list, etag, comparison)
}

// Section 13.1.4: an invalid date is ignored, and so is any date without a modification date to compare it with.
function isModifiedSince(date: string, { lastModified }: Validators): boolean {
  if (lastModified === undefined) return false
  const since = parseHttpDate(date)
  return since !== undefined && lastModified > since
}

// Section 13.1.3.
function isUnmodifiedSince(
  date: string,
  { lastModified }: Validators,
  options: PreconditionOptions | undefined
): boolean {
  if (lastModified === undefined) return false
  const since = parseHttpDate(date, options?.now)
  if (since === lastModified) return true
  if (since === undefined || options?.ifModifiedSince !== 'before') return false
  return since > lastModified && since <= (options.now ?? Date.now())
}
