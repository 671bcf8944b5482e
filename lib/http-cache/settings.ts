// Options in, frozen settings out: every default and every complaint.
import type { Context } from 'koa'

import { isDevelopment } from '../environment.ts'
import { warnOnce } from '../warn-once.ts'
import type { CacheDirective, HeaderField, Lifetime } from './cache-directive.ts'
import { checkKeys, isRecord, mismatch } from './complaints.ts'
import {
  cacheControlField,
  expiryFields,
  personalField,
  readSeconds,
  sharesCookies
} from './directives.ts'

export interface HttpCacheOptions {
  /** What `Cache-Control` says where the route is silent. Default: nothing. */
  readonly cacheControl?: CacheDirective | readonly CacheDirective[] | undefined
  /** The lifetime where the route is silent, as `ctx.expires` writes it: `600`, `'10m'`. Default: none. */
  readonly expires?: Lifetime | undefined
  /**
   * Mixed into every ETag that `ctx.fresh` makes, so that a deploy makes every page new: a deploy's id,
   * `ctx.assets.version`, `versionOf('views')`. A date alone then gets an ETag as well. An empty text or
   * undefined mixes nothing in. Default: nothing.
   */
  readonly version?: ((ctx: Context) => string | undefined) | undefined
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

/** The fields of a response whose route wrote nothing about caching. */
export interface Defaults {
  /** They depend on the clock. */
  readonly fields: (now: number) => readonly HeaderField[]
  /** Those of a response that is for one visitor: no shared cache may keep it. */
  readonly personal: readonly HeaderField[]
  readonly sharesCookies: boolean
}

export interface HttpCacheSettings {
  readonly defaults: Defaults | undefined
  readonly version: (ctx: Context) => string | undefined
  readonly ifModifiedSince: 'exact' | 'before'
  readonly autoEtag: boolean
  readonly trace: boolean
  readonly isDevelopment: boolean
  /** Says each thing once, in development; elsewhere nothing. */
  readonly warn: (message: string) => void
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
    trace: settleSwitch('trace', options.trace, isDevelopment()),
    isDevelopment: isDevelopment(),
    warn: isDevelopment() ? warnOnce() : ignore
  })
}

function settleDefaults({ cacheControl, expires }: HttpCacheOptions): Defaults | undefined {
  const directives = [cacheControl ?? []].flat() as readonly CacheDirective[]
  if (expires === undefined && directives.length === 0) return undefined
  return Object.freeze({
    fields: settleFields(directives, expires),
    personal: [personalField(directives, expires)],
    sharesCookies: sharesCookies(directives)
  })
}

function settleFields(
  directives: readonly CacheDirective[],
  expires: Lifetime | undefined
): Defaults['fields'] {
  if (expires === undefined) {
    const fields = [cacheControlField(directives)]
    return () => fields
  }
  const seconds = readSeconds('expires', expires)
  expiryFields(seconds, directives, Date.now())
  return now => expiryFields(seconds, directives, now)
}

function settleVersion(version: HttpCacheOptions['version']): HttpCacheSettings['version'] {
  if (version === undefined) return () => undefined
  if (typeof version !== 'function') throw mismatch('version', 'a function of ctx', version)
  return ctx => {
    const given: unknown = version(ctx)
    if (given === undefined || given === '') return undefined
    if (typeof given === 'string') return given
    throw mismatch('version(ctx)', 'a text or undefined', given)
  }
}

function settleSwitch(name: string, given: unknown, otherwise: boolean): boolean {
  if (given === undefined) return otherwise
  if (typeof given === 'boolean') return given
  throw mismatch(name, 'true or false', given)
}

function ignore(): void {}
