// The compressed copies that this version of Node can make, in the order of their names.
import * as zlib from 'node:zlib'
import * as known from '../../lib/runtime/files/codings.ts'

const zstd = 'zstdCompress' in zlib

export const COPIES = ['.br', '.gz', ...(zstd ? ['.zst'] : [])]
export const CODINGS = ['br', 'gzip', 'identity', ...(zstd ? ['zstd'] : [])]

/** The codings that this Node can write. */
export const WRITABLE_CODINGS = known.CODINGS.filter(({ compress }) => compress)
