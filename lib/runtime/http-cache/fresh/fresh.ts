// ctx.fresh: its types, its result, and the exception that ends a route whose response has been decided.
import { errorCode } from '../../files/disk.ts'
import { check, flag } from '../../check-options.ts'
import type { FreshValidators } from './validators-of.ts'

/** `ctx.fresh` resolves to the status that the preconditions require, or to `false`. */
export type FreshOutcome = false | 304 | 412

export interface FreshOptions {
  /** With `false`, `ctx.fresh` resolves to 304 or 412 instead of halting. Default: `true`. */
  readonly halt?: boolean | undefined
}

/** `ctx.fresh` is this function. */
export interface Fresh {
  /**
   * Evaluates the request's preconditions (RFC 9110 section 13.2.2) against the current state of the
   * resource, and halts the route if they determine the response:
   *
   * - 304 Not Modified, for GET, HEAD and QUERY: the client's copy is current (If-None-Match,
   *   If-Modified-Since).
   * - 412 Precondition Failed: the resource is not in the state that the client expects (If-Match,
   *   If-Unmodified-Since; for other methods also If-None-Match), so a `PUT` must not overwrite it.
   *
   * Halting throws a {@link Halt} from the call itself: nothing after `await ctx.fresh(…)` runs except
   * `finally`. Otherwise it resolves to `false`. For GET, HEAD and QUERY it sets `ETag` and `Last-Modified`;
   * responses to other methods must not carry the validators of the previous state (section 9.3.4).
   *
   * @example
   * ctx.cacheControl('private', { maxAge: '10m' })
   * await ctx.fresh({ etag: book.revision, lastModified: book.updatedAt })
   * ctx.body = await render(book)
   *
   * @param state an ETag, a Date or its ISO 8601 text, `{ etag, lastModified, weak }`, or `null` for a resource that
   *   does not exist yet
   * @throws TypeError for a state that identifies nothing, or that a header field cannot contain
   */
  (state: FreshValidators, options?: { readonly halt?: true | undefined }): Promise<false>
  /**
   * With `{ halt: false }` it never halts: it resolves to the status 304 or 412 that the response should
   * have, else to `false`. The response has that status if the route then sets neither a body nor a status.
   *
   * @example
   * if (await ctx.fresh(book.updatedAt, { halt: false })) return
   */
  (state: FreshValidators, options: FreshOptions): Promise<FreshOutcome>
}

/** @throws TypeError for a wrong option */
export function readHalt(options: FreshOptions): boolean {
  check(options, { halt: flag })
  return options.halt ?? true
}

const CODE = 'ERR_HTTP_CACHE_HALT'

/**
 * Thrown by `ctx.fresh` to halt a route. `koaHttpCache` turns it into the 304 or 412 response, even if a
 * middleware in between swallows it, so nothing else needs to catch it.
 */
export class Halt extends Error {
  override readonly name = 'Halt'
  readonly code = CODE
  // Koa does not log errors that it exposes.
  readonly expose = true
  readonly status: 304 | 412

  /** `instanceof` also recognizes a halt of another copy of this package. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return errorCode(error) === CODE
  }

  constructor(status: 304 | 412) {
    // A stack trace costs more than the rest of a 304, and nobody reads it.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(status === 304 ? 'Not Modified' : 'Precondition Failed')
    Error.stackTraceLimit = stackTraceLimit
    this.status = status
  }
}

/** Recognizes a halt, and an error that a middleware wrapped around one. */
export function isHalt(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown }
  return code === CODE || errorCode(cause) === CODE
}
