// A variant of a served file: its bytes, a compressed copy or a delta, with responses that many requests share.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { compareCopy, type Coding } from '../files/codings.ts'
import { isInPlace, type Boundary } from '../files/containment.ts'
import { digestOf, digestOfHash, digestOfStream } from '../files/digest.ts'
import { isSettled, mtimeOf, stampOf, statOf, type Stamp } from '../files/disk.ts'
import {
  isUnmodified,
  readInto,
  readOpenFile,
  streamOf,
  withFile,
  type OpenFile,
  type Snapshot
} from '../files/open-file.ts'
import { ifReadable } from '../files/refusals.ts'
import { isLifetime, privateCacheControl } from '../http/cache-control.ts'
import { isLocalOrigin } from '../http/requests.ts'
import {
  formatEtag,
  formatHttpDate,
  isModificationDate,
  type Validators
} from '../http/validators.ts'
import type { WithoutHash } from '../urls/spelling.ts'
import {
  namesSaid,
  prepareResponse,
  privateFields,
  withMore,
  type Fields,
  type PreparedResponse
} from './fields.ts'

export interface SharedFields {
  readonly type: string
  /** True if a type that middleware in front has set is kept, as koa-static does. */
  readonly keepsType?: boolean
  readonly cacheControl: string
  readonly crossOrigin: CrossOrigin | undefined
  /** The URL path, with the base, around the hash in it; undefined for a file that may change at its URL. */
  readonly around: WithoutHash | undefined
  /** The fields that tell clients of deltas. */
  readonly ofDeltas?: Fields | undefined
  /** The fields that the application adds; they replace ours. */
  readonly more: Fields
  /** The value of `Vary`, which 412 and 416 have as well; undefined for a file with one variant. */
  readonly vary?: string | undefined
  /** The date in milliseconds, whole seconds; `false` for none, undefined for that of the file's mtime. */
  readonly lastModified?: number | false | undefined
}

/** The other origins whose pages may read a file: all; in development, for source maps, this host and `live.hosts`. */
export type CrossOrigin = '*' | { readonly hosts: ReadonlySet<string>; readonly origin?: string }

/** The bytes of a file in one coding. Each of its responses is made when it is first sent. */
export class Variant implements Validators {
  /** The content coding: `identity`, or its name. */
  readonly coding: string
  readonly file: string
  readonly stamp: Stamp
  readonly size: number
  /** The digest; undefined for a file that is too big for memory, unless it was needed. */
  readonly digest: string | undefined
  /** The text from which the ETag is made; it is the same on every replica. */
  readonly version: string
  /** The bytes; undefined for a file that is too big for memory. */
  readonly body: Buffer | undefined
  /** The dictionary that a client needs in order to read a delta. */
  readonly dictionary: string | undefined
  readonly etag: string
  readonly lastModified: number | undefined
  readonly shared: SharedFields
  #ok: PreparedResponse | undefined
  #notModified: PreparedResponse | undefined
  #failed: PreparedResponse | undefined

  constructor(bytes: Bytes, shared: SharedFields) {
    const { coding, stamp, version } = bytes
    this.coding = coding
    this.file = bytes.file
    this.stamp = stamp
    this.size = bytes.size
    this.digest = bytes.digest
    this.version = version
    this.body = bytes.body
    this.dictionary = bytes.dictionary
    this.etag = formatEtag(coding === 'identity' ? version : `${version}-${coding}`)
    const mtime = mtimeOf(stamp)
    // An origin server must not send a date in the future (RFC 9110 section 8.8.2.1).
    const date = shared.lastModified ?? (mtime > Date.now() ? undefined : mtime)
    this.lastModified = date && isModificationDate(date) ? date : undefined
    this.shared = shared
  }

  /** Content-Length comes last: a range replaces it, and Node (20 to 26) garbles a Content-Disposition after it. */
  get ok(): PreparedResponse {
    const length = ['Content-Length', String(this.size)] as const
    return (this.#ok ??= this.#prepare(200, [...this.#fields(), length]))
  }

  get notModified(): PreparedResponse {
    const lasting = ([name]: Fields[number]) => !CONTENT.test(name)
    return (this.#notModified ??= this.#prepare(304, this.#fields().filter(lasting)))
  }

  /** The 412 response, from which a 416 is made by adding Content-Range. */
  get failed(): PreparedResponse {
    const lasting = this.shared.more.filter(([name]) => !isLifetime(name) && !CONTENT.test(name))
    return (this.#failed ??= this.#prepare(412, [
      ...withMore(this.#always(), lasting),
      ['Content-Length', '0']
    ]))
  }

  with(change: Partial<SharedFields>): Variant {
    return new Variant(this, { ...this.shared, ...change })
  }

  forOrigin(origin: string | undefined): Variant {
    const { crossOrigin } = this.shared
    if (typeof crossOrigin !== 'object' || origin === undefined) return this
    const isReader = isLocalOrigin(origin, crossOrigin.hosts)
    return isReader ? this.with({ crossOrigin: { ...crossOrigin, origin } }) : this
  }

  privately(): Variant {
    const { cacheControl, more } = this.shared
    return this.with({ cacheControl: privateCacheControl(cacheControl), more: privateFields(more) })
  }

  #prepare(status: number, fields: Fields): PreparedResponse {
    return prepareResponse(status, fields, namesSaid(this.shared.more))
  }

  #fields(): Fields {
    const { coding, etag, lastModified, shared } = this
    const ours = [
      ['ETag', etag],
      ['Last-Modified', lastModified === undefined ? undefined : formatHttpDate(lastModified)],
      ['Cache-Control', shared.cacheControl],
      ['X-Content-Type-Options', 'nosniff'],
      ...(shared.ofDeltas ?? []),
      ...this.#always(),
      ['Content-Type', shared.type],
      ['Accept-Ranges', 'bytes'],
      ['Content-Encoding', coding === 'identity' ? undefined : coding]
    ] as const
    return withMore(ours, shared.more)
  }

  #always() {
    const { crossOrigin, vary } = this.shared
    const isOfOne = typeof crossOrigin === 'object'
    return [
      ['Vary', isOfOne ? [vary, 'Origin'].filter(Boolean).join(', ') : vary],
      ['Access-Control-Allow-Origin', isOfOne ? crossOrigin.origin : crossOrigin]
    ] as const
  }
}

/** A variant as it was read, before it has fields, which depend on the bytes. */
export type Bytes = Pick<
  Variant,
  'coding' | 'file' | 'stamp' | 'size' | 'digest' | 'version' | 'body' | 'dictionary'
>

// A 304 does not describe content (RFC 9110 section 15.4.5), and no cache stores a 412 or a 416.
const CONTENT = /^(?:content-(?:type|encoding|language|digest)|repr-digest|accept-ranges)$/i

/** Reads an open file; one of more than `maxBytes` stays on disk. */
export async function readVariant(coding: string, opened: OpenFile, maxBytes: number) {
  const { path: file, stats } = opened
  if (stats.size <= maxBytes) return bytesOf(coding, file, await readOpenFile(opened))
  const [stamp, size] = [stampOf(stats), Number(stats.size)]
  const version = await contentVersionOf(opened)
  return { coding, file, stamp, size, ...version, body: undefined, dictionary: undefined }
}

export function bytesOf(coding: string, file: string, { bytes: body, stamp }: Snapshot): Bytes {
  const digest = digestOf(body)
  // A file may shrink while it is read.
  const size = body.length
  return { coding, file, stamp, size, digest, version: digest, body, dictionary: undefined }
}

/** Reads a file for its digest, unless that is known; a file that changes meanwhile gets none. */
export async function withDigest(file: Bytes, opened: OpenFile): Promise<Bytes> {
  if (file.digest !== undefined) return file
  const digest = await digestOfStream(streamOf(opened))
  return (await isUnmodified(opened)) ? { ...file, digest, version: digest } : file
}

/** The stamps of compressed copies, in the order of `CODINGS`. */
export type Copies = ReadonlyMap<Coding, Stamp>

export async function findCopies(file: string, codings: readonly Coding[]): Promise<Copies> {
  const found = codings.map(async coding => {
    const copy = await statOf(file + coding.extension)
    return copy?.isFile() && copy.size > 0n ? [[coding, stampOf(copy)] as const] : []
  })
  return new Map((await Promise.all(found)).flat())
}

/** Reads the copies that expand to the same bytes. They are compared each time they are loaded. */
export async function readCopies(
  place: Boundary,
  { file: original, digest, size }: Bytes,
  codings: readonly Coding[],
  maxBytes: number
) {
  const copies = new Map<Coding, Stamp>()
  if (digest === undefined) return { copies, others: [] }
  const read = codings.map(async coding => {
    const file = original + coding.extension
    const copy = withFile(file, async opened => {
      if (opened.stats.size === 0n) return []
      copies.set(coding, stampOf(opened.stats))
      if (!(await isInPlace(place)(opened))) return []
      const bytes = await readVariant(coding.name, opened, maxBytes)
      const compared = bytes.body ?? (() => streamOf(opened))
      return (await compareCopy({ size, digest }, compared, coding)) === 'equal' ? [bytes] : []
    })
    const found = await ifReadable(file, copy)
    if (found) return found
    // The copy does not exist, or may not be read.
    for (const [each, stamp] of await findCopies(original, [coding])) copies.set(each, stamp)
    return []
  })
  return { copies, others: (await Promise.all(read)).flat() }
}

// The ETag of a file that stays on disk is made of its bytes, size and mtime: it is the same on every replica.

/** The digest, if all bytes were read, and a text that distinguishes these bytes from others under the same name. */
type ContentVersion = Pick<Variant, 'digest' | 'version'>

const SAMPLES = 64
const SAMPLE_BYTES = 64 * 1024
/** This many bytes are hashed in about 10 ms. */
const WHOLE_BYTES = SAMPLES * SAMPLE_BYTES

// Versions are kept even if `memory` keeps no files: a player requests a film in hundreds of ranges.
const known = new LRUCache<string, ContentVersion>({ max: 10_000 })

// Digests a file of at most 4 MiB; of a larger one, 64 pieces of 64 KiB from start to end, with its size and mtime.
// A file whose mtime was invented, as by npm, zip and Nix, is digested whole: its next version has the same mtime.
async function contentVersionOf(opened: OpenFile): Promise<ContentVersion> {
  const { stats } = opened
  const key = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join('-')
  const found = known.get(key)
  if (found) return found
  const openedAt = Date.now()
  const isWhole = stats.size <= WHOLE_BYTES || !isModificationDate(mtimeOf(stats))
  const digest = await (isWhole ? digestOfStream(streamOf(opened)) : digestOfSamples(opened))
  const isSame = await isUnmodified(opened)
  const sampled = `${digest}-${stats.size.toString(16)}-${stats.mtimeNs.toString(16)}`
  const made =
    isWhole && isSame ? { digest, version: digest } : { digest: undefined, version: sampled }
  if (isSame && isSettled(stats, openedAt)) known.set(key, made)
  return made
}

async function digestOfSamples(opened: OpenFile): Promise<string> {
  const step = (Number(opened.stats.size) - SAMPLE_BYTES) / (SAMPLES - 1)
  const piece = Buffer.allocUnsafe(SAMPLE_BYTES)
  const sha256 = createHash('sha256')
  for (let at = 0; at < SAMPLES; at++) {
    const length = await readInto(piece, opened, Math.floor(at * step))
    sha256.update(piece.subarray(0, length))
  }
  return digestOfHash(sha256.digest())
}
