// From a build to the disk: fingerprinted files, their compressed copies, the plain names.
import { readFile, unlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AssetError } from '../errors.ts'
import type { Built } from './finish-build.ts'
import { compress, isCompressible, WRITABLE_CODINGS, type Coding } from './compress.ts'
import { missing, statOf } from './disk.ts'
import { digestOfFile, withFingerprint } from './fingerprint.ts'
import { write } from './publish.ts'
import type { Settings } from './settings.ts'
import { isStamped, stamp, writeWhole, type Content } from './write-whole.ts'

export interface Written {
  /** Bytes of the smallest representation. */
  readonly smallest: number
  /** False: it was there already. */
  readonly isNew: boolean
}

/**
 * Writes one asset. The fingerprint in a file's name vouches for its bytes, so that what is there
 * with the right size is not written again, nor compressed again.
 */
export async function writeBuilt(settings: Settings, built: Built): Promise<Written> {
  const plain = join(settings.publicDir, built.path)
  const printed = join(settings.publicDir, withFingerprint(built.path, built.digest))
  const existing = await statOf(printed)
  const there = existing?.isFile() && Number(existing.size) === built.size ? existing : undefined
  if (!there) await writeVerified(settings, printed, built)
  else if (!isStamped(there, built.mtimeNs)) await stamp(printed, built.mtimeNs)
  await write(plain, built.content, built.mtimeNs)
  const sizes = await Promise.all(
    WRITABLE_CODINGS.map(coding => writeCoded(built, plain, printed, coding))
  )
  return { smallest: Math.min(built.size, ...sizes), isNew: there === undefined }
}

/** A source that is edited between being read and being copied must not get the digest of before. */
export async function writeVerified(
  settings: Settings,
  printed: string,
  built: Built
): Promise<void> {
  await writeWhole(printed, built.content, built.mtimeNs)
  if (!('copyOf' in built.content) || (await digestOfFile(printed)) === built.digest) return
  await missing(unlink(printed))
  const source = relative(settings.root, built.source.file)
  throw new AssetError('publish-failed', `${source} was edited while it was published: run again`)
}

/** The size of the compressed copy; Infinity without one. */
async function writeCoded(
  built: Built,
  plain: string,
  printed: string,
  coding: Coding
): Promise<number> {
  const [coded, plainCoded] = [printed + coding.extension, plain + coding.extension]
  const existing = await statOf(coded)
  if (!existing && isCompressible(built.path, built.size)) {
    const bytes = await compress(await bytesOf(built.content), coding)
    if (bytes) await writeWhole(coded, bytes, built.mtimeNs)
  }
  const size = existing ?? (await statOf(coded))
  if (size) await write(plainCoded, { copyOf: coded }, built.mtimeNs)
  // What a former state of the asset left behind is not its compressed copy any more.
  else await missing(unlink(plainCoded))
  return size ? Number(size.size) : Infinity
}

async function bytesOf(content: Content): Promise<Uint8Array> {
  return 'copyOf' in content ? readFile(content.copyOf) : content
}
