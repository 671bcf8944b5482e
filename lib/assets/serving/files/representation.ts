// A representation of a file, with the responses that it can be sent in, made once for many requests.
import { formatHttpDate } from '../../../http/dates.ts'
import type { EncodedFile } from './encoded-file.ts'
import { VARY, VARY_BY_DICTIONARY, type Fields } from '../fields.ts'
import { valueOf, withMore, without } from '../more-fields.ts'
import { prepareResponse, type PreparedResponse } from '../write-response.ts'

export interface Representation extends Omit<EncodedFile, 'digest'> {
  /** Content-Length comes last, so that a range can replace it. */
  readonly ok: PreparedResponse
  readonly notModified: PreparedResponse
  readonly failed: PreparedResponse
}

/** The delta from a dictionary; undefined when there is none. @param dictionary its SHA-256 */
export type FindDelta = (
  dictionary: Buffer
) => Promise<Representation | undefined> | Representation | undefined

/** What the representations of one file have in common. */
export interface SharedFields {
  readonly type: string
  readonly cacheControl: string
  readonly crossOrigin: boolean
  /** The value of Use-As-Dictionary; undefined for a file that has no deltas. */
  readonly dictionary: string | undefined
  /** Those that the application adds; they replace ours. */
  readonly more: Fields
}

// 412, and with a Content-Range 416.
const FAILED = prepareResponse(412, ['Content-Length', '0'])
const FAILED_VARYING = prepareResponse(412, [...VARY, 'Content-Length', '0'])
const FAILED_WITH_DELTAS = prepareResponse(412, [...VARY_BY_DICTIONARY, 'Content-Length', '0'])

/** @param varies whether the file has several representations */
export function makeRepresentation(
  file: EncodedFile,
  shared: SharedFields,
  varies: boolean
): Representation {
  const { coding, stamp, size, etag, lastModified, body } = file
  const validators = validatorFields(file, shared, varies)
  const type = valueOf(shared.more, 'Content-Type') ?? shared.type
  const fields = [...validators, 'Content-Type', type, 'Accept-Ranges', 'bytes']
  if (coding !== 'identity') fields.push('Content-Encoding', coding)
  fields.push('Content-Length', String(size))
  return {
    coding,
    file: file.file,
    stamp,
    size,
    etag,
    lastModified,
    body,
    ok: prepareResponse(200, fields),
    notModified: prepareResponse(304, validators),
    failed: failedOf(shared, varies)
  }
}

function failedOf({ dictionary }: SharedFields, varies: boolean): PreparedResponse {
  if (dictionary !== undefined) return FAILED_WITH_DELTAS
  return varies ? FAILED_VARYING : FAILED
}

/** What 200, 206 and 304 have in common (RFC 9110 section 15.4.5). */
function validatorFields(
  { etag, lastModified }: EncodedFile,
  shared: SharedFields,
  varies: boolean
): Fields {
  const fields = ['ETag', etag]
  if (lastModified !== undefined) fields.push('Last-Modified', formatHttpDate(lastModified))
  fields.push('Cache-Control', shared.cacheControl)
  const { dictionary } = shared
  if (dictionary !== undefined) fields.push(...VARY_BY_DICTIONARY, 'Use-As-Dictionary', dictionary)
  else if (varies) fields.push(...VARY)
  if (shared.crossOrigin) fields.push('Access-Control-Allow-Origin', '*')
  fields.push('X-Content-Type-Options', 'nosniff')
  return withMore(fields, without(shared.more, 'Content-Type'))
}
