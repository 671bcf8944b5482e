// One request inside koaHttpCache: what ctx.fresh was asked, and the verdict that halts the route.
import type { Context } from 'koa'

import { formatHttpDate } from '../http/dates.ts'
import { evaluatePreconditions, type Outcome } from '../http/preconditions.ts'
import type { Validators } from '../http/validators.ts'
import { checkKeys, isRecord, mismatch } from './complaints.ts'
import { halted } from './halt.ts'
import { type FreshValidators, identify } from './identify.ts'
import { Question, Rejection } from './question.ts'
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

/** The answer that is decided, whatever the route still does. */
export interface Verdict {
  readonly status: 304 | 412
  readonly validators: Validators
}

// What is decided at once is told by promises made once.
const YES = Promise.resolve(true)
const NO = Promise.resolve(false)

export class Visit {
  /** Those of the innermost koaHttpCache that the request is in; `undefined` outside. */
  settings: HttpCacheSettings | undefined = undefined
  verdict: Verdict | undefined = undefined
  /** Why the last question came out as it did. */
  reason = 'ctx.fresh was not asked'
  private readonly ctx: Context
  private questions: Question[] | undefined = undefined
  private uncalled = 0

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  /** The function behind `ctx.fresh`. Reading it counts, so that one who takes it for a boolean shows. */
  get fresh(): Fresh {
    this.uncalled++
    // Not kept: V8 keeps a request alive for a while when a function made for it is stored on an object.
    return (validators, options) => {
      // One who kept the function may call it more often than it was read.
      if (this.uncalled > 0) this.uncalled--
      return this.ask(validators, options)
    }
  }

  /** Whether somebody read `ctx.fresh` without calling it, as those who want Koa's boolean do. */
  get isMisread(): boolean {
    return this.uncalled > 0
  }

  /** Whether the route asked without waiting for the answer. */
  get isForgotten(): boolean {
    return this.questions !== undefined && this.questions.some(question => !question.isAwaited)
  }

  /** Waits for the questions that the route did not wait for, and throws what they came to. */
  async settle(): Promise<void> {
    for (const question of this.questions ?? []) {
      const answer = await question.answer
      if (answer instanceof Rejection && !question.isAwaited) throw answer.reason
    }
  }

  /** Sets the validators and compares the request with them. */
  judge(validators: Validators, settings: HttpCacheSettings): Outcome {
    const { method, headers } = this.ctx.req
    this.show(validators)
    const outcome = evaluatePreconditions(method ?? '', headers, validators, settings)
    if (settings.trace) this.reason = explain(method ?? '', headers, validators, outcome)
    return outcome
  }

  /** Makes the outcome the answer. The first one counts. */
  latch(outcome: Exclude<Outcome, 'proceed'>, validators: Validators): void {
    this.verdict ??= { status: outcome === 'failed' ? 412 : 304, validators }
  }

  /** Sets the headers, unless they are there: a route that was not awaited may have set others. */
  show({ etag, lastModified }: Validators): void {
    if (etag !== undefined) this.set('ETag', etag)
    if (lastModified !== undefined) this.set('Last-Modified', formatHttpDate(lastModified))
  }

  private set(name: string, value: string): void {
    const { res, response } = this.ctx
    if (res.getHeader(name) !== value) response.set(name, value)
  }

  private ask(
    given: FreshValidators | PromiseLike<FreshValidators>,
    options?: FreshOptions
  ): Promise<boolean> {
    const { settings } = this
    try {
      const halt = options === undefined || readHalt(options)
      if (!isPromise(given)) return this.answer(given, halt, settings)
      return this.track(Promise.resolve(given).then(state => this.answer(state, halt, settings)))
    } catch (error) {
      return this.track(Promise.reject(error))
    }
  }

  private track(answer: Promise<boolean>): Question {
    const question = new Question(answer)
    this.questions ??= []
    this.questions.push(question)
    return question
  }

  private answer(
    state: FreshValidators,
    halt: boolean,
    settings: HttpCacheSettings | undefined
  ): Promise<boolean> {
    // Too late: the answer is on its way, or the request has left.
    if (settings === undefined || this.settings === undefined || this.ctx.res.headersSent) return NO
    if (this.verdict === undefined) {
      const validators = identify(state, settings.version(this.ctx))
      const outcome = this.judge(validators, settings)
      if (outcome === 'proceed') return NO
      if (halt) this.latch(outcome, validators)
    }
    return halt && this.verdict !== undefined ? halted(this.verdict.status) : YES
  }
}

function isPromise(given: unknown): given is PromiseLike<FreshValidators> {
  return typeof given === 'object' && given !== null && 'then' in given
}

function readHalt(options: FreshOptions): boolean {
  if (!isRecord(options)) throw mismatch('the options of ctx.fresh', 'an object', options)
  checkKeys('option of ctx.fresh', options, ['halt'])
  if (typeof (options.halt ?? true) === 'boolean') return options.halt ?? true
  throw mismatch('halt', 'true or false', options.halt)
}
