// The clock that file systems stamp files with. Two changes within one of its ticks get the same stamp.
import { setTimeout } from 'node:timers/promises'
import type { Stamp } from './disk.ts'

const SECOND_NS = 1_000_000_000n
/** Kernels stamp files with a clock that ticks every 10 ms or more often. */
const TICK_MS = 20
const TICK_NS = BigInt(TICK_MS) * 1_000_000n
/** FAT stamps even seconds, ext3 and HFS+ whole ones. */
const COARSE_TICK_NS = 2n * SECOND_NS + TICK_NS

/**
 * Whether any change from `now` on, in milliseconds since 1970, changes the stamp. A file system that
 * stamps whole seconds is recognised by the change time, which cannot be set; an mtime can.
 */
export function showsChangesAfter(stamp: Stamp, now: number): boolean {
  return isUnchangedSince(stamp, now) && stamp.mtimeNs < BigInt(now) * 1_000_000n - tickOf(stamp)
}

/** Whether the change time is before `moment`; an mtime in the future may have been set. */
export function isUnchangedSince(stamp: Stamp, moment: number): boolean {
  return stamp.ctimeNs < BigInt(moment) * 1_000_000n - tickOf(stamp)
}

function tickOf({ ctimeNs }: Stamp): bigint {
  return ctimeNs % SECOND_NS === 0n ? COARSE_TICK_NS : TICK_NS
}

/** Waits until a file that was written before the call can no longer change without a new stamp. */
export function waitForTick(): Promise<void> {
  return setTimeout(TICK_MS + 1)
}
