// Options in, frozen settings out: every default and every complaint.
import type { Context } from 'koa'

import { checkKeys, isRecord, mismatch } from './complaints.ts'
import {
  type CacheDirective,
  type HeaderField,
  type Lifetime,
  cacheControlField,
  expiryFields,
  readSeconds
} from './directives.ts'

export interface HttpCacheOptions {
  /** What `Cache-Control` says where the route is silent. Default: nothing. */
  readonly cacheControl?: CacheDirective | readonly CacheDirective[] | undefined
  /** The lifetime where the route is silent, as `ctx.expires` writes it: `600`, `'10m'`. Default: none. */
  readonly expires?: Lifetime | undefined
  /**
   * Mixed into every ETag that `ctx.fresh` makes, so that a deploy makes every page new: a deploy's id,
   * or `ctx.assets.version`. Default: nothing.
   */
  readonly version?: ((ctx: Context) => string) | undefined
  /**
   * What an If-Modified-Since must be for a 304: `exact` is equal to Last-Modified; `before` is also
   * later, as long as it is not in the future. Default `exact`.
   */
  readonly ifModifiedSince?: 'exact' | 'before' | undefined
  /** Give text, buffers and JSON an ETag of their content, where the route gave none. Default false. */
  readonly autoEtag?: boolean | undefined
  /** Say in `X-Http-Cache` why an answer is what it is. Default: in development. */
  readonly trace?: boolean | undefined
}

export interface HttpCacheSettings {
  /** The headers for an answer whose route was silent; they depend on the clock. */
  readonly defaults: ((now: number) => readonly HeaderField[]) | undefined
  readonly version: (ctx: Context) => string | undefined
  readonly ifModifiedSince: 'exact' | 'before'
  readonly autoEtag: boolean
  readonly trace: boolean
}

const KEYS = ['cacheControl', 'expires', 'version', 'ifModifiedSince', 'autoEtag', 'trace'] as const

/** @throws TypeError for a wrong option: its name, what was expected, what was given */
export function settle(options: HttpCacheOptions): HttpCacheSettings {
  if (!isRecord(options)) throw mismatch('the options of koaHttpCache', 'an object', options)
  checkKeys('option of koaHttpCache', options, KEYS)
  const { ifModifiedSince = 'exact' } = options
  if (ifModifiedSince !== 'exact' && ifModifiedSince !== 'before') {
    throw mismatch('ifModifiedSince', "'exact' or 'before'", ifModifiedSince)
  }
  return Object.freeze({
    defaults: settleDefaults(options),
    version: settleVersion(options.version),
    ifModifiedSince,
    autoEtag: settleSwitch('autoEtag', options.autoEtag, false),
    trace: settleSwitch('trace', options.trace, isDevelopment())
  })
}

function settleDefaults({
  cacheControl,
  expires
}: HttpCacheOptions): HttpCacheSettings['defaults'] {
  const directives = [cacheControl ?? []].flat() as readonly CacheDirective[]
  if (expires !== undefined) {
    readSeconds('expires', expires)
    expiryFields(expires, directives, Date.now())
    return now => expiryFields(expires, directives, now)
  }
  if (directives.length === 0) return undefined
  const fields = [cacheControlField(directives)]
  return () => fields
}

function settleVersion(version: HttpCacheOptions['version']): HttpCacheSettings['version'] {
  if (version === undefined) return () => undefined
  if (typeof version !== 'function') throw mismatch('version', 'a function of ctx', version)
  return ctx => {
    const given: unknown = version(ctx)
    if (typeof given === 'string' && given !== '') return given
    throw mismatch('version(ctx)', 'a text', given)
  }
}

function settleSwitch(name: string, given: unknown, otherwise: boolean): boolean {
  if (given === undefined) return otherwise
  if (typeof given === 'boolean') return given
  throw mismatch(name, 'true or false', given)
}

function isDevelopment(): boolean {
  return (process.env.NODE_ENV ?? 'development') === 'development'
}
