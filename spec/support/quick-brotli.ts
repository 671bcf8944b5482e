// Preloaded by the lane system, which precompiles real packages: most of the time would go into the best level of brotli,
// whose bytes spec/runtime/files/disk.spec.ts compares.
import { syncBuiltinESMExports } from 'node:module'
import zlib from 'node:zlib'

const { brotliCompress } = zlib
const quick = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }

Object.assign(zlib, {
  brotliCompress: (bytes: Uint8Array, _: object, done: zlib.CompressCallback) =>
    brotliCompress(bytes, quick, done)
})
syncBuiltinESMExports()
