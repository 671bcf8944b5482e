// What shared caches may store, and for whom: a lifetime meant for everybody must not reach a response for one visitor,
// or a failure, and what a response was negotiated by belongs into Vary.
import type { BaseRequest, Context } from 'koa'
import { isCacheControl } from '../http/cache-control.ts'
import { policiesWithNonce } from '../http/fields.ts'
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

/** The defaults, and Vary for what the response was negotiated by: a route that wrote nothing forgot that, too. */
export function writeDefaults(ctx: Context, state: RequestState, defaults: Defaults): void {
  const why = reasonToBePersonal(ctx, defaults)
  const written = why === undefined ? defaults.at(Date.now()) : defaults.personal
  // The route may have written a targeted field only (RFC 9213).
  if (written.fields.some(({ name }) => ctx.res.hasHeader(name))) return
  state.write(written)
  for (const field of negotiatedFields(ctx.request)) ctx.vary(field)
  if (why !== undefined) state.reason += `; the default is for one visitor: ${why}`
}

function reasonToBePersonal(ctx: Context, { personal }: Defaults): string | undefined {
  if (ctx.req.headers.authorization !== undefined) return 'the request has Authorization'
  const use = personal.sharesCookies ? undefined : cookieUse(ctx)
  if (use !== undefined) return `the route ${use}`
  return policiesWithNonce(ctx.res).length > 0
    ? 'the Content-Security-Policy has a nonce'
    : undefined
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

/**
 * Says in development, once the response has been sent, what a shared cache must not do with it. Only then is it
 * known what middleware in front has added.
 */
export function reportSharing(
  ctx: Context,
  state: RequestState,
  report: (problem: string) => void
): void {
  // What is read later, as by a log, makes no difference to the page.
  const use = cookieUse(ctx)
  ctx.res.once('finish', () => {
    const { res } = ctx
    const fields = res.getHeaderNames().map(name => [name, String(res.getHeader(name))] as const)
    const shared = fields.filter(([name, value]) => isShared(name, value))
    const [first] = shared
    if (first === undefined) return
    const withCookies = shared.find(([, value]) => !LEAVES_OUT_COOKIES.test(value))
    // The bytes of a file are the same for everybody: no nonce is in them, and no language was chosen.
    const isFile = res.hasHeader('Accept-Ranges')
    for (const [field, problem] of [
      [withCookies, cookieProblem(ctx, state, use)],
      [first, isFile ? undefined : nonceProblem(ctx)],
      [first, isFile ? undefined : varyProblem(ctx)]
    ] as const) {
      if (field && problem) report(`responds with ${field.join(': ')} and ${problem}`)
    }
  })
}

// `private` and `no-cache` for this field alone (RFC 9111 sections 5.2.2.4 and 5.2.2.7).
const LEAVES_OUT_COOKIES = /"[^"]*set-cookie/i

function cookieProblem(
  ctx: Context,
  { sharesCookies }: RequestState,
  earlier: string | undefined
): string | undefined {
  const use = ctx.res.hasHeader('Set-Cookie') ? 'sets a cookie' : earlier
  if (sharesCookies || use === undefined) return undefined
  return (
    `${use}, but a shared cache may send the response to other visitors: use 'private', or add ` +
    `{ cookies: 'shared' } if every visitor may have it`
  )
}

function nonceProblem(ctx: Context): string | undefined {
  const [name] = policiesWithNonce(ctx.res)
  if (name === undefined) return undefined
  return (
    `a nonce in ${name}, but a shared cache sends one nonce to every visitor, so it protects nobody: put the ` +
    `scripts into files and allow 'self', or allow inline scripts by their hashes; otherwise use 'private'`
  )
}

function varyProblem(ctx: Context): string | undefined {
  const vary = String(ctx.res.getHeader('Vary'))
    .toLowerCase()
    .split(/\s*,\s*/)
  if (vary.includes('*')) return undefined
  // Koa itself asks which text to send with a redirect.
  const isRedirect = ctx.res.hasHeader('Location')
  const missing = certainFields(ctx.request).filter(
    field => !vary.includes(field.toLowerCase()) && !(isRedirect && field === 'Accept')
  )
  if (missing.length === 0) return undefined
  const names = missing.map(field => `'${field}'`).join(', ')
  const argument = missing.length > 1 ? `[${names}]` : names
  return (
    `depends on ${missing.join(', ')} by ctx.accepts…(), but a shared cache may send the response to visitors ` +
    `who ask for another one: add ctx.vary(${argument})`
  )
}

// A targeted field (RFC 9213) is for shared caches only.
function isShared(name: string, value: string): boolean {
  if (!isCacheControl(name)) return false
  return name === 'cache-control'
    ? /(?:^|[ ,])(?:public|s-maxage=)/i.test(value)
    : !/(?:^|[ ,])(?:private|no-store|no-cache)(?:,|$)/i.test(value)
}

// By which fields of a request its response was negotiated (RFC 9110 section 12.5.5).

const NEGOTIATED = {
  accepts: 'Accept',
  acceptsCharsets: 'Accept-Charset',
  acceptsEncodings: 'Accept-Encoding',
  acceptsLanguages: 'Accept-Language'
} as const

const ALL_NEGOTIATED: readonly string[] = Object.values(NEGOTIATED)
const UNKNOWN = 'unknown'
const UNSEEN: readonly string[] = [UNKNOWN]
const NOTHING: readonly never[] = []

// One for all copies of a release, like the state of a request.
const ASKED = Symbol.for(`koa-fresh-assets.negotiation ${process.env.PACKAGE_VERSION ?? ''}`)

type Watched = object & { [ASKED]?: readonly string[] }

/**
 * Makes the requests of an application remember what `ctx.accepts…()` was asked for. Koa's `ctx` delegates these
 * methods to its request, so a request for which nobody calls them pays nothing.
 */
export function watchNegotiation(request: BaseRequest): void {
  for (const [method, field] of Object.entries(NEGOTIATED)) {
    const inherited = Reflect.get(request, method) as (...given: readonly unknown[]) => unknown
    const remembering = function (this: Watched, ...given: readonly unknown[]): unknown {
      const asked = askedOf(this)
      if (!asked.includes(field)) this[ASKED] = [...asked, field]
      return Reflect.apply(inherited, this, given)
    }
    Reflect.set(request, method, remembering)
  }
}

/** The fields that were asked for; all if some call was not seen, as before the first koaHttpCache was entered. */
function negotiatedFields(request: object): readonly string[] {
  const asked = askedOf(request)
  return asked.includes(UNKNOWN) ? ALL_NEGOTIATED : asked
}

/** Those of them that are certain. */
function certainFields(request: object): readonly string[] {
  return askedOf(request).filter(field => field !== UNKNOWN)
}

// Koa keeps what these methods use under `_accept` once it is needed.
function askedOf(request: Watched): readonly string[] {
  return request[ASKED] ?? ('_accept' in request ? UNSEEN : NOTHING)
}
