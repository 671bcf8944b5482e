// The table of content codings (RFC 9110 section 8.4.1): another one is another row.
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'

// Since Node 22.15.
const { zstdCompress, createZstdDecompress, constants } = zlib as typeof zlib & {
  zstdCompress?: (
    bytes: Uint8Array,
    options: { params: Record<number, number>; pledgedSrcSize: number },
    callback: (error: Error | null, result: Buffer) => void
  ) => void
  createZstdDecompress?: () => Transform
  constants: { ZSTD_c_compressionLevel?: number }
}

const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)
const zstd = zstdCompress && promisify(zstdCompress)

export interface Coding {
  /** The token in `Accept-Encoding` and `Content-Encoding`. */
  readonly name: string
  /** Appended to the name of a file for its compressed copy. */
  readonly extension: `.${string}`
  /** Compresses at the best level; undefined when this Node cannot. */
  readonly compress: ((bytes: Uint8Array) => Promise<Buffer>) | undefined
  /** Undefined when this Node cannot decompress it. */
  readonly decompressor: (() => Transform) | undefined
}

/** The coding expected to be smallest first. */
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
    // zlib ignores `level` for zstd, and the default of the parameter is 3. Without the size it prepares
    // tables for 8 MiB, which takes 50 ms for the smallest file.
    compress:
      zstd &&
      (bytes =>
        zstd(bytes, {
          params: { [constants.ZSTD_c_compressionLevel ?? NaN]: 19 },
          pledgedSrcSize: bytes.length
        })),
    decompressor: createZstdDecompress
  },
  {
    name: 'gzip',
    extension: '.gz',
    compress: bytes => gzip(bytes, { level: 9 }),
    decompressor: () => zlib.createGunzip()
  }
]

/** The codings that this Node can write. */
export const WRITABLE_CODINGS = CODINGS.filter(({ compress }) => compress)

/** `/data.json.gz` -> `/data.json`; any other path stays. */
export function withoutCodingExtension(path: string): string {
  const coding = CODINGS.find(({ extension }) => path.endsWith(extension))
  return coding ? path.slice(0, -coding.extension.length) : path
}
