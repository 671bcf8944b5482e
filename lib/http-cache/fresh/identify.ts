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

const KEYS = ['etag', 'lastModified', 'last_modified', 'weak'] as const

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
  const seconds = date == null ? undefined : wholeSeconds(date)
  const identity = etag ?? (version === undefined ? undefined : String(seconds))
  return {
    etag: identity === undefined ? undefined : withVersion(tagOf(identity, weak), version),
    lastModified: seconds
  }
}

function asState(given: Exclude<FreshValidators, null>): ResourceState {
  if (typeof given === 'string') return { etag: given }
  if (types.isDate(given)) return { lastModified: given }
  if (!isRecord(given)) {
    throw optionError(ARGUMENT, 'an ETag, a Date or { etag, lastModified }', given)
  }
  // Also as accessors, which are not own keys.
  const isKnown = (key: string) => (KEYS as readonly string[]).includes(key)
  const hasValidator = KEYS.some(key => key !== 'weak' && given[key] != null)
  if (hasValidator && Object.keys(given).every(isKnown)) return given
  if (!isPlainObject(given)) throw new TypeError(`ctx.fresh got ${kindOf(given)}: ${ADVICE}`)
  const unknown = Object.keys(given).find(key => !isKnown(key))
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

function wholeSeconds(date: Date): number {
  if (!types.isDate(date) || Number.isNaN(date.getTime())) {
    throw optionError('lastModified', 'a valid Date', date)
  }
  const milliseconds = Math.floor(date.getTime() / 1000) * 1000
  formatHttpDate(milliseconds)
  return milliseconds
}
