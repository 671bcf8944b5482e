// The reason for the outcome of a conditional request, in words.
import { type ConditionalHeaders, evaluatePreconditions, type Outcome } from './preconditions.ts'
import type { Validators } from './validators.ts'

/** @param outcome of the evaluation of these arguments */
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
