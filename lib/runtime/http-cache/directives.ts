// Makes Cache-Control and Expires from directives: names in three spellings, and objects with values.
import { types } from 'node:util'
import {
  type DirectiveValue,
  FLAG_DIRECTIVES,
  CACHE_CONTROL,
  NAMES,
  SECONDS,
  SECONDS_DIRECTIVES,
  formatCacheControl,
  targetedField,
  wholeSeconds
} from '../http/cache-control.ts'
import { formatHttpDate } from '../http/validators.ts'
import { type Duration, isRecord, optionError, secondsOf, unknownName } from '../check-options.ts'

type Snake<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}_${Snake<Tail>}`
  : Name
type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type Spelled<Name extends string> = Name | Snake<Name> | Camel<Name>

/** Directives have three spellings: `must-revalidate`, `must_revalidate` or `mustRevalidate` (RFC 9111, RFC 8246). */
export type CacheDirectiveName = Spelled<(typeof FLAG_DIRECTIVES)[number]>

type Flags = { readonly [Name in CacheDirectiveName]?: boolean | undefined }
type Lifetimes = {
  readonly [Name in Spelled<(typeof SECONDS_DIRECTIVES)[number]>]?: Lifetime | undefined
}
type FieldLists = {
  readonly [Name in Spelled<'no-cache-fields' | 'private-fields'>]?: readonly string[] | undefined
}

/**
 * A lifetime is a number of whole seconds, or a string with a unit from seconds to years: `600`, `'10m'`, `'1y'`. More
 * than 2^31-1 seconds are sent as 2^31-1 (RFC 9111 section 1.2.2).
 */
export type Lifetime = number | Duration

/**
 * Directives with a value are written in the order of the keys. Directives without a value may be `true`; `false` and
 * `undefined` write nothing.
 * @example
 * ctx.cacheControl({ public: true, maxAge: '10m', staleWhileRevalidate: '1d' })
 */
export interface CacheDirectiveOptions extends Flags, Lifetimes, FieldLists {
  /** The response is fresh for these seconds, or `'10m'` (RFC 9111 section 5.2.2.1). Also `max_age`, `'max-age'`. */
  readonly maxAge?: Lifetime | undefined
  /** Shared caches use it in place of `maxAge` (section 5.2.2.10). Also `s_maxage`, `'s-maxage'`. */
  readonly sMaxage?: Lifetime | undefined
  /** A stale response may be used so long while it is revalidated (RFC 5861). Also `stale_while_revalidate`. */
  readonly staleWhileRevalidate?: Lifetime | undefined
  /** A stale response may be used so long after an error (RFC 5861). Also `stale_if_error`. */
  readonly staleIfError?: Lifetime | undefined
  /** `no-cache` is limited to these response fields (RFC 9111 section 5.2.2.4): `['Set-Cookie']`. */
  readonly noCacheFields?: readonly string[] | undefined
  /** `private` is limited to these response fields (RFC 9111 section 5.2.2.7): `['Set-Cookie']`. */
  readonly privateFields?: readonly string[] | undefined
  /** Extension directives are written as given (RFC 9111 section 5.2.3): `{ 'x-layer': 'edge', 'x-flag': true }`. */
  readonly extension?: Readonly<Record<string, string | number | true>> | undefined
  /**
   * The directives are written to `<target>-Cache-Control` instead (RFC 9213): `CDN`, `Cloudflare-CDN`. A target that
   * ends in `-Control` is the field's own name: `Surrogate-Control`.
   */
  readonly target?: string | undefined
  /** Every visitor may have the response and its cookies, so a shared cache may store it in spite of cookies. */
  readonly cookies?: 'shared' | undefined
}

/** `ctx.cacheControl` takes any number of these. */
export type CacheDirective = CacheDirectiveName | CacheDirectiveOptions

export interface HeaderField {
  readonly name: string
  readonly value: string
}

export interface CachingFields {
  readonly fields: readonly HeaderField[]
  readonly sharesCookies: boolean
}

const FLAGS: ReadonlySet<string> = new Set(FLAG_DIRECTIVES)
const FIELD_LISTS: ReadonlySet<string> = new Set(['no-cache-fields', 'private-fields'])
const keyOf = (name: string) => name.replace(/-[a-z]/g, pair => pair.slice(1).toUpperCase())
const KEYS = [...NAMES, ...FIELD_LISTS, 'extension', 'target', 'cookies'].map(keyOf)
// A comma that is followed by an even number of quotes is not between quotes.
const COMMA = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/
const MEMBER = /^([^\s=",]+)(?:=(?:"([^"]*)"|([^\s=",]*)))?$/

interface Directives {
  readonly values: Map<string, DirectiveValue>
  target?: string
  sharesCookies: boolean
}

/** Formats directives; the last value of one counts. @throws TypeError for unknown, invalid or contradictory ones */
export function cacheControlFields(directives: readonly CacheDirective[]): CachingFields {
  const { values, target, sharesCookies } = readDirectives(directives)
  const field =
    target === undefined
      ? { name: 'Cache-Control', value: formatCacheControl(values) }
      : { name: targetedField(target), value: formatCacheControl(values, 'dictionary') }
  return { fields: [field], sharesCookies }
}

/** Returns Expires and Cache-Control, whose `max-age` comes last unless the directives contain one. */
export function expiryFields(
  lifetime: Lifetime | Date,
  directives: readonly CacheDirective[],
  now: number
): CachingFields {
  const isDate = types.isDate(lifetime)
  const end = isDate ? lifetime.getTime() : now + readSeconds('the lifetime', lifetime) * 1000
  if (Number.isNaN(end)) throw optionError('the lifetime', 'a duration or a valid Date', lifetime)
  const { values, target, sharesCookies } = readDirectives(directives)
  if (target !== undefined) throw new TypeError('ctx.expires() does not accept `target`')
  if (!values.has('max-age')) values.set('max-age', wholeSeconds(end - now))
  const fields = [
    { name: 'Expires', value: formatHttpDate(end) },
    { name: 'Cache-Control', value: formatCacheControl(values) }
  ]
  return { fields, sharesCookies }
}

/** Parses the value of a field, `public, max-age=60`. @throws TypeError for text that is not a list of directives */
export function parseDirectives(text: string): readonly CacheDirective[] {
  return text.split(COMMA).map(member => {
    const [, name, quoted, value = quoted] = MEMBER.exec(member.trim()) ?? []
    if (name === undefined) throw optionError('cacheControl', CACHE_CONTROL.expected, text)
    const known = FLAGS.has(canonical(name)) ? name : name.toLowerCase()
    if (value === undefined) return known as CacheDirective
    if (!NAMES.includes(canonical(known))) throw unknownDirective(name, NAMES)
    if (FIELD_LISTS.has(`${known}-fields`)) return { [`${known}-fields`]: value.split(/ *, */) }
    return { [known]: /^\d+$/.test(value) ? Number(value) : value }
  })
}

function readDirectives(given: readonly CacheDirective[]): Directives {
  const directives: Directives = { values: new Map(), sharesCookies: false }
  for (const directive of given) {
    if (typeof directive === 'string') readFlag(directives, directive, true, NAMES)
    else if (isRecord(directive)) readOptions(directives, directive)
    else throw optionError('a directive', 'a name or an object', directive)
  }
  return directives
}

function readOptions(directives: Directives, options: CacheDirectiveOptions): void {
  for (const [given, value] of Object.entries(options)) {
    const name = canonical(given)
    if (value === undefined) continue
    if (given === 'extension') readExtensions(directives, value)
    else if (given === 'target') directives.target = value
    else if (given === 'cookies') {
      if (value !== 'shared') throw optionError('cookies', "'shared'", value)
      directives.sharesCookies = true
    } else if (SECONDS.has(name)) directives.values.set(name, readSeconds(name, value))
    else if (FIELD_LISTS.has(name)) {
      if (!Array.isArray(value)) throw optionError(given, 'a list of field names', value)
      directives.values.set(name.replace('-fields', ''), value.map(String))
    } else readFlag(directives, given, value)
  }
}

/** @throws TypeError for anything but whole seconds or a string with a unit */
export function readSeconds(name: string, given: unknown): number {
  const seconds = typeof given === 'string' ? secondsOf(given) : given
  if (Number.isInteger(seconds) && Number(seconds) >= 0) return wholeSeconds(Number(seconds) * 1000)
  const rest =
    typeof given === 'number' ? ', 0 or more' : ", or a string with a unit such as '10m' or '1y'"
  throw optionError(name, `whole seconds${rest}`, given)
}

function readFlag({ values }: Directives, given: string, value: unknown, known = KEYS): void {
  const name = canonical(given)
  if (SECONDS.has(name)) throw new TypeError(`${name} needs seconds: { ${keyOf(name)}: 60 }`)
  if (!FLAGS.has(name)) throw unknownDirective(given, known)
  if (typeof value !== 'boolean') throw optionError(name, 'true or false', value)
  if (value) values.set(name, true)
}

function unknownDirective(given: string, known: readonly string[]): TypeError {
  return unknownName('directive', given, known, { advice: `known directives: ${NAMES.join(', ')}` })
}

function readExtensions({ values }: Directives, extensions: unknown): void {
  if (!isRecord(extensions)) throw optionError('extension', 'an object', extensions)
  for (const [name, value] of Object.entries(extensions)) {
    if (NAMES.includes(name.toLowerCase()))
      throw new TypeError(`${name} is a standard directive: write it outside of extension`)
    if (value !== true && typeof value !== 'string' && typeof value !== 'number')
      throw optionError(name, 'a string, a number or true', value)
    values.set(name, value)
  }
}

/** Turns `mustRevalidate` and `must_revalidate` into `must-revalidate`. */
function canonical(name: string): string {
  return name.replaceAll('_', '-').replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}
