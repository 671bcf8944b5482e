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
