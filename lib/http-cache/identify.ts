// From what a route knows of its resource to the validators of the answer.
import { types } from 'node:util'

import { formatHttpDate } from '../http/dates.ts'
import { formatEtag, type Validators } from '../http/validators.ts'
import { checkKeys, isPlainObject, isRecord, kindOf, mismatch } from './complaints.ts'
import { digestOf } from '../files/digest.ts'
import { digestOfValue } from './value-digest.ts'

/** The state of a resource: one of the two must be there. */
export interface ResourceState {
  /**
   * An identifier as it is, or an array or object whose content is digested: plain objects, arrays, dates,
   * bytes and what has `toJSON`. Everything else is a TypeError.
   */
  readonly etag?: string | readonly unknown[] | object | undefined
  /** The last modification. Milliseconds are cut off. */
  readonly lastModified?: Date | undefined
  /** The same in the spelling of a database's column. `lastModified` wins. */
  readonly last_modified?: Date | undefined
  /** Responses are equal in meaning but not byte for byte: `W/"…"`. Default false. */
  readonly weak?: boolean | undefined
}

/** An ETag, a Last-Modified, both, or `null` where there is nothing yet. */
export type FreshValidators = string | Date | ResourceState | null

const KEYS = ['etag', 'lastModified', 'last_modified', 'weak'] as const

const REMEDY =
  'write what tells one state from another: ctx.fresh({ lastModified: book.updatedAt }) or ' +
  'ctx.fresh({ etag: [book.id, book.revision] })'

/**
 * @param version is mixed into the ETag; a Last-Modified that stands alone gets an ETag of both, since a
 *   date cannot tell of a new version
 * @throws TypeError for what identifies nothing, or cannot be said in a header
 */
export function identify(given: FreshValidators, version: string | undefined): Validators {
  if (given === null) return {}
  const { etag, lastModified, last_modified, weak } = asState(given)
  const date = lastModified ?? last_modified
  // A column of a database may be null.
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
    throw mismatch('what ctx.fresh is given', 'an ETag, a Date or { etag, lastModified }', given)
  }
  // Not its keys alone: a class may have them as accessors.
  const isKnown = (key: string) => (KEYS as readonly string[]).includes(key)
  const hasValidator = KEYS.some(key => key !== 'weak' && given[key] != null)
  if (hasValidator && Object.keys(given).every(isKnown)) return given
  if (!isPlainObject(given)) throw new TypeError(`ctx.fresh was given ${kindOf(given)}; ${REMEDY}`)
  checkKeys('key of ctx.fresh', given, KEYS, REMEDY)
  throw mismatch('what ctx.fresh is given', 'an etag, a lastModified, or null', given)
}

function tagOf(identity: string | object, weak: boolean | undefined): string {
  if (typeof identity === 'string') return formatEtag(identity, weak)
  if (typeof identity === 'object') return formatEtag(digestOfValue(identity), weak)
  throw mismatch('etag', 'a string, a list or an object', identity)
}

// Of fixed length, so that no identifier and version can look like another pair.
function withVersion(tag: string, version: string | undefined): string {
  return version === undefined ? tag : `${tag.slice(0, -1)}-${digestOf(version).slice(0, 16)}"`
}

function wholeSeconds(date: Date): number {
  if (!types.isDate(date)) throw mismatch('lastModified', 'a Date', date)
  const milliseconds = Math.floor(date.getTime() / 1000) * 1000
  formatHttpDate(milliseconds)
  return milliseconds
}
