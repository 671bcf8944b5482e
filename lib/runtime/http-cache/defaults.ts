// Keeps shared caches from storing a response to one visitor, or a failure, for everybody.
import type { Context } from 'koa'
import { policiesWithNonce, UNSTORED } from '../http/fields.ts'
import { isRecord } from '../check-options.ts'
import type { CachingFields } from './directives.ts'
import { contentOf, isStream } from './auto-etag.ts'
import { cookieUse, type Dependencies, dependenciesOf, negotiatedFields } from './dependencies.ts'
import type { RequestState } from './request-state.ts'
import type { Defaults } from './settings.ts'

// 404 and 410 are left out, although caches may store them: a missing resource may exist a moment later.
const STATUSES_WITH_DEFAULTS = new Set([200, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308])
const TEMPORARY = new Set([302, 303, 307])

/** Tells whether a response may get defaults: it is a cacheable one to GET or HEAD without fields about caching. */
export function mayHaveDefaults({ method, res, status }: Context): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (res.hasHeader('Cache-Control') || res.hasHeader('Expires')) return false
  return STATUSES_WITH_DEFAULTS.has(status)
}

// Vary names credentials: RFC 9111 section 3.5 lets a cache give an anonymous response to a request with Authorization.
export function writeDefaults(ctx: Context, state: RequestState, defaults: Defaults): void {
  const why = reasonToBePersonal(ctx, state, defaults)
  const either = why === undefined ? defaults.at(Date.now()) : defaults.personal
  const written = isToSubscriber(ctx) ? NOT_STORED : either
  // The route may have written a targeted field only (RFC 9213).
  if (written.fields.some(({ name }) => ctx.res.hasHeader(name))) return
  state.write(written)
  for (const field of [...defaults.vary, ...negotiatedFields(ctx.request)]) ctx.vary(field)
  if (why !== undefined) state.reason += `; the default is for one visitor: ${why}`
  const { known } = state
  if (!known || !dependsOnMore(ctx, state, defaults.personal.sharesCookies, known)) return
  state.removeValidators()
  state.reason += '; it depends on more since ctx.fresh, so it has no ETag'
}

// A page that came to depend on something after `ctx.fresh` gets no validators: they do not cover it, and a 304, which
// replaces the stored fields (RFC 9111 section 3.2), would not say that the page is for one visitor.
function dependsOnMore(ctx: Context, state: RequestState, shares: boolean, known: Dependencies) {
  const now = dependenciesOf(ctx)
  const isKnownPersonal = known.cookie && !shares
  if (now.cookie && !shares && !isKnownPersonal) return true
  if ((now.nonce && !known.nonce) || now.negotiated > known.negotiated) return true
  return hasStream(ctx, state) && !isKnownPersonal
}

const hasStream = (ctx: Context, state: RequestState) => state.hadStream || isStream(ctx.body)

// Compression would hold events back (koa-compress, RFC 9111 section 5.2.2.6).
const NOT_STORED: CachingFields = {
  fields: [{ name: 'Cache-Control', value: 'no-store, no-transform' }],
  sharesCookies: false
}

const SUBSCRIPTION = /^(?:text\/event-stream|multipart\/x-mixed-replace)\b/i

// HTML Living Standard, section 9.2: a stored copy would repeat events, and a stored 204 would end subscriptions.
function isToSubscriber({ req, response }: Context): boolean {
  const { accept = '', 'last-event-id': last } = req.headers
  const isAskedFor = last !== undefined || /\btext\/event-stream\b/i.test(accept)
  return isAskedFor || SUBSCRIPTION.test(response.get('Content-Type'))
}

function reasonToBePersonal(ctx: Context, state: RequestState, defaults: Defaults) {
  const { headers } = ctx.req
  const sent = defaults.credentials.find(name => headers[name.toLowerCase()] !== undefined)
  if (sent !== undefined) return `the request has ${sent}`
  if (TEMPORARY.has(ctx.status)) return 'a temporary redirect may lead each visitor elsewhere'
  const use = defaults.personal.sharesCookies ? undefined : cookieUseOfBody(ctx, state)
  if (use !== undefined) return `the route ${use}`
  if (hasStream(ctx, state)) return 'a stream may read the session while it is sent'
  const hasNonce = policiesWithNonce(ctx.res).length > 0
  return hasNonce ? 'the Content-Security-Policy has a nonce' : undefined
}

/** Koa writes an object as JSON after all middleware: a getter or `toJSON` that reads the session must run before. */
function cookieUseOfBody(ctx: Context, { serialized }: RequestState): string | undefined {
  const use = cookieUse(ctx)
  if (use !== undefined || serialized === ctx.body) return use
  try {
    contentOf(ctx.body)
  } catch (error) {
    // Middleware in front may write what JSON cannot, such as a BigInt; otherwise Koa throws the same error.
    return isRecord(error) ? 'has a body that is not JSON' : 'has a body that throws'
  }
  return cookieUse(ctx)
}

/** Makes an error that leaves koaHttpCache `no-store`, whether Koa or an upstream middleware responds to it. */
export function asUnstored(ctx: Context, state: RequestState, error: unknown): unknown {
  state.withdrawInvalidation()
  const { headers } = (error ?? {}) as Record<string, unknown>
  const isWritten = replaceWritten(ctx, state)
  if (state.mayHaveDefaults) forbidStoringUnlessSaid(ctx)
  // Koa drops every field that is not in the error's own headers, which win. A frozen error is left alone.
  if ((isWritten || state.mayHaveDefaults) && isRecord(error))
    Reflect.set(error, 'headers', { 'Cache-Control': 'no-store', ...(headers as object) })
  return error
}

/** Replaces what a route wrote for a success by `no-store`. @returns whether it wrote a lifetime */
export function replaceWritten(ctx: Context, state: RequestState): boolean {
  if (!ctx.res.headersSent) state.removeValidators()
  if (!state.removeWritten()) return false
  forbidStoringUnlessSaid(ctx)
  return true
}

/**
 * The status is final when the head is sent: a request that no route took may still get a file, as with koa-static's
 * `defer`, or a page; with Koa 2 a stream that fails before its first byte becomes a 404 or 500 without any field.
 */
export function forbidStoringWhenSent(ctx: Context): void {
  const { res } = ctx
  const writeHead = Reflect.get(res, 'writeHead') as (...given: readonly unknown[]) => unknown
  Reflect.set(res, 'writeHead', (...given: readonly unknown[]) => {
    if (Number(given[0]) >= 400) forbidStoringUnlessSaid(ctx)
    return Reflect.apply(writeHead, res, given)
  })
}

/** Caches may keep a 404, 410 or 501 that says nothing about it (RFC 9110 section 15.1). */
export function forbidStoringUnlessSaid({ res }: Context): void {
  if (res.headersSent || res.hasHeader('Cache-Control') || res.hasHeader('Expires')) return
  res.setHeader('Cache-Control', 'no-store')
  Reflect.set(res, UNSTORED, true)
}
