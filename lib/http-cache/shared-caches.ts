// What shared caches may store: a lifetime meant for everybody must not reach a response for one visitor, or
// a failure.
import type { Context } from 'koa'
import { isCacheControl } from '../http/cache-control.ts'
import { isRecord } from '../check-options.ts'
import type { RequestState } from './request-state.ts'
import type { Defaults } from './settings.ts'

// Not 404 and 410, although caches may store them: what is missing now may exist a moment later.
const STATUSES_WITH_DEFAULTS = new Set([200, 203, 204, 206, 300, 301, 304, 308])

/** Whether the route, or the code that responded, wrote nothing about caching where there are defaults for that. */
export function mayHaveDefaults({ method, res, status }: Context): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (res.hasHeader('Cache-Control') || res.hasHeader('Expires')) return false
  return STATUSES_WITH_DEFAULTS.has(status)
}

export function writeDefaults(ctx: Context, state: RequestState, defaults: Defaults): void {
  const hasAuthorization = ctx.req.headers.authorization !== undefined
  const use = defaults.sharesCookies ? undefined : cookieUse(ctx)
  const isPersonal = hasAuthorization || use !== undefined
  const fields = isPersonal ? defaults.personal : defaults.fields(Date.now())
  // The route may have written a targeted field only (RFC 9213).
  if (fields.some(({ name }) => ctx.res.hasHeader(name))) return
  state.write(fields, defaults.sharesCookies)
  if (!isPersonal) return
  const why = hasAuthorization ? 'the request has Authorization' : `the route ${use}`
  state.reason += `; the default is for one visitor: ${why}`
}

function cookieUse(ctx: Context): string | undefined {
  if (ctx.res.hasHeader('Set-Cookie')) return 'sets a cookie'
  // Koa keeps `ctx.cookies` under a symbol once they are asked for. An application's own may be anywhere.
  const symbols = Object.getOwnPropertySymbols(ctx)
  const areUsed = symbols.some(({ description }) => description === 'context#cookies')
  return areUsed || Object.hasOwn(ctx.app.context, 'cookies') ? 'read a cookie' : undefined
}

/** `no-store` for an error that leaves koaHttpCache, whether Koa or an upstream middleware responds to it. */
export function forbidStoringError(ctx: Context, state: RequestState, error: unknown): void {
  const { status, statusCode, headers } = (error ?? {}) as Record<string, unknown>
  // As Koa reads it.
  const given = status ?? statusCode
  if (typeof given === 'number' && given < 500) return
  if (!replaceWritten(ctx, state) || !isRecord(error)) return
  // Koa drops every field that is not in the error's own headers, which win. A frozen error stays as it is.
  Reflect.set(error, 'headers', { 'Cache-Control': 'no-store', ...(headers as object) })
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
