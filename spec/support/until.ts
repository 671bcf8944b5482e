import { setTimeout } from 'node:timers/promises'

const LIMIT_MS = 30_000
// What comes soon is seen soon; what takes longer is not asked for all the time.
const [SOON_MS, LATER_MS, SOON_TIMES] = [2, 10, 10]

/** Asks again and again until the answer is yes, for what comes when the system pleases. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  limit = LIMIT_MS
): Promise<void> {
  const end = Date.now() + limit
  for (let times = 0; !(await holds()); times++) {
    if (Date.now() > end) throw new Error(`still not after ${limit} ms: ${what}`)
    await setTimeout(times < SOON_TIMES ? SOON_MS : LATER_MS)
  }
}

/** Until the clock has left the tick in which something was written: a younger file is read again. */
export async function untilSettled(): Promise<void> {
  const start = Date.now()
  await until(() => Date.now() - start > 50, 'the clock goes on')
}
