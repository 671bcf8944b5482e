// Whether two files have the same bytes.
import { PIECE_BYTES, readInto, withFile, type OpenFile } from './open-file.ts'

/** Reads them in pieces, as they may be larger than memory. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  const same = withFile(one, a => withFile(other, b => sameContent(a, b)))
  return (await same) ?? false
}

async function sameContent(a: OpenFile, b: OpenFile): Promise<boolean> {
  if (a.stats.size !== b.stats.size) return false
  const length = Math.min(PIECE_BYTES, Number(a.stats.size))
  const pieces = [a, b].map(file => ({ file, buffer: Buffer.alloc(length) }))
  for (let at = 0; at < a.stats.size; at += length) {
    const [left, right] = await Promise.all(
      pieces.map(async ({ file, buffer }) => {
        return buffer.subarray(0, await readInto(buffer, file, at))
      })
    )
    if (!left || !right?.equals(left)) return false
  }
  return true
}
