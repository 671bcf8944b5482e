// Compressed copies of files: whether one holds the bytes of its original, and making it.
import { createReadStream } from 'node:fs'
import { lstat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isCompressibleType } from '../http/fields.ts'
import type { Coding } from './codings.ts'
import type { Content } from './content.ts'
import { digestOfStream } from './digest.ts'
import { errorCode, ifThere } from './disk.ts'

/** A larger copy is not worth a second file. */
const MAX_RATIO = 0.95
/** The header of a coding outweighs the gain for fewer. */
const MIN_BYTES = 150

/** The bytes that a copy has to expand to. */
export interface Original {
  readonly size: number
  readonly digest: string
}

/** What a copy is written from, which is the file itself where that holds the bytes already. */
export interface Copy {
  readonly content: Content
  /** In bytes. */
  readonly size: number
}

/**
 * The copy that a file has to have beside it; undefined for none. One that holds the bytes is not made again:
 * decompressing is a hundred times as fast as compressing.
 */
export async function copyFor(
  file: string,
  original: Original,
  coding: Coding,
  read: () => Promise<Uint8Array>
): Promise<Copy | undefined> {
  if (!coding.compress || original.size < MIN_BYTES || !isCompressibleType(file)) return undefined
  const path = file + coding.extension
  // A link need not lead to a copy.
  const stats = await ifThere(lstat(path, { bigint: true }))
  const mayHold = stats?.isFile() === true && Number(stats.size) < original.size
  if (mayHold && (await compareFile(original, path, coding)) === 'equal') {
    return { content: { copyOf: path }, size: Number(stats.size) }
  }
  const content = await compress(await read(), coding)
  return content && { content, size: content.length }
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
  original: Original,
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

/** The same for a copy on disk; undefined when it is gone. */
export function compareFile(original: Original, path: string, coding: Coding) {
  return ifThere(compareCopy(original, () => createReadStream(path), coding))
}

/** zlib's codes for bad input: Z_DATA_ERROR, ERR__ERROR_FORMAT_PADDING_1, ZSTD_error_… */
function isDamage(error: unknown): boolean {
  return /^(?:Z_|ERR__|ERR_BROTLI|ZSTD_)/.test(errorCode(error) ?? '')
}
