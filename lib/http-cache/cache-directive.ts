// The directives that a route may write: names in three spellings, and options in an object.
import type { Duration } from '../options.ts'
import type { FLAG_DIRECTIVES, SECONDS_DIRECTIVES } from '../http/cache-control.ts'

type Snake<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}_${Snake<Tail>}`
  : Name
type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type Spelled<Name extends string> = Name | Snake<Name> | Camel<Name>

/**
 * A directive without a value (RFC 9111 section 5.2.2, RFC 8246), in one of three spellings:
 * `must-revalidate`, `must_revalidate` or `mustRevalidate`.
 */
export type CacheDirectiveName = Spelled<(typeof FLAG_DIRECTIVES)[number]>

type Flags = { readonly [Name in CacheDirectiveName]?: boolean | undefined }
type Lifetimes = {
  readonly [Name in Spelled<(typeof SECONDS_DIRECTIVES)[number]>]?: Lifetime | undefined
}
type FieldLists = {
  readonly [Name in Spelled<'no-cache-fields' | 'private-fields'>]?: readonly string[] | undefined
}

/**
 * Whole seconds, or a string with a unit from seconds to years: `600`, `'10m'`, `'1y'`. More than 2^31-1 seconds
 * are sent as 2^31-1 (RFC 9111 section 1.2.2).
 */
export type Lifetime = number | Duration

/**
 * Directives with a value, written in the order of the keys. Directives without a value may be `true`;
 * `false` and `undefined` write nothing.
 *
 * @example
 * ctx.cacheControl({ public: true, maxAge: '10m', staleWhileRevalidate: '1d' })
 */
export interface CacheDirectiveOptions extends Flags, Lifetimes, FieldLists {
  /** Seconds or `'10m'` of freshness (RFC 9111 section 5.2.2.1). Also `max_age`, `'max-age'`. */
  readonly maxAge?: Lifetime | undefined
  /** Seconds or `'10m'`: `maxAge` for shared caches (section 5.2.2.10). Also `s_maxage`, `'s-maxage'`. */
  readonly sMaxage?: Lifetime | undefined
  /**
   * Seconds or `'1d'`: a cache may use the stale response while it revalidates it (RFC 5861 section 3).
   * Also `stale_while_revalidate`, `'stale-while-revalidate'`.
   */
  readonly staleWhileRevalidate?: Lifetime | undefined
  /**
   * Seconds or `'1d'`: a cache may use the stale response after an error (RFC 5861 section 4).
   * Also `stale_if_error`, `'stale-if-error'`.
   */
  readonly staleIfError?: Lifetime | undefined
  /** `no-cache` for these response fields only (RFC 9111 section 5.2.2.4): `['Set-Cookie']`. */
  readonly noCacheFields?: readonly string[] | undefined
  /** `private` for these response fields only (RFC 9111 section 5.2.2.7): `['Set-Cookie']`. */
  readonly privateFields?: readonly string[] | undefined
  /** Extension directives (RFC 9111 section 5.2.3): `{ 'x-layer': 'edge' }`, `{ 'x-flag': true }`. */
  readonly extension?: Readonly<Record<string, string | number | true>> | undefined
  /**
   * Set the targeted field `<target>-Cache-Control` instead (RFC 9213): `CDN`, `Cloudflare-CDN`. A target that
   * ends in `-Control` is the field's own name: `Surrogate-Control`.
   */
  readonly target?: string | undefined
  /** Every visitor may have the response and its cookies, so a shared cache may store it in spite of cookies. */
  readonly cookies?: 'shared' | undefined
}

/** One argument of `ctx.cacheControl`. */
export type CacheDirective = CacheDirectiveName | CacheDirectiveOptions

export interface HeaderField {
  readonly name: string
  readonly value: string
}
