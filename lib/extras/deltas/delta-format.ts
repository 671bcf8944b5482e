// Deltas of files (RFC 9842). The file of a delta has the bytes that are sent, and a seal by which any Node can
// tell that they are whole and lead to the bytes of the file beside it. Made and decoded where zlib takes a
// dictionary for Zstandard: Node 22.19, 24.6 and newer.
import { createHash, randomBytes } from 'node:crypto'
import { unzstd, ZSTD, zstd } from '../../files/codings.ts'
import { DIGEST_PATTERN, digestOf } from '../../files/digest.ts'
import { errorCode } from '../../files/disk.ts'

const MIB = 1024 * 1024
/** A larger file has no deltas, and is not used as a dictionary. */
export const MAX_DELTA_BYTES = 64 * MIB

// RFC 9842 section 5: eight bytes, which Zstandard takes for the beginning of a skippable frame, then the
// SHA-256 of the dictionary.
const MAGIC = Buffer.from('5e2a4d1820000000', 'hex')
const HASH_BYTES = 32
const HEADER_BYTES = MAGIC.length + HASH_BYTES
// A skippable frame as well (RFC 8878 section 3.1.2), so that other decoders read the file as it is.
const SEAL_MAGIC = Buffer.from('502a4d1820000000', 'hex')

/** In bytes, at the end of the file; they are not sent. */
export const SEAL_BYTES = SEAL_MAGIC.length + HASH_BYTES

/** The extension of the delta from the bytes with a digest: `.<digest>.dcz`. */
export function deltaExtension(digest: string): `.${string}` {
  return `.${digest}.dcz`
}

const DELTA = new RegExp(`^(.*)\\.(${DIGEST_PATTERN})\\.dcz$`, 's')

/** The name of the file beside a delta, and the digest of its dictionary; undefined for another file. */
export function splitDelta(path: string): { name: string; digest: string } | undefined {
  const [, name, digest] = DELTA.exec(path) ?? []
  return name === undefined || digest === undefined ? undefined : { name, digest }
}

/**
 * The file of a delta.
 * @param dictionary its SHA-256
 * @param frame Zstandard that was decoded with the dictionary and compared
 * @param digest of the bytes that it decodes to
 */
export function sealDelta(dictionary: Buffer, frame: Uint8Array, digest: string): Buffer {
  const sent = Buffer.concat([MAGIC, dictionary, frame])
  return Buffer.concat([sent, SEAL_MAGIC, sha256Of(sent, digest)])
}

function sha256Of(...parts: readonly (Uint8Array | string)[]): Buffer {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest()
}

/** The SHA-256 of the dictionary that a delta's file names. */
export function dictionaryIn(file: Buffer): Buffer {
  return file.subarray(MAGIC.length, HEADER_BYTES)
}

/**
 * Whether a file is an undamaged delta.
 * @param dictionary the SHA-256 of what it has to start from
 * @param digest of the bytes that it has to lead to
 */
export function isSealedDelta(file: Buffer, dictionary: Buffer, digest: string): boolean {
  return file.equals(sealDelta(dictionary, frameIn(file), digest))
}

function frameIn(file: Buffer): Buffer {
  return file.subarray(HEADER_BYTES, -SEAL_BYTES)
}

let isAble: Promise<boolean> | undefined

/** Whether this Node makes deltas; an older one ignores the dictionary. */
export function canMakeDeltas(): Promise<boolean> {
  const bytes = randomBytes(1024)
  isAble ??= zstd
    ? zstd(bytes, { dictionary: bytes }).then(({ length }) => length < bytes.length / 2)
    : Promise.resolve(false)
  return isAble
}

/**
 * The file of a delta, decoded and compared; undefined when it is larger than `maxBytes`.
 * @param old what the client has
 */
export async function makeDelta(
  old: Buffer,
  next: Uint8Array,
  maxBytes: number
): Promise<Buffer | undefined> {
  const params = { [ZSTD.level]: 19, [ZSTD.windowLog]: windowLog(old, next) }
  const frame = await zstd?.(next, { dictionary: old, params, pledgedSrcSize: next.length })
  if (!frame) return undefined
  const digest = digestOf(next)
  const file = sealDelta(sha256Of(old), frame, digest)
  const mayBeSent = file.length <= maxBytes && (await leadsTo(file, old, digest, next.length))
  return mayBeSent ? file : undefined
}

/**
 * A window over both, so that all of the dictionary is in reach everywhere. The decoder needs no larger one
 * than the file, whose size is in the frame; RFC 9842 section 5 allows 8 MiB, or 1.25 times the dictionary.
 */
function windowLog({ length: old }: Uint8Array, { length: next }: Uint8Array): number {
  const allowed = Math.max(8 * MIB, 1.25 * old)
  if (next > allowed) return Math.floor(Math.log2(allowed))
  return Math.max(10, Math.ceil(Math.log2(old + next)))
}

/** Whether the file of a delta is undamaged and, on a Node that can decode it, leads from old to new bytes. */
export async function isIntactDelta(file: Buffer, old: Buffer, next: Uint8Array): Promise<boolean> {
  const digest = digestOf(next)
  if (!isSealedDelta(file, sha256Of(old), digest)) return false
  return !(await canMakeDeltas()) || leadsTo(file, old, digest, next.length)
}

// Zstandard does not take a dictionary that begins like this for raw bytes (RFC 8878 section 5); browsers do.
const TRAINED = Buffer.from('37a430ec', 'hex')

/**
 * Whether the file of a delta decodes to these bytes, on a Node that can; nothing may follow its frame.
 * @param size of what it has to lead to, in bytes
 */
export async function leadsTo(
  file: Buffer,
  old: Buffer,
  digest: string | undefined,
  size: number
): Promise<boolean> {
  if (!unzstd || old.subarray(0, TRAINED.length).equals(TRAINED)) return false
  const frame = frameIn(file)
  const options = { dictionary: old, maxOutputLength: Math.max(1, size), info: true }
  try {
    const { buffer, engine } = await unzstd(frame, options)
    // Node 24 stops after the first frame; browsers go on.
    return engine.bytesWritten === frame.length && digestOf(buffer) === digest
  } catch (error) {
    // zlib's codes for bad input.
    if (/^(?:Z_|ZSTD_|ERR_BUFFER_TOO_LARGE)/.test(errorCode(error) ?? '')) return false
    throw error
  }
}
