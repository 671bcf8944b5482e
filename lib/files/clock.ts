// The clock with which file systems stamp files, and the mtimes of targets, which servers such as nginx turn
// into validators.
import { utimes } from 'node:fs/promises'
import type { Stamp } from './disk.ts'

const SECOND_NS = 1_000_000_000n
/** Kernels stamp files with a clock that ticks every 10 ms or more often: two changes within a tick are one. */
const TICK_NS = 20_000_000n
/** FAT stamps even seconds, ext3 and HFS+ whole ones. */
const COARSE_TICK_NS = 2n * SECOND_NS + TICK_NS

/**
 * Whether any change from `now` on, in milliseconds since 1970, changes the stamp. A file system that
 * stamps whole seconds is recognised by the change time, which cannot be set; an mtime can.
 */
export function showsChangesAfter(stamp: Stamp, now: number): boolean {
  return isUnchangedSince(stamp, now) && stamp.mtimeNs < lastTickBefore(now, stamp)
}

/** Whether the change time is before `moment`; an mtime in the future may have been set. */
export function isUnchangedSince(stamp: Stamp, moment: number): boolean {
  return stamp.ctimeNs < lastTickBefore(moment, stamp)
}

function lastTickBefore(moment: number, { ctimeNs }: Stamp): bigint {
  const tick = ctimeNs % SECOND_NS === 0n ? COARSE_TICK_NS : TICK_NS
  return BigInt(moment) * 1_000_000n - tick
}

export async function setMtime(path: string, mtimeNs: bigint): Promise<void> {
  const seconds = Number(mtimeNs) / 1e9
  await utimes(path, seconds, seconds)
}

/** An mtime that is no earlier than this after `setMtime`: a copy older than its original is not served. */
export function mtimeNotBefore(mtimeNs: bigint): bigint {
  // The double is up to 120 ns off, and `utimes` truncates it to microseconds.
  return (mtimeNs / 1000n + 2n) * 1000n
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
 * anything else. The target itself thus records how often it got different bytes with the same mtime.
 */
export function secondsLater(target: Stamp, expected: bigint): number | undefined {
  const seconds = Math.round(Number(target.mtimeNs - expected) / 1e9)
  if (seconds < 0 || seconds > MAX_SECONDS_LATER) return undefined
  return hasMtime(target, addSeconds(expected, seconds)) ? seconds : undefined
}

export function addSeconds(mtimeNs: bigint, seconds: number): bigint {
  return mtimeNs + BigInt(seconds) * SECOND_NS
}
