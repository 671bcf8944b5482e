// The state of one request inside koaHttpCache: its calls of ctx.fresh, the verdict, and the fields written.
import type { Context } from 'koa'
import { formatHttpDate, type Validators } from '../http/validators.ts'
import { evaluatePreconditions, isRetrieval } from '../http/preconditions.ts'
import type { CachingFields, HeaderField } from './cache-directive.ts'
import { type Fresh, type FreshOptions, type FreshOutcome, Halt, readHalt } from './fresh/fresh.ts'
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
    return ((state, options) => this.callFresh(state, options)) as Fresh
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

  /** @throws Halt at once: a route stops even if it does not await the result */
  private callFresh(state: FreshValidators, options?: FreshOptions): Promise<FreshOutcome> {
    const { ctx, settings } = this
    this.isReadAsBoolean = false
    const halt = options === undefined || readHalt(options)
    // Too late: the response is on its way, or the request has left koaHttpCache.
    if (settings === undefined || ctx.res.headersSent) return PROCEED
    let { verdict } = this
    if (verdict === undefined) {
      const version = settings.version?.(ctx)
      const validators = validatorsOf(state, version)
      verdict = this.evaluate(validators, settings, version !== undefined)
      if (halt) this.verdict = verdict
      this.offer = halt ? undefined : verdict
    }
    if (verdict === undefined) return PROCEED
    if (halt) throw new Halt(verdict.status)
    return Promise.resolve(verdict.status)
  }
}

// An origin server must not send such a date (RFC 9110 section 8.8.2.1).
function withoutFuture(validators: Validators): Validators {
  const { lastModified } = validators
  const isFuture = lastModified !== undefined && lastModified > Date.now()
  return isFuture ? { ...validators, lastModified: undefined } : validators
}
