// What shared caches may keep: a lifetime that was meant for everybody must not reach a response for one
// visitor, nor a failure.
import type { Context } from 'koa'

import type { Defaults, HttpCacheSettings } from './settings.ts'
import type { RequestState } from './request-state.ts'

// Only what a cache may reuse as it is. Not 404 and 410, since what is missing now may be there in a moment.
const STATUSES_WITH_DEFAULTS = new Set([200, 203, 204, 206, 300, 301, 304, 308])

/** Writes the defaults where the route wrote nothing about caching. */
export function fillSilence(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  if (state.filled !== undefined) return refill(ctx, state, state.filled.defaults)
  const { defaults } = settings
  if (defaults === undefined || !STATUSES_WITH_DEFAULTS.has(ctx.status)) return undefined
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return undefined
  if (ctx.res.hasHeader('Cache-Control') || ctx.res.hasHeader('Expires')) return undefined
  return fill(ctx, state, defaults)
}

function fill(ctx: Context, state: RequestState, defaults: Defaults): void {
  const fields = isPersonal(ctx, defaults) ? defaults.personal : defaults.fields(Date.now())
  // The route may have spoken to one kind of cache alone (RFC 9213).
  if (fields.some(({ name }) => ctx.res.hasHeader(name))) return
  state.write(fields)
  state.filled = { defaults, fields }
  state.sharesCookies = defaults.sharesCookies
}

// A middleware between two koaHttpCache, a session for one, may have set a cookie since.
function refill(ctx: Context, state: RequestState, defaults: Defaults): void {
  if (state.filled?.fields === defaults.personal || !isPersonal(ctx, defaults)) return
  state.remove(state.filled?.fields ?? [])
  if (!ctx.res.hasHeader('Cache-Control')) fill(ctx, state, defaults)
}

function isPersonal(ctx: Context, { sharesCookies }: Defaults): boolean {
  if (ctx.req.headers.authorization !== undefined) return true
  return !sharesCookies && ctx.res.hasHeader('Set-Cookie')
}

/** In place of the lifetime that the route wrote for its success, a failure of the server has none. */
export function forbidStoringFailure(ctx: Context, state: RequestState): void {
  if (ctx.status >= 500) withdraw(ctx, state)
}

/** The same for an error that leaves koaHttpCache, whether Koa responds to it or a middleware in front. */
export function forbidStoringError(ctx: Context, state: RequestState, error: unknown): void {
  if (statusOf(error) < 500 || !withdraw(ctx, state) || typeof error !== 'object') return
  // Koa drops every field that the error itself does not carry. One of the error's own comes later and wins.
  // An error that is frozen stays as it is.
  const { headers } = error as { headers?: object }
  Reflect.set(error as object, 'headers', { 'Cache-Control': 'no-store', ...headers })
}

// As Koa reads it.
function statusOf(error: unknown): number {
  const { status, statusCode } = (error ?? {}) as { status?: unknown; statusCode?: unknown }
  const given = status ?? statusCode
  return typeof given === 'number' ? given : 500
}

function withdraw(ctx: Context, state: RequestState): boolean {
  if (!state.withdraw()) return false
  if (!ctx.res.headersSent && !ctx.res.hasHeader('Cache-Control')) {
    ctx.set('Cache-Control', 'no-store')
  }
  return true
}

/** What is wrong with a response that every visitor may get and that sets a cookie, if it is one. */
export function sharedCookie(ctx: Context, state: RequestState): string | undefined {
  if (state.sharesCookies || state.filled !== undefined) return undefined
  if (!ctx.res.hasHeader('Set-Cookie')) return undefined
  const name = ctx.res.getHeaderNames().find(name => isShared(name, ctx.response.get(name)))
  if (name === undefined) return undefined
  return (
    `responds with ${name}: ${ctx.response.get(name)} and sets a cookie, which a shared cache may give to ` +
    `other visitors: write 'private' instead, or add { cookies: 'shared' } if every visitor may have it`
  )
}

// A targeted field (RFC 9213) speaks to shared caches alone.
function isShared(name: string, value: string): boolean {
  if (!name.endsWith('cache-control') || /"[^"]*set-cookie/i.test(value)) return false
  return name === 'cache-control'
    ? /(?:^|[ ,])(?:public|s-maxage=)/i.test(value)
    : !/(?:^|[ ,])(?:private|no-store|no-cache)(?:,|$)/i.test(value)
}
