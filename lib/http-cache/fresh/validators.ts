// Turns what a route knows about its resource into the validators of the response.
import { types } from 'node:util'
import { digestOf } from '../../files/digest.ts'
import { formatHttpDate } from '../../http/dates.ts'
import type { ConditionalHeaders } from '../../http/preconditions.ts'
import { formatEtag, type Validators } from '../../http/entity-tags.ts'
import { isRecord, optionError, unknownName } from '../../options.ts'
import { digestOfValue, isPlainObject, kindOf } from './value-digest.ts'

/**
 * The state of a resource: `etag`, `lastModified`, or both. One that is `null` is not known, like an empty
 * database column: it is not sent, and no condition is compared with it.
 */
export interface ResourceState {
  /**
   * A string or a number is used as it is, in quotes (RFC 9110 section 8.8.3). An array or object is digested
   * by its content: plain objects, arrays, dates, bytes, and objects with a `toJSON` method. Anything else is a
   * TypeError.
   *
   * @example
   * await ctx.fresh({ etag: [book.id, book.revision] })
   */
  readonly etag?: string | number | bigint | readonly unknown[] | object | null | undefined
  /** The time of the last modification, truncated to whole seconds (RFC 9110 section 8.8.2). */
  readonly lastModified?: Time | null | undefined
  /** Another spelling of `lastModified`, which wins. */
  readonly last_modified?: Time | null | undefined
  /** The responses are equivalent but not identical byte for byte: `W/"…"`. Default: `false`. */
  readonly weak?: boolean | undefined
}

/** A Date, its milliseconds, or ISO 8601 text such as `2020-01-01T10:00:00Z`; without an offset it is UTC. */
type Time = Date | number | string

/** An ETag, a Last-Modified, both, or `null` for a resource that does not exist yet. */
export type FreshValidators = string | number | bigint | Date | ResourceState | null

const KEYS: readonly string[] = ['etag', 'lastModified', 'last_modified', 'weak']
const ARGUMENT = 'the argument of ctx.fresh'
// Also with a space for the T and an offset in hours only, as SQL writes it.
const ISO_8601 =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$/
const ADVICE =
  'name what identifies the state: ctx.fresh({ lastModified: book.updatedAt }) or ' +
  'ctx.fresh({ etag: [book.id, book.revision] })'

/**
 * @param version is mixed into the ETag. A lone Last-Modified gets an ETag as well, because a date cannot show a
 * new version.
 * @throws TypeError for an argument that identifies nothing, or that a header field cannot contain
 */
export function validatorsOf(given: FreshValidators, version: string | undefined): Validators {
  if (given === null) return {}
  const { etag, lastModified, last_modified, weak } = asState(given)
  const time = lastModified ?? last_modified
  const modified = time == null ? undefined : truncatedTime(time)
  const identity = etag ?? (version === undefined ? undefined : modified)
  return {
    etag: identity === undefined ? undefined : withVersion(tagOf(identity, weak), version),
    lastModified: modified
  }
}

function asState(given: Exclude<FreshValidators, null>): ResourceState {
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'bigint') {
    return { etag: given }
  }
  if (types.isDate(given)) return { lastModified: given }
  if (!isRecord(given)) {
    throw optionError(ARGUMENT, 'an ETag, a Date or { etag, lastModified }', given)
  }
  const unknown = Object.keys(given).find(key => !KEYS.includes(key))
  // Also as accessors, which are not own keys.
  const hasValidator = KEYS.some(key => key !== 'weak' && given[key] !== undefined)
  if (hasValidator && unknown === undefined) return given
  if (!isPlainObject(given)) throw new TypeError(`ctx.fresh got ${kindOf(given)}: ${ADVICE}`)
  if (unknown !== undefined) throw unknownName('key', unknown, KEYS, { advice: ADVICE })
  throw optionError(ARGUMENT, 'an etag, a lastModified, or null', given)
}

function tagOf(identity: unknown, weak: boolean | undefined): string {
  if (typeof identity === 'string') return formatEtag(identity, weak)
  if (typeof identity === 'bigint' || Number.isFinite(identity)) {
    return formatEtag(String(identity), weak)
  }
  if (typeof identity === 'object') return formatEtag(digestOfValue(identity), weak)
  throw optionError('etag', 'a string, a number, an array or an object', identity)
}

/** In milliseconds, truncated to whole seconds. */
function truncatedTime(given: unknown): number {
  const time = timeOf(given)
  if (Number.isNaN(time)) {
    throw optionError('lastModified', 'a valid Date, milliseconds or an ISO 8601 string', given)
  }
  const milliseconds = Math.floor(time / 1000) * 1000
  // Throws for a year that the field cannot contain.
  formatHttpDate(milliseconds)
  return milliseconds
}

function timeOf(given: unknown): number {
  if (types.isDate(given)) return given.getTime()
  if (typeof given === 'number') return given
  const parts = typeof given === 'string' ? ISO_8601.exec(given) : null
  if (parts === null) return Number.NaN
  const [, day, time = '00:00', hours = '+00', minutes = '00'] = parts
  return Date.parse(`${day}T${time}${hours}:${minutes}`)
}

// Of fixed length, so two pairs of identifier and version cannot have the same tag, and only the version is
// removed. A tag without quotes, which some clients drop, is tolerated if it is the only one in its field.
const VERSION = /-[0-9a-f]{16}(?="|$)/g

function withVersion(tag: string, version: string | undefined): string {
  return version === undefined ? tag : `${tag.slice(0, -1)}-${digestOf(version).slice(0, 16)}"`
}

/** The conditions and the validators that they are compared with, all without a version. */
export function withoutVersion(
  headers: ConditionalHeaders,
  validators: Validators
): readonly [ConditionalHeaders, Validators] {
  const [ifMatch, ifNoneMatch, etag] = [
    headers['if-match'],
    headers['if-none-match'],
    validators.etag
  ].map(tags => tags?.replace(VERSION, ''))
  return [
    { ...headers, 'if-match': ifMatch, 'if-none-match': ifNoneMatch },
    { ...validators, etag }
  ]
}
