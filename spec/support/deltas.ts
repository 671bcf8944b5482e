// Deltas made by hand, on every version of Node: Zstandard (RFC 8878) of two copies from a dictionary and what
// is between them.
import { createHash } from 'node:crypto'
import * as zlib from 'node:zlib'
import { digestOf } from '../../lib/runtime/files/digest.ts'

export const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest()

/** The value of Available-Dictionary of a client that has these bytes. */
export const available = (bytes: Uint8Array | string) => `:${sha256(bytes).toString('base64')}:`

/** What a browser sends that has these bytes. */
export const offering = (bytes: Uint8Array | string) => ({
  'accept-encoding': 'gzip, deflate, br, zstd, dcb, dcz',
  'available-dictionary': available(bytes)
})

/** The file of a delta, with its seal. */
export function deltaFile(old: string, next: string): Buffer {
  const frame = deltaFrame(Buffer.from(old), Buffer.from(next))
  const sent = Buffer.concat([Buffer.from('5e2a4d1820000000', 'hex'), sha256(old), frame])
  const seal = createHash('sha256').update(sent).update(digestOf(next)).digest()
  return Buffer.concat([sent, Buffer.from('502a4d1820000000', 'hex'), seal])
}

export const deltaName = (path: string, old: string) => `${path}.${digestOf(old)}.dcz`

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
/** Whether this Node can decode deltas. */
export const isAble = major > 24 || (major === 24 && minor >= 6) || (major === 22 && minor >= 19)

/** A real decoder, where Node has one. @param sent by the server */
export function decode(sent: Buffer, old: string): string | undefined {
  const { zstdDecompressSync } = zlib as {
    zstdDecompressSync?: (bytes: Buffer, options: { dictionary: Buffer }) => Buffer
  }
  if (!isAble || !zstdDecompressSync) return undefined
  return zstdDecompressSync(sent.subarray(40), { dictionary: Buffer.from(old) }).toString()
}

function deltaFrame(old: Buffer, next: Buffer): Buffer {
  const start = commonStart(old, next)
  const end = commonStart(old.subarray(start).toReversed(), next.subarray(start).toReversed())
  const blocks = [
    ...copies(start, old.length),
    ...raws(next.subarray(start, next.length - end)),
    ...copies(end, next.length)
  ]
  // A single segment, whose size follows in four bytes.
  const header = Buffer.from('28b52ffda000000000', 'hex')
  header.writeUInt32LE(next.length, 5)
  const numbered = blocks.map(({ type, size, bytes }, at) => {
    const isLast = at === blocks.length - 1
    const head = Buffer.alloc(4)
    head.writeUInt32LE(Number(isLast) | (type << 1) | (size << 3))
    return Buffer.concat([head.subarray(0, 3), bytes])
  })
  return Buffer.concat([header, ...numbered])
}

interface Block {
  readonly type: number
  readonly size: number
  readonly bytes: Buffer
}

const MAX_BLOCK = 128 * 1024
// Shorter copies have codes of their own, which nothing here needs.
const MIN_COPY = 131

function commonStart(a: Uint8Array, b: Uint8Array): number {
  const end = a.findIndex((byte, at) => byte !== b[at])
  const length = Math.min(a.length, b.length, end === -1 ? Infinity : end)
  return length < MIN_COPY ? 0 : length
}

function raws(bytes: Buffer): Block[] {
  const pieces = Math.ceil(bytes.length / MAX_BLOCK)
  return Array.from({ length: pieces }, (_, at) => {
    const piece = bytes.subarray(at * MAX_BLOCK, (at + 1) * MAX_BLOCK)
    return { type: 0, size: piece.length, bytes: piece }
  })
}

/** @param offset how far back the copy lies: the dictionary precedes what is written */
function copies(length: number, offset: number): Block[] {
  const blocks: Block[] = []
  for (let left = length; left > 0;) {
    // What remains is never too short to be copied.
    const size = left > MAX_BLOCK ? Math.min(MAX_BLOCK, left - MIN_COPY) : left
    blocks.push(copy(size, offset))
    left -= size
  }
  return blocks
}

/** No literals, and one sequence whose three codes stand for themselves (section 3.1.1.3.2.1, RLE_Mode). */
function copy(length: number, offset: number): Block {
  const offsetBits = Math.floor(Math.log2(offset + 3))
  const lengthBits = Math.floor(Math.log2(length - 3))
  const codes = Buffer.from([0, 1, 0x54, 0, offsetBits, lengthBits + 36])
  const extra =
    (1n << BigInt(offsetBits + lengthBits)) |
    (BigInt(offset + 3 - 2 ** offsetBits) << BigInt(lengthBits)) |
    BigInt(length - 3 - 2 ** lengthBits)
  const bits = Buffer.alloc(8)
  bits.writeBigUInt64LE(extra)
  const used = Math.floor((offsetBits + lengthBits) / 8) + 1
  const bytes = Buffer.concat([codes, bits.subarray(0, used)])
  return { type: 2, size: bytes.length, bytes }
}
