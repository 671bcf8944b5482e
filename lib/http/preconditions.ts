// Conditional requests, evaluated in the order of RFC 9110 section 13.2.2.
import type { IncomingHttpHeaders } from 'node:http'
import { parseHttpDate } from './dates.ts'
import { etagMatches, type Validators } from './validators.ts'

/** Whether the request is performed, or gets the response 304 (`not-modified`) or 412 (`failed`). */
export type Outcome = 'proceed' | 'not-modified' | 'failed'

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
 * The outcome of a request's preconditions, for a resource whose current representation has these
 * validators. Without any validator there is no current representation.
 */
export function evaluatePreconditions(
  method: string,
  headers: ConditionalHeaders,
  validators: Validators,
  options?: PreconditionOptions
): Outcome {
  const ifMatch = headers['if-match']
  const ifUnmodifiedSince = headers['if-unmodified-since']
  const ifNoneMatch = headers['if-none-match']
  const ifModifiedSince = headers['if-modified-since']

  // Step 0, section 13.2.1: these methods neither select nor modify a representation.
  if (method === 'OPTIONS' || method === 'TRACE' || method === 'CONNECT') return 'proceed'

  // Steps 1 and 2: If-Unmodified-Since applies only without If-Match.
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, validators, 'strong')) return 'failed'
  } else if (ifUnmodifiedSince !== undefined) {
    if (isModifiedSince(ifUnmodifiedSince, validators)) return 'failed'
  }

  // Steps 3 and 4: If-Modified-Since applies only without If-None-Match, and to GET and HEAD. A conditional
  // QUERY is evaluated like GET (RFC 10008).
  const reads = isRetrieval(method)
  if (ifNoneMatch !== undefined) {
    if (matches(ifNoneMatch, validators, 'weak')) return reads ? 'not-modified' : 'failed'
  } else if (ifModifiedSince !== undefined && reads) {
    if (isUnmodifiedSince(ifModifiedSince, validators, options)) return 'not-modified'
  }
  return 'proceed'
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

/**
 * The reason for an outcome, in words.
 * @param outcome of the evaluation of these arguments
 */
export function reasonFor(
  method: string,
  headers: ConditionalHeaders,
  validators: Validators,
  outcome: Outcome
): string {
  const hasIfNoneMatch = headers['if-none-match'] !== undefined
  if (outcome === 'failed') return failureReason(method, headers, validators)
  if (outcome === 'not-modified') {
    return hasIfNoneMatch ? 'If-None-Match names the ETag' : 'not modified since If-Modified-Since'
  }
  if (hasIfNoneMatch) return 'If-None-Match does not name the ETag'
  if (headers['if-modified-since'] !== undefined) {
    return 'If-Modified-Since is invalid or differs from Last-Modified'
  }
  if (headers['if-match'] !== undefined) return 'If-Match names the ETag'
  if (headers['if-unmodified-since'] !== undefined) return 'not modified since If-Unmodified-Since'
  return 'the request has no condition'
}

function failureReason(
  method: string,
  headers: ConditionalHeaders,
  validators: Validators
): string {
  const { 'if-none-match': _, ...others } = headers
  if (evaluatePreconditions(method, others, validators) !== 'failed') {
    return 'If-None-Match names the ETag'
  }
  return headers['if-match'] === undefined
    ? 'modified since If-Unmodified-Since'
    : 'If-Match does not name the ETag'
}
