// Compressed copies, made once when assets are precompiled.
import type { Readable, Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { pipeline } from 'node:stream/promises'
import mime from 'mime-types'
import { errorCode } from './disk.ts'
import { digestOfStream } from '../assets/urls/fingerprint.ts'

export interface Coding {
  /** The content coding's name in HTTP (RFC 9110 section 8.4.1). */
  readonly name: 'br' | 'zstd' | 'gzip'
  readonly extension: '.br' | '.zst' | '.gz'
}

/** In the order in which the smaller is to be expected. */
export const CODINGS: readonly Coding[] = [
  { name: 'br', extension: '.br' },
  { name: 'zstd', extension: '.zst' },
  { name: 'gzip', extension: '.gz' }
]

type Compress = (bytes: Uint8Array) => Promise<Buffer>

const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)

// In Node since 22.15.
const { zstdCompress, createZstdDecompress, constants } = zlib as typeof zlib & {
  zstdCompress?: (
    bytes: Uint8Array,
    options: { params: Record<number, number> },
    callback: (error: Error | null, result: Buffer) => void
  ) => void
  createZstdDecompress?: () => Transform
  constants: { ZSTD_c_compressionLevel?: number }
}
const zstd = zstdCompress && promisify(zstdCompress)

const COMPRESSORS: Readonly<Record<Coding['name'], Compress | undefined>> = {
  br: bytes =>
    brotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length
      }
    }),
  // It reads no `level`, and takes 3 for what it does not know.
  zstd:
    zstd && (bytes => zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel ?? NaN]: 19 } })),
  gzip: bytes => gzip(bytes, { level: 9 })
}

/** The codings that this runtime can write. */
export const WRITABLE_CODINGS = CODINGS.filter(({ name }) => COMPRESSORS[name])

const DECOMPRESSORS: Readonly<Record<Coding['name'], (() => Transform) | undefined>> = {
  br: () => zlib.createBrotliDecompress(),
  zstd: createZstdDecompress,
  gzip: () => zlib.createGunzip()
}

/** Undefined: this runtime cannot read the coding. */
export function decompressor({ name }: Coding): Transform | undefined {
  return DECOMPRESSORS[name]?.()
}

/** What does not become smaller by at least this much is not worth a second file. */
const WORTH = 0.95
/** Below this a header of the coding eats the gain. */
const MIN_BYTES = 150

// Types beside text/* whose bytes compress; images and woff2 are compressed already.
const COMPRESSIBLE =
  /^text\/|[/+](?:json|xml|javascript|wasm|svg)$|\+(?:json|xml)$|^font\/(?:ttf|otf)$|^application\/(?:vnd\.ms-fontobject|x-font-ttf)$/

export function isCompressible(path: string, size: number): boolean {
  return size >= MIN_BYTES && COMPRESSIBLE.test(mime.lookup(path) || '')
}

/** Undefined: not worth it. */
export async function compress(bytes: Uint8Array, coding: Coding): Promise<Buffer | undefined> {
  const compressed = await COMPRESSORS[coding.name]?.(bytes)
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
  const expanding = decompressor(coding)
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
