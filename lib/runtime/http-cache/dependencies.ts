// Tells what a response depends on besides its URL: cookies, a nonce, and the fields by which it was negotiated.
import type { BaseRequest, Context } from 'koa'
import { policiesWithNonce } from '../http/fields.ts'

/** The dependencies that a route has read or written so far. */
export type Dependencies = ReturnType<typeof dependenciesOf>

export function dependenciesOf(ctx: Context) {
  return {
    cookie: cookieUse(ctx) !== undefined,
    nonce: policiesWithNonce(ctx.res).length > 0,
    negotiated: negotiatedFields(ctx.request).length
  }
}

/** Tells how a route has used cookies, if it has. */
export function cookieUse(ctx: Context): string | undefined {
  if (ctx.res.hasHeader('Set-Cookie')) return 'sets a cookie'
  // Koa keeps `ctx.cookies` under a symbol once they are read. An application may define its own elsewhere.
  const symbols = Object.getOwnPropertySymbols(ctx)
  const areUsed = symbols.some(({ description }) => description === 'context#cookies')
  return areUsed || Object.hasOwn(ctx.app.context, 'cookies') ? 'read a cookie' : undefined
}

// Vary names the fields by which a response was negotiated (RFC 9110 section 12.5.5).
const NEGOTIATED = {
  accepts: 'Accept',
  acceptsCharsets: 'Accept-Charset',
  acceptsEncodings: 'Accept-Encoding',
  acceptsLanguages: 'Accept-Language'
} as const

const ALL_NEGOTIATED: readonly string[] = Object.values(NEGOTIATED)
const NOTHING: readonly never[] = []

// All copies of a release share the symbol, like that of a request's state.
const ASKED = Symbol.for(`koa-fresh-assets.negotiation ${process.env.PACKAGE_VERSION ?? ''}`)

type Watched = object & { [ASKED]?: readonly string[] }

// Makes requests remember which `ctx.accepts…()` were called: Koa's `ctx` delegates these methods to its request.
export function watchNegotiation(request: BaseRequest): void {
  for (const [method, field] of Object.entries(NEGOTIATED)) {
    const inherited = Reflect.get(request, method) as (...given: readonly unknown[]) => unknown
    const remembering = function (this: Watched, ...given: readonly unknown[]): unknown {
      const asked = negotiatedFields(this)
      if (!asked.includes(field)) this[ASKED] = [...asked, field]
      return Reflect.apply(inherited, this, given)
    }
    Reflect.set(request, method, remembering)
  }
}

/** Lists the negotiated fields, or all of them if a call was missed, such as one before the first koaHttpCache. */
export function negotiatedFields(request: Watched): readonly string[] {
  // Koa creates `_accept` when one of these methods is first called.
  return request[ASKED] ?? ('_accept' in request ? ALL_NEGOTIATED : NOTHING)
}
