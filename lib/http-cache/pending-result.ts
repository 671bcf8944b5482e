// A result of ctx.fresh that knows whether anybody waits for its answer: a promise that rejects only towards
// those who listen to it. So a forgotten await is neither an unhandled rejection nor an error that nobody hears
// of.

/** What `ctx.fresh` resolves to: the status where the route has to respond 304 or 412, else false. */
export type FreshOutcome = false | 304 | 412

/** What a result came to when it was rejected. */
export class Rejection {
  readonly reason: unknown

  constructor(reason: unknown) {
    this.reason = reason
  }
}

export class PendingResult implements Promise<FreshOutcome> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly answer: Promise<FreshOutcome | Rejection>
  isAwaited = false

  constructor(answer: Promise<FreshOutcome>) {
    this.answer = answer.catch((reason: unknown) => new Rejection(reason))
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Value = FreshOutcome, Caught = never>(
    onFulfilled?: ((value: FreshOutcome) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null
  ): Promise<Value | Caught> {
    this.isAwaited = true
    return this.answer
      .then(answer => {
        if (answer instanceof Rejection) throw answer.reason
        return answer
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
