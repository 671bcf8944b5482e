// What is sent of a delta, and deltas whose seal is right and that lead to something else.
import { sealDelta } from '../../../lib/extras/deltas/delta-format.ts'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import { deltaFile, sha256 } from '../../support/deltas.ts'

/** A delta as it is sent. */
export function deltaSent(old: string, next: string): Buffer {
  return deltaFile(old, next).subarray(0, -40)
}

/** The file of a delta with several frames, one after the other. */
export function forgedFile(
  old: string,
  dictionary: string,
  next: string,
  ...pieces: string[]
): Buffer {
  const frames = pieces.map(piece => deltaFile(old, piece).subarray(40, -40))
  return sealDelta(sha256(dictionary), Buffer.concat(frames), digestOf(next))
}
