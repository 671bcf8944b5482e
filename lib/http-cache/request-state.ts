// The state of one request inside koaHttpCache: its calls of ctx.fresh, the verdict, and the fields written.
import type { Context } from 'koa'
import { formatHttpDate, type Validators } from '../http/validators.ts'
import { evaluatePreconditions, isRetrieval } from '../http/preconditions.ts'
import type { CachingFields, HeaderField } from './cache-directive.ts'
import {
  type Fresh,
  type FreshOptions,
  type FreshOutcome,
  type GivenValidators,
  PendingResult,
  halted,
  isHalt,
  isPromise,
  readHalt
} from './fresh/fresh.ts'
import { type FreshValidators, validatorsOf, withoutVersion } from './fresh/validators-of.ts'
import type { Defaults, HttpCacheSettings } from './settings.ts'

/** The response that the preconditions determine, whatever the route does afterwards. */
export interface Verdict {
  readonly status: 304 | 412
  readonly validators: Validators
}

// Most outcomes share it.
const PROCEED = Promise.resolve(false as const)

const NONE: readonly never[] = []

export const NOT_CALLED = 'ctx.fresh was not called'
// A template that was edited since has a different ETag, but the same date.
const DATE_ALONE = 'If-Modified-Since alone cannot show the option version'

export const INVALIDATION = 'Cache-Group-Invalidation'

export class RequestState {
  /** The settings of the innermost koaHttpCache that the request is in; `undefined` outside. */
  settings: HttpCacheSettings | undefined = undefined
  /** The first one counts. */
  verdict: Verdict | undefined = undefined
  /** What a call with `halt: false` resolved to: the response if the route gives none. */
  offer: Verdict | undefined = undefined
  /** Why the last evaluation had its outcome. */
  reason = NOT_CALLED
  /** Whether the halt ended the route, so nothing behind it ran. */
  isHalted = false
  /** Whether the request's conditions were compared with validators, which have been set then. */
  isCompared = false
  /** Whether `ctx.fresh` was read and not called, as by code that expects Koa's boolean. */
  isReadAsBoolean = false
  /** Whether a route has called `ctx.cacheControl` or `ctx.expires`, and nothing in front assigned to it since. */
  isSaid = false
  /** Whether the directives allow shared caches to store the response's cookies. */
  sharesCookies = false
  /** Those of the innermost koaHttpCache that has any, if nothing behind it wrote about caching. */
  defaults: Defaults | undefined = undefined
  /** The cache groups of the response, and those that it invalidates (RFC 9875). */
  groups: readonly string[] = NONE
  invalidated: readonly string[] = NONE
  /** The results whose await may have been forgotten. */
  pending: readonly PendingResult[] = NONE
  private written: readonly HeaderField[] = NONE
  private readonly ctx: Context

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  /** The function behind `ctx.fresh`. */
  get fresh(): Fresh {
    this.isReadAsBoolean = true
    // Not kept: V8 keeps a request alive for a while when a function made for it is stored on an object.
    // Only `halt: false` resolves to a status.
    return ((given, options) => this.callFresh(given, options)) as Fresh
  }

  get hasForgottenAwait(): boolean {
    return this.pending.length > 0 && this.pending.some(result => !result.isAwaited)
  }

  /** Waits for the results that the route did not await, and throws the first failure among them. */
  async awaitForgotten(): Promise<void> {
    for (const result of this.pending) {
      const failure = await result.failure
      if (failure && !result.isAwaited && !isHalt(failure.reason)) throw failure.reason
    }
  }

  /** For a request that failed, and so changed nothing (RFC 9111 section 4.4). */
  withdrawInvalidation(): void {
    if (this.invalidated.length > 0 && !this.ctx.res.headersSent) this.ctx.remove(INVALIDATION)
  }

  /** Sets fields about caching, and remembers those of a response that has not failed yet. */
  write({ fields, sharesCookies }: CachingFields): void {
    for (const { name, value } of fields) this.ctx.set(name, value)
    if (this.ctx.status < 500) this.written = [...this.written, ...fields]
    this.sharesCookies = sharesCookies
  }

  /** Removes what `write` set, unless it was replaced; returns whether it had set anything, or would have. */
  removeWritten(): boolean {
    const { ctx, defaults, written } = this
    this.written = NONE
    this.defaults = undefined
    for (const { name, value } of written) if (ctx.res.getHeader(name) === value) ctx.remove(name)
    return written.length > 0 || defaults !== undefined
  }

  /**
   * Sets the validators, unless the method forbids it. Returns the verdict of the preconditions, if there is one.
   * @param isVersioned whether they contain the option `version`
   */
  evaluate(
    validators: Validators,
    settings: HttpCacheSettings,
    isVersioned: boolean
  ): Verdict | undefined {
    const { method = '', headers } = this.ctx.req
    const reads = isRetrieval(method)
    const sent = withoutFuture(validators)
    if (reads) {
      if (sent !== validators) this.ctx.remove('Last-Modified')
      this.setValidators(sent)
    }
    this.isCompared ||= (validators.etag ?? validators.lastModified) !== undefined
    // A new version makes a different page, but not a different state of what an unsafe method changes. Nor does
    // a clock that is ahead: an edit must not overwrite what its sender has not seen.
    const state = reads ? sent : validators
    const [conditions, compared] =
      reads || !isVersioned ? [headers, state] : withoutVersion(headers, state)
    const { status, reason } = evaluatePreconditions(method, conditions, compared, settings)
    const isUncertain = isVersioned && status === 304 && headers['if-none-match'] === undefined
    this.reason = isUncertain ? DATE_ALONE : reason
    return status === undefined || isUncertain ? undefined : { status, validators: sent }
  }

  setValidators({ etag, lastModified }: Validators): void {
    const { ctx } = this
    if (etag !== undefined && ctx.res.getHeader('ETag') !== etag) ctx.set('ETag', etag)
    if (lastModified !== undefined) ctx.set('Last-Modified', formatHttpDate(lastModified))
  }

  private callFresh(given: GivenValidators, options?: FreshOptions): Promise<FreshOutcome> {
    const { settings } = this
    this.isReadAsBoolean = false
    try {
      const halt = options === undefined || readHalt(options)
      const outcome = isPromise(given)
        ? Promise.resolve(given).then(state => this.outcomeFor(state, halt, settings))
        : this.outcomeFor(given, halt, settings)
      // Outside of development a missing await matters only where it lets work run that the response denies.
      const isHarmless = settings?.isDevelopment !== true && isRetrieval(this.ctx.req.method)
      return isHarmless && !isPromise(given) ? outcome : this.track(outcome)
    } catch (error) {
      return this.track(Promise.reject(error))
    }
  }

  private track(outcome: Promise<FreshOutcome>): PendingResult {
    const result = new PendingResult(resolve => resolve(outcome))
    this.pending = [...this.pending, result]
    return result
  }

  private outcomeFor(
    state: FreshValidators,
    halt: boolean,
    settings: HttpCacheSettings | undefined
  ): Promise<FreshOutcome> {
    const { ctx } = this
    // Too late: the response is on its way, or the request has left koaHttpCache.
    if (settings === undefined || this.settings === undefined || ctx.res.headersSent) return PROCEED
    let { verdict } = this
    if (verdict === undefined) {
      const version = settings.version?.(ctx)
      const validators = validatorsOf(state, version)
      verdict = this.evaluate(validators, settings, version !== undefined)
      if (halt) this.verdict = verdict
      this.offer = halt ? undefined : verdict
    }
    if (verdict === undefined) return PROCEED
    return halt ? halted(verdict.status) : Promise.resolve(verdict.status)
  }
}

// An origin server must not send such a date (RFC 9110 section 8.8.2.1).
function withoutFuture(validators: Validators): Validators {
  const { lastModified } = validators
  const isFuture = lastModified !== undefined && lastModified > Date.now()
  return isFuture ? { ...validators, lastModified: undefined } : validators
}
