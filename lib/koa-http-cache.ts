// The caching middleware: it gives a route its three words, and answers where the route is halted.
import type { Context, Middleware } from 'koa'

import { parseHttpDate } from './http/dates.ts'
import { isRetrieval } from './http/preconditions.ts'
import { digest } from './http-cache/value-digest.ts'
import { isHalt } from './http-cache/halt.ts'
import { type HttpCacheOptions, type HttpCacheSettings, settle } from './http-cache/settings.ts'
import {
  fillSilence,
  forbidStoringError,
  forbidStoringFailure,
  sharedCookie
} from './http-cache/shared-caches.ts'
import type { Verdict, Visit } from './http-cache/request-state.ts'
import { teach, visitOf } from './http-cache/context-methods.ts'
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
// Exported also because it carries the types of ctx into whoever imports this file.
export type { HttpCacheWords } from './http-cache/context-methods.ts'

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
    teach(ctx.app.context)
    const visit = visitOf(ctx)
    const outer = visit.settings
    if (outer === undefined) {
      const refreshing = refreshAll()
      if (refreshing !== undefined) await refreshing
    }
    visit.settings = settings
    try {
      await next()
      if (visit.isForgotten && isOpen(ctx)) await visit.settle()
    } catch (error) {
      if (visit.verdict === undefined) {
        forbidStoringError(ctx, visit, error)
        throw error
      }
      // A route that halts has given up responding by itself.
      ctx.respond = true
      visit.isHalted = isHalt(error)
      if (!visit.isHalted) ctx.app.emit('error', error, ctx)
    } finally {
      visit.settings = outer
    }
    if (isOpen(ctx)) conclude(ctx, visit, settings)
  }
}

// A route may answer by itself, past Koa.
function isOpen(ctx: Context): boolean {
  return ctx.respond !== false && !ctx.res.headersSent
}

function conclude(ctx: Context, visit: Visit, settings: HttpCacheSettings): void {
  if (visit.isForgotten) reportForgotten(ctx, visit, settings)
  if (visit.verdict === undefined) {
    if (visit.isMisread) refuseMistakenNotModified(ctx)
    if (settings.autoEtag) judgeContent(ctx, visit, settings)
  }
  if (visit.verdict !== undefined) answer(ctx, visit, visit.verdict)
  forbidStoringFailure(ctx, visit)
  if (settings.isDevelopment) reportSharedCookie(ctx, visit, settings)
  fillSilence(ctx, visit, settings)
  if (settings.trace) ctx.set('X-Http-Cache', `${ctx.status}: ${visit.reason}`)
}

// As it was asked for, whatever a mount made of it, without the query, which may hold what no log should.
function nameOf({ method, req }: Context): string {
  return `${method} ${(req.url ?? '').replace(/\?.*/s, '')}`
}

// Work that the response denies is reported everywhere; what costs nothing but time, in development.
function reportForgotten(ctx: Context, visit: Visit, settings: HttpCacheSettings): void {
  visit.forgive()
  const message = `${nameOf(ctx)}: ctx.fresh was called without await, so that the route did not stop`
  const isDenied = visit.verdict?.status === 412 && !visit.isHalted && !isRetrieval(ctx.method)
  const remedy = 'write: await ctx.fresh(…)'
  if (!isDenied) return settings.warn(`${message} where it may have to; ${remedy}`)
  const error = new Error(`${message} although the response is 412 Precondition Failed; ${remedy}`)
  ctx.app.emit('error', error, ctx)
}

function reportSharedCookie(ctx: Context, visit: Visit, settings: HttpCacheSettings): void {
  const problem = sharedCookie(ctx, visit)
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

function judgeContent(ctx: Context, visit: Visit, settings: HttpCacheSettings): void {
  if (!isRetrieval(ctx.method) || ctx.status !== 200 || ctx.res.hasHeader('ETag')) return
  // A 304 that was decided before there was a body could not have this ETag (RFC 9110 section 15.4.5).
  if (visit.hasValidators) return
  const content = contentOf(ctx.body)
  if (content === undefined) return
  // Weak, since a middleware in front may compress it.
  const etag = `W/"${digest(content)}"`
  const validators = { etag, lastModified: parseHttpDate(ctx.response.get('Last-Modified')) }
  const outcome = visit.judge(validators, settings)
  if (outcome !== 'proceed') visit.latch(outcome, validators)
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

function answer(ctx: Context, visit: Visit, { status, validators }: Verdict): void {
  const { res, response } = ctx
  abandon(ctx)
  for (const name of res.getHeaderNames()) if (CONTENT_FIELDS.has(name)) response.remove(name)
  // Not null, which would leave a 412 without Koa's words. The status comes after: a body sets one.
  if (response.body != null) response.body = undefined
  response.status = status
  visit.show(validators)
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
