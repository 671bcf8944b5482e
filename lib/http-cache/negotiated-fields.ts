// By which fields of a request its response was negotiated: those belong into Vary (RFC 9110 section 12.5.5).
import type { BaseRequest } from 'koa'

const FIELDS = {
  accepts: 'Accept',
  acceptsCharsets: 'Accept-Charset',
  acceptsEncodings: 'Accept-Encoding',
  acceptsLanguages: 'Accept-Language'
} as const

const ALL: readonly string[] = Object.values(FIELDS)
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
  for (const [method, field] of Object.entries(FIELDS)) {
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
export function negotiatedFields(request: object): readonly string[] {
  const asked = askedOf(request)
  return asked.includes(UNKNOWN) ? ALL : asked
}

/** Those of them that are certain. */
export function certainFields(request: object): readonly string[] {
  return askedOf(request).filter(field => field !== UNKNOWN)
}

// Koa keeps what these methods use under `_accept` once it is needed.
function askedOf(request: Watched): readonly string[] {
  return request[ASKED] ?? ('_accept' in request ? UNSEEN : NOTHING)
}
