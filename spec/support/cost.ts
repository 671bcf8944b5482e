// What work costs, where nothing but time can show it: in processor time, and compared with other work
// of the same moment, so that a busy machine changes nothing.

/** The first rounds pay for the compiling of the code; the last ones are for a machine that is busy. */
const [MIN_ROUNDS, MAX_ROUNDS] = [3, 40]
/** Microseconds: what costs less is as good as nothing. */
const FLOOR = 100

/** Processor time of this process, in microseconds. */
function costOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Whether the work costs at most so many times what the control does, each at its best. */
export function costsAtMost(times: number, work: () => unknown, control: () => unknown): boolean {
  let [ours, theirs] = [Infinity, Infinity]
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    theirs = Math.min(theirs, costOf(control))
    ours = Math.min(ours, costOf(work))
    if (round >= MIN_ROUNDS && ours <= times * Math.max(FLOOR, theirs)) return true
  }
  return false
}

/**
 * Whether four times as much takes about four times as long, and not sixteen times, as it would if
 * the cost grew with the square.
 */
export function growsInProportion(size: number, work: (size: number) => unknown): boolean {
  return costsAtMost(
    9,
    () => work(size * 4),
    () => work(size)
  )
}
