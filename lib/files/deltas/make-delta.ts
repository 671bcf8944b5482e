// Makes and decodes deltas, where zlib takes a dictionary for Zstandard: Node 22.19, 24.6 and newer.
import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { digestOf } from '../digest.ts'
import { errorCode } from '../disk.ts'
import { frameOf, isSealedDelta, sealDelta } from './delta-file.ts'

interface Options {
  readonly dictionary: Uint8Array
  readonly params?: Readonly<Record<number, number>>
  readonly pledgedSrcSize?: number
  readonly maxOutputLength?: number
  readonly info?: boolean
}

/** The bytes of a file, known by their digest. */
export interface Decoded {
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

type Transcode<Result> = (
  bytes: Uint8Array,
  options: Options,
  callback: (error: Error | null, result: Result) => void
) => void

interface WithInfo {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

const { zstdCompress, zstdDecompress, constants } = zlib as typeof zlib & {
  zstdCompress?: Transcode<Buffer>
  zstdDecompress?: Transcode<WithInfo>
  constants: Partial<Record<'ZSTD_c_compressionLevel' | 'ZSTD_c_windowLog', number>>
}

const compress = zstdCompress && promisify(zstdCompress)
const decompress = zstdDecompress && promisify(zstdDecompress)

let isAble: Promise<boolean> | undefined

/** Whether this Node makes deltas; an older one ignores the dictionary. */
export function canMakeDeltas(): Promise<boolean> {
  return (isAble ??= isDictionaryUsed())
}

async function isDictionaryUsed(): Promise<boolean> {
  const bytes = randomBytes(1024)
  const compressed = await compress?.(bytes, { dictionary: bytes })
  return compressed !== undefined && compressed.length < bytes.length / 2
}

const MIB = 1024 * 1024
/** A file of more bytes has no deltas, and is no dictionary. */
export const MAX_DELTA_BYTES = 64 * MIB

// A dictionary that begins so is not raw bytes to Zstandard (RFC 8878 section 5), but to browsers.
const TRAINED = Buffer.from('37a430ec', 'hex')

function isTrained(old: Buffer): boolean {
  return old.subarray(0, TRAINED.length).equals(TRAINED)
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
  if (!compress || isTrained(old)) return undefined
  const { ZSTD_c_compressionLevel = NaN, ZSTD_c_windowLog = NaN } = constants
  const params = { [ZSTD_c_compressionLevel]: 19, [ZSTD_c_windowLog]: windowLog(old, next) }
  const frame = await compress(next, { dictionary: old, params, pledgedSrcSize: next.length })
  const hash = createHash('sha256').update(old).digest()
  const file = sealDelta(hash, frame, digestOf(next))
  const decoded = { digest: digestOf(next), size: next.length }
  return file.length <= maxBytes && (await leadsTo(file, old, decoded)) ? file : undefined
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
  const hash = createHash('sha256').update(old).digest()
  const digest = digestOf(next)
  if (!isSealedDelta(file, hash, digest)) return false
  return !(await canMakeDeltas()) || leadsTo(file, old, { digest, size: next.length })
}

/** Whether the file of a delta decodes to these bytes, on a Node that can; nothing may follow its frame. */
export async function leadsTo(
  file: Buffer,
  old: Buffer,
  { digest, size }: Decoded
): Promise<boolean> {
  if (!decompress || isTrained(old)) return false
  const frame = frameOf(file)
  const options = { dictionary: old, maxOutputLength: Math.max(1, size), info: true }
  try {
    const { buffer, engine } = await decompress(frame, options)
    // Node 24 stops after the first frame, where browsers go on.
    return engine.bytesWritten === frame.length && digestOf(buffer) === digest
  } catch (error) {
    // zlib's codes for bad input.
    if (/^(?:Z_|ZSTD_|ERR_BUFFER_TOO_LARGE)/.test(errorCode(error) ?? '')) return false
    throw error
  }
}
