// A representation of a file, with the responses that it can be sent in, made once for many requests.
import { formatHttpDate } from '../../../http/dates.ts'
import type { EncodedFile } from './encoded-file.ts'
import { VARY, type Fields } from '../fields.ts'
import { valueOf, withMore, without } from '../more-fields.ts'
import { prepareResponse, type PreparedResponse } from '../write-response.ts'

export interface Representation extends Omit<EncodedFile, 'digest'> {
  /** Content-Length comes last, so that a range can replace it. */
  readonly ok: PreparedResponse
  readonly notModified: PreparedResponse
  readonly failed: PreparedResponse
}

/** What the representations of one file have in common. */
export interface SharedFields {
  readonly type: string
  readonly cacheControl: string
  /** Whether there is more than one. */
  readonly varies: boolean
  readonly crossOrigin: boolean
  /** Those that the application adds; they replace ours. */
  readonly more: Fields
}

// 412, and with a Content-Range 416.
const FAILED = prepareResponse(412, ['Content-Length', '0'])
const FAILED_VARYING = prepareResponse(412, [...VARY, 'Content-Length', '0'])

export function makeRepresentation(file: EncodedFile, shared: SharedFields): Representation {
  const { digest: _, ...kept } = file
  const validators = validatorFields(file, shared)
  const encoding = file.coding === 'identity' ? [] : ['Content-Encoding', file.coding]
  const type = valueOf(shared.more, 'Content-Type') ?? shared.type
  const content = ['Content-Type', type, 'Accept-Ranges', 'bytes', ...encoding]
  return {
    ...kept,
    ok: prepareResponse(200, [...validators, ...content, 'Content-Length', String(file.size)]),
    notModified: prepareResponse(304, validators),
    failed: shared.varies ? FAILED_VARYING : FAILED
  }
}

/** What 200, 206 and 304 have in common (RFC 9110 section 15.4.5). */
function validatorFields({ etag, lastModified }: EncodedFile, shared: SharedFields): Fields {
  const fields = [
    ...['ETag', etag],
    ...(lastModified === undefined ? [] : ['Last-Modified', formatHttpDate(lastModified)]),
    ...['Cache-Control', shared.cacheControl],
    ...(shared.varies ? VARY : []),
    ...(shared.crossOrigin ? ['Access-Control-Allow-Origin', '*'] : []),
    ...['X-Content-Type-Options', 'nosniff']
  ]
  return withMore(fields, without(shared.more, 'Content-Type'))
}
