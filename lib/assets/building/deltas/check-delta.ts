// Whether a delta on disk leads from the earlier version to the file beside it.
import { Readable } from 'node:stream'
import { dictionaryIn, isSealedDelta } from '../../../files/deltas/delta-file.ts'
import { isIntactDelta } from '../../../files/deltas/make-delta.ts'
import { digestOf, digestOfHash } from '../../../files/digest.ts'
import { readSnapshot } from '../../../files/disk.ts'

/**
 * What is wrong with a delta, to be read after its path; undefined for one that is right. Its seal is
 * compared; it is decoded where the earlier version is there and this Node can.
 * @param from the digest of what it starts from
 * @param target the file that it leads to
 * @param older the file of the earlier version
 */
export async function faultOfDelta(
  file: string,
  from: string,
  target: string,
  older: string | undefined
): Promise<string | undefined> {
  const [delta, next] = await Promise.all([readSnapshot(file), readSnapshot(target)])
  if (!delta || !next) return 'cannot be read'
  const hash = dictionaryIn(delta.bytes)
  const isSealed = isSealedDelta(Readable.from([delta.bytes]), hash, digestOf(next.bytes))
  if (digestOfHash(hash) !== from || !(await isSealed)) {
    return 'is damaged or of another version, so it is not sent'
  }
  const old = older === undefined ? undefined : (await readSnapshot(older))?.bytes
  if (!old || digestOf(old) !== from || (await isIntactDelta(delta.bytes, old, next.bytes))) {
    return undefined
  }
  return 'does not decode to the original'
}
