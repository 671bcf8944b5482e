// A question of ctx.fresh that has no answer yet, or that failed: a promise that rejects only towards those
// who listen to it. So a forgotten await is neither an unhandled rejection nor an error that nobody hears of.

/** What a question came to when it did not come to true or false. */
export class Rejection {
  readonly reason: unknown

  constructor(reason: unknown) {
    this.reason = reason
  }
}

export class Question implements Promise<boolean> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly answer: Promise<boolean | Rejection>
  isAwaited = false

  constructor(answer: Promise<boolean>) {
    this.answer = answer.catch((reason: unknown) => new Rejection(reason))
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Value = boolean, Caught = never>(
    onFulfilled?: ((value: boolean) => Value | PromiseLike<Value>) | null,
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
  ): Promise<boolean | Caught> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<boolean> {
    return this.then(undefined).finally(onFinally)
  }
}
