// Compressed copies, made once when assets are precompiled.
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isCompressibleType } from '../http/media-type.ts'
import type { Coding } from './codings.ts'
import { digestOfStream } from './digest.ts'
import { errorCode } from './disk.ts'

/** What does not become smaller by at least this much is not worth a second file. */
const WORTH = 0.95
/** Below this a header of the coding eats the gain. */
const MIN_BYTES = 150

export function isCompressible(path: string, size: number): boolean {
  return size >= MIN_BYTES && isCompressibleType(path)
}

/** Undefined: not worth it. */
export async function compress(bytes: Uint8Array, coding: Coding): Promise<Buffer | undefined> {
  const compressed = await coding.compress?.(bytes)
  return compressed && compressed.length <= bytes.length * WORTH ? compressed : undefined
}

/**
 * Whether compressed bytes are those of a file of this size and digest. They are expanded no further than
 * the file is long, so that a bomb does no harm.
 */
export async function isCopyOf(
  original: { readonly size: number; readonly digest: string },
  compressed: () => Readable,
  coding: Coding
): Promise<boolean> {
  const expanding = coding.decompressor?.()
  if (!expanding) return false
  const reading = compressed()
  let size = 0
  const limited = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > original.size) throw new RangeError('more bytes than the file has')
      yield chunk
    }
  }
  try {
    const digest = await pipeline(reading, expanding, limited, digestOfStream)
    return size === original.size && digest === original.digest
  } catch (error) {
    if (size > original.size || isDamage(error)) return false
    throw error
  } finally {
    // It may still be reading.
    if (!reading.closed) await new Promise(resolve => reading.once('close', resolve))
  }
}

/** As zlib calls what is wrong with its input: Z_DATA_ERROR, ERR__ERROR_FORMAT_PADDING_1, ZSTD_error_… */
export function isDamage(error: unknown): boolean {
  return /^(?:Z_|ERR__|ERR_BROTLI|ZSTD_)/.test(errorCode(error) ?? '')
}
