// How much happens at once: a bounded number, one at a time, or a piece between two requests.
import { setImmediate } from 'node:timers/promises'

/**
 * Maps over items with at most `limit` under way; results in the items' order. The first failure
 * rejects, as does an aborted signal, and no further item is begun.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
  signal?: AbortSignal
): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  let failed = false
  const lane = async (): Promise<void> => {
    for (const [at, item] of queue) {
      if (failed) return
      signal?.throwIfAborted()
      results[at] = await work(item)
    }
  }
  const lanes = Array.from({ length: Math.min(limit, items.length) }, () =>
    lane().catch(error => {
      failed = true
      throw error
    })
  )
  await Promise.allSettled(lanes)
  await Promise.all(lanes)
  return results
}

/**
 * Runs `work` one at a time. A call while it runs waits for the next run, which all such calls share:
 * the current run may have read something before the call was made.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  const run = (): Promise<void> => {
    next = undefined
    running = work().finally(() => {
      running = undefined
    })
    return running
  }

  return () => {
    // Between two runs none is running, but the next one is on its way.
    if (next) return next
    if (!running) return run()
    next = running.then(run, run)
    return next
  }
}

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
