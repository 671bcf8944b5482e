// Complexity that only time can show: processor time, compared with other work in the same run, so a busy
// machine does not change the result.
import { setFlagsFromString } from 'node:v8'

// The processes of npm test start without it.
setFlagsFromString('--opt')

/** The first rounds include compilation by V8; the last ones are needed on a busy machine only. */
const [MIN_ROUNDS, MAX_ROUNDS] = [3, 40]
/** Microseconds; a cheaper control counts as this much. */
const FLOOR = 100

/**
 * In microseconds: processor time, which other threads of this process add to, or the time that has passed, which other
 * processes add to, whichever is less.
 */
function costOf(work: () => unknown): number {
  const [before, start] = [process.cpuUsage(), performance.now()]
  work()
  const passed = (performance.now() - start) * 1000
  const { user, system } = process.cpuUsage(before)
  return Math.min(user + system, passed)
}

/** Whether the work costs at most `times` as much as the control: the best round of each counts. */
export function costsAtMost(times: number, work: () => unknown, control: () => unknown): boolean {
  let [ours, theirs] = [Infinity, Infinity]
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    theirs = Math.min(theirs, costOf(control))
    ours = Math.min(ours, costOf(work))
    if (round >= MIN_ROUNDS && ours <= times * Math.max(FLOOR, theirs)) return true
  }
  return false
}

/** Whether four times the size costs about four times as much; quadratic work costs sixteen times. */
export function growsInProportion(size: number, work: (size: number) => unknown): boolean {
  return costsAtMost(
    9,
    () => work(size * 4),
    () => work(size)
  )
}
