// A representation of a file, with the responses that it can be sent in, made once for many requests.
import { formatEtag, type Validators } from '../../../http/validators.ts'
import { digestOf, digestOfStream } from '../../../files/digest.ts'
import { stampOf, readOpenFile, type OpenFile, type Stamp } from '../../../files/disk.ts'
import { isUnmodified, streamOf } from '../../../files/file-stream.ts'
import { formatHttpDate } from '../../../http/dates.ts'
import {
  namesSaid,
  privateFields,
  withoutContent,
  valueOf,
  withMore,
  without,
  type Fields
} from '../fields.ts'
import { prepareResponse, type PreparedResponse } from '../write-response.ts'

/** A file that holds one representation: its bytes, when they fit into memory, and its validators. */
export interface EncodedFile extends Validators {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** Absolute. */
  readonly file: string
  readonly stamp: Stamp
  /** In bytes. */
  readonly size: number
  readonly etag: string
  /** Undefined for a file that is too big for memory, unless its digest was asked for. */
  readonly digest: string | undefined
  /** Undefined for a file that is too big for memory. */
  readonly body: Buffer | undefined
}

/** Reads an open file; one of more than `maxBytes` stays on disk. */
export async function readEncoded(
  coding: string,
  opened: OpenFile,
  maxBytes: number
): Promise<EncodedFile> {
  const { path, stats } = opened
  const snapshot = stats.size > maxBytes ? undefined : await readOpenFile(opened)
  const body = snapshot?.bytes
  const stamp = snapshot?.stamp ?? stampOf(stats)
  const digest = body && digestOf(body)
  return {
    coding,
    file: path,
    stamp,
    // A file may shrink while it is read.
    size: body?.length ?? Number(stamp.size),
    etag: etagOf(coding, digest ?? versionOf(stamp)),
    lastModified: lastModifiedOf(stamp.mtimeNs),
    digest,
    body
  }
}

/** The same file with its digest, for which it is read; without one when it changed meanwhile. */
export async function withDigest(file: EncodedFile, opened: OpenFile): Promise<EncodedFile> {
  if (file.digest !== undefined) return file
  const digest = await digestOfStream(streamOf(opened))
  if (!(await isUnmodified(opened))) return file
  return { ...file, digest, etag: etagOf(file.coding, digest) }
}

/** Identifies bytes that are not read: an mtime can be set, an inode and a ctime cannot. */
function versionOf({ size, mtimeNs, ctimeNs, ino }: Stamp): string {
  return [size, mtimeNs, ctimeNs, ino].map(number => number.toString(16)).join('-')
}

function etagOf(coding: string, version: string): string {
  return formatEtag(coding === 'identity' ? version : `${version}-${coding}`)
}

/**
 * In milliseconds, whole seconds. Undefined for the epoch, which stands for "unknown", and for a date in
 * the future, which an origin server must not send (RFC 9110 section 8.8.2.1).
 */
function lastModifiedOf(mtimeNs: bigint): number | undefined {
  const seconds = Number(mtimeNs / 1_000_000_000n)
  return seconds === 0 || seconds * 1000 > Date.now() ? undefined : seconds * 1000
}

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
