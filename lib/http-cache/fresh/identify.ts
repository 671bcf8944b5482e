// Turns what a route knows about its resource into the validators of the response.
import { types } from 'node:util'
import { formatHttpDate } from '../../http/dates.ts'
import { formatEtag, type Validators } from '../../http/validators.ts'
import { digestOf } from '../../files/digest.ts'
import { isRecord, optionError, unknownName } from '../../options.ts'
import { digestOfValue, isPlainObject, kindOf } from './value-digest.ts'

/** The state of a resource: `etag`, `lastModified`, or both. */
export interface ResourceState {
  /**
   * A string is used as it is, in quotes (RFC 9110 section 8.8.3). An array or object is digested by its
   * content: plain objects, arrays, dates, bytes, and objects with a `toJSON` method. Anything else is a
   * TypeError.
   *
   * @example
   * await ctx.fresh({ etag: [book.id, book.revision] })
   */
  readonly etag?: string | readonly unknown[] | object | undefined
  /** The time of the last modification, truncated to whole seconds (RFC 9110 section 8.8.2). */
  readonly lastModified?: Date | undefined
  /** Another spelling of `lastModified`, which wins. */
  readonly last_modified?: Date | undefined
  /** The responses are equivalent but not identical byte for byte: `W/"…"`. Default: `false`. */
  readonly weak?: boolean | undefined
}

/** An ETag, a Last-Modified, both, or `null` for a resource that does not exist yet. */
export type FreshValidators = string | Date | ResourceState | null

const KEYS: readonly string[] = ['etag', 'lastModified', 'last_modified', 'weak']
const ARGUMENT = 'the argument of ctx.fresh'
const ADVICE =
  'name what identifies the state: ctx.fresh({ lastModified: book.updatedAt }) or ' +
  'ctx.fresh({ etag: [book.id, book.revision] })'

/**
 * @param version is mixed into the ETag. A Last-Modified alone gets an ETag as well, because a date cannot
 *   show a new version.
 * @throws TypeError for an argument that identifies nothing, or that a header field cannot contain
 */
export function identify(given: FreshValidators, version: string | undefined): Validators {
  if (given === null) return {}
  const { etag, lastModified, last_modified, weak } = asState(given)
  const date = lastModified ?? last_modified
  // Null, like an empty database column, means not set.
  const modified = date == null ? undefined : truncatedTime(date)
  const identity = etag ?? (version === undefined ? undefined : String(modified))
  return {
    etag: identity === undefined ? undefined : withVersion(tagOf(identity, weak), version),
    lastModified: modified
  }
}

function asState(given: Exclude<FreshValidators, null>): ResourceState {
  if (typeof given === 'string') return { etag: given }
  if (types.isDate(given)) return { lastModified: given }
  if (!isRecord(given)) {
    throw optionError(ARGUMENT, 'an ETag, a Date or { etag, lastModified }', given)
  }
  const unknown = Object.keys(given).find(key => !KEYS.includes(key))
  // Also as accessors, which are not own keys.
  const hasValidator = KEYS.some(key => key !== 'weak' && given[key] != null)
  if (hasValidator && unknown === undefined) return given
  if (!isPlainObject(given)) throw new TypeError(`ctx.fresh got ${kindOf(given)}: ${ADVICE}`)
  if (unknown !== undefined) throw unknownName('key', unknown, KEYS, { advice: ADVICE })
  throw optionError(ARGUMENT, 'an etag, a lastModified, or null', given)
}

function tagOf(identity: string | object, weak: boolean | undefined): string {
  if (typeof identity === 'string') return formatEtag(identity, weak)
  if (typeof identity === 'object') return formatEtag(digestOfValue(identity), weak)
  throw optionError('etag', 'a string, an array or an object', identity)
}

// Of fixed length, so two pairs of identifier and version cannot have the same tag.
function withVersion(tag: string, version: string | undefined): string {
  return version === undefined ? tag : `${tag.slice(0, -1)}-${digestOf(version).slice(0, 16)}"`
}

/** In milliseconds, truncated to whole seconds. */
function truncatedTime(date: Date): number {
  if (!types.isDate(date) || Number.isNaN(date.getTime())) {
    throw optionError('lastModified', 'a valid Date', date)
  }
  const milliseconds = Math.floor(date.getTime() / 1000) * 1000
  // Throws for a year that the field cannot contain.
  formatHttpDate(milliseconds)
  return milliseconds
}
