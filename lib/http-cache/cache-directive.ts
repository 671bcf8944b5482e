// What a route may write about caching: names in three spellings, options in an object.
import type { Duration } from '../duration.ts'
import type { FLAG_DIRECTIVES, SECONDS_DIRECTIVES } from '../http/cache-control.ts'

type Snake<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}_${Snake<Tail>}`
  : Name
type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type Spelled<Name extends string> = Name | Snake<Name> | Camel<Name>

type FlagName = (typeof FLAG_DIRECTIVES)[number]
type SecondsName = (typeof SECONDS_DIRECTIVES)[number]

/** A directive that stands alone: `must-revalidate`, `must_revalidate` or `mustRevalidate`. */
export type CacheDirectiveName = Spelled<FlagName>

type Flags = { readonly [Name in CacheDirectiveName]?: boolean | undefined }
type Lifetimes = { readonly [Name in Spelled<SecondsName>]?: Lifetime | undefined }

type FieldLists = {
  readonly [Name in Spelled<'no-cache-fields' | 'private-fields'>]?: readonly string[] | undefined
}

/** Whole seconds, or a text with a unit: `600`, `'10m'`, `'1y'`. */
export type Lifetime = number | Duration

/** Directives with a value, in the order in which they are written. `undefined` says nothing. */
export interface CacheDirectiveOptions extends Flags, Lifetimes, FieldLists {
  /** Directives that the RFCs do not know: `{ 'x-layer': 'edge' }`, `{ 'x-flag': true }`. */
  readonly extension?: Readonly<Record<string, string | number | true>> | undefined
  /** Write `<target>-Cache-Control` instead (RFC 9213): `CDN`, `Cloudflare-CDN`. */
  readonly target?: string | undefined
  /** The cookies that the response sets are for everybody: a shared cache may keep them. */
  readonly cookies?: 'shared' | undefined
}

/** One argument of `ctx.cacheControl`. */
export type CacheDirective = CacheDirectiveName | CacheDirectiveOptions

/** A header that is ready to be set. */
export interface HeaderField {
  readonly name: string
  readonly value: string
}
