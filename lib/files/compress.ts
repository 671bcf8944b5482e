// Compressed copies of files: whether one pays, making it, and checking it against its original.
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isCompressibleType } from '../http/media-type.ts'
import type { Coding } from './codings.ts'
import { digestOfStream } from './digest.ts'
import { errorCode } from './disk.ts'

/** A larger copy is not worth a second file. */
const MAX_RATIO = 0.95
/** The header of a coding outweighs the gain for fewer. */
const MIN_BYTES = 150

export function isCompressible(path: string, size: number): boolean {
  return size >= MIN_BYTES && isCompressibleType(path)
}

/** Returns undefined when compression does not pay. */
export async function compress(bytes: Uint8Array, coding: Coding): Promise<Buffer | undefined> {
  const compressed = await coding.compress?.(bytes)
  return compressed && compressed.length <= bytes.length * MAX_RATIO ? compressed : undefined
}

/** `damaged` cannot be decompressed; `unsupported` is a coding that this Node cannot read. */
type Comparison = 'equal' | 'different' | 'damaged' | 'unsupported'

/**
 * Compares what compressed bytes expand to with an original. Expansion stops at the original's size, so a
 * decompression bomb does no harm.
 */
export async function compareCopy(
  original: { readonly size: number; readonly digest: string },
  openCopy: () => Readable,
  coding: Coding
): Promise<Comparison> {
  const decompressor = coding.decompressor?.()
  if (!decompressor) return 'unsupported'
  const copy = openCopy()
  let size = 0
  const limited = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > original.size) throw new RangeError('longer than the original')
      yield chunk
    }
  }
  try {
    const digest = await pipeline(copy, decompressor, limited, digestOfStream)
    return size === original.size && digest === original.digest ? 'equal' : 'different'
  } catch (error) {
    if (size > original.size) return 'different'
    if (isDamage(error)) return 'damaged'
    throw error
  } finally {
    // A read may still be under way.
    if (!copy.closed) await new Promise(resolve => copy.once('close', resolve))
  }
}

/** zlib's codes for bad input: Z_DATA_ERROR, ERR__ERROR_FORMAT_PADDING_1, ZSTD_error_… */
function isDamage(error: unknown): boolean {
  return /^(?:Z_|ERR__|ERR_BROTLI|ZSTD_)/.test(errorCode(error) ?? '')
}
