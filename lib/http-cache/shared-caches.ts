// What shared caches may keep: a lifetime that was meant for everybody must not reach a response for one
// visitor, nor a failure.
import type { Context } from 'koa'

import type { HttpCacheSettings } from './settings.ts'
import type { Visit } from './visit.ts'

// Only what a cache may reuse as it is. Not 404 and 410, since what is missing now may be there in a moment.
const STATUSES_WITH_DEFAULTS = new Set([200, 203, 204, 206, 300, 301, 304, 308])

/** Writes the defaults where the route wrote nothing about caching. */
export function fillSilence(ctx: Context, visit: Visit, settings: HttpCacheSettings): void {
  const { defaults } = settings
  if (defaults === undefined || !STATUSES_WITH_DEFAULTS.has(ctx.status)) return
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return
  if (ctx.res.hasHeader('Cache-Control') || ctx.res.hasHeader('Expires')) return
  const setsCookie = !defaults.sharesCookies && ctx.res.hasHeader('Set-Cookie')
  const isPersonal = setsCookie || ctx.req.headers.authorization !== undefined
  const fields = isPersonal ? defaults.personal : defaults.fields(Date.now())
  for (const { name, value } of fields) ctx.set(name, value)
  visit.sharesCookies = defaults.sharesCookies
}

/** In place of the lifetime that the route wrote for its success, a failure of the server has none. */
export function forbidStoringFailure(ctx: Context, visit: Visit): void {
  if (ctx.status >= 500) withdraw(ctx, visit)
}

/** The same for an error that leaves koaHttpCache, whether Koa responds to it or a middleware in front. */
export function forbidStoringError(ctx: Context, visit: Visit, error: unknown): void {
  if (statusOf(error) < 500 || !withdraw(ctx, visit) || typeof error !== 'object') return
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

function withdraw(ctx: Context, visit: Visit): boolean {
  if (!visit.withdraw()) return false
  if (!ctx.res.headersSent && !ctx.res.hasHeader('Cache-Control')) {
    ctx.set('Cache-Control', 'no-store')
  }
  return true
}

/** What is wrong with a response that every visitor may get and that sets a cookie, if it is one. */
export function sharedCookie(ctx: Context, visit: Visit): string | undefined {
  if (visit.sharesCookies || !ctx.res.hasHeader('Set-Cookie')) return undefined
  const said = ctx.response.get('Cache-Control')
  if (!/(?:^|[ ,])(?:public|s-maxage=)/i.test(said) || /"[^"]*set-cookie/i.test(said))
    return undefined
  return (
    `responds with Cache-Control: ${said} and sets a cookie, which a shared cache may give to other ` +
    `visitors: write 'private' instead of 'public', or add { cookies: 'shared' } if every visitor may have it`
  )
}
