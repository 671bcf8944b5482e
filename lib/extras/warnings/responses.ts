// Reports in development problems that no response shows: validators that nothing compares, and unsafe shared caching.
import type { Context } from 'koa'
import { requestLine } from '../../runtime/diagnostics.ts'
import { warnOnce } from '../../runtime/errors.ts'
import { isByDateAlone, isConditional, validatorsOf } from '../../runtime/http-cache/auto-etag.ts'
import { cookieUse, negotiatedFields } from '../../runtime/http-cache/dependencies.ts'
import { isUntouched, type RequestState } from '../../runtime/http-cache/request-state.ts'
import type { HttpCacheSettings } from '../../runtime/http-cache/settings.ts'
import { isCacheControl } from '../../runtime/http/cache-control.ts'
import { policiesWithNonce } from '../../runtime/http/fields.ts'
import { evaluatePreconditions } from '../../runtime/http/preconditions.ts'

/** Looks at the response of a route, and again after the middleware in front. */
export function report(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  // The outermost koaHttpCache reports for those behind it.
  if (state.settings !== undefined) return
  if (state.isReadAsBoolean) reportReadAsBoolean(ctx, state, settings)
  if (state.isReplaced) tell(ctx, settings, 'replaced', REPLACED)
  // A cookie that is read later, as by a log, does not change the page.
  const use = cookieUse(ctx)
  // After `{ halt: false }` the route decides.
  const isDecided = state.offer !== undefined || isByDateAlone(ctx, settings)
  ctx.res.once('finish', () => {
    // The problems of a 304 were reported with the response that it confirms.
    if (ctx.res.statusCode === 304) return
    if (!isDecided) reportUncompared(ctx, state, settings)
    reportShared(ctx, state, settings, use)
    reportVariants(ctx, settings)
  })
}

const warn = warnOnce()
const reported = new WeakMap<HttpCacheSettings, Set<string>>()

/** Reports each kind of problem once per route, or per koaHttpCache if the router does not name the route. */
function tell(ctx: Context, settings: HttpCacheSettings, kind: string, problem: string): void {
  const told = reported.get(settings) ?? new Set()
  reported.set(settings, told)
  // Routers keep the path of the matched route: `/books/:id`.
  const place = `${kind} ${ctx['_matchedRoute'] ?? ''}`
  if (told.has(place)) return
  told.add(place)
  // The path is the requested one, regardless of koa-mount.
  const { method, path } = requestLine(ctx.req)
  warn(`${method} ${path} ${problem}`)
}

const REPLACED =
  'called ctx.fresh with two states, of which the last one is sent: name both in one call, as in { etag: [1, 2] }'

// Code that takes ctx.fresh, which is a function here, for Koa's boolean never finds it false.
function reportReadAsBoolean(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  if ((state.decision ?? state.offer) !== undefined || !isUntouched(ctx)) return
  const problem =
    'read ctx.fresh as a boolean and has no body: it is a function, so never false; ' +
    'write await ctx.fresh(…) in a route, or read ctx.request.fresh'
  tell(ctx, settings, 'boolean', problem)
}

/** Reports a response that a comparison with its validators would have saved. */
function reportUncompared(ctx: Context, state: RequestState, settings: HttpCacheSettings): void {
  const { isCompared } = state
  const { headers } = ctx.req
  // The innermost koaHttpCache has compared the date by its own settings.
  if (!isConditional(ctx) || (isCompared && headers['if-none-match'] === undefined)) return
  const { status } = evaluatePreconditions(ctx.method, headers, validatorsOf(ctx), settings)
  if (status === undefined) return
  const problem = isCompared
    ? `has an ETag that was set after the request had been compared, which could have been a ${status}: remove what ` +
      'sets it, such as koa-etag, or give ctx.fresh an etag'
    : `has an ETag or a Last-Modified that is never compared with the request, which could have been a ${status}: ` +
      'koaHttpCache({ autoEtag: true }) compares it, or await ctx.fresh(…) in the route'
  tell(ctx, settings, 'uncompared', problem)
}

const variants = new Map<string, string>()

// Each representation of a URL has an ETag of its own (RFC 9110 section 8.8.3.3), or one is a 304 in place of the other.
function reportVariants(ctx: Context, settings: HttpCacheSettings): void {
  const etag = ctx.response.get('ETag')
  if (ctx.res.statusCode !== 200 || etag === '') return
  const [type, language] = [ctx.response.get('Content-Type'), ctx.response.get('Content-Language')]
  const [key, variant] = [`${ctx.req.url} ${etag}`, `${type} ${language}`.trim()]
  const other = variants.get(key) ?? variant
  if (variants.size >= 1000) variants.clear()
  variants.set(key, variant)
  const problem = `has the ETag ${etag} for ${other} and for ${variant}, so that one gets a 304 in place of the other`
  const advice = 'name what was negotiated, as in ctx.fresh({ etag: [id, type] })'
  if (other !== variant) tell(ctx, settings, 'variants', `${problem}: ${advice}`)
}

/** Reports personal responses that shared caches may store, now that middleware in front has added its fields. */
function reportShared(
  ctx: Context,
  state: RequestState,
  settings: HttpCacheSettings,
  use?: string
) {
  const { res } = ctx
  const fields = res.getHeaderNames().map(name => [name, String(res.getHeader(name))] as const)
  const shared = fields.filter(([name, value]) => isShared(name, value))
  const tellOf = (kind: string, field?: readonly string[], problem?: string) => {
    if (field && problem)
      tell(ctx, settings, kind, `responds with ${field.join(': ')} and ${problem}`)
  }
  const withCookies = shared.find(([, value]) => !LEAVES_OUT_COOKIES.test(value))
  tellOf('cookie', withCookies, cookieProblem(ctx, state, use))
  const open = shared.find(([, value]) => IS_FOR_ALL.test(value))
  tellOf('credentials', open, credentialsProblem(ctx, settings))
  // A file has the same bytes for everybody: it contains no nonce, and no language was chosen.
  if (res.hasHeader('Accept-Ranges')) return
  tellOf('nonce', shared[0], nonceProblem(ctx))
  tellOf('vary', shared[0], varyProblem(ctx))
}

// Only shared caches read a targeted field (RFC 9213). A lifetime alone lets them store a response (RFC 9111 section 3).
function isShared(name: string, value: string): boolean {
  if (!isCacheControl(name)) return false
  if (name === 'cache-control' && IS_FOR_ALL.test(value)) return true
  const isOpen = !/(?:^|[ ,])(?:private|no-store|no-cache)(?:,|$)/i.test(value)
  return isOpen && (name !== 'cache-control' || /(?:^|[ ,])max-age=[1-9]/i.test(value))
}

const IS_FOR_ALL = /(?:^|[ ,])(?:public|s-maxage=)/i

// `private` and `no-cache` may be limited to this field (RFC 9111 sections 5.2.2.4 and 5.2.2.7).
const LEAVES_OUT_COOKIES = /"[^"]*set-cookie/i

function cookieProblem({ res }: Context, state: RequestState, earlier?: string) {
  const isSent = res.hasHeader('Set-Cookie')
  const use = isSent ? 'sets a cookie' : !varies(res, 'Cookie') && earlier
  if (state.sharesCookies || !use) return undefined
  const vary = isSent ? '' : "ctx.vary('Cookie'), or "
  return (
    `${use}, but a shared cache may send the response to other visitors: use 'private', or add ${vary}` +
    `{ cookies: 'shared' } if every visitor may have it`
  )
}

// RFC 9111 section 3.5: `public` lets a cache send others a response to a request with Authorization.
function credentialsProblem({ req, res }: Context, { defaults }: HttpCacheSettings) {
  const names = defaults?.credentials ?? ['Authorization']
  const sent = names.find(name => req.headers[name.toLowerCase()] !== undefined)
  if (sent === undefined || varies(res, sent)) return undefined
  return (
    `was asked for with ${sent}, but a shared cache may send the response to other visitors: use 'private', or ` +
    'leave it if it is the same for all of them'
  )
}

function nonceProblem({ res }: Context): string | undefined {
  const [name] = policiesWithNonce(res)
  if (name === undefined) return undefined
  return (
    `a nonce in ${name}, but a shared cache sends one nonce to every visitor, so it protects nobody: put the ` +
    `scripts into files and allow 'self', or allow inline scripts by their hashes; otherwise use 'private'`
  )
}

function varyProblem({ request, res }: Context): string | undefined {
  const negotiated = negotiatedFields(request)
  // All four are named if a call was missed, and any of them may be meant.
  if (negotiated.length === 4) return undefined
  // Koa itself negotiates the text of a redirect.
  const isRedirect = res.hasHeader('Location')
  const missing = negotiated.filter(
    field => !varies(res, field) && !(isRedirect && field === 'Accept')
  )
  if (missing.length === 0) return undefined
  const names = missing.map(field => `'${field}'`).join(', ')
  const argument = missing.length > 1 ? `[${names}]` : names
  return (
    `depends on ${missing.join(', ')} by ctx.accepts…(), but a shared cache may send the response to visitors ` +
    `who ask for another one: add ctx.vary(${argument})`
  )
}

function varies(res: Context['res'], field: string): boolean {
  const vary = String(res.getHeader('Vary'))
    .toLowerCase()
    .split(/\s*,\s*/)
  return vary.includes('*') || vary.includes(field.toLowerCase())
}
