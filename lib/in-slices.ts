// Long work that gives way to requests at every `yield`.
import { setImmediate } from 'node:timers/promises'

/** Work that stops now and then, and returns its result at the end. */
export type Sliced<T> = Generator<void, T>

/** For a request's path: what else waits has its turn at every stop. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await setImmediate()
  }
}

/** For start, and for what is short: without a stop. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
