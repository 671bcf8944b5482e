// Runs work only once, or limits how much of it runs at the same time.

/** Rejects with the first failure, or the reason of an aborted signal, when no item is in progress any more. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
  signal?: AbortSignal
): Promise<R[]> {
  const results: R[] = []
  // Shared by the workers. A loop that throws closes the shared generator, so one failure ends all workers.
  const queue = (function* () {
    yield* items.entries()
  })()
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) {
      signal?.throwIfAborted()
      results[at] = await work(item)
    }
  }
  const workers = Array.from({ length: Math.min(limit, items.length) }, worker)
  await Promise.allSettled(workers)
  await Promise.all(workers)
  return results
}

/** Runs the work of each name one at a time. Calls during a run share the next, as the current one may miss changes. */
export function inTurns<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const current = new Map<string, Promise<T>>()
  const next = new Map<string, Promise<T>>()
  return (name, work) => {
    const start = () => {
      next.delete(name)
      const run = work().finally(() => current.delete(name))
      current.set(name, run)
      return run
    }
    const running = current.get(name)
    // Between two runs there is no current one, but the next is already due.
    const due = next.get(name) ?? running?.then(start, start)
    if (!due) return start()
    next.set(name, due)
    return due
  }
}

export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  const run = inTurns<void>()
  return () => run('', work)
}

export async function firstAnswer<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer | undefined> | Answer | undefined
): Promise<Answer | undefined> {
  for (const item of items) {
    const answer = await ask(item)
    if (answer !== undefined) return answer
  }
  return undefined
}

/** Runs the work on the first call. A failure is not remembered: the next call tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  return () => {
    if (known) return known
    known = work()
    // This handler keeps a failure in the background from ending the process.
    known.catch(() => (known = undefined))
    return known
  }
}

export function memoized<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return key => {
    let value = known.get(key)
    if (value === undefined) known.set(key, (value = make(key)))
    return value
  }
}
