// A result of ctx.fresh that records whether it is awaited. It rejects only towards those who listen, so a
// missing await is not an unhandled rejection; koaHttpCache reports it instead.

/** What `ctx.fresh` resolves to: the status that the preconditions require, else `false`. */
export type FreshOutcome = false | 304 | 412

/** The outcome of a result that was rejected. */
export class Rejection {
  readonly reason: unknown

  constructor(reason: unknown) {
    this.reason = reason
  }
}

export class PendingResult implements Promise<FreshOutcome> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly outcome: Promise<FreshOutcome | Rejection>
  isAwaited = false

  constructor(outcome: Promise<FreshOutcome>) {
    this.outcome = outcome.catch((reason: unknown) => new Rejection(reason))
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Value = FreshOutcome, Caught = never>(
    onFulfilled?: ((value: FreshOutcome) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null
  ): Promise<Value | Caught> {
    this.isAwaited = true
    return this.outcome
      .then(outcome => {
        if (outcome instanceof Rejection) throw outcome.reason
        return outcome
      })
      .then(onFulfilled, onRejected)
  }

  catch<Caught = never>(
    onRejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null
  ): Promise<FreshOutcome | Caught> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<FreshOutcome> {
    return this.then(undefined).finally(onFinally)
  }
}
