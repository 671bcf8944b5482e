// The caching middleware: it gives a route its three words, and answers where the route is halted.
import type { Context, Middleware } from 'koa'

import { parseHttpDate } from './http/dates.ts'
import { isRetrieval } from './http/preconditions.ts'
import { digestOf } from './files/digest.ts'
import { isHalt } from './http-cache/halt.ts'
import { type HttpCacheOptions, type HttpCacheSettings, settle } from './http-cache/settings.ts'
import {
  fillSilence,
  forbidStoringError,
  forbidStoringFailure,
  sharedCookie
} from './http-cache/shared-caches.ts'
import type { Verdict, RequestState } from './http-cache/request-state.ts'
import { addContextMethods, stateOf } from './http-cache/context-methods.ts'
import { refreshAll } from './http-cache/kept-current.ts'

export type {
  CacheDirective,
  CacheDirectiveName,
  CacheDirectiveOptions,
  Lifetime
} from './http-cache/cache-directive.ts'
export type { Fresh, FreshOptions } from './http-cache/fresh.ts'
export { Halt } from './http-cache/halt.ts'
export type { FreshValidators, ResourceState } from './http-cache/identify.ts'
export type { FreshOutcome } from './http-cache/pending-result.ts'
export type { HttpCacheOptions } from './http-cache/settings.ts'
export { versionOf, type VersionOfOptions } from './http-cache/version-of.ts'
// Exported also because it carries the types of ctx into whoever imports this file.
export type { HttpCacheMethods } from './http-cache/context-methods.ts'

// A 304 has no content, so nothing is said about any (RFC 9110 section 15.4.5). Content-Location stays.
const CONTENT_FIELDS = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-range'
])

/**
 * Middleware that gives the routes behind it `ctx.cacheControl`, `ctx.expires` and `ctx.fresh`.
 *
 * @throws TypeError for a wrong option: its name, what was expected, what was given
 */
export function koaHttpCache(options: HttpCacheOptions = {}): Middleware {
  const settings = settle(options)

  return async function httpCache(ctx, next) {
    addContextMethods(ctx.app.context)
    const state = stateOf(ctx)
    const outer = state.settings
    if (outer === undefined) {
      const refreshing = refreshAll()
      if (refreshing !== undefined) await refreshing
    }
    state.settings = settings
    try {
      await next()
      if (state.isForgotten && isOpen(ctx)) await state.awaitForgotten()
    } catch (error) {
      if (state.verdict === undefined) {
        forbidStoringError(ctx, state, error)
        throw error
      }
      // A route that halts has given up responding by itself.
      ctx.respond = true
      state.isHalted = isHalt(error)
      if (!state.isHalted) ctx.app.emit('error', error, ctx)
    } finally {
      state.settings = outer
    }
    if (isOpen(ctx)) conclude(ctx, state, settings)
  }
}

// A route may answer by itself, past Koa.
function isOpen(ctx: Context): boolean {
  return ctx.respond !== false && !ctx.res.headersSent
}

function conclude(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  if (state.isForgotten) reportForgotten(ctx, state, settings)
  if (state.verdict === undefined) {
    if (state.isMisread) refuseMistakenNotModified(ctx)
    if (settings.autoEtag) judgeContent(ctx, state, settings)
  }
  if (state.verdict !== undefined) answer(ctx, state, state.verdict)
  forbidStoringFailure(ctx, state)
  if (settings.isDevelopment) reportSharedCookie(ctx, state, settings)
  fillSilence(ctx, state, settings)
  if (settings.trace) ctx.set('X-Http-Cache', `${ctx.status}: ${state.reason}`)
}

// As it was asked for, whatever a mount made of it, without the query, which may hold what no log should.
function nameOf({ method, req }: Context): string {
  return `${method} ${(req.url ?? '').replace(/\?.*/s, '')}`
}

// Work that the response denies is reported everywhere; what costs nothing but time, in development.
function reportForgotten(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  state.forgive()
  const message = `${nameOf(ctx)}: ctx.fresh was called without await, so that the route did not stop`
  const isDenied = state.verdict?.status === 412 && !state.isHalted && !isRetrieval(ctx.method)
  const remedy = 'write: await ctx.fresh(…)'
  if (!isDenied) return settings.warn(`${message} where it may have to; ${remedy}`)
  const error = new Error(`${message} although the response is 412 Precondition Failed; ${remedy}`)
  ctx.app.emit('error', error, ctx)
}

function reportSharedCookie(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  const problem = sharedCookie(ctx, state)
  if (problem !== undefined) settings.warn(`${nameOf(ctx)} ${problem}`)
}

// Whoever takes ctx.fresh, a function in here, for Koa's boolean answers 304 to everybody.
function refuseMistakenNotModified(ctx: Context): void {
  if (ctx.status !== 304 || ctx.request.fresh) return
  throw new Error(
    'a middleware behind koaHttpCache read ctx.fresh as a boolean and answered 304 to a request that ' +
      'has no matching validator: mount it (koa-conditional-get, koa-static-cache) in front of koaHttpCache'
  )
}

function judgeContent(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  if (!isRetrieval(ctx.method) || ctx.status !== 200 || ctx.res.hasHeader('ETag')) return
  // A 304 that was decided before there was a body could not have this ETag (RFC 9110 section 15.4.5).
  if (state.hasValidators) return
  const content = contentOf(ctx.body)
  if (content === undefined) return
  // Weak, since a middleware in front may compress it.
  const etag = `W/"${digestOf(content)}"`
  const validators = { etag, lastModified: parseHttpDate(ctx.response.get('Last-Modified')) }
  const outcome = state.judge(validators, settings)
  if (outcome !== 'proceed') state.latch(outcome, validators)
}

// What Koa would send, where that is known before it is sent.
function contentOf(body: unknown): string | Buffer | undefined {
  if (body == null || typeof body === 'string' || Buffer.isBuffer(body)) return body ?? undefined
  const isSource =
    body instanceof Blob ||
    body instanceof ReadableStream ||
    body instanceof Response ||
    (typeof body === 'object' && 'pipe' in body)
  return isSource ? undefined : JSON.stringify(body)
}

function answer(ctx: Context, state: RequestState, { status, validators }: Verdict): void {
  const { res, response } = ctx
  abandon(ctx)
  for (const name of res.getHeaderNames()) if (CONTENT_FIELDS.has(name)) response.remove(name)
  // Not null, which would leave a 412 without Koa's words. The status comes after: a body sets one.
  if (response.body != null) response.body = undefined
  response.status = status
  state.show(validators)
  if (status === 412) forbidStoring(ctx)
}

// Koa destroys a stream of Node's when another body takes its place or the answer is sent, but not one
// of the web's.
function abandon(ctx: Context): void {
  const given: unknown = ctx.response.body
  const body = given instanceof Response ? given.body : given
  if (!(body instanceof ReadableStream) || body.locked) return
  body.cancel().catch((error: unknown) => ctx.app.emit('error', error, ctx))
}

// What the route said about the 200 must not make a cache keep the failure for everybody.
function forbidStoring(ctx: Context): void {
  for (const name of ctx.res.getHeaderNames()) {
    if (name === 'expires' || name.endsWith('-cache-control')) ctx.remove(name)
  }
  ctx.set('Cache-Control', 'no-store')
}
