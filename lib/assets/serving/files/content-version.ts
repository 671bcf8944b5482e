// The ETag of a file that stays on disk is made of its bytes, size and mtime. It is the same on every replica, after a
// chmod, a copy or another hard link: inode and ctime are for the memory of this process alone.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { digestOfHash } from '../../../files/digest.ts'
import { isSettled, mtimeOf, type Stamp } from '../../../files/disk.ts'
import { isUnmodified, readInto, type OpenFile } from '../../../files/open-file.ts'
import { isModificationDate } from '../../../http/validators.ts'

export interface ContentVersion {
  /** The digest of all bytes, where all were read. */
  readonly digest: string | undefined
  /** A text that tells these bytes from others under the same name. */
  readonly version: string
}

const SAMPLES = 64
const SAMPLE_BYTES = 64 * 1024
/** Hashed in about 10 ms. */
const WHOLE_BYTES = SAMPLES * SAMPLE_BYTES

// Also where `memory` keeps no file: a player asks for a film in hundreds of ranges.
const known = new LRUCache<string, ContentVersion>({ max: 10_000 })

/**
 * Digests a file of at most 4 MiB; of a larger one 64 pieces of 64 KiB from its start to its end, with size and mtime.
 * One whose mtime was invented, as npm, zip and Nix do, is digested whole: its next version has the same one.
 */
export async function contentVersionOf(opened: OpenFile): Promise<ContentVersion> {
  const { stats } = opened
  const key = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join('-')
  const found = known.get(key)
  if (found) return found
  const openedAt = Date.now()
  const isWhole = stats.size <= WHOLE_BYTES || !isModificationDate(mtimeOf(stats))
  const digest = await digestOfPieces(opened, isWhole ? undefined : SAMPLES)
  const isSame = await isUnmodified(opened)
  const made =
    isWhole && isSame
      ? { digest, version: digest }
      : { digest: undefined, version: `${digest}-${numbersOf(stats)}` }
  if (isSame && isSettled(stats, openedAt)) known.set(key, made)
  return made
}

function numbersOf({ size, mtimeNs }: Stamp): string {
  return [size, mtimeNs].map(number => number.toString(16)).join('-')
}

/** @param count of pieces, from the first bytes to the last ones; undefined: all bytes */
async function digestOfPieces(opened: OpenFile, count: number | undefined): Promise<string> {
  const size = Number(opened.stats.size)
  const pieces = count ?? Math.ceil(size / SAMPLE_BYTES)
  const step = count === undefined ? SAMPLE_BYTES : (size - SAMPLE_BYTES) / (count - 1)
  const piece = Buffer.allocUnsafe(SAMPLE_BYTES)
  const sha256 = createHash('sha256')
  for (let at = 0; at < pieces; at++) {
    const length = await readInto(piece, opened, Math.floor(at * step))
    sha256.update(piece.subarray(0, length))
  }
  return digestOfHash(sha256.digest())
}
