// The state of one request inside koaHttpCache: its calls of ctx.fresh, their decision, and the fields written.
import type { Context } from 'koa'
import { formatHttpDate, isModificationDate, type Validators } from '../http/validators.ts'
import { evaluatePreconditions, isRetrieval } from '../http/preconditions.ts'
import type { CachingFields, HeaderField } from './cache-directive.ts'
import { type Dependencies, dependenciesOf } from './dependencies.ts'
import { type Fresh, type FreshOptions, type FreshOutcome, Halt, readHalt } from './fresh/fresh.ts'
import { type FreshValidators, validatorsOf, withoutVersion } from './fresh/validators-of.ts'
import type { Defaults, HttpCacheSettings } from './settings.ts'

/** A response that the preconditions have decided, whatever the route does afterwards. */
export interface Decision {
  readonly status: 304 | 412
  readonly validators: Validators
}

// Most calls return this promise.
const PROCEED = Promise.resolve(false as const)

const NONE: readonly never[] = []

export const NOT_CALLED = 'ctx.fresh was not called'
// An edit of a template changes the ETag of its pages, but not their date.
const DATE_ALONE = 'If-Modified-Since alone cannot show the option version'

export const INVALIDATION = 'Cache-Group-Invalidation'

export class RequestState {
  /** The request is inside a koaHttpCache with these settings, the innermost one; outside they are `undefined`. */
  settings: HttpCacheSettings | undefined = undefined
  /** The first decision counts. */
  decision: Decision | undefined = undefined
  /** A call with `halt: false` resolved to this, which is sent if the route sets no response. */
  offer: Decision | undefined = undefined
  /** `X-Http-Cache` gives this reason for the last evaluation. */
  reason = NOT_CALLED
  /** The request's conditions have been compared with validators, which have then been set. */
  isCompared = false
  /** The request has entered a koaHttpCache with defaults. */
  mayHaveDefaults = false
  /** A response that goes on after `ctx.fresh` depended on these when it was called. */
  known: Dependencies | undefined = undefined
  /** The body was a stream, which a 304 has dropped. */
  hadStream = false
  /** The directives allow shared caches to store the response's cookies. */
  sharesCookies = false
  /** The innermost koaHttpCache with defaults sets them here, if nothing behind it wrote about caching. */
  defaults: Defaults | undefined = undefined
  /** The response belongs to `groups`, and invalidates those of `invalidated` (RFC 9875). */
  groups: readonly string[] = NONE
  invalidated: readonly string[] = NONE
  private written: readonly HeaderField[] = NONE
  private validators: Validators = {}
  private readonly ctx: Context

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  /** `ctx.fresh` returns this function. */
  get fresh(): Fresh {
    // It is made for each read: V8 keeps a request alive for a while when a function made for it is stored on an
    // object. Only `halt: false` resolves to a status.
    return ((state, options) => this.callFresh(state, options)) as Fresh
  }

  /** A request that failed has changed nothing, so its response invalidates nothing (RFC 9111 section 4.4). */
  withdrawInvalidation(): void {
    if (this.invalidated.length > 0 && !this.ctx.res.headersSent) this.ctx.remove(INVALIDATION)
  }

  /** Sets caching fields, and remembers them unless the response has already failed. */
  write({ fields, sharesCookies }: CachingFields): void {
    for (const { name, value } of fields) this.ctx.set(name, value)
    const { status, response } = this.ctx
    const hasFailed = status >= 400 && isStatusSet(response)
    if (!hasFailed) this.written = [...this.written, ...fields]
    this.sharesCookies = sharesCookies
  }

  /** Removes the fields that `write` set and nobody replaced. @returns whether there were any, or defaults to come */
  removeWritten(): boolean {
    const { ctx, defaults, written } = this
    this.written = NONE
    this.defaults = undefined
    for (const { name, value } of written) if (ctx.res.getHeader(name) === value) ctx.remove(name)
    return written.length > 0 || defaults !== undefined
  }

  /**
   * Sets the validators, unless the method forbids it, and evaluates the preconditions.
   *
   * @param isVersioned whether the validators contain the option `version`
   */
  evaluate(
    validators: Validators,
    settings: HttpCacheSettings,
    isVersioned: boolean
  ): Decision | undefined {
    const { method = '', headers } = this.ctx.req
    const reads = isRetrieval(method)
    const { lastModified } = validators
    const sent =
      lastModified === undefined || maySend(lastModified)
        ? validators
        : { ...validators, lastModified: undefined }
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

  /** A failure is not the representation that `ctx.fresh` was called for (RFC 9110 section 8.8). */
  removeValidators(): void {
    const { ctx, validators } = this
    this.validators = {}
    const { etag, lastModified } = validators
    if (etag !== undefined && ctx.res.getHeader('ETag') === etag) ctx.remove('ETag')
    if (lastModified !== undefined) ctx.remove('Last-Modified')
  }

  setValidators({ etag, lastModified }: Validators): void {
    const { ctx } = this
    this.validators = { etag, lastModified }
    if (etag !== undefined && ctx.res.getHeader('ETag') !== etag) ctx.set('ETag', etag)
    if (lastModified !== undefined) ctx.set('Last-Modified', formatHttpDate(lastModified))
  }

  /** @throws Halt at once: a route stops even if it does not await the result */
  private callFresh(state: FreshValidators, options?: FreshOptions): Promise<FreshOutcome> {
    const { ctx, settings } = this
    const halt = options === undefined || readHalt(options)
    // Too late: the response is on its way, or the request has left koaHttpCache.
    if (settings === undefined || ctx.res.headersSent) return PROCEED
    let { decision } = this
    if (decision === undefined) {
      const version = settings.version?.(ctx)
      const validators = validatorsOf(state, version)
      decision = this.evaluate(validators, settings, version !== undefined)
      if (halt) this.decision = decision
      this.offer = halt ? undefined : decision
    }
    if (decision === undefined) {
      if (this.mayHaveDefaults) this.known ??= dependenciesOf(ctx)
      return PROCEED
    }
    if (halt) throw new Halt(decision.status)
    return Promise.resolve(decision.status)
  }
}

/** Only Koa's own flag tells the 404 of a route that set no status from one that a route set. */
export function isStatusSet(response: object): boolean {
  return Reflect.get(response, '_explicitStatus') === true
}

// An origin server must not send a date in the future (RFC 9110 section 8.8.2.1).
function maySend(time: number): boolean {
  return time <= Date.now() && isModificationDate(time)
}
