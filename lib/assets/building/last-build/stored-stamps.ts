// What was seen of files and folders, as text that outlives the process.
import { statOf, type Stamp } from '../../../files/disk.ts'
import { isFile, lookAgain, type Seen } from '../../../files/seen.ts'

/** A folder has the names that it lacked; no stamp where that tells nothing. */
export type Kept = readonly [path: string, stamp: string, lacks?: readonly string[]]

export function asKept(seen: Seen): Kept {
  const word = seen.stamp ? wordOf(seen.stamp) : ''
  return isFile(seen) ? [seen.path, word] : [seen.path, word, seen.lacks]
}

/** What was seen, as it is now; undefined when any of it has changed. */
export async function lookAtKept(kept: readonly Kept[]): Promise<readonly Seen[] | undefined> {
  const now = await Promise.all(kept.map(lookAtOne))
  return now.includes(undefined) ? undefined : (now as Seen[])
}

async function lookAtOne([path, word, lacks]: Kept): Promise<Seen | undefined> {
  const stamp = await statOf(path)
  if (stamp && wordOf(stamp) === word) return lacks ? { path, stamp, lacks } : { path, stamp }
  return lacks && lookAgain({ path, lacks })
}

export function wordOf({ dev, ino, size, mtimeNs, ctimeNs }: Stamp): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}
