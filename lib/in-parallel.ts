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
