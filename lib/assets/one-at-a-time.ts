/**
 * Runs `work` one at a time. Who asks while it runs gets the next run, shared with all who ask
 * meanwhile: what the running one has seen may be older than the question.
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
