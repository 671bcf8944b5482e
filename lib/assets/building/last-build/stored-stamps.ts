// What was seen of files and folders, as text that outlives the process.
import { statOf, type Stamp } from '../../../files/disk.ts'
import { isFileObservation, recheck, type Observation } from '../../../files/observation.ts'

/** A folder has the names that it lacked; no stamp where that tells nothing. */
export type Kept = readonly [path: string, stamp: string, absent?: readonly string[]]

export function asKept(seen: Observation): Kept {
  const word = seen.stamp ? wordOf(seen.stamp) : ''
  return isFileObservation(seen) ? [seen.path, word] : [seen.path, word, seen.absent]
}

/** What was seen, as it is now; undefined when any of it has changed. */
export async function lookAtKept(
  kept: readonly Kept[]
): Promise<readonly Observation[] | undefined> {
  const now = await Promise.all(kept.map(lookAtOne))
  return now.includes(undefined) ? undefined : (now as Observation[])
}

async function lookAtOne([path, word, absent]: Kept): Promise<Observation | undefined> {
  const stamp = await statOf(path)
  if (stamp && wordOf(stamp) === word) return absent ? { path, stamp, absent } : { path, stamp }
  return absent && recheck({ path, absent })
}

export function wordOf({ dev, ino, size, mtimeNs, ctimeNs }: Stamp): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}
