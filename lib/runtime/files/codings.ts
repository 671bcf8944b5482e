// The table of content codings (RFC 9110 section 8.4.1), and compressed copies: making and comparing them.
import { createHash } from 'node:crypto'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { isCompressibleType } from '../http/fields.ts'
import { digestOfHash } from './digest.ts'
import { errorCode, lstatOf } from './disk.ts'
import { readOpenFile, streamOf, withFile, type Content, type OpenFile } from './open-file.ts'

type Transcode<Result> = (
  bytes: Uint8Array,
  options: object,
  callback: (error: Error | null, result: Result) => void
) => void

// Node has zstd since 22.15.
const { zstdCompress, zstdDecompress, createZstdDecompress, constants } = zlib as typeof zlib & {
  zstdCompress?: Transcode<Buffer>
  zstdDecompress?: Transcode<{ buffer: Buffer; engine: { bytesWritten: number } }>
  createZstdDecompress?: () => Transform
  constants: { ZSTD_c_compressionLevel?: number; ZSTD_c_windowLog?: number }
}

const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)
export const zstd = zstdCompress && promisify(zstdCompress)
/** Decompresses; with the option `info` it also returns how many bytes it has read. */
export const unzstd = zstdDecompress && promisify(zstdDecompress)
/** NaN where Node lacks zstd. */
export const ZSTD = {
  level: constants.ZSTD_c_compressionLevel ?? NaN,
  windowLog: constants.ZSTD_c_windowLog ?? NaN
}

export interface Coding {
  /** The token in `Accept-Encoding` and `Content-Encoding`. */
  readonly name: string
  /** Appended to the name of a file for its compressed copy. */
  readonly extension: `.${string}`
  /** Compresses at the best level; undefined if this Node cannot. */
  readonly compress: ((bytes: Uint8Array) => Promise<Buffer>) | undefined
  readonly decompressor: (() => Transform) | undefined
}

/** The codings, the one with the smallest expected size first. */
export const CODINGS: readonly Coding[] = [
  {
    name: 'br',
    extension: '.br',
    compress: bytes =>
      brotli(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length
        }
      }),
    decompressor: () => zlib.createBrotliDecompress()
  },
  {
    name: 'zstd',
    extension: '.zst',
    // zlib ignores `level` for zstd. Without the size it prepares tables for 8 MiB, which takes 50 ms.
    compress:
      zstd &&
      (bytes => zstd(bytes, { params: { [ZSTD.level]: 19 }, pledgedSrcSize: bytes.length })),
    decompressor: createZstdDecompress
  },
  {
    name: 'gzip',
    extension: '.gz',
    compress: bytes => gzip(bytes, { level: 9 }),
    decompressor: () => zlib.createGunzip()
  }
]

export const EXTENSIONS = CODINGS.map(({ extension }) => extension).join(', ')

/** `/data.json.gz` -> `/data.json`; any other path is unchanged. */
export function withoutCodingExtension(path: string): string {
  const coding = CODINGS.find(({ extension }) => path.endsWith(extension))
  return coding ? path.slice(0, -coding.extension.length) : path
}

/** A larger copy is not worth a second file, and for fewer bytes a coding's header outweighs the gain. */
const MAX_RATIO = 0.95
const MIN_BYTES = 150

export interface Original {
  readonly size: number
  readonly digest: string
}

// A copy of the same bytes is not made again: decompressing is a hundred times as fast as compressing.
export async function copyFor(
  file: string,
  original: Original,
  coding: Coding,
  read: () => Promise<Uint8Array>
): Promise<{ content: Content; size: number } | undefined> {
  if (!coding.compress || original.size < MIN_BYTES || !isCompressibleType(file)) return undefined
  const path = file + coding.extension
  // A link may lead to something other than a copy.
  const stats = await lstatOf(path)
  const mayHold = stats?.isFile() === true && Number(stats.size) < original.size
  if (mayHold && (await compareFile(original, path, coding)) === 'equal')
    return { content: { copyOf: path }, size: Number(stats.size) }
  const bytes = await read()
  const content = await coding.compress(bytes)
  const pays = content.length <= bytes.length * MAX_RATIO
  return pays ? { content, size: content.length } : undefined
}

/** `damaged` cannot be decompressed; `unsupported` is a coding that this Node cannot read. */
type Comparison = 'equal' | 'different' | 'damaged' | 'unsupported'

/** Expansion stops at the original's size, so a bomb does no harm. @param bytes of the copy, or its opener */
export async function compareCopy(
  original: Original,
  bytes: Buffer | (() => Readable),
  { decompressor }: Coding
): Promise<Comparison> {
  if (!decompressor) return 'unsupported'
  const expanded = decompressor()
  const copy = Buffer.isBuffer(bytes) ? undefined : bytes()
  // An error of the copy is passed on to `expanded`.
  if (copy) pipeline(copy, expanded, () => undefined)
  else expanded.end(bytes)
  const sha256 = createHash('sha256')
  let size = 0
  try {
    for await (const chunk of expanded as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > original.size) return 'different'
      sha256.update(chunk)
    }
    return digestOfHash(sha256.digest()) === original.digest ? 'equal' : 'different'
  } catch (error) {
    // zlib's codes for bad input: Z_DATA_ERROR, ERR__ERROR_FORMAT_PADDING_1, ZSTD_error_…
    if (/^(?:Z_|ERR__|ERR_BROTLI|ZSTD_)/.test(errorCode(error) ?? '')) return 'damaged'
    throw error
  } finally {
    // A read may still be under way.
    if (copy && !copy.closed) await new Promise(resolve => copy.once('close', resolve))
  }
}

const MAX_AT_ONCE = 256 * 1024

export async function compareOpen(original: Original, copy: OpenFile, coding: Coding) {
  const isSmall = copy.stats.size <= MAX_AT_ONCE
  const bytes = isSmall ? (await readOpenFile(copy)).bytes : () => streamOf(copy)
  return compareCopy(original, bytes, coding)
}

/** Compares a copy; undefined if it no longer exists. */
export function compareFile(original: Original, path: string, coding: Coding) {
  return withFile(path, copy => compareOpen(original, copy, coding))
}
