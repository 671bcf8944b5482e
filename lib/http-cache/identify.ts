// From what a route knows of its resource to the validators of the answer.
import { formatHttpDate } from '../http/dates.ts'
import { formatEtag, type Validators } from '../http/validators.ts'
import { checkKeys, isRecord, mismatch } from './complaints.ts'
import { digest, digestOf } from './digest.ts'

/** The state of a resource: one of the two must be there. */
export interface ResourceState {
  /** An identifier as it is, or a list or object whose content is digested. */
  readonly etag?: string | readonly unknown[] | object | undefined
  /** The last modification. Milliseconds are cut off. */
  readonly lastModified?: Date | undefined
  /** Answers are equal in meaning but not byte for byte: `W/"…"`. Default false. */
  readonly weak?: boolean | undefined
}

/** An ETag, a Last-Modified, both, or `null` where there is nothing yet. */
export type FreshValidators = string | Date | ResourceState | null

const KEYS = ['etag', 'lastModified', 'weak'] as const

/**
 * @param version is mixed into the ETag; a Last-Modified that stands alone gets an ETag of both, since a
 *   date cannot tell of a new version
 * @throws TypeError for what identifies nothing, or cannot be said in a header
 */
export function identify(given: FreshValidators, version: string | undefined): Validators {
  if (given === null) return {}
  const { etag, lastModified, weak } = settle(given)
  const seconds = lastModified && wholeSeconds(lastModified)
  const identity = etag ?? (version === undefined ? undefined : String(seconds))
  return {
    etag: identity === undefined ? undefined : withVersion(tagOf(identity, weak), version),
    lastModified: seconds
  }
}

function settle(given: Exclude<FreshValidators, null>): ResourceState {
  if (typeof given === 'string') return { etag: given }
  if (given instanceof Date) return { lastModified: given }
  if (!isRecord(given)) {
    throw mismatch('what ctx.fresh is given', 'an ETag, a Date or { etag, lastModified }', given)
  }
  checkKeys('key of ctx.fresh', given, KEYS)
  if (given.etag == null && given.lastModified == null) {
    throw mismatch('what ctx.fresh is given', 'an etag, a lastModified, or null', given)
  }
  return given
}

function tagOf(identity: string | object, weak: boolean | undefined): string {
  if (typeof identity === 'string') return formatEtag(identity, weak)
  if (typeof identity === 'object') return formatEtag(digestOf(identity), weak)
  throw mismatch('etag', 'a string, a list or an object', identity)
}

// Of fixed length, so that no identifier and version can look like another pair.
function withVersion(tag: string, version: string | undefined): string {
  return version === undefined ? tag : `${tag.slice(0, -1)}-${digest(version).slice(0, 16)}"`
}

function wholeSeconds(date: Date): number {
  if (!(date instanceof Date)) throw mismatch('lastModified', 'a Date', date)
  const milliseconds = Math.floor(date.getTime() / 1000) * 1000
  formatHttpDate(milliseconds)
  return milliseconds
}
