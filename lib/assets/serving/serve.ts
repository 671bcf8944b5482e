// The part of serving that knows Koa: compares a path with `ctx.path`, and responds.
import type { Readable } from 'node:stream'
import type { Context, Next } from 'koa'
import { chooseCoding } from '../../http/content-coding.ts'
import { evaluatePreconditions } from '../../http/preconditions.ts'
import { chooseRange, type ByteRange } from '../../http/ranges.ts'
import { canonicalSegments } from '../urls/canonical-path.ts'
import { sameStamp, withFile, type OpenFile } from '../../files/disk.ts'
import { connected, isOfConnection, isAwaited } from './connection.ts'
import { removeContentFields, setFields } from './fields.ts'
import type { ServedFile } from './files/served-file.ts'
import type { Representation } from './files/representation.ts'
import { hasOneSpelling, rawPath } from './request-path.ts'
import { bodyOf, sendFile, type FilePart } from './send-file.ts'
import { prepareResponse, writeResponse, type PreparedResponse } from './write-response.ts'

/** Whether `ctx.path`, which a guard in front compares, is the same path. */
export function isPathForKoa(ctx: Context, path: string): boolean {
  // Koa stores the parsed URL on the request, and requests of two shapes slow down what follows.
  if (hasOneSpelling(path) && path === ctx.req.url) return true
  try {
    return ctx.path === path
  } catch (error) {
    // Node rejects some authorities of an absolute request target. By name: of any realm.
    const { code, name } = error as NodeJS.ErrnoException
    if (code === 'ERR_INVALID_URL' || name === 'URIError') return false
    throw error
  }
}

// A file's If-Modified-Since is evaluated as RFC 9110 section 13.1.3 defines it.
const PRECONDITIONS = { ifModifiedSince: 'before' } as const

/** How a response leaves koaAssets. */
interface Way {
  readonly write: (ctx: Context, response: PreparedResponse, body?: Buffer) => true
  /** Resolves when the file need no longer be kept open. */
  readonly stream: (
    ctx: Context,
    response: PreparedResponse,
    part: FilePart
  ) => Promise<void> | true
}

/**
 * As any middleware responds: status, fields and `ctx.body`, which is a Buffer, a stream, or null for a
 * response without content. Middleware in front can still change all of it.
 */
export const TO_KOA: Way = {
  write: give,
  stream: (ctx, response, part) => give(ctx, response, bodyOf(ctx.res, part))
}

/** Past Koa, for a request that no other middleware has seen. */
export const TO_SOCKET: Way = {
  write(ctx, response, body) {
    bypassKoa(ctx)
    // Another listener of the server may have responded meanwhile.
    if (!ctx.res.headersSent) writeResponse(ctx.res, response, body)
    return true
  },
  stream(ctx, response, part) {
    bypassKoa(ctx)
    return sendFile(ctx.res, response.fields, part)
  }
}

/**
 * Responds with a file.
 * @param opened the file itself, if it was described while it was open
 * @returns false when the file has been replaced since it was found, and must be found again
 */
export function serve(
  ctx: Context,
  { representations }: ServedFile,
  opened?: OpenFile,
  way = TO_KOA
): boolean | Promise<boolean> {
  const { headers } = ctx.req
  const method = ctx.req.method ?? 'GET'
  const chosen = chooseCoding(headers['accept-encoding'], representations) ?? representations[0]
  const outcome = evaluatePreconditions(method, headers, chosen, PRECONDITIONS)
  if (outcome === 'not-modified') return way.write(ctx, chosen.notModified)
  if (outcome === 'failed') return way.write(ctx, chosen.failed)
  const range = chooseRange(method, headers, chosen, chosen.size)
  if (range === 'unsatisfiable') return way.write(ctx, rangeNotSatisfiable(chosen))
  if (method === 'HEAD') return way.write(ctx, chosen.ok)
  if (!chosen.body) return stream(ctx, way, chosen, range === 'whole' ? undefined : range, opened)
  if (range === 'whole') return way.write(ctx, chosen.ok, chosen.body)
  return way.write(ctx, partial(chosen, range), chosen.body.subarray(range.start, range.end + 1))
}

function rangeNotSatisfiable({ size, failed }: Representation): PreparedResponse {
  return prepareResponse(416, ['Content-Range', `bytes */${size}`, ...failed.fields])
}

function partial({ ok, size }: Representation, { start, end }: ByteRange): PreparedResponse {
  const contentRange = ['Content-Range', `bytes ${start}-${end}/${size}`]
  const length = ['Content-Length', String(end - start + 1)]
  return prepareResponse(206, [...ok.fields.slice(0, -2), ...contentRange, ...length])
}

function give(ctx: Context, { status, fields }: PreparedResponse, body?: Buffer | Readable): true {
  const { res } = ctx
  suppressDisconnects(ctx)
  // A timeout in front may have responded meanwhile.
  if (res.headersSent) return true
  removeContentFields(res)
  // Koa removes fields together with an earlier body, and makes a response without one a 204.
  if (!body || ctx.body != null) ctx.body = null
  ctx.status = status
  setFields(res, fields)
  if (body) ctx.body = body
  return true
}

/** From here on Koa leaves the response to us. */
function bypassKoa(ctx: Context): void {
  ctx.respond = false
  suppressDisconnects(ctx)
}

/** A client that disconnects is not an error of the application. */
export function suppressDisconnects(ctx: Context): void {
  // Always the same function: one that is made for the request may keep the request in memory.
  if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = handleError
}

/** For a request that goes on to the rest of the stack. */
export function reportDisconnects(ctx: Context): void {
  if (ctx.onerror === handleError) Reflect.deleteProperty(ctx, 'onerror')
}

function handleError(this: Context, error: Error): void {
  if (!isOfConnection(this.res, error)) this.app.context.onerror.call(this, error)
}

/**
 * Streams one open file, so bytes of another that takes its name are not mixed in. The file is not opened
 * before the response has its connection: thousands of pipelined responses may wait for one.
 */
async function stream(
  ctx: Context,
  way: Way,
  chosen: Representation,
  range: ByteRange | undefined,
  opened: OpenFile | undefined
): Promise<boolean> {
  const response = range ? partial(chosen, range) : chosen.ok
  const streamFrom = async (file: OpenFile): Promise<boolean> => {
    if (!sameStamp(file.stats, chosen.stamp)) return false
    if (!isAwaited(ctx.res)) return way.write(ctx, response)
    await way.stream(ctx, response, { file, size: chosen.size, range })
    return true
  }
  // Nobody receives it then; loggers in front read it.
  if (!(await connected(ctx.res))) return way.write(ctx, response)
  if (opened?.path === chosen.file) return streamFrom(opened)
  return (await withFile(chosen.file, streamFrom)) ?? false
}

/** For a path that cannot be decoded. */
export function respondBadRequest(ctx: Context): void {
  ctx.status = 400
  ctx.set('Cache-Control', 'no-store')
  ctx.body = 'Bad Request'
}

/** Whether nothing has responded: the 404 that Koa starts with. */
export function isUntouched(ctx: Context): boolean {
  return ctx.status === 404 && ctx.body == null && !ctx.headerSent
}

/** To the URL of a folder, which ends in a slash; relative links of its index file start there. */
export function redirectToFolder(ctx: Context): void {
  const path = rawPath(ctx.req.url ?? '')
  const asSent = rawPath(ctx.originalUrl)
  // A middleware in front may have cut off what an application is mounted at.
  const isCut = asSent.endsWith(path) && Array.isArray(canonicalSegments(asSent))
  const query = /\?.*/s.exec(ctx.req.url ?? '')?.[0] ?? ''
  ctx.status = 301
  ctx.set('Location', `${isCut ? asSent : path}/${query}`)
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
  try {
    await next()
  } catch (error) {
    forbidStoring(error)
    throw error
  }
  if (ctx.status !== 404 || ctx.headerSent) return
  ctx.set('Cache-Control', 'no-store')
  ctx.remove('Expires')
}

/** Koa's error handling drops every field that is not among the error's own `headers`. */
function forbidStoring(error: unknown): void {
  const thrown = error as { status?: number; headers?: object } | undefined
  if (thrown?.status !== 404) return
  // A frozen error stays as it is.
  Reflect.set(thrown, 'headers', { ...thrown.headers, 'Cache-Control': 'no-store' })
}
