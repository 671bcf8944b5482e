// Does a thing once, unless it failed.

/** Returns a function that runs a work when it is first called. A failure is not remembered: the next call tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  return () => {
    if (known) return known
    const run = work()
    known = run
    // Thereby a start in the background that fails does not end the process.
    run.catch(() => (known = undefined))
    return run
  }
}
