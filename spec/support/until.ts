import { availableParallelism, loadavg } from 'node:os'
import { setTimeout } from 'node:timers/promises'

// What comes soon is seen soon; what takes longer is not asked for all the time.
const [SOON_MS, LATER_MS, SOON_TIMES] = [2, 10, 10]
// Half a minute on an idle machine.
const LIMIT_TIMES = 3000

/** How many processes want each processor: so many times longer takes what is waited for, while the asking mostly sleeps. */
function crowd(): number {
  const [running = 0] = loadavg()
  return Math.max(1, running / availableParallelism())
}

/** Asks again and again until the answer is yes, for what comes when the system pleases. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  limit = LIMIT_TIMES
): Promise<void> {
  for (let times = 0; !(await holds()); times++) {
    if (times >= limit && times >= limit * crowd())
      throw new Error(`still not when asked ${times} times: ${what}`)
    await setTimeout(times < SOON_TIMES ? SOON_MS : LATER_MS)
  }
}

/** Until the clock has left the tick in which something was written: a younger file is read again. */
export async function untilSettled(): Promise<void> {
  const start = Date.now()
  await until(() => Date.now() - start > 50, 'the clock goes on')
}
