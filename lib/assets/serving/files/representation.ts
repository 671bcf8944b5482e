// A representation of a file, with the responses that it can be sent in, made once for many requests.
import { formatHttpDate } from '../../../http/dates.ts'
import type { EncodedFile } from './encoded-file.ts'
import { namesSaid, privateFields, withoutContent, type Fields } from '../fields.ts'
import { valueOf, withMore, without } from '../more-fields.ts'
import { prepareResponse, type PreparedResponse } from '../write-response.ts'

export interface Representation extends Omit<EncodedFile, 'digest'> {
  /** Content-Length comes last, so that a range can replace it. */
  readonly ok: PreparedResponse
  readonly notModified: PreparedResponse
  /** 412, and with a Content-Range 416. */
  readonly failed: PreparedResponse
}

/** The delta from a dictionary; undefined when there is none. @param dictionary its SHA-256 */
export type FindDelta = (
  dictionary: Buffer
) => Promise<Representation | undefined> | Representation | undefined

/** The deltas of one file. */
export interface FileDeltas {
  /** Whether there was one on disk, from whatever version, when the file was loaded. */
  readonly areThere: boolean
  /** Undefined where none is sent. */
  readonly find: FindDelta | undefined
}

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

/** @param vary the field of that name, which 412 and 416 have as well; none for a file without choice */
export function makeRepresentation(
  file: EncodedFile,
  { type, cacheControl, crossOrigin, dictionary, more }: SharedFields,
  vary: Fields
): Representation {
  const { coding, stamp, size, etag, lastModified, body } = file
  const said = namesSaid(more)
  const origin = crossOrigin ? ['Access-Control-Allow-Origin', '*'] : []
  const dated = lastModified === undefined ? [] : ['Last-Modified', formatHttpDate(lastModified)]
  const offered = dictionary === undefined ? [] : ['Use-As-Dictionary', dictionary]
  // What 200, 206 and 304 have in common (RFC 9110 section 15.4.5).
  const validators = withMore(
    [
      ...['ETag', etag, ...dated, 'Cache-Control', cacheControl, ...vary, ...offered, ...origin],
      ...['X-Content-Type-Options', 'nosniff']
    ],
    without(more, 'Content-Type')
  )
  const fields = [...validators, 'Content-Type', valueOf(more, 'Content-Type') ?? type]
  fields.push('Accept-Ranges', 'bytes')
  if (coding !== 'identity') fields.push('Content-Encoding', coding)
  fields.push('Content-Length', String(size))
  const failed = [...withMore([...vary, ...origin], withoutContent(more)), 'Content-Length', '0']
  return {
    coding,
    file: file.file,
    stamp,
    size,
    etag,
    lastModified,
    body,
    ok: prepareResponse(200, fields, said),
    notModified: prepareResponse(304, validators, said),
    failed: prepareResponse(412, failed, said)
  }
}

/** The same representation in responses that no shared cache may store. */
export function privately(representation: Representation): Representation {
  const { ok, notModified } = representation
  return {
    ...representation,
    ok: prepareResponse(ok.status, privateFields(ok.fields), ok.said),
    notModified: prepareResponse(notModified.status, privateFields(notModified.fields), ok.said)
  }
}
