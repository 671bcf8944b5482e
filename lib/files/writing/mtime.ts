// The mtimes of targets, which servers such as nginx turn into validators.
import { utimes } from 'node:fs/promises'
import { statOf, type Stamp } from '../disk.ts'

export async function setMtime(path: string, mtimeNs: bigint): Promise<void> {
  const seconds = Number(mtimeNs) / 1e9
  await utimes(path, seconds, seconds)
}

/** An mtime that `setMtime` sets to one no earlier than this: a copy older than its original is not served. */
export function mtimeNotBefore(mtimeNs: bigint): bigint {
  // The double is up to 120 ns off, and `utimes` truncates it to microseconds.
  return (mtimeNs / 1000n + 2n) * 1000n
}

/** Sets the mtime of a file that exists and has another. */
export async function ensureMtime(path: string, mtimeNs: bigint): Promise<void> {
  const stats = await statOf(path)
  if (stats && !hasMtime(stats, mtimeNs)) await setMtime(path, mtimeNs)
}

/** `utimes` takes a double and truncates to microseconds: the result is less than two off. */
export function hasMtime({ mtimeNs }: Pick<Stamp, 'mtimeNs'>, expected: bigint): boolean {
  const difference = mtimeNs - expected
  return difference < 2000n && difference > -2000n
}

// The number of times a target may get other bytes while the mtime of its inputs stays the same.
const MAX_SECONDS_LATER = 300

/**
 * The whole seconds by which a target's mtime is later than `expected`; undefined when the difference is
 * anything else. The target itself thus records how often it got other bytes of the same mtime.
 */
export function secondsLater({ mtimeNs }: Stamp, expected: bigint): number | undefined {
  const seconds = Math.round(Number(mtimeNs - expected) / 1e9)
  if (seconds < 0 || seconds > MAX_SECONDS_LATER) return undefined
  return hasMtime({ mtimeNs }, addSeconds(expected, seconds)) ? seconds : undefined
}

export function addSeconds(mtimeNs: bigint, seconds: number): bigint {
  return mtimeNs + BigInt(seconds) * 1_000_000_000n
}
