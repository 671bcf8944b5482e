import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import test from 'ava'
import { compareCopy, CODINGS, WRITABLE_CODINGS, type Coding } from '../../lib/files/codings.ts'
import { digestOf } from '../../lib/files/digest.ts'

type Best = (bytes: Uint8Array) => Buffer

// Since Node 22.15.
const { zstdCompressSync, constants } = zlib as typeof zlib & {
  zstdCompressSync?: (bytes: Uint8Array, options: { params: Record<number, number> }) => Buffer
  constants: { ZSTD_c_compressionLevel: number }
}

const BEST: Readonly<Record<string, Best>> = {
  br: bytes => zlib.brotliCompressSync(bytes),
  gzip: bytes => zlib.gzipSync(bytes, { level: 9 }),
  zstd: bytes =>
    zstdCompressSync?.(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }) ??
    Buffer.alloc(0)
}

test('every coding that this Node can write is written at its best level', async t => {
  const bytes = readFileSync('node_modules/bootstrap/dist/css/bootstrap.css')
  t.deepEqual(
    WRITABLE_CODINGS.map(({ name }) => name),
    zstdCompressSync ? ['br', 'zstd', 'gzip'] : ['br', 'gzip']
  )
  for (const coding of WRITABLE_CODINGS) {
    const compressed = await coding.compress?.(bytes)
    const best = BEST[coding.name]?.(bytes).length ?? 0
    t.true(compressed && compressed.length <= best * 1.01, `${coding.name}: ${compressed?.length}`)
    t.true(compressed && (await expandsTo(bytes, compressed, coding)), coding.name)
  }
})

test('what is of no coding that this Node can read is a copy of nothing', async t => {
  for (const coding of CODINGS) {
    for (const bytes of [Buffer.alloc(0), Buffer.from('broken')]) {
      t.false(await expandsTo(bytes, Buffer.from('broken'), coding), coding.name)
    }
  }
})

async function expandsTo(bytes: Buffer, compressed: Buffer, coding: Coding): Promise<boolean> {
  const original = { size: bytes.length, digest: digestOf(bytes) }
  return (await compareCopy(original, () => Readable.from([compressed]), coding)) === 'equal'
}
