// The state of a request: what the methods of its context were called for, and what `ctx.fresh` has decided.
import type { Context } from 'koa'
import { check, flag } from '../check-options.ts'
import { evaluatePreconditions, isRetrieval } from '../http/preconditions.ts'
import { formatHttpDate, isModificationDate, type Validators } from '../http/validators.ts'
import { type Dependencies, dependenciesOf } from './dependencies.ts'
import type { CachingFields, HeaderField } from './directives.ts'
import {
  type Fresh,
  type FreshOptions,
  type FreshOutcome,
  type FreshValidators,
  Halt,
  validatorsOf,
  withoutVersion
} from './fresh.ts'
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
  /** The first one counts. */
  decision: Decision | undefined = undefined
  /** A call with `halt: false` resolved to this, which is sent if the route sets no response. */
  offer: Decision | undefined = undefined
  /** `X-Http-Cache` gives this reason for the last evaluation. */
  reason = NOT_CALLED
  /** The request's conditions have been compared with validators, which have then been set. */
  isCompared = false
  mayHaveDefaults = false
  /** A response that goes on after `ctx.fresh` depended on these when it was called. */
  known: Dependencies | undefined = undefined
  /** `ctx.fresh` was read and not called, as by code that expects Koa's boolean. */
  isReadAsBoolean = false
  /** The body was a stream, which a 304 has dropped. */
  hadStream = false
  /** The innermost koaHttpCache that is finishing the response has made the JSON of this body for its ETag. */
  serialized: unknown = undefined
  sharesCookies = false
  /** The innermost koaHttpCache with defaults sets them here, if nothing behind it wrote about caching. */
  defaults: Defaults | undefined = undefined
  /** The response belongs to `groups`, and invalidates those of `invalidated` (RFC 9875). */
  groups: readonly string[] = NONE
  invalidated: readonly string[] = NONE
  /** The CDN's own field for the groups, of the innermost koaHttpCache that names one. */
  keysField: string | undefined = undefined
  /** Two calls of `ctx.fresh` had different validators, of which the last ones are sent. */
  isReplaced = false
  private written: readonly HeaderField[] = NONE
  private validators: Validators = {}
  private readonly ctx: Context

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  get fresh(): Fresh {
    this.isReadAsBoolean = true
    // It is made for each read: V8 keeps a request alive for a while when a function made for it is stored.
    return ((state, options) => this.callFresh(state, options)) as Fresh
  }

  /** A request that failed has changed nothing, so its response invalidates nothing (RFC 9111 section 4.4). */
  withdrawInvalidation(): void {
    if (this.invalidated.length > 0 && !this.ctx.res.headersSent) this.ctx.remove(INVALIDATION)
  }

  /** Sets caching fields, and remembers them unless the response has already failed. */
  write({ fields, sharesCookies }: CachingFields): void {
    for (const { name, value } of fields) this.ctx.set(name, value)
    const hasFailed = this.ctx.status >= 400 && isStatusSet(this.ctx)
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

  /** @param isVersioned whether the validators contain the option `version` */
  evaluate(validators: Validators, settings: HttpCacheSettings, isVersioned: boolean) {
    const { method = '', headers } = this.ctx.req
    const reads = isRetrieval(method)
    const { lastModified: date } = validators
    // An origin server must not send a date in the future (RFC 9110 section 8.8.2.1).
    const maySend = date === undefined || (date <= Date.now() && isModificationDate(date))
    const sent = maySend ? validators : { ...validators, lastModified: undefined }
    if (reads) {
      if (sent !== validators) this.ctx.remove('Last-Modified')
      this.setValidators(sent)
    }
    this.isCompared ||= (validators.etag ?? validators.lastModified) !== undefined
    // A new version makes a different page, but not a different state of what an unsafe method changes. Nor does
    // a clock that is ahead: an edit must not overwrite what its sender has not seen.
    // A date that is not sent equals none, but `*` asks for any representation (section 13.1.1).
    const state = reads && !maySend ? { ...validators, lastModified: Number.NaN } : validators
    const [conditions, compared] =
      reads || !isVersioned ? [headers, state] : withoutVersion(headers, state)
    const { status, reason } = evaluatePreconditions(method, conditions, compared, settings)
    const isUncertain = isVersioned && status === 304 && headers['if-none-match'] === undefined
    this.reason = isUncertain ? DATE_ALONE : reason
    return status === undefined || isUncertain ? undefined : { status, validators: sent }
  }

  /** A failure is not the representation that `ctx.fresh` was called for (RFC 9110 section 8.8). */
  removeValidators(): void {
    const { etag, lastModified } = this.validators
    this.validators = {}
    if (etag !== undefined && this.ctx.res.getHeader('ETag') === etag) this.ctx.remove('ETag')
    if (lastModified !== undefined) this.ctx.remove('Last-Modified')
  }

  setValidators({ etag, lastModified }: Validators): void {
    const { ctx } = this
    const { etag: tag = etag, lastModified: date = lastModified } = this.validators
    if (tag !== etag || date !== lastModified) {
      this.isReplaced = true
      this.removeValidators()
    }
    this.validators = { etag, lastModified }
    if (etag !== undefined && ctx.res.getHeader('ETag') !== etag) ctx.set('ETag', etag)
    if (lastModified !== undefined) ctx.set('Last-Modified', formatHttpDate(lastModified))
  }

  /** @throws Halt at once: a route stops even if it does not await the result */
  private callFresh(state: FreshValidators, options?: FreshOptions): Promise<FreshOutcome> {
    const { ctx, settings } = this
    this.isReadAsBoolean = false
    if (options !== undefined) check(options, { halt: flag })
    const halt = options?.halt ?? true
    // Too late: the response is on its way, or the request has left koaHttpCache.
    if (settings === undefined || ctx.res.headersSent) return PROCEED
    let { decision } = this
    if (decision === undefined) {
      const version = settings.version?.(ctx)
      const validators = validatorsOf(state, version)
      decision = this.evaluate(validators, settings, version !== undefined)
      if (halt) this.decision = decision
      this.offer = halt ? undefined : (this.offer ?? decision)
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
const isStatusSet = ({ response }: Context) => Reflect.get(response, '_explicitStatus') === true

/** Koa responds 404 where a route sets neither a body nor a status. */
export const isUntouched = (ctx: Context): boolean => ctx.body == null && !isStatusSet(ctx)
