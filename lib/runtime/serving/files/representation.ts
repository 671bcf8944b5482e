// The representations of a file: its bytes and its compressed copies, each with the responses that it can be sent in,
// made once for many requests.
import { LRUCache } from 'lru-cache'
import { compareCopy, type Coding } from '../../files/codings.ts'
import { isInPlace, type Boundary } from '../../files/containment.ts'
import { digestOf, digestOfStream, digestOfHash } from '../../files/digest.ts'
import { mtimeOf, stampOf, statOf, type Stamp, isSettled } from '../../files/disk.ts'
import {
  isUnmodified,
  readOpenFile,
  streamOf,
  withFile,
  type OpenFile,
  readInto
} from '../../files/open-file.ts'
import { ifReadable } from '../../files/refusals.ts'
import { isCacheControl, privateCacheControl } from '../../http/cache-control.ts'
import { isLocalOrigin } from '../../http/requests.ts'
import {
  formatEtag,
  formatHttpDate,
  isModificationDate,
  type Validators
} from '../../http/validators.ts'
import type { Stored } from '../../app/parts.ts'
import type { SharedFields } from '../directories/served-directory.ts'
import { MAX_ONE_WRITE_BYTES } from '../connection.ts'
import {
  namesSaid,
  prepareResponse,
  privateFields,
  withMore,
  type Fields,
  type PreparedResponse
} from '../response-fields.ts'
import { createHash } from 'node:crypto'

/** A representation has the bytes in one coding, and makes each of its responses when it is first sent. */
export class Representation implements Stored, Validators {
  readonly coding: string
  readonly file: string
  readonly stamp: Stamp
  readonly size: number
  readonly digest: string | undefined
  readonly version: string
  readonly body: Buffer | undefined
  readonly etag: string
  readonly lastModified: number | undefined
  readonly shared: SharedFields
  /** The value of that field, which 412 and 416 have as well; none for a file with one representation. */
  readonly vary: string | undefined
  #ok: PreparedResponse | undefined
  #notModified: PreparedResponse | undefined
  #failed: PreparedResponse | undefined

  constructor(stored: Stored, shared: SharedFields, vary: string | undefined) {
    const { coding, stamp, digest } = stored
    const opaque = digest ?? stored.version
    this.coding = coding
    this.file = stored.file
    this.stamp = stamp
    this.size = stored.size
    this.digest = digest
    this.version = opaque
    this.body = stored.body
    this.etag = formatEtag(coding === 'identity' ? opaque : `${opaque}-${coding}`)
    const date = shared.lastModified ?? lastModifiedOf(stamp)
    this.lastModified = date && isModificationDate(date) ? date : undefined
    this.shared = shared
    this.vary = vary
  }

  /** Content-Length comes last: a range replaces it, and Node garbles a Content-Disposition behind it (20 to 26). */
  get ok(): PreparedResponse {
    return (this.#ok ??= this.#prepare(200, [
      ...this.#fields(),
      ['Content-Length', String(this.size)]
    ]))
  }

  get notModified(): PreparedResponse {
    return (this.#notModified ??= this.#prepare(
      304,
      this.#fields().filter(([name]) => !CONTENT.test(name))
    ))
  }

  /** 412, and with a Content-Range 416. */
  get failed(): PreparedResponse {
    const lasting = this.shared.more.filter(
      ([name]) => !isCacheControl(name) && !CONTENT_OR_LIFETIME.test(name)
    )
    return (this.#failed ??= this.#prepare(412, [
      ...withMore(this.#always(), lasting),
      ['Content-Length', '0']
    ]))
  }

  /** Returns the same representation with other fields. */
  with(change: Partial<SharedFields>): Representation {
    return new Representation(this, { ...this.shared, ...change }, this.vary)
  }

  /** Returns the same representation for responses to the pages of one origin. */
  forOrigin(origin: string | undefined): Representation {
    const { crossOrigin } = this.shared
    const isReader =
      typeof crossOrigin === 'object' &&
      origin !== undefined &&
      isLocalOrigin(origin, crossOrigin.hosts)
    return isReader ? this.with({ crossOrigin: { ...crossOrigin, origin } }) : this
  }

  /** Returns the same representation for responses that no shared cache may store. */
  privately(): Representation {
    const { cacheControl, more } = this.shared
    return this.with({
      cacheControl: privateCacheControl(cacheControl),
      more: privateFields(more)
    })
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
    const { crossOrigin } = this.shared
    const isOfOne = typeof crossOrigin === 'object'
    const vary = isOfOne ? [this.vary, 'Origin'].filter(Boolean).join(', ') : this.vary
    return [
      ['Vary', vary],
      ['Access-Control-Allow-Origin', isOfOne ? crossOrigin.origin : crossOrigin]
    ] as const
  }
}

// A 304 does not describe content (RFC 9110 section 15.4.5), and no cache stores a 412 or a 416.
const CONTENT = /^(?:content-(?:type|encoding)|accept-ranges)$/i
const CONTENT_OR_LIFETIME = /^(?:expires|content-type)$/i

/** Returns undefined for a date in the future, which an origin server must not send (RFC 9110 section 8.8.2.1). */
function lastModifiedOf(stamp: Stamp): number | undefined {
  const mtime = mtimeOf(stamp)
  return mtime > Date.now() ? undefined : mtime
}

// Read from the disk

/** Reads an open file; one of more than `maxBytes` stays on disk. */
export async function readStored(
  coding: string,
  opened: OpenFile,
  maxBytes: number
): Promise<Stored> {
  const { path: file, stats } = opened
  if (stats.size > maxBytes) {
    const [stamp, size] = [stampOf(stats), Number(stats.size)]
    return { coding, file, stamp, size, ...(await contentVersionOf(opened)), body: undefined }
  }
  const { bytes, stamp } = await readOpenFile(opened)
  const digest = digestOf(bytes)
  // A file may shrink while it is read.
  return { coding, file, stamp, size: bytes.length, digest, version: digest, body: bytes }
}

/** Reads a file for its digest, unless it has one; a file that changes meanwhile gets none. */
export async function withDigest(file: Stored, opened: OpenFile): Promise<Stored> {
  if (file.digest !== undefined) return file
  const digest = await digestOfStream(streamOf(opened))
  return (await isUnmodified(opened)) ? { ...file, digest } : file
}

/** The compressed files beside a file, whether they are sent or not, in the order of `CODINGS`. */
export type Copies = readonly { readonly coding: Coding; readonly stamp: Stamp }[]

export async function findCopies(file: string, codings: readonly Coding[]): Promise<Copies> {
  const found = codings.map(async coding => {
    const copy = await statOf(file + coding.extension)
    return copy?.isFile() && copy.size > 0n ? [{ coding, stamp: stampOf(copy) }] : []
  })
  return (await Promise.all(found)).flat()
}

/** The copies that are sent: those that expand to the same bytes. They are compared each time they are loaded. */
export async function readCopies(
  place: Boundary,
  identity: Stored,
  copies: Copies,
  maxBytes: number
): Promise<Stored[]> {
  const read = copies.map(({ coding }) =>
    ifReadable(identity.file + coding.extension, readCopy(place, identity, coding, maxBytes))
  )
  return (await Promise.all(read)).filter(copy => copy !== undefined)
}

async function readCopy(
  place: Boundary,
  { file, digest, size }: Stored,
  coding: Coding,
  maxBytes: number
): Promise<Stored | undefined> {
  if (digest === undefined) return undefined
  return withFile(file + coding.extension, async opened => {
    if (!(await isInPlace(place)(opened))) return undefined
    const copy = await readStored(coding.name, opened, maxBytes)
    const bytes = copy.body ?? (() => streamOf(opened))
    return (await compareCopy({ size, digest }, bytes, coding)) === 'equal' ? copy : undefined
  })
}

// Kept in memory

/** A path is remembered with its representations; one that is not sent has none. */
export interface CacheEntry {
  readonly representations: readonly Representation[]
}

/** All served directories share one memory: of files by their paths, of deltas by path and key. */
export type Memory = LRUCache<string, CacheEntry>

// A representation costs this much beside its body, measured in resident memory: strings, fields, stamps, the buffer
// itself, and garbage that is not yet collected.
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

/** A small body is held twice: the second time it follows a head that is kept (koa/socket.ts). */
function memoryCostOf(length: number): number {
  return OVERHEAD_BYTES + (length < MAX_ONE_WRITE_BYTES ? 2 * length : length)
}

// The ETag of a file that stays on disk is made of its bytes, size and mtime. It is the same on every replica, after a
// chmod, a copy or another hard link: inode and ctime are for the memory of this process alone.

interface ContentVersion {
  /** The digest of all bytes, where all were read. */
  readonly digest: string | undefined
  /** A text that tells these bytes from others under the same name. */
  readonly version: string
}

const SAMPLES = 64
const SAMPLE_BYTES = 64 * 1024
/** Hashed in about 10 ms. */
const WHOLE_BYTES = SAMPLES * SAMPLE_BYTES

// Also where `memory` keeps no file: a player asks for a film in hundreds of ranges.
const known = new LRUCache<string, ContentVersion>({ max: 10_000 })

/**
 * Digests a file of at most 4 MiB; of a larger one 64 pieces of 64 KiB from its start to its end, with size and mtime.
 * One whose mtime was invented, as npm, zip and Nix do, is digested whole: its next version has the same one.
 */
export async function contentVersionOf(opened: OpenFile): Promise<ContentVersion> {
  const { stats } = opened
  const key = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join('-')
  const found = known.get(key)
  if (found) return found
  const openedAt = Date.now()
  const isWhole = stats.size <= WHOLE_BYTES || !isModificationDate(mtimeOf(stats))
  const digest = await digestOfPieces(opened, isWhole ? undefined : SAMPLES)
  const isSame = await isUnmodified(opened)
  const made =
    isWhole && isSame
      ? { digest, version: digest }
      : { digest: undefined, version: `${digest}-${numbersOf(stats)}` }
  if (isSame && isSettled(stats, openedAt)) known.set(key, made)
  return made
}

function numbersOf({ size, mtimeNs }: Stamp): string {
  return [size, mtimeNs].map(number => number.toString(16)).join('-')
}

/** @param count of pieces, from the first bytes to the last ones; undefined: all bytes */
async function digestOfPieces(opened: OpenFile, count: number | undefined): Promise<string> {
  const size = Number(opened.stats.size)
  const pieces = count ?? Math.ceil(size / SAMPLE_BYTES)
  const step = count === undefined ? SAMPLE_BYTES : (size - SAMPLE_BYTES) / (count - 1)
  const piece = Buffer.allocUnsafe(SAMPLE_BYTES)
  const sha256 = createHash('sha256')
  for (let at = 0; at < pieces; at++) {
    const length = await readInto(piece, opened, Math.floor(at * step))
    sha256.update(piece.subarray(0, length))
  }
  return digestOfHash(sha256.digest())
}
