// What shared caches may store: a lifetime meant for everybody must not reach a response for one visitor, or
// a failure.
import type { Context } from 'koa'
import { isCacheControl } from '../http/cache-control.ts'
import { hasReadCookies } from './cookie-reads.ts'
import type { RequestState } from './request-state.ts'
import type { Defaults } from './settings.ts'

// Not 404 and 410, although caches may store them: what is missing now may exist a moment later.
const STATUSES_WITH_DEFAULTS = new Set([200, 203, 204, 206, 300, 301, 304, 308])

/** Whether the route, or whoever responded, wrote nothing about caching where there are defaults for that. */
export function mayHaveDefaults({ method, res, status }: Context): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (res.hasHeader('Cache-Control') || res.hasHeader('Expires')) return false
  return STATUSES_WITH_DEFAULTS.has(status)
}

export function writeDefaults(ctx: Context, state: RequestState, defaults: Defaults): void {
  const visitor = visitorReason(ctx, defaults)
  const fields = visitor === undefined ? defaults.fields(Date.now()) : defaults.personal
  // The route may have written a targeted field only (RFC 9213).
  if (fields.some(({ name }) => ctx.res.hasHeader(name))) return
  state.write(fields, defaults.sharesCookies)
  if (visitor !== undefined) state.reason += `; the default is for one visitor: ${visitor}`
}

// Why a response is for one visitor; undefined if it may be for everybody.
function visitorReason(ctx: Context, { sharesCookies }: Defaults): string | undefined {
  if (ctx.req.headers.authorization !== undefined) return 'the request has Authorization'
  const use = sharesCookies ? undefined : cookieUse(ctx)
  return use && `the route ${use}`
}

function cookieUse(ctx: Context): string | undefined {
  if (ctx.res.hasHeader('Set-Cookie')) return 'sets a cookie'
  return hasReadCookies(ctx) ? 'read a cookie' : undefined
}

/** `no-store` for an error that leaves koaHttpCache, whether Koa or an upstream middleware responds to it. */
export function forbidStoringError(ctx: Context, state: RequestState, error: unknown): void {
  if (statusOfError(error) < 500 || !replaceWritten(ctx, state) || typeof error !== 'object') return
  // Koa drops every field that is not in the error's own headers, which win. A frozen error stays as it is.
  const { headers } = error as { headers?: object }
  Reflect.set(error as object, 'headers', { 'Cache-Control': 'no-store', ...headers })
}

// As Koa does.
function statusOfError(error: unknown): number {
  const { status, statusCode } = (error ?? {}) as { status?: unknown; statusCode?: unknown }
  const given = status ?? statusCode
  return typeof given === 'number' ? given : 500
}

/** Replaces the lifetime that the route wrote for a success. @returns whether there was one */
export function replaceWritten(ctx: Context, state: RequestState): boolean {
  if (!state.removeWritten()) return false
  if (!ctx.res.headersSent && !ctx.res.hasHeader('Cache-Control')) {
    ctx.set('Cache-Control', 'no-store')
  }
  return true
}

/** The problem with a response that involves a cookie and that shared caches may store; otherwise undefined. */
export function sharedCookieProblem(ctx: Context, state: RequestState): string | undefined {
  if (state.sharesCookies) return undefined
  const use = cookieUse(ctx)
  if (use === undefined) return undefined
  const name = ctx.res.getHeaderNames().find(name => isShared(name, ctx.response.get(name)))
  if (name === undefined) return undefined
  return (
    `responds with ${name}: ${ctx.response.get(name)} and ${use}, but a shared cache may send the response to ` +
    `other visitors: use 'private', or add { cookies: 'shared' } if every visitor may have it`
  )
}

// A targeted field (RFC 9213) is for shared caches only.
function isShared(name: string, value: string): boolean {
  if (!isCacheControl(name) || /"[^"]*set-cookie/i.test(value)) return false
  return name === 'cache-control'
    ? /(?:^|[ ,])(?:public|s-maxage=)/i.test(value)
    : !/(?:^|[ ,])(?:private|no-store|no-cache)(?:,|$)/i.test(value)
}
