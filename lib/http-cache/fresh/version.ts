// The version in an entity tag: added to what the route gave, and removed again.
import type { ConditionalHeaders } from '../../http/preconditions.ts'
import type { Validators } from '../../http/validators.ts'
import { digestOf } from '../../files/digest.ts'

// Of fixed length, so two pairs of identifier and version cannot have the same tag, and only the version is
// removed. A tag without quotes, which some clients drop, is tolerated alone in its field.
const VERSION = /-[0-9a-f]{16}(?="|$)/g

export function withVersion(tag: string, version: string | undefined): string {
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
