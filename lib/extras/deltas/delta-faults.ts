// Finds damaged deltas beside a file, and removes them.
import { removeInPlace, type Boundary } from '../../runtime/files/containment.ts'
import { dictionaryIn, isIntactDelta, isSealedDelta, splitDelta } from './delta-format.ts'
import { digestOf, digestOfHash } from '../../runtime/files/digest.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import type { PublishedFile } from './directory.ts'

/**
 * Says what is wrong with a delta, to be read after its path. It is decoded where this Node can.
 * @param target the file that the delta leads to
 * @param versions files that the delta may start from; if undefined, only its seal is checked
 */
export async function faultOfDelta(
  file: string,
  target: string,
  versions?: readonly string[]
): Promise<string | undefined> {
  const [delta, next] = await Promise.all([readSnapshot(file), readSnapshot(target)])
  if (!delta || !next) return 'cannot be read'
  const hash = dictionaryIn(delta.bytes)
  const isSealed = isSealedDelta(delta.bytes, hash, digestOf(next.bytes))
  if (digestOfHash(hash) !== splitDelta(file)?.digest || !isSealed) {
    return 'is damaged or of another version, so it is not sent'
  }
  for (const version of versions ?? []) {
    const old = (await readSnapshot(version))?.bytes
    if (!old || digestOf(old) !== digestOfHash(hash)) continue
    const isIntact = await isIntactDelta(delta.bytes, old, next.bytes)
    return isIntact ? undefined : 'does not decode to the original'
  }
  return versions && NO_EARLIER
}

const NO_EARLIER =
  'starts from a version that is not beside it, so it is never sent: keep that file, or remove the delta'

/** @returns the deltas that stay, those without a fault */
export async function removeFaulty(
  deltas: readonly PublishedFile[],
  target: string,
  earlier: readonly PublishedFile[],
  place: Boundary
): Promise<readonly string[]> {
  const intact: string[] = []
  for (const { file, digest } of deltas) {
    const versions = earlier.filter(version => version.digest === digest)
    const paths = versions.map(version => version.file)
    if (await faultOfDelta(file, target, paths)) await removeInPlace(place, file)
    else intact.push(file)
  }
  return intact
}
