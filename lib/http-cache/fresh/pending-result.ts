// A result of ctx.fresh that records whether it is awaited. Without an await it is not an unhandled rejection:
// koaHttpCache reports it instead.

/** What `ctx.fresh` resolves to: the status that the preconditions require, else `false`. */
export type FreshOutcome = false | 304 | 412

export class PendingResult implements Promise<FreshOutcome> {
  readonly [Symbol.toStringTag] = 'Promise'
  /** Undefined when the outcome was not rejected. Promise.allSettled would cost more. */
  readonly failure: Promise<{ readonly reason: unknown } | undefined>
  isAwaited = false
  readonly #outcome: Promise<FreshOutcome>

  constructor(outcome: Promise<FreshOutcome>) {
    this.#outcome = outcome
    this.failure = outcome.then(
      () => undefined,
      (reason: unknown) => ({ reason })
    )
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Value = FreshOutcome, Caught = never>(
    onFulfilled?: ((value: FreshOutcome) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null
  ): Promise<Value | Caught> {
    this.isAwaited = true
    return this.#outcome.then(onFulfilled, onRejected)
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
