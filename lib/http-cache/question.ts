// What ctx.fresh gives back: a promise that rejects only towards those who listen to it. So a forgotten
// await is neither an unhandled rejection nor an error that nobody hears of.
import { Halt } from './halt.ts'
import type { FreshValidators } from './identify.ts'

/** What a question came to when it did not come to true or false. */
export class Rejection {
  readonly reason: unknown

  constructor(reason: unknown) {
    this.reason = reason
  }
}

type Answer = boolean | Rejection
type Judge = (state: FreshValidators) => boolean | Halt

export class Question implements Promise<boolean> {
  readonly [Symbol.toStringTag] = 'Promise'
  /** At once, unless the validators were promised: then a forgotten await loses nothing. */
  readonly answer: Answer | Promise<Answer>
  isAwaited = false

  constructor(given: FreshValidators | PromiseLike<FreshValidators>, judge: Judge) {
    this.answer = isPromise(given)
      ? Promise.resolve(given).then(
          state => consider(state, judge),
          (reason: unknown) => new Rejection(reason)
        )
      : consider(given, judge)
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Value = boolean, Caught = never>(
    onFulfilled?: ((value: boolean) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null
  ): Promise<Value | Caught> {
    this.isAwaited = true
    // In one step, and without a throw where a listener takes the reason: await does, on every halt.
    return Promise.resolve(this.answer).then(answer => {
      if (answer instanceof Rejection) return reject(answer.reason, onRejected)
      return onFulfilled ? onFulfilled(answer) : (answer as Value)
    })
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

function reject<Caught>(
  reason: unknown,
  onRejected: ((reason: unknown) => Caught | PromiseLike<Caught>) | null | undefined
): Caught | PromiseLike<Caught> {
  if (onRejected) return onRejected(reason)
  throw reason
}

// A halt is returned, not thrown, because exceptions are slow.
function consider(state: FreshValidators, judge: Judge): Answer {
  try {
    const answer = judge(state)
    return answer instanceof Halt ? new Rejection(answer) : answer
  } catch (error) {
    return new Rejection(error)
  }
}

function isPromise(given: unknown): given is PromiseLike<FreshValidators> {
  return typeof given === 'object' && given !== null && 'then' in given
}
