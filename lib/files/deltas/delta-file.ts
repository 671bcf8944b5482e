// The file of a delta: the bytes that are sent, and a seal by which any Node can tell that they are whole and
// lead to the bytes of the file beside it, without the dictionary and without a decoder for it.
import { createHash } from 'node:crypto'
import { DIGEST_PATTERN } from '../digest.ts'

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

const DELTA = new RegExp(`\\.(${DIGEST_PATTERN})\\.dcz$`)

/** The name of the file beside a delta, and the digest of its dictionary; undefined for another file. */
export function splitDelta(path: string): { name: string; digest: string } | undefined {
  const match = DELTA.exec(path)
  return match?.[1] === undefined
    ? undefined
    : { name: path.slice(0, match.index), digest: match[1] }
}

/** Whether one of these names in a folder is that of a delta beside the file `name`. */
export function namesDelta(names: Iterable<string>, name: string): boolean {
  for (const each of names) {
    if (each.startsWith(name) && splitDelta(each)?.name === name) return true
  }
  return false
}

/**
 * The file of a delta.
 * @param dictionary its SHA-256
 * @param frame Zstandard that was decoded with the dictionary and compared
 * @param digest of the bytes that it decodes to
 */
export function sealDelta(dictionary: Buffer, frame: Uint8Array, digest: string): Buffer {
  const sent = Buffer.concat([MAGIC, dictionary, frame])
  const seal = createHash('sha256').update(sent).update(digest).digest()
  return Buffer.concat([sent, SEAL_MAGIC, seal])
}

/** The SHA-256 of the dictionary that a delta's file names. */
export function dictionaryIn(file: Buffer): Buffer {
  return file.subarray(MAGIC.length, HEADER_BYTES)
}

/** The frame in the bytes of a delta's file. */
export function frameOf(file: Buffer): Buffer {
  return file.subarray(HEADER_BYTES, -SEAL_BYTES)
}

/**
 * Whether a file is an undamaged delta.
 * @param dictionary the SHA-256 of what it has to start from
 * @param digest of the bytes that it has to lead to
 */
export function isSealedDelta(file: Buffer, dictionary: Buffer, digest: string): boolean {
  const sent = file.subarray(0, -SEAL_BYTES)
  const seal = createHash('sha256').update(sent).update(digest).digest()
  return (
    sent.subarray(0, HEADER_BYTES).equals(Buffer.concat([MAGIC, dictionary])) &&
    file.subarray(sent.length).equals(Buffer.concat([SEAL_MAGIC, seal]))
  )
}
