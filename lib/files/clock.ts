// The clock with which file systems stamp files. It ticks: what changes twice within one tick bears
// the same stamp both times.
import type { Stamp } from './disk.ts'

const SECOND_NS = 1_000_000_000n
/** Kernels stamp files with a clock that ticks every 10 ms at the slowest. */
export const TICK_MS = 20
const TICK_NS = BigInt(TICK_MS) * 1_000_000n
/** Two seconds: FAT stamps even seconds, ext3 and HFS+ whole ones. */
const COARSE_TICK_NS = 2n * SECOND_NS + TICK_NS

/**
 * Whether a file or folder that changes from `now` on, in milliseconds since 1970, will bear another
 * stamp. A file system that stamps whole seconds is recognised by the time of change, which nobody can
 * set; an mtime of whole seconds may have been set by hand.
 */
export function showsChangesAfter({ ctimeNs, mtimeNs }: Stamp, now: number): boolean {
  const tick = ctimeNs % SECOND_NS === 0n ? COARSE_TICK_NS : TICK_NS
  const changed = ctimeNs > mtimeNs ? ctimeNs : mtimeNs
  return changed < BigInt(now) * 1_000_000n - tick
}

/** The same by the time of change alone: an mtime that is yet to come may have been set by hand. */
export function isUnchangedSince({ ctimeNs, ...stamp }: Stamp, moment: number): boolean {
  return showsChangesAfter({ ...stamp, ctimeNs, mtimeNs: ctimeNs }, moment)
}
