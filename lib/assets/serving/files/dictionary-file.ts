// The earlier version of a file that a delta starts from, in the folder of the file.
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isInPlace, type ServedPlace } from '../../../files/containment.ts'
import { MAX_DELTA_BYTES } from '../../../files/deltas/make-delta.ts'
import { digestOfHash } from '../../../files/digest.ts'
import { errorCode, readOpenFile, withFile } from '../../../files/disk.ts'
import { withFingerprint, withoutHash } from '../../urls/fingerprint.ts'

/**
 * The bytes that have a SHA-256.
 * @param file that the delta leads to, absolute
 * @param plain the name of an asset without its fingerprint; undefined for a bundler's file
 */
export async function readDictionary(
  place: ServedPlace,
  file: string,
  plain: string | undefined,
  sha256: Buffer
): Promise<Buffer | undefined> {
  const names =
    plain === undefined
      ? await namesOfVersions(file)
      : [basename(withFingerprint(plain, digestOfHash(sha256)))]
  for (const name of names) {
    const bytes = await withFile(join(dirname(file), name), async opened => {
      if (opened.stats.size > MAX_DELTA_BYTES || !(await isInPlace(place)(opened))) return undefined
      const snapshot = await readOpenFile(opened)
      const hash = createHash('sha256').update(snapshot.bytes).digest()
      return hash.equals(sha256) ? snapshot.bytes : undefined
    })
    if (bytes) return bytes
  }
  return undefined
}

/** The files that differ from a bundler's in the hash alone. */
async function namesOfVersions(file: string): Promise<readonly string[]> {
  const key = withoutHash(`/${basename(file)}`)
  const names = await namesBeside(file)
  return names.filter(name => {
    const other = withoutHash(`/${name}`)
    return other && other.before === key?.before && other.after === key.after
  })
}

/** The names in the folder of a file; none for a folder that only lets its files be opened. */
export async function namesBeside(file: string): Promise<readonly string[]> {
  try {
    return await readdir(dirname(file))
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return []
  }
}
