// ctx.fresh as a route sees it.
import { checkKeys, isRecord, mismatch } from './complaints.ts'
import type { FreshValidators } from './identify.ts'
import type { FreshOutcome } from './pending-result.ts'

export interface FreshOptions {
  /** `false` resolves to 304 or 412 where the route would be halted, and lets it go on. Default true. */
  readonly halt?: boolean | undefined
}

/**
 * Evaluates the preconditions of the request (RFC 9110 section 13.2.2): 304 and 412 halt the route by
 * throwing a `Halt`, else it resolves to false and the route goes on. For GET, HEAD and QUERY it sets
 * `ETag` and `Last-Modified`; a response to another method does not describe the state before
 * (section 9.3.4).
 *
 * @throws TypeError for validators that identify nothing or that a header cannot carry
 */
export interface Fresh {
  (given: GivenValidators, options?: { readonly halt?: true | undefined }): Promise<false>
  (given: GivenValidators, options: FreshOptions): Promise<FreshOutcome>
}

/** Validators, or a promise of them. */
export type GivenValidators = FreshValidators | PromiseLike<FreshValidators>

export function isPromise(given: unknown): given is PromiseLike<FreshValidators> {
  return typeof given === 'object' && given !== null && 'then' in given
}

/** @throws TypeError for a wrong option */
export function readHalt(options: FreshOptions): boolean {
  if (!isRecord(options)) throw mismatch('the options of ctx.fresh', 'an object', options)
  checkKeys('option of ctx.fresh', options, ['halt'])
  if (typeof (options.halt ?? true) === 'boolean') return options.halt ?? true
  throw mismatch('halt', 'true or false', options.halt)
}
