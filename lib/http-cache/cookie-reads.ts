// Tells whether the cookies of a request were read: its response may then be for one visitor only.
import type { Context } from 'koa'

type Cookies = Context['cookies']
type Reader = object & { [HAS_READ]?: boolean }
type ObservedCookies = Cookies & { [READER]: Reader }

// The same in every copy of this library, because only the first one observes.
const HAS_READ = Symbol.for('koa-fresh-assets:has-read-cookies')
const READER = Symbol.for('koa-fresh-assets:reader-of-cookies')

/** Observes `ctx.cookies.get` of an application, given its context's prototype. */
export function observeCookies(context: object): void {
  const inherited =
    Object.getOwnPropertyDescriptor(context, 'cookies') ??
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(context), 'cookies')
  if (inherited?.get === undefined) return
  Object.defineProperty(context, 'cookies', {
    ...inherited,
    get(this: Reader): unknown {
      if (hasReadCookies(this)) this[HAS_READ] = true
      const cookies = inherited.get?.call(this) as ObservedCookies
      if (!Object.hasOwn(cookies, 'get')) {
        cookies[READER] = this
        cookies.get = getCookie
      }
      return cookies
    }
  })
}

// One function for all requests, in front of the one that the cookies inherit.
function getCookie(this: ObservedCookies, ...args: Parameters<Cookies['get']>): string | undefined {
  this[READER][HAS_READ] = true
  return (Object.getPrototypeOf(this) as Cookies).get.apply(this, args)
}

/** Whether `ctx.cookies.get` was called. */
export function hasReadCookies(ctx: Reader): boolean {
  return ctx[HAS_READ] ?? hasUnobservedCookies(ctx)
}

// Whether upstream middleware created the cookies, and may have read them, before koaHttpCache saw the
// application: in the first requests of a process. Koa keeps them under a symbol.
function hasUnobservedCookies(ctx: object): boolean {
  for (const key of Object.getOwnPropertySymbols(ctx)) {
    if (key.description === 'context#cookies') {
      return !Object.hasOwn(Reflect.get(ctx, key) as object, 'get')
    }
  }
  return false
}
