// Adds the methods of koaHttpCache to Koa's context.
import { inspect } from 'node:util'
import type { Context, ExtendableContext } from 'koa'
import { formatGroups, formatKeys } from '../http/cache-control.ts'
import { isSafe } from '../http/preconditions.ts'
import { watchNegotiation } from './dependencies.ts'
import {
  cacheControlFields,
  expiryFields,
  type CacheDirective,
  type CachingFields,
  type Lifetime
} from './directives.ts'
import type { Fresh } from './fresh.ts'
import { INVALIDATION, RequestState } from './request-state.ts'

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
   * @throws TypeError like `cacheControl`, and for an invalid lifetime or a `target`
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
   * @throws TypeError like `cacheGroups`; Error for a safe method such as GET, for which caches ignore the field
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

// Two copies of a release in one process share the symbol: packages may each have brought one.
const STATE = Symbol.for(`koa-fresh-assets.http-cache ${process.env.PACKAGE_VERSION ?? ''}`)
/** The `ctx.cacheControl` that middleware in front sees, such as the directives of koa-cache-control. */
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
    // An application may have a member of that name, which middleware in front of koaHttpCache calls.
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
  const header = state.keysField
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
  if (state?.settings !== undefined) return state
  throw new Error(
    `ctx.${method} was called outside of koaHttpCache: register koaHttpCache before the middleware that ` +
      'calls it, and call it before that middleware returns'
  )
}
