// One request inside koaHttpCache: what ctx.fresh was asked, and the verdict that halts the route.
import type { Context } from 'koa'

import { formatHttpDate } from '../http/dates.ts'
import { evaluatePreconditions, type Outcome } from '../http/preconditions.ts'
import type { Validators } from '../http/validators.ts'
import { checkKeys, isRecord, mismatch } from './complaints.ts'
import { type FreshValidators, identify } from './identify.ts'
import type { HttpCacheSettings } from './settings.ts'
import { explain } from './trace.ts'

export interface FreshOptions {
  /** `false` resolves to true where the route would be halted, and lets it go on. Default true. */
  readonly halt?: boolean | undefined
}

/**
 * Sets `ETag` and `Last-Modified`, and answers a conditional request (RFC 9110 section 13.2.2): 304 and
 * 412 halt the route by throwing a `Halt`. Resolves to false where the route has to go on.
 */
export type Fresh = (
  validators: FreshValidators | PromiseLike<FreshValidators>,
  options?: FreshOptions
) => Promise<boolean>

/** What a route is halted with. `koaHttpCache` answers it; nobody else needs to catch it. */
export class Halt extends Error {
  override readonly name = 'Halt'
  readonly code = 'ERR_HTTP_CACHE_HALT'
  // Koa logs no error that may be shown to the client.
  readonly expose = true
  readonly status: 304 | 412

  constructor(status: 304 | 412) {
    super(status === 304 ? 'Not Modified' : 'Precondition Failed')
    this.status = status
  }
}

/** The answer that is decided, whatever the route still does. */
export interface Verdict {
  readonly status: 304 | 412
  readonly validators: Validators
}

// A promise that knows whether anybody waits for it. A forgotten await must neither end the process by
// an unhandled rejection nor hide an error.
class Question extends Promise<boolean> {
  static override get [Symbol.species]() {
    return Promise
  }

  isAwaited = false
  readonly failure: Promise<unknown> = super.then(
    () => undefined,
    (error: unknown) => error
  )

  // oxlint-disable-next-line unicorn/no-thenable -- await calls it
  override then<Value = boolean, Reason = never>(
    onFulfilled?: ((value: boolean) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null
  ): Promise<Value | Reason> {
    this.isAwaited = true
    return super.then(onFulfilled, onRejected)
  }
}

export class Visit {
  /** Those of the innermost koaHttpCache that the request is in; `undefined` outside. */
  settings: HttpCacheSettings | undefined
  verdict: Verdict | undefined
  /** Why the last question came out as it did. */
  reason = 'ctx.fresh was not asked'
  readonly #ctx: Context
  #fresh: Fresh | undefined
  #questions: Question[] | undefined
  #uncalled = 0

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** The function behind `ctx.fresh`. Reading it counts, so that one who takes it for a boolean shows. */
  get fresh(): Fresh {
    this.#uncalled++
    return (this.#fresh ??= (validators, options) => {
      this.#uncalled--
      return this.#ask(validators, options)
    })
  }

  /** Whether somebody read `ctx.fresh` without calling it, as those who want Koa's boolean do. */
  get isMisread(): boolean {
    return this.#uncalled > 0
  }

  /** Waits for the questions that the route did not wait for, and throws what they came to. */
  async settle(): Promise<void> {
    for (const question of this.#questions ?? []) {
      // oxlint-disable-next-line no-await-in-loop -- all of them are under way
      const failure = await question.failure
      if (failure !== undefined && !question.isAwaited) throw failure
    }
  }

  /** Sets the validators and compares the request with them. The first halt counts. */
  judge(validators: Validators, settings: HttpCacheSettings): Outcome {
    const { method, req } = this.#ctx
    this.show(validators)
    const outcome = evaluatePreconditions(method, req.headers, validators, settings)
    if (settings.trace) this.reason = explain(method, req.headers, validators, outcome)
    return outcome
  }

  /** Makes the outcome the answer. */
  latch(outcome: Exclude<Outcome, 'proceed'>, validators: Validators): Verdict {
    return (this.verdict ??= { status: outcome === 'failed' ? 412 : 304, validators })
  }

  show({ etag, lastModified }: Validators): void {
    const date = lastModified === undefined ? undefined : formatHttpDate(lastModified)
    if (etag !== undefined) this.#ctx.set('ETag', etag)
    if (date !== undefined) this.#ctx.set('Last-Modified', date)
  }

  #ask(given: FreshValidators | PromiseLike<FreshValidators>, options: FreshOptions = {}) {
    const { settings } = this
    const question = new Question(resolve => {
      const halt = readHalt(options)
      const answer = (state: FreshValidators) => this.#answer(state, halt, settings)
      resolve(isPromise(given) ? Promise.resolve(given).then(answer) : answer(given))
    })
    this.#questions ??= []
    this.#questions.push(question)
    return question
  }

  #answer(state: FreshValidators, halt: boolean, settings: HttpCacheSettings | undefined): boolean {
    // Too late: the answer is on its way, or the request has left.
    if (settings === undefined || this.settings === undefined || this.#ctx.headerSent) return false
    if (this.verdict === undefined) {
      const validators = identify(state, settings.version(this.#ctx))
      const outcome = this.judge(validators, settings)
      if (outcome === 'proceed') return false
      if (halt) this.latch(outcome, validators)
    }
    if (!halt || this.verdict === undefined) return true
    throw new Halt(this.verdict.status)
  }
}

function readHalt(options: FreshOptions): boolean {
  if (!isRecord(options)) throw mismatch('the options of ctx.fresh', 'an object', options)
  checkKeys('option of ctx.fresh', options, ['halt'])
  if (typeof (options.halt ?? true) === 'boolean') return options.halt ?? true
  throw mismatch('halt', 'true or false', options.halt)
}

function isPromise(given: unknown): given is PromiseLike<FreshValidators> {
  return typeof given === 'object' && given !== null && 'then' in given
}
