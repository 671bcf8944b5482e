// The three words that a route has: ctx.cacheControl, ctx.expires and ctx.fresh.
import type { Context, ExtendableContext } from 'koa'

import type { CacheDirective, Lifetime } from './cache-directive.ts'
import { cacheControlField, expiryFields, sharesCookies } from './directives.ts'
import type { Fresh } from './fresh.ts'
import { Visit } from './request-state.ts'

/** What `koaHttpCache` adds to Koa's context. */
export interface HttpCacheWords {
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
  interface ExtendableContext extends HttpCacheWords {
    // Koa declares a boolean; only what is both can stand beside it.
    readonly fresh: boolean & Fresh
  }
}

const VISIT = Symbol('koaHttpCache')
const taught = new WeakSet<object>()

type Visited = ExtendableContext & { [VISIT]?: Visit }

/** What is known of this request; made on the first koaHttpCache that it enters. */
export function visitOf(ctx: Context): Visit {
  const visited: Visited = ctx
  return (visited[VISIT] ??= new Visit(ctx))
}

/** Gives the words to an application's context, once. */
export function teach(context: object): void {
  if (taught.has(context)) return
  taught.add(context)
  // Another copy of this library may have been here.
  const earlier = Object.getOwnPropertyDescriptor(context, 'fresh')
  Object.defineProperties(context, {
    cacheControl: { value: cacheControl, writable: true, configurable: true },
    expires: { value: expires, writable: true, configurable: true },
    fresh: {
      // koa-conditional-get and koa-static-cache, in front, go on reading Koa's boolean.
      get(this: Visited): unknown {
        const visit = this[VISIT]
        if (visit?.settings !== undefined) return visit.fresh
        return earlier?.get === undefined ? this.request.fresh : earlier.get.call(this)
      },
      configurable: true
    }
  })
}

function cacheControl(this: Visited, ...directives: readonly CacheDirective[]): void {
  const visit = visitInside(this, 'cacheControl')
  visit.write([cacheControlField(directives)])
  visit.sharesCookies = sharesCookies(directives)
}

function expires(
  this: Visited,
  lifetime: Lifetime | Date,
  ...directives: readonly CacheDirective[]
): void {
  const visit = visitInside(this, 'expires')
  visit.write(expiryFields(lifetime, directives, Date.now()))
  visit.sharesCookies = sharesCookies(directives)
}

function visitInside(ctx: Visited, method: string): Visit {
  const visit = ctx[VISIT]
  if (visit?.settings !== undefined) return visit
  throw new Error(
    `ctx.${method} was called outside of koaHttpCache: put app.use(koaHttpCache()) in front of the ` +
      'middleware that calls it, and call it before that middleware returns'
  )
}
