// Adds the methods of koaHttpCache to Koa's context. The state of a request has what they were called for.
import { inspect } from 'node:util'
import type { Context, ExtendableContext } from 'koa'
import { check, flag } from '../check-options.ts'
import { formatGroups, formatKeys } from '../http/cache-control.ts'
import { evaluatePreconditions, isRetrieval, isSafe } from '../http/preconditions.ts'
import { formatHttpDate, isModificationDate, type Validators } from '../http/validators.ts'
import { type Dependencies, dependenciesOf, watchNegotiation } from './dependencies.ts'
import {
  cacheControlFields,
  expiryFields,
  type CacheDirective,
  type CachingFields,
  type HeaderField,
  type Lifetime
} from './directives.ts'
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

/** `koaHttpCache` adds these methods to Koa's context. */
export interface HttpCacheMethods {
  /**
   * Sets `Cache-Control` (RFC 9111 section 5.2.2), and replaces that of an earlier call. With `target` it
   * sets `<target>-Cache-Control` instead (RFC 9213).
   * @example
   * ctx.cacheControl('public', { maxAge: '10m' }) // public, max-age=600
   * @throws TypeError for an unknown directive, an invalid value, and directives that contradict each other
   */
  cacheControl(...directives: readonly CacheDirective[]): void
  /**
   * Sets `Expires` (RFC 9111 section 5.3) and `Cache-Control` with the same `max-age`.
   * @example
   * ctx.expires('15m', 'public') // Expires: in 15 minutes; Cache-Control: public, max-age=900
   * @param lifetime seconds, a duration such as `'15m'`, or the Date at which it ends
   * @throws TypeError as `cacheControl` does, and for an invalid lifetime or a `target`
   */
  expires(lifetime: Lifetime | Date, ...directives: readonly CacheDirective[]): void
  /**
   * Adds the response to cache groups: sets `Cache-Groups` (RFC 9875 section 2). The groups of several calls
   * are joined. A cache that supports them drops the stored response when `ctx.invalidateCacheGroups` names
   * one of its groups. With the option `groups`, a CDN's own field gets the same groups.
   * @example
   * ctx.cacheGroups('book-7', 'books') // Cache-Groups: "book-7", "books"
   * @param groups names of 1 to 32 printable ASCII characters, at most 32 in a response; with the option `groups`,
   * without spaces and commas
   * @throws TypeError for any other name, and for more than 32
   */
  cacheGroups(...groups: readonly string[]): void
  /**
   * Makes caches drop what they have stored of these groups, by the response to the change itself: sets
   * `Cache-Group-Invalidation` (RFC 9875 section 3). The groups of several calls are joined. A response with a
   * status of 400 or more does not get the field.
   * @example
   * ctx.invalidateCacheGroups('book-7') // Cache-Group-Invalidation: "book-7"
   * @param groups names as for `cacheGroups`
   * @throws TypeError as `cacheGroups` does; Error for a safe method such as GET, for which caches ignore the field
   */
  invalidateCacheGroups(...groups: readonly string[]): void
  /**
   * `await ctx.fresh({ etag, lastModified })` evaluates the request's preconditions and halts the route with
   * 304 Not Modified, or with 412 Precondition Failed if the client expects another state of the resource.
   * Otherwise it sets `ETag` and `Last-Modified`, and the route continues.
   *
   * Behind `koaHttpCache` it is a function. In front it is Koa's boolean, which is `ctx.request.fresh` everywhere.
   */
  readonly fresh: boolean & Fresh
}

declare module 'koa' {
  interface ExtendableContext extends HttpCacheMethods {
    // Koa declares a boolean, which only a subtype may override.
    readonly fresh: boolean & Fresh
  }
}

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

const INVALIDATION = 'Cache-Group-Invalidation'

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
const isStatusSet = ({ response }: Context) => Reflect.get(response, '_explicitStatus') === true

/** Koa responds 404 where a route sets neither a body nor a status. */
export function isUntouched(ctx: Context): boolean {
  return ctx.body == null && !isStatusSet(ctx)
}

// Two copies of a release in one process share the symbol: packages may each have brought one.
const STATE = Symbol.for(`koa-fresh-assets.http-cache ${process.env.PACKAGE_VERSION ?? ''}`)
/** Middleware in front finds this as its own `ctx.cacheControl`, as koa-cache-control has its directives there. */
const IN_FRONT = Symbol('ctx.cacheControl in front of koaHttpCache')

type WithState = ExtendableContext & { [STATE]?: RequestState; [IN_FRONT]?: unknown }

export function stateOf(ctx: Context): RequestState {
  if (!Object.hasOwn(ctx.app.context, STATE)) addContextMethods(ctx.app)
  const withState: WithState = ctx
  return (withState[STATE] ??= new RequestState(ctx))
}

function addContextMethods({ context, request }: Context['app']): void {
  watchNegotiation(request)
  for (const [name, method] of Object.entries({ expires, cacheGroups, invalidateCacheGroups })) {
    // In front of koaHttpCache an application may have a member of that name.
    const other = Reflect.get(context, name) as typeof method | undefined
    Reflect.set(context, name, function (this: WithState, ...given: readonly never[]): void {
      Reflect.apply(this[STATE]?.settings ? method : (other ?? method), this, given)
    })
  }
  const inFront = Object.getOwnPropertyDescriptor(context, 'cacheControl')?.value as unknown
  Object.defineProperties(context, {
    [STATE]: { value: undefined, writable: true },
    [IN_FRONT]: { value: inFront, writable: true },
    fresh: {
      // koa-conditional-get and koa-static-cache, upstream, still read Koa's boolean.
      get(this: WithState): unknown {
        const state = this[STATE]
        return state?.settings === undefined ? this.request.fresh : state.fresh
      },
      configurable: true
    },
    cacheControl: {
      get(this: WithState): unknown {
        return this[STATE]?.settings === undefined ? this[IN_FRONT] : cacheControl
      },
      set(this: WithState, value: unknown): void {
        if (this[STATE]?.settings !== undefined) throw assignedError(value)
        this[IN_FRONT] = value
      },
      configurable: true
    }
  })
}

function assignedError(value: unknown): TypeError {
  const given = inspect(value, { depth: 1, breakLength: Infinity, maxStringLength: 200 })
  return new TypeError(
    `ctx.cacheControl is a function behind koaHttpCache: call ctx.cacheControl(${given}) instead of assigning to it`
  )
}

function cacheControl(this: WithState, ...directives: readonly CacheDirective[]): void {
  write(this, 'cacheControl', cacheControlFields(directives))
}

function expires(this: WithState, lifetime: Lifetime | Date, ...rest: readonly CacheDirective[]) {
  write(this, 'expires', expiryFields(lifetime, rest, Date.now()))
}

/** koa-cache-control in front then finds a function in place of directives, and leaves the fields alone. */
function write(ctx: WithState, method: string, fields: CachingFields): void {
  requireState(ctx, method).write(fields)
  ctx[IN_FRONT] = cacheControl
}

function cacheGroups(this: WithState, ...added: readonly string[]): void {
  const state = requireState(this, 'cacheGroups')
  const groups = [...new Set([...state.groups, ...added])]
  if (groups.length === 0) return
  const { header } = state.settings.groups
  const fields = {
    'Cache-Groups': formatGroups(groups),
    ...(header && { [header]: formatKeys(header, groups) })
  }
  this.set(fields)
  state.groups = groups
}

function invalidateCacheGroups(this: WithState, ...added: readonly string[]): void {
  const state = requireState(this, 'invalidateCacheGroups')
  if (isSafe(this.method)) {
    throw new Error(
      `ctx.invalidateCacheGroups was called for a ${this.method} request: caches ignore the invalidation in ` +
        'responses to safe methods (RFC 9875 section 3); change the resource with POST, PUT, PATCH or DELETE'
    )
  }
  const groups = [...new Set([...state.invalidated, ...added])]
  if (groups.length === 0) return
  this.set(INVALIDATION, formatGroups(groups))
  state.invalidated = groups
}

function requireState(ctx: WithState, method: string) {
  const state = ctx[STATE]
  if (state?.settings !== undefined) return state as RequestState & { settings: HttpCacheSettings }
  throw new Error(
    `ctx.${method} was called outside of koaHttpCache: register koaHttpCache before the middleware that ` +
      'calls it, and call it before that middleware returns'
  )
}
