// Reads and writes deltas (RFC 9842), if zlib takes a dictionary for Zstandard: Node 22.19, 24.6 and newer. The seal at
// the end of a file shows any Node that it is whole and leads to the bytes of the file beside it.
import { createHash, randomBytes } from 'node:crypto'
import { once } from '../../runtime/concurrency.ts'
import { unzstd, ZSTD, zstd } from '../../runtime/files/codings.ts'
import { DIGEST_PATTERN, digestOf } from '../../runtime/files/digest.ts'
import { errorCode } from '../../runtime/files/disk.ts'
import { withoutHash } from '../../runtime/urls/spelling.ts'

const MIB = 1024 * 1024
/** A larger file has no deltas, and is not used as a dictionary. */
export const MAX_DELTA_BYTES = 64 * MIB

// RFC 9842 section 5: the beginning of a skippable frame of Zstandard, with the SHA-256 of the dictionary.
const MAGIC = Buffer.from('5e2a4d1820000000', 'hex')
const HASH_BYTES = 32
const HEADER_BYTES = MAGIC.length + HASH_BYTES
// The seal is a skippable frame as well (RFC 8878 section 3.1.2), so that other decoders can read the file unchanged.
const SEAL_MAGIC = Buffer.from('502a4d1820000000', 'hex')

/** The length of the seal at the end of the file, which is not sent. */
export const SEAL_BYTES = SEAL_MAGIC.length + HASH_BYTES

export function deltaExtension(digest: string): `.${string}` {
  return `.${digest}.dcz`
}

const DELTA = new RegExp(`^(.*)\\.(${DIGEST_PATTERN})\\.dcz$`, 's')

/** Returns the key that all versions of a built file share; undefined for a path without a hash. */
export function versionKey(path: string): string | undefined {
  const without = withoutHash(`/${path}`)
  return without && `${without.before}*${without.after}`
}

/** Returns the name of the file beside a delta, and the digest of its dictionary; undefined for any other file. */
export function splitDelta(path: string): { name: string; digest: string } | undefined {
  const [, name, digest] = DELTA.exec(path) ?? []
  return name === undefined || digest === undefined ? undefined : { name, digest }
}

/** Returns the file of a delta. @param dictionary its SHA-256 @param digest that of the decoded frame */
export function sealDelta(dictionary: Buffer, frame: Uint8Array, digest: string): Buffer {
  const sent = Buffer.concat([MAGIC, dictionary, frame])
  return Buffer.concat([sent, SEAL_MAGIC, sha256Of(sent, digest)])
}

function sha256Of(...parts: readonly (Uint8Array | string)[]): Buffer {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest()
}

export const dictionaryIn = (file: Buffer): Buffer => file.subarray(MAGIC.length, HEADER_BYTES)

/** Tells whether a file is an undamaged delta from a dictionary, by its SHA-256, to the bytes with a digest. */
export function isSealedDelta(file: Buffer, dictionary: Buffer, digest: string): boolean {
  return file.equals(sealDelta(dictionary, frameIn(file), digest))
}

const frameIn = (file: Buffer): Buffer => file.subarray(HEADER_BYTES, -SEAL_BYTES)

/** Tells whether this Node uses the dictionary, which older ones ignore. */
export const canMakeDeltas = once(async () => {
  const bytes = randomBytes(1024)
  const made = await zstd?.(bytes, { dictionary: bytes })
  return made !== undefined && made.length < bytes.length / 2
})

/** Makes a delta from the bytes that a client has, and decodes it as a check; undefined for one above `maxBytes`. */
export async function makeDelta(old: Buffer, next: Uint8Array, maxBytes: number) {
  const params = { [ZSTD.level]: 19, [ZSTD.windowLog]: windowLog(old, next) }
  const frame = await zstd?.(next, { dictionary: old, params, pledgedSrcSize: next.length })
  if (!frame) return undefined
  const digest = digestOf(next)
  const file = sealDelta(sha256Of(old), frame, digest)
  const mayBeSent = file.length <= maxBytes && (await leadsTo(file, old, digest, next.length))
  return mayBeSent ? file : undefined
}

// The window spans both, so that the whole dictionary is always in reach. The decoder needs none larger than the
// file, whose size is in the frame; RFC 9842 section 5 allows 8 MiB, or 1.25 times the dictionary.
function windowLog({ length: old }: Uint8Array, { length: next }: Uint8Array): number {
  const allowed = Math.max(8 * MIB, 1.25 * old)
  if (next > allowed) return Math.floor(Math.log2(allowed))
  return Math.max(10, Math.ceil(Math.log2(old + next)))
}

/** Tells whether a delta is undamaged and, if this Node can decode it, leads from the old to the new bytes. */
export async function isIntactDelta(file: Buffer, old: Buffer, next: Uint8Array): Promise<boolean> {
  const digest = digestOf(next)
  if (!isSealedDelta(file, sha256Of(old), digest)) return false
  return !(await canMakeDeltas()) || leadsTo(file, old, digest, next.length)
}

// Zstandard does not treat a dictionary that begins like this as raw bytes (RFC 8878 section 5); browsers do.
const TRAINED = Buffer.from('37a430ec', 'hex')

/** Decodes a delta if Node can, and compares digest and size; nothing may follow its frame. */
export async function leadsTo(file: Buffer, old: Buffer, digest: string | undefined, size: number) {
  if (!unzstd || old.subarray(0, TRAINED.length).equals(TRAINED)) return false
  const frame = frameIn(file)
  const options = { dictionary: old, maxOutputLength: Math.max(1, size), info: true }
  try {
    const { buffer, engine } = await unzstd(frame, options)
    // Node 24 stops after the first frame; browsers continue.
    return engine.bytesWritten === frame.length && digestOf(buffer) === digest
  } catch (error) {
    // These are zlib's codes for bad input.
    if (/^(?:Z_|ZSTD_|ERR_BUFFER_TOO_LARGE)/.test(errorCode(error) ?? '')) return false
    throw error
  }
}
