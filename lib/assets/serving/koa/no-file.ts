// The part of serving that knows Koa, beside the files: requests that have none, and what is added in development.
import type { Context, Next } from 'koa'
import { missed, requestLine, served } from '../../../diagnostics.ts'
import { errorCode } from '../../../files/disk.ts'
import { canonicalSegments } from '../../urls/canonical-path.ts'
import { hasOneSpelling, rawPath } from '../request-path.ts'

// The second one since Node 26, for a port that is not a number.
const REJECTED = new Set(['ERR_INVALID_URL', 'ERR_INVALID_ARG_VALUE'])

/** Tells whether `ctx.path`, which a guard in front compares, is the same path. */
export function isPathForKoa(ctx: Context, path: string): boolean {
  // Koa stores the parsed URL on the request, and requests of two hidden classes slow down what follows.
  if (hasOneSpelling(path) && path === ctx.req.url) return true
  try {
    return ctx.path === path
  } catch (error) {
    // Node rejects some authorities of an absolute request target. By name, so for errors of any realm.
    if (REJECTED.has(errorCode(error) ?? '') || (error as Error).name === 'URIError') return false
    throw error
  }
}

/** Responds to a path that cannot be decoded. */
export function respondBadRequest(ctx: Context): void {
  ctx.status = 400
  ctx.set('Cache-Control', 'no-store')
  ctx.body = 'Bad Request'
}

/** Tells whether nothing has responded, or will: Koa starts with a 404. */
export function isUntouched(ctx: Context): boolean {
  return isNotFound(ctx) && ctx.body == null
}

/** Leaves out `ctx.respond = false`: then the response is made elsewhere, possibly later. */
function isNotFound({ status, headerSent, respond }: Context): boolean {
  return status === 404 && !headerSent && respond !== false
}

/**
 * Redirects to the URL of a folder, which ends in a slash: relative links of its index file start there.
 * @param base the part that was cut off in front of the path
 */
export function redirectToFolder(ctx: Context, base: string): void {
  const path = rawPath(ctx.req.url ?? '')
  const asSent = rawPath(ctx.originalUrl)
  // A middleware in front may have cut off what an application is mounted at.
  const isCut = !base && asSent.endsWith(path) && Array.isArray(canonicalSegments(asSent))
  const query = /\?.*/s.exec(ctx.req.url ?? '')?.[0] ?? ''
  ctx.status = 301
  ctx.set('Location', `${isCut ? asSent : base + path}/${query}`)
  ctx.set('Cache-Control', 'no-cache')
  ctx.body = 'Moved Permanently'
}

/** RFC 9110 section 15.5.6: an asset can be read, and nothing else. */
export function respondMethodNotAllowed(ctx: Context): void {
  ctx.set('Allow', 'GET, HEAD, OPTIONS')
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405
}

/** Runs the rest of the stack. A 404 may be the gap of a rolling deploy, so no cache may store it. */
export async function passOnUnstored(ctx: Context, next: Next): Promise<void> {
  const reportMiss = () => missed.hasSubscribers && missed.publish(requestLine(ctx.req))
  try {
    await next()
  } catch (error) {
    const thrown = error as { status?: number; headers?: object } | undefined
    if (thrown?.status === 404) {
      // Koa drops every field that is not among the error's own. A frozen error stays as it is.
      Reflect.set(thrown, 'headers', { ...thrown.headers, 'Cache-Control': 'no-store' })
      reportMiss()
    }
    throw error
  }
  if (!isNotFound(ctx)) return
  reportMiss()
  ctx.set('Cache-Control', 'no-store')
  ctx.remove('Expires')
}

/** Reports the page about a source that cannot be published. */
export function reportErrorPage({ req, response }: Context, { message }: Error): void {
  if (!served.hasSubscribers) return
  const { status, length: bytes } = response
  served.publish({ ...requestLine(req), status, reason: message, coding: 'identity', bytes })
}

/**
 * Sets Server-Timing (W3C), with the milliseconds that a request has waited for its asset. Browsers show it.
 */
export function setTiming(
  ctx: Context,
  published: { readonly duration: number; readonly compileDuration?: number | undefined }
): void {
  const { duration, compileDuration } = published
  const metrics = Object.entries({ publish: duration, compile: compileDuration })
    .filter(([, milliseconds]) => milliseconds !== undefined)
    .map(([name, milliseconds]) => `${name};dur=${milliseconds?.toFixed(1)}`)
  const value = metrics.join(', ')
  // A file that is replaced before it is opened is found twice.
  const isSet = String(ctx.res.getHeader('Server-Timing')).includes(value)
  if (!isSet) ctx.append('Server-Timing', value)
}
