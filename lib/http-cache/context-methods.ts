// The three words that a route has: ctx.cacheControl, ctx.expires and ctx.fresh.
import type { Context, ExtendableContext } from 'koa'

import type { CacheDirective, Lifetime } from './cache-directive.ts'
import { cacheControlField, expiryFields, sharesCookies } from './directives.ts'
import type { Fresh } from './fresh.ts'
import { RequestState } from './request-state.ts'

/** What `koaHttpCache` adds to Koa's context. */
export interface HttpCacheMethods {
  /**
   * Writes Cache-Control: `ctx.cacheControl('public', { maxAge: 600 })`. The last call counts.
   *
   * @throws TypeError for an unknown directive, a value that it cannot have, and a contradiction
   */
  cacheControl(...directives: readonly CacheDirective[]): void
  /**
   * Writes Expires, and Cache-Control with `max-age`: `ctx.expires('15m', 'public')`. The lifetime
   * is in seconds, a text with a unit, or the Date of its end.
   *
   * @throws TypeError as `cacheControl`, and for a lifetime that is none
   */
  expires(lifetime: Lifetime | Date, ...directives: readonly CacheDirective[]): void
  /** Koa's boolean outside of `koaHttpCache`, the function inside. */
  readonly fresh: boolean & Fresh
}

declare module 'koa' {
  interface ExtendableContext extends HttpCacheMethods {
    // Koa declares a boolean; only what is both can stand beside it.
    readonly fresh: boolean & Fresh
  }
}

const STATE = Symbol('koaHttpCache')
const prepared = new WeakSet<object>()

type WithState = ExtendableContext & { [STATE]?: RequestState }

/** What is known of this request; made on the first koaHttpCache that it enters. */
export function stateOf(ctx: Context): RequestState {
  const visited: WithState = ctx
  return (visited[STATE] ??= new RequestState(ctx))
}

/** Gives the words to an application's context, once. */
export function addContextMethods(context: object): void {
  if (prepared.has(context)) return
  prepared.add(context)
  // Another copy of this library may have been here.
  const earlier = Object.getOwnPropertyDescriptor(context, 'fresh')
  Object.defineProperties(context, {
    cacheControl: { value: cacheControl, writable: true, configurable: true },
    expires: { value: expires, writable: true, configurable: true },
    fresh: {
      // koa-conditional-get and koa-static-cache, in front, go on reading Koa's boolean.
      get(this: WithState): unknown {
        const state = this[STATE]
        if (state?.settings !== undefined) return state.fresh
        return earlier?.get === undefined ? this.request.fresh : earlier.get.call(this)
      },
      configurable: true
    }
  })
}

function cacheControl(this: WithState, ...directives: readonly CacheDirective[]): void {
  const state = stateInside(this, 'cacheControl')
  state.write([cacheControlField(directives)])
  state.sharesCookies = sharesCookies(directives)
}

function expires(
  this: WithState,
  lifetime: Lifetime | Date,
  ...directives: readonly CacheDirective[]
): void {
  const state = stateInside(this, 'expires')
  state.write(expiryFields(lifetime, directives, Date.now()))
  state.sharesCookies = sharesCookies(directives)
}

function stateInside(ctx: WithState, method: string): RequestState {
  const state = ctx[STATE]
  if (state?.settings !== undefined) return state
  throw new Error(
    `ctx.${method} was called outside of koaHttpCache: put app.use(koaHttpCache()) in front of the ` +
      'middleware that calls it, and call it before that middleware returns'
  )
}
