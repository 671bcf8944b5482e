// The caching middleware: it gives a route its three words, and answers where the route is halted.
import type { Context, Middleware } from 'koa'

import { parseHttpDate } from './http/dates.ts'
import { digest } from './http-cache/digest.ts'
import { Halt } from './http-cache/halt.ts'
import { type HttpCacheOptions, type HttpCacheSettings, settle } from './http-cache/settings.ts'
import type { Verdict, Visit } from './http-cache/visit.ts'
import { teach, visitOf } from './http-cache/words.ts'

export type {
  CacheDirective,
  CacheDirectiveName,
  CacheDirectiveOptions,
  Lifetime
} from './http-cache/directives.ts'
export { Halt } from './http-cache/halt.ts'
export type { FreshValidators, ResourceState } from './http-cache/identify.ts'
export type { HttpCacheOptions } from './http-cache/settings.ts'
export type { Fresh, FreshOptions } from './http-cache/visit.ts'
// Exported also because it carries the types of ctx into whoever imports this file.
export type { HttpCacheWords } from './http-cache/words.ts'

// A 304 has no content, so nothing is said about any (RFC 9110 section 15.4.5). Content-Location stays.
const CONTENT_FIELDS = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-range'
])

const STATUSES_WITH_DEFAULTS = new Set([200, 203, 204, 206, 300, 301, 304, 308, 404, 410])

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
    visit.settings = settings
    try {
      await next()
      if (visit.isForgotten && isOpen(ctx)) await visit.settle()
    } catch (error) {
      if (visit.verdict === undefined) throw error
      // A route that halts has given up answering by itself.
      ctx.respond = true
      if (!isHalt(error)) ctx.app.emit('error', error, ctx)
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

// A middleware in between may have wrapped it.
function isHalt(error: unknown): boolean {
  return error instanceof Halt || (error instanceof Error && error.cause instanceof Halt)
}

function conclude(ctx: Context, visit: Visit, settings: HttpCacheSettings): void {
  if (visit.verdict === undefined) {
    if (visit.isMisread) refuseMistakenNotModified(ctx)
    if (settings.autoEtag) judgeContent(ctx, visit, settings)
  }
  if (visit.verdict !== undefined) answer(ctx, visit, visit.verdict)
  if (settings.defaults !== undefined) fillSilence(ctx, settings.defaults)
  if (settings.trace) ctx.set('X-Http-Cache', `${ctx.status}: ${visit.reason}`)
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
  const reads = ctx.method === 'GET' || ctx.method === 'HEAD'
  if (!reads || ctx.status !== 200 || ctx.res.hasHeader('ETag')) return
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

function fillSilence(ctx: Context, defaults: NonNullable<HttpCacheSettings['defaults']>): void {
  if (!STATUSES_WITH_DEFAULTS.has(ctx.status)) return
  if (ctx.res.hasHeader('Cache-Control') || ctx.res.hasHeader('Expires')) return
  for (const { name, value } of defaults(Date.now())) ctx.set(name, value)
}
