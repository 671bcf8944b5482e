// The caching middleware, which gives routes their methods and sends the response of a route that has halted.
import type { Context, Middleware } from 'koa'
import { halted, requestLine } from './runtime/diagnostics.ts'
import { forbidStoring } from './runtime/http/cache-control.ts'
import { policiesWithNonce } from './runtime/http/fields.ts'
import { compareResponse, isA, isStream } from './runtime/http-cache/auto-etag.ts'
import { isHalt } from './runtime/http-cache/fresh.ts'
import { stateOf } from './runtime/http-cache/methods.ts'
import {
  isUntouched,
  NOT_CALLED,
  type Decision,
  type RequestState
} from './runtime/http-cache/request-state.ts'
import {
  type KoaHttpCacheOptions,
  type HttpCacheSettings,
  settle
} from './runtime/http-cache/settings.ts'
import {
  forbidStoringUnlessSaid,
  forbidStoringWhenSent,
  mayHaveDefaults,
  replaceWritten,
  asUnstored,
  writeDefaults
} from './runtime/http-cache/defaults.ts'
import { loadReports } from './runtime/http-cache/reports.ts'
import { refreshes, refreshVersions } from './runtime/http-cache/version-of.ts'

export type {
  CacheDirective,
  CacheDirectiveName,
  CacheDirectiveOptions,
  Lifetime
} from './runtime/http-cache/directives.ts'
export type { DiagnosticMessages } from './runtime/diagnostics.ts'
export {
  type Fresh,
  type FreshOptions,
  type FreshOutcome,
  type FreshValidators,
  Halt,
  type ResourceState
} from './runtime/http-cache/fresh.ts'
export type {
  GroupOptions,
  KoaHttpCacheOptions,
  KoaHttpCacheOptions as HttpCacheOptions
} from './runtime/http-cache/settings.ts'
export { versionOf, type VersionOfOptions } from './runtime/http-cache/version-of.ts'
// This export also loads the types of ctx into a file that imports this one.
export type { HttpCacheMethods } from './runtime/http-cache/methods.ts'

// A 304 has no content, so it must not describe any (RFC 9110 section 15.4.5, RFC 9530); Content-Location is kept.
const CONTENT_FIELD = /^(?:content-(?:type|length|encoding|language|range|digest)|repr-digest)$/

/**
 * Middleware that gives the routes behind it `ctx.cacheControl`, `ctx.expires`, `ctx.fresh` and `ctx.cacheGroups`,
 * as RFC 9110, RFC 9111 and RFC 9875 define them. Register it before the router, and behind middleware that reads
 * Koa's own `ctx.fresh` (koa-conditional-get, koa-static-cache).
 * @example
 * app.use(koaHttpCache({ version: versionOf('views') }))
 * app.use(async ctx => {
 *   const book = await findBook(ctx.query.id)
 *   ctx.cacheControl('private', { maxAge: '10m' })
 *   await ctx.fresh(book.updatedAt)
 *   ctx.body = await render(book)
 * })
 * @throws TypeError for an invalid option, with its name, the expected value and the given one
 */
export function koaHttpCache(options: KoaHttpCacheOptions = {}): Middleware {
  const settings = settle(options)

  return async function httpCache(ctx, next) {
    const state = stateOf(ctx)
    const { settings: outer, keysField } = state
    if (outer === undefined && refreshes.size > 0) await refreshVersions()
    state.settings = settings
    state.keysField = settings.groups.header ?? keysField
    if (settings.defaults !== undefined) state.mayHaveDefaults = true
    try {
      await next()
    } catch (error) {
      if (state.decision === undefined) throw asUnstored(ctx, state, error)
      // A route that halts no longer responds by itself.
      ctx.respond = true
      if (!isHalt(error)) ctx.app.emit('error', error, ctx)
    } finally {
      state.settings = outer
      state.keysField = keysField
    }
    // A route may respond by itself, bypassing Koa.
    if (ctx.respond === false || ctx.res.headersSent) return
    const reports = settings.isDevelopment ? await loadReports() : []
    try {
      for (const { report } of reports) report(ctx, state, settings)
      finishResponse(ctx, state, settings)
    } catch (error) {
      throw asUnstored(ctx, state, error)
    }
  }
}

function finishResponse(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  // Middleware between two koaHttpCache may have changed the body meanwhile.
  state.serialized = undefined
  if (state.offer !== undefined && isUntouched(ctx)) state.decision ??= state.offer
  if (settings.autoEtag && !state.isCompared)
    state.decision ??= compareResponse(ctx, state, settings)
  if (state.decision !== undefined) respond(ctx, state, state.decision)
  // Code that takes ctx.fresh, which is a function here, for Koa's boolean responds 304 to every request.
  else if (state.isReadAsBoolean && ctx.status === 304 && !ctx.request.fresh)
    throw new Error(
      'code behind koaHttpCache read ctx.fresh as a boolean and responded 304 to a request that has no matching ' +
        'validator: write await ctx.fresh(…) in a route, or read ctx.request.fresh; if it is a middleware, register it ' +
        '(koa-conditional-get, koa-static-cache) before koaHttpCache'
    )
  const { statusCode } = ctx.res
  // A middleware between two koaHttpCache, such as a session, may still respond, set or read a cookie.
  const isOutermost = state.settings === undefined
  if (statusCode >= 400) state.withdrawInvalidation()
  if (statusCode >= 400 && state.decision === undefined) {
    replaceWritten(ctx, state)
    // No cache stores a 412 or a 416 for a file.
    const mayBeStored = state.mayHaveDefaults && statusCode !== 412 && statusCode !== 416
    if (mayBeStored && !isUntouched(ctx)) forbidStoringUnlessSaid(ctx)
    else if (mayBeStored && isOutermost) forbidStoringWhenSent(ctx)
  }
  if ((settings.defaults ?? state.defaults) && mayHaveDefaults(ctx)) {
    state.defaults ??= settings.defaults
    if (isOutermost && state.defaults) writeDefaults(ctx, state, state.defaults)
  }
  const isPromised = ctx.res.hasHeader('Cache-Control') && isStream(ctx.body)
  if (isPromised && isOutermost) forbidStoringWhenSent(ctx)
  // A browser would replace its stored policy, whose nonce is in the stored body (RFC 9111 section 3.2).
  if (statusCode === 304 && isOutermost)
    policiesWithNonce(ctx.res).forEach(name => ctx.remove(name))
  // Served files have already been compared with the request, and a 404 behind this middleware may become a file.
  const mayCallFresh = ctx.status === 200 && !ctx.res.hasHeader('Accept-Ranges')
  if (settings.trace && (state.reason !== NOT_CALLED || mayCallFresh))
    ctx.set('X-Http-Cache', `${ctx.status}: ${state.reason}`)
}

/** Koa destroys a Node.js stream when another body replaces it, but not a web stream. */
function dropBody(ctx: Context): void {
  const given: unknown = ctx.body
  const stream = isA('Response', given) ? given.body : given
  if (isA('ReadableStream', stream) && !stream.locked)
    stream.cancel().catch((error: unknown) => ctx.app.emit('error', error, ctx))
  // `null` would leave a 412 without Koa's text.
  ctx.body = undefined
}

function respond(ctx: Context, state: RequestState, { status, validators }: Decision): void {
  for (const name of ctx.res.getHeaderNames()) if (CONTENT_FIELD.test(name)) ctx.remove(name)
  state.hadStream ||= isStream(ctx.body)
  if (ctx.body != null) dropBody(ctx)
  // The status is set after the body, as setting the body changes it.
  ctx.status = status
  state.setValidators(validators)
  if (status === 412) {
    // The lifetime that the route wrote for the 200 must not make a cache store the failure.
    state.removeWritten()
    forbidStoring(ctx.res)
  }
  if (halted.hasSubscribers)
    halted.publish({ ...requestLine(ctx.req), status, reason: state.reason })
}
