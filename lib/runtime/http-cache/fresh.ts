// ctx.fresh: its types, the exception that halts a route, and the validators of the state of a resource.
import { types } from 'node:util'
import { isRecord, optionError, unknownName } from '../check-options.ts'
import { digestOf } from '../files/digest.ts'
import { errorCode } from '../files/disk.ts'
import type { ConditionalHeaders } from '../http/preconditions.ts'
import { formatEtag, formatHttpDate, type Validators } from '../http/validators.ts'

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
   * @example
   * ctx.cacheControl('private', { maxAge: '10m' })
   * await ctx.fresh({ etag: book.revision, lastModified: book.updatedAt })
   * ctx.body = await render(book)
   * @param state an ETag, a Date or its ISO 8601 text, `{ etag, lastModified, weak }`, or `null` for a resource that
   *   does not exist yet
   * @throws TypeError for a state that identifies nothing, or that a header field cannot contain
   */
  (state: FreshValidators, options?: { readonly halt?: true | undefined }): Promise<false>
  /**
   * With `{ halt: false }` it never halts: it resolves to the status 304 or 412 that the response should
   * have, else to `false`. The response has that status if the route then sets neither a body nor a status.
   * @example
   * if (await ctx.fresh(book.updatedAt, { halt: false })) return
   */
  (state: FreshValidators, options: FreshOptions): Promise<FreshOutcome>
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

/**
 * The state of a resource is an `etag`, a `lastModified`, or both. `null` stands for a value that is not known, like
 * an empty database column: it is not sent, and no condition is compared with it.
 */
export interface ResourceState {
  /**
   * A string or a number is used unchanged, in quotes (RFC 9110 section 8.8.3). An array or object is digested
   * by its content: plain objects, arrays, dates, bytes, and objects with a `toJSON` method. Anything else is a
   * TypeError.
   * @example
   * await ctx.fresh({ etag: [book.id, book.revision] })
   */
  readonly etag?: string | number | bigint | readonly unknown[] | object | null | undefined
  /** The time of the last modification, sent in whole seconds (RFC 9110 section 8.8.2) unless it is in the future. */
  readonly lastModified?: Time | null | undefined
  /** Another spelling of `lastModified`, which wins if both are given. */
  readonly last_modified?: Time | null | undefined
  /** The ETag becomes weak, `W/"…"`: responses are equivalent, but not equal byte for byte. Default: `false`. */
  readonly weak?: boolean | undefined
}

/**
 * A Date, its milliseconds (1e11 or more, as fewer are taken for seconds), or ISO 8601 text such as
 * `2020-01-01T10:00:00Z`; without an offset it is UTC.
 */
type Time = Date | number | string

/**
 * A state is an ETag, a Last-Modified, both, or `null` for a resource that does not exist yet. Text is an ETag, unless it
 * is an instant of ISO 8601, with a date and a time: that is a Last-Modified, like the Date of the same instant.
 */
export type FreshValidators = string | number | bigint | Date | ResourceState | null

const KEYS: readonly string[] = ['etag', 'lastModified', 'last_modified', 'weak']
const ARGUMENT = 'the argument of ctx.fresh'
// SQL writes a space for the T, and an offset in hours only.
const ISO_8601 =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$/
const ADVICE =
  'name what identifies the state: ctx.fresh({ lastModified: book.updatedAt }) or ' +
  'ctx.fresh({ etag: [book.id, book.revision] })'

/** A lone Last-Modified gets an ETag with the version as well, because a date cannot show a new version. */
export function validatorsOf(given: FreshValidators, version: string | undefined): Validators {
  if (given === null) return {}
  const { etag, lastModified, last_modified, weak } = asState(given)
  const date = lastModified ?? last_modified
  const time = date == null ? undefined : checkedTime(date)
  // A date of whole seconds may stand for several edits until its second is over (RFC 9110 section 8.8.2.2).
  const isShared = time !== undefined && time === truncated(time) && Date.now() - time < 1000
  const identity = etag ?? (version === undefined || isShared ? undefined : time)
  const tag = identity === undefined ? undefined : tagOf(identity, weak)
  return {
    etag: tag === undefined || version === undefined ? tag : withVersion(tag, version),
    lastModified: time === undefined ? undefined : truncated(time)
  }
}

function asState(given: Exclude<FreshValidators, null>): ResourceState {
  // A day alone may be the name of a revision, and no text with a time looks like one.
  const isInstant = typeof given === 'string' && ISO_8601.exec(given)?.[2] !== undefined
  if (isInstant || types.isDate(given)) return { lastModified: given }
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'bigint')
    return { etag: given }
  if (!isRecord(given))
    throw optionError(ARGUMENT, 'an ETag, a Date or { etag, lastModified }', given)
  const unknown = Object.keys(given).find(key => !KEYS.includes(key))
  // A key may be an accessor, which is not an own key.
  const hasValidator = KEYS.some(key => key !== 'weak' && given[key] !== undefined)
  if (hasValidator && unknown === undefined) return given
  if (types.isPromise(given)) throw new TypeError('ctx.fresh got a Promise: await it first')
  if (!isPlainObject(given)) throw new TypeError(`ctx.fresh got ${className(given)}: ${ADVICE}`)
  if (unknown !== undefined) throw unknownName('key', unknown, KEYS, { advice: ADVICE })
  throw optionError(ARGUMENT, 'an etag, a lastModified, or null', given)
}

function tagOf(identity: unknown, weak: boolean | undefined): string {
  const isNumber = typeof identity === 'bigint' || Number.isFinite(identity)
  if (isNumber || typeof identity === 'string') return formatEtag(String(identity), weak)
  if (typeof identity === 'object') return formatEtag(digestOfValue(identity), weak)
  throw optionError('etag', 'a string, a number, an array or an object', identity)
}

/** Fewer milliseconds are a time before March 1973; timestamps in seconds are all below it. */
const SECONDS_UNTIL = 1e11

function checkedTime(given: unknown): number {
  const time = timeOf(given)
  if (Number.isNaN(time))
    throw optionError('lastModified', 'a valid Date, milliseconds or an ISO 8601 string', given)
  if (typeof given === 'number' && given < SECONDS_UNTIL) {
    throw new TypeError(
      `lastModified must be in milliseconds, got ${given}, which looks like seconds: write seconds * 1000, or give a Date`
    )
  }
  // This throws for a year that the field cannot contain.
  formatHttpDate(time)
  return time
}

function timeOf(given: unknown): number {
  if (types.isDate(given)) return given.getTime()
  if (typeof given !== 'string') return typeof given === 'number' ? given : Number.NaN
  const [, day, time = '00:00', hours = '+00', minutes = '00'] = ISO_8601.exec(given) ?? []
  return Date.parse(`${day}T${time}${hours}:${minutes}`)
}

const truncated = (time: number) => Math.floor(time / 1000) * 1000

// The version has a fixed length, so two pairs of identifier and version cannot have the same tag, and only the
// version is removed. A tag whose quotes a client has dropped is tolerated if it is the only one in its field.
const VERSION = /-[0-9a-f]{16}(?="|$)/g

// Most requests have the same version as the one before.
let latest = { version: '', suffix: '' }

function withVersion(tag: string, version: string): string {
  if (latest.version !== version) latest = { version, suffix: digestOf(version).slice(0, 16) }
  return `${tag.slice(0, -1)}-${latest.suffix}"`
}

export function withoutVersion(headers: ConditionalHeaders, validators: Validators) {
  const bare = (tags: string | undefined) => tags?.replace(VERSION, '')
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  return [
    { ...headers, 'if-match': bare(match), 'if-none-match': bare(noneMatch) },
    { ...validators, etag: bare(validators.etag) }
  ] as const
}

// Digests plain objects (keys in any order), arrays, primitives, dates, typed arrays and buffers (by their bytes), and
// objects with a `toJSON` method. The content of any other value is not accessible: two states would have one digest.
export const digestOfValue = (value: unknown): string => digestOf(canonical(value, []))

function canonical(value: unknown, within: readonly object[]): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return canonicalObject(value, within)
  if (typeof value === 'function' || typeof value === 'symbol') throw noContent(`a ${typeof value}`)
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

function canonicalObject(value: object, within: readonly object[]): string {
  // `instanceof` would miss a value of another realm.
  if (types.isDate(value)) {
    if (Number.isNaN(value.getTime())) throw noContent('an invalid Date')
    return `Date(${value.getTime()})`
  }
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value
    return `Bytes(${digestOf(new Uint8Array(buffer, byteOffset, byteLength))})`
  }
  if (within.includes(value)) throw noContent('an object that contains itself')
  const inner = [...within, value]
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return canonical(value.toJSON(), inner)
  if (Array.isArray(value))
    return `[${Array.from(value, item => canonical(item, inner)).join(',')}]`
  if (!isPlainObject(value)) throw noContent(className(value))
  if (Object.getOwnPropertySymbols(value).length > 0) throw noContent('an object with symbol keys')
  const parts = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part, inner)}`)
  return `{${parts.join(',')}}`
}

function noContent(what: string): TypeError {
  const advice = 'await it, or name its relevant parts, as in { etag: [book.id, book.updatedAt] }'
  return new TypeError(`${what} has no content to digest: ${advice}`)
}

/** Tells whether an object is a literal of any realm, or has no prototype: its own keys are all of its content. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  const isRoot = Object.getPrototypeOf(prototype) === null
  return isRoot && Object.hasOwn(prototype as object, 'isPrototypeOf')
}

/** `a Book`, `an object` */
function className(value: object): string {
  const { name } = (value.constructor ?? Object) as { readonly name?: unknown }
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object'
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`
}
