// One form of a file, with everything that an answer says of it made once.
import { formatHttpDate } from '../../http/dates.ts'
import { formatEtag, type Validators } from '../../http/validators.ts'
import { stampOf, readOpenFile, type Stamp, type OpenFile } from '../../files/disk.ts'
import { isUnmodified, streamOf } from '../../files/file-stream.ts'
import { digestOf, digestOfStream } from '../../files/digest.ts'

/** Name, value, name, value … as `res.writeHead` takes them. */
export type Headers = readonly string[]

export interface Representation extends Validators {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** The file that holds its bytes; absolute. */
  readonly file: string
  readonly stamp: Stamp
  /** In bytes. */
  readonly size: number
  readonly etag: string
  /** The digest of its bytes; undefined for what is too big for memory and was not read. */
  readonly digest: string | undefined
  /** Undefined: too big for memory. */
  readonly body: Buffer | undefined
}

/** Reads one form of a file; what is bigger than `maxBytes` stays on the disk. */
export async function represent(
  coding: Representation['coding'],
  opened: OpenFile,
  maxBytes: number
): Promise<Representation> {
  if (opened.stats.size > maxBytes) return makeRepresentation(coding, opened)
  const { bytes, stamp } = await readOpenFile(opened)
  return makeRepresentation(coding, opened, { stamp, body: bytes, digest: digestOf(bytes) })
}

/** What is read once for its digest, although it is too big for memory; undefined: it changed meanwhile. */
export async function withDigest(
  form: Representation,
  opened: OpenFile
): Promise<Verified | undefined> {
  const digest = form.digest ?? (await digestOfStream(streamOf(opened)))
  if (form.digest === undefined && !(await isUnmodified(opened))) return undefined
  return { ...form, digest, etag: etagOf(form.coding, digest) }
}

/** One whose digest is known. */
export interface Verified extends Representation {
  readonly digest: string
}

function makeRepresentation(
  coding: Representation['coding'],
  { path, stats }: OpenFile,
  read?: { readonly stamp: Stamp; readonly body: Buffer; readonly digest: string }
): Representation {
  const stamp = read?.stamp ?? stampOf(stats)
  return {
    coding,
    file: path,
    stamp,
    // A file that shrank while it was read: what there is of it is what is announced.
    size: read?.body.length ?? Number(stamp.size),
    etag: etagOf(coding, read?.digest ?? stateOf(stamp)),
    lastModified: lastModifiedOf(stamp.mtimeNs),
    digest: read?.digest,
    body: read?.body
  }
}

/**
 * What tells one state of a file from another whose bytes are not read: an mtime can be set, an inode and a
 * ctime cannot.
 */
function stateOf({ size, mtimeNs, ctimeNs, ino }: Stamp): string {
  return [size, mtimeNs, ctimeNs, ino].map(number => number.toString(16)).join('-')
}

function etagOf(coding: Representation['coding'], state: string): string {
  return formatEtag(coding === 'identity' ? state : `${state}-${coding}`)
}

/**
 * In milliseconds, whole seconds. Undefined for the epoch, which stands for "unknown", and for a date to
 * come, which no origin may send (RFC 9110 section 8.8.2.1).
 */
function lastModifiedOf(mtimeNs: bigint): number | undefined {
  const seconds = Number(mtimeNs / 1_000_000_000n)
  return seconds === 0 || seconds * 1000 > Date.now() ? undefined : seconds * 1000
}

/** What is said of a file whatever the form. */
export interface About {
  readonly type: string
  readonly cacheControl: string
  /** Whether another form exists. */
  readonly varies: boolean
  readonly crossOrigin: boolean
}

/** What 200, 206 and 304 say alike. */
export function validatorHeaders({ etag, lastModified }: Representation, about: About): Headers {
  return [
    ...['ETag', etag],
    ...(lastModified === undefined ? [] : ['Last-Modified', formatHttpDate(lastModified)]),
    ...['Cache-Control', about.cacheControl],
    ...(about.varies ? ['Vary', 'Accept-Encoding'] : []),
    ...(about.crossOrigin ? ['Access-Control-Allow-Origin', '*'] : []),
    ...['X-Content-Type-Options', 'nosniff']
  ]
}

/** What only an answer with content says, `Content-Length` excepted. */
export function contentHeaders({ coding }: Representation, { type }: About): Headers {
  const encoding = coding === 'identity' ? [] : ['Content-Encoding', coding]
  return ['Content-Type', type, 'Accept-Ranges', 'bytes', ...encoding]
}
