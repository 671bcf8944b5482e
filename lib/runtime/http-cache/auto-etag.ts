// Compares a finished response with the request's conditions, by its validators or the digest of its content.
import type { Context } from 'koa'
import { digestOf } from '../files/digest.ts'
import { isRetrieval } from '../http/preconditions.ts'
import { parseHttpDate, type Validators } from '../http/validators.ts'
import type { RequestState } from './request-state.ts'
import type { HttpCacheSettings } from './settings.ts'

/** Compares a response that `ctx.fresh` has not compared, and gives it a weak ETag if it has none. */
export function compareResponse(ctx: Context, state: RequestState, settings: HttpCacheSettings) {
  if (!isConditional(ctx)) return undefined
  const own = validatorsOf(ctx)
  const etag = own.etag ?? etagOfContent(ctx, state)
  if ((etag ?? own.lastModified) === undefined) return undefined
  return state.evaluate({ ...own, etag }, settings, isByDateAlone(ctx, settings))
}

// RFC 9110 section 13.2.1: conditions are ignored unless the response would be a success without them.
export function isConditional({ method, status }: Context): boolean {
  return isRetrieval(method) && status >= 200 && status < 300
}

export function isByDateAlone(ctx: Context, { version }: HttpCacheSettings): boolean {
  const { 'if-modified-since': since, 'if-none-match': tags } = ctx.req.headers
  return since !== undefined && tags === undefined && version?.(ctx) !== undefined
}

export function validatorsOf({ res, response }: Context): Validators {
  return {
    etag: res.hasHeader('ETag') ? String(res.getHeader('ETag')) : undefined,
    lastModified: parseHttpDate(response.get('Last-Modified'))
  }
}

// The tag is weak, because an upstream middleware may compress the content.
function etagOfContent({ status, body, method }: Context, state: RequestState) {
  if (status !== 200) return undefined
  const content = contentOf(body)
  state.serialized = body
  // A route may leave out the content for HEAD, whose ETag is that of GET.
  const isLeftOut = method === 'HEAD' && content?.length === 0
  return content === undefined || isLeftOut ? undefined : `W/"${digestOf(content)}"`
}

// Returns the content that Koa will send, if it is known in advance.
export function contentOf(body: unknown): string | Buffer | undefined {
  if (body == null || typeof body === 'string' || Buffer.isBuffer(body)) return body ?? undefined
  return isA('Blob', body) || isStream(body) ? undefined : JSON.stringify(body)
}

/** Tells whether a body is a stream, which may make its content after the fields have been sent. */
export function isStream(body: unknown): boolean {
  if (isA('ReadableStream', body) || isA('Response', body)) return true
  return typeof body === 'object' && body !== null && 'pipe' in body
}

// The sandbox of Jest 27 has none of these classes, and Node loads each one when its name is first read.
export function isA<Kind extends 'Blob' | 'ReadableStream' | 'Response'>(
  kind: Kind,
  value: unknown
): value is InstanceType<(typeof globalThis)[Kind]> {
  return kind in globalThis && value instanceof globalThis[kind]
}
