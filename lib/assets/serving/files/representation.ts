// A representation of a file, with the responses that it can be sent in, made once for many requests.
import { LRUCache } from 'lru-cache'
import { formatEtag, type Validators, formatHttpDate } from '../../../http/validators.ts'
import { digestOf } from '../../../files/digest.ts'
import { stampOf, type Stamp } from '../../../files/disk.ts'
import { readOpenFile, type OpenFile } from '../../../files/open-file.ts'
import { isCacheControl, privateCacheControl } from '../../../http/cache-control.ts'
import type { Stored } from '../../parts.ts'
import type { SharedFields } from '../directories/served-directory.ts'
import { namesSaid, privateFields, withMore } from '../response-fields.ts'
import { MAX_ONE_WRITE_BYTES, prepareResponse, type PreparedResponse } from '../write-response.ts'

export interface Representation extends Stored, Validators {
  readonly etag: string
  readonly shared: SharedFields
  readonly vary: string | undefined
  /** Content-Length comes last: a range replaces it, and Node garbles a Content-Disposition behind it (20 to 26). */
  readonly ok: PreparedResponse
  readonly notModified: PreparedResponse
  /** 412, and with a Content-Range 416. */
  readonly failed: PreparedResponse
}

/** Reads an open file; one of more than `maxBytes` stays on disk. */
export async function readStored(
  coding: string,
  opened: OpenFile,
  maxBytes: number
): Promise<Stored> {
  const { path: file, stats } = opened
  const read = stats.size > maxBytes ? undefined : await readOpenFile(opened)
  const [body, stamp] = [read?.bytes, read?.stamp ?? stampOf(stats)]
  // A file may shrink while it is read.
  const size = body?.length ?? Number(stats.size)
  return { coding, file, stamp, size, digest: body && digestOf(body), body }
}

/** Identifies bytes that are not read: an mtime can be set, an inode and a ctime cannot. */
function versionOf({ size, mtimeNs, ctimeNs, ino }: Stamp): string {
  return [size, mtimeNs, ctimeNs, ino].map(number => number.toString(16)).join('-')
}

/**
 * In milliseconds, whole seconds. Undefined for the epoch, which stands for "unknown", and for a date in
 * the future, which an origin server must not send (RFC 9110 section 8.8.2.1).
 */
function lastModifiedOf({ mtimeNs }: Stamp): number | undefined {
  const seconds = Number(mtimeNs / 1_000_000_000n)
  return seconds === 0 || seconds * 1000 > Date.now() ? undefined : seconds * 1000
}

// A 304 does not describe content (RFC 9110 section 15.4.5), and no cache stores a 412 or a 416.
const CONTENT = /^(?:content-(?:type|encoding)|accept-ranges)$/i
const CONTENT_OR_LIFETIME = /^(?:expires|content-type)$/i

/** @param vary the value of that field, which 412 and 416 have as well; none for a file with one representation */
export function makeRepresentation(
  stored: Stored,
  shared: SharedFields,
  vary: string | undefined
): Representation {
  const { coding, stamp, size, digest = versionOf(stamp) } = stored
  const { more } = shared
  const contentCoding = coding === 'identity' ? undefined : coding
  const etag = formatEtag(contentCoding ? `${digest}-${coding}` : digest)
  const lastModified = (shared.lastModified ?? lastModifiedOf(stamp)) || undefined
  const said = namesSaid(more)
  const always = { Vary: vary, 'Access-Control-Allow-Origin': shared.crossOrigin ? '*' : undefined }
  const ours = {
    ETag: etag,
    'Last-Modified': lastModified === undefined ? undefined : formatHttpDate(lastModified),
    'Cache-Control': shared.cacheControl,
    'X-Content-Type-Options': 'nosniff',
    ...shared.further,
    ...always,
    'Content-Type': shared.type,
    'Accept-Ranges': 'bytes',
    'Content-Encoding': contentCoding
  }
  const fields = withMore(ours, more)
  const common = fields.filter(([name]) => !CONTENT.test(name))
  const length = ['Content-Length', String(size)] as const
  const lasting = more.filter(([name]) => !isCacheControl(name) && !CONTENT_OR_LIFETIME.test(name))
  return {
    ...stored,
    etag,
    lastModified,
    shared,
    vary,
    ok: prepareResponse(200, [...fields, length], said),
    notModified: prepareResponse(304, common, said),
    failed: prepareResponse(412, [...withMore(always, lasting), ['Content-Length', '0']], said)
  }
}

/** The same representation with other fields. */
export function withShared(
  representation: Representation,
  change: Partial<SharedFields>
): Representation {
  const { shared, vary } = representation
  return makeRepresentation(representation, { ...shared, ...change }, vary)
}

/** The same representation in responses that no shared cache may store. */
export function privately(representation: Representation): Representation {
  const { cacheControl, more } = representation.shared
  return withShared(representation, {
    cacheControl: privateCacheControl(cacheControl),
    more: privateFields(more)
  })
}

/** What is known of a path: its representations, none for what is not sent. */
export interface Kept {
  readonly representations: readonly Representation[]
}

/** One for all directories that are served: files by their paths, further representations by theirs and a key. */
export type Memory = LRUCache<string, Kept>

// What a representation costs beside its body, measured in resident memory: strings, fields, stamps, the
// buffer itself, and garbage that is not yet collected.
const OVERHEAD_BYTES = 12 * 1024

/** @param maxBytes of all representations; 0 keeps none */
export function makeMemory({ maxBytes }: { readonly maxBytes: number }): Memory {
  return new LRUCache({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ representations }) =>
      representations.reduce((sum, { body }) => sum + memoryCostOf(body?.length ?? 0), 0) ||
      OVERHEAD_BYTES
  })
}

/** A small body is held twice: the second time it follows a kept head. */
function memoryCostOf(length: number): number {
  return OVERHEAD_BYTES + (length < MAX_ONE_WRITE_BYTES ? 2 * length : length)
}
