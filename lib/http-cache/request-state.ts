// One request inside koaHttpCache: what ctx.fresh was asked, and the verdict that halts the route.
import type { Context } from 'koa'

import { formatHttpDate } from '../http/dates.ts'
import { evaluatePreconditions, isRetrieval, type Outcome } from '../http/preconditions.ts'
import type { Validators } from '../http/validators.ts'
import type { HeaderField } from './cache-directive.ts'
import {
  type Fresh,
  type FreshOptions,
  type GivenValidators,
  isPromise,
  readHalt
} from './fresh.ts'
import { halted, isHalt } from './halt.ts'
import { type FreshValidators, identify } from './identify.ts'
import { type FreshOutcome, PendingResult, Rejection } from './pending-result.ts'
import type { Defaults, HttpCacheSettings } from './settings.ts'
import { reasonFor } from './trace.ts'

/** The answer that is decided, whatever the route still does. */
export interface Verdict {
  readonly status: 304 | 412
  readonly validators: Validators
}

interface Filled {
  readonly defaults: Defaults
  readonly fields: readonly HeaderField[]
}

// What is decided at once without a halt is told by promises made once.
const NO = Promise.resolve(false as const)
const STATUS = { 304: Promise.resolve(304 as const), 412: Promise.resolve(412 as const) } as const

export class RequestState {
  /** Those of the innermost koaHttpCache that the request is in; `undefined` outside. */
  settings: HttpCacheSettings | undefined = undefined
  verdict: Verdict | undefined = undefined
  /** Why the last result came out as it did. */
  reason = 'ctx.fresh was not asked'
  /** Whether the halt ended the route, so that nothing behind it ran. */
  isHalted = false
  /** Whether the response has validators of `ctx.fresh`. */
  hasValidators = false
  /** Whether the cookies of the response are for everybody, as `{ cookies: 'shared' }` says. */
  sharesCookies = false
  /** What the innermost koaHttpCache wrote because the route did not. */
  filled: Filled | undefined = undefined
  private readonly ctx: Context
  private pending: PendingResult[] | undefined = undefined
  private written: HeaderField[] | undefined = undefined
  private uncalled = 0

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  /** The function behind `ctx.fresh`. Reading it counts, so that one who takes it for a boolean shows. */
  get fresh(): Fresh {
    this.uncalled++
    // Not kept: V8 keeps a request alive for a while when a function made for it is stored on an object.
    const fresh = (given: GivenValidators, options?: FreshOptions): Promise<FreshOutcome> => {
      // One who kept the function may call it more often than it was read.
      if (this.uncalled > 0) this.uncalled--
      return this.ask(given, options)
    }
    // Only `halt: false` resolves to a status.
    return fresh as Fresh
  }

  /** Whether somebody read `ctx.fresh` without calling it, as those who want Koa's boolean do. */
  get isMisread(): boolean {
    return this.uncalled > 0
  }

  /** Whether the route asked without waiting for the answer. */
  get isForgotten(): boolean {
    return this.pending !== undefined && this.pending.some(result => !result.isAwaited)
  }

  /** Waits for the pending that the route did not wait for, and throws what they failed with. */
  async awaitForgotten(): Promise<void> {
    for (const result of this.pending ?? []) {
      const answer = await result.answer
      if (!(answer instanceof Rejection) || result.isAwaited || isHalt(answer.reason)) continue
      throw answer.reason
    }
  }

  /** Sets fields about caching for the route, and remembers those that it wrote before it failed. */
  write(fields: readonly HeaderField[]): void {
    for (const { name, value } of fields) this.ctx.set(name, value)
    if (this.ctx.status < 500) this.written = [...(this.written ?? []), ...fields]
  }

  /** Removes what `write` set; returns whether there was anything. */
  withdraw(): boolean {
    const { written = [] } = this
    this.written = undefined
    this.remove(written)
    return written.length > 0
  }

  /** Removes fields, as far as they have these values still. */
  remove(fields: readonly HeaderField[]): void {
    const { ctx } = this
    for (const { name, value } of fields) if (ctx.res.getHeader(name) === value) ctx.remove(name)
  }

  /** From now on no result is forgotten: it was said. */
  forgive(): void {
    this.pending = undefined
  }

  /** Sets the validators, if the response may have them, and compares the request with them. */
  judge(validators: Validators, settings: HttpCacheSettings): Outcome {
    const { method, headers } = this.ctx.req
    if (isRetrieval(method)) this.show(validators)
    const outcome = evaluatePreconditions(method ?? '', headers, validators, settings)
    if (settings.trace) this.reason = reasonFor(method ?? '', headers, validators, outcome)
    return outcome
  }

  /** Makes the outcome the answer. The first one counts. */
  latch(outcome: Exclude<Outcome, 'proceed'>, validators: Validators): void {
    this.verdict ??= { status: statusOf(outcome), validators }
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

  private ask(given: GivenValidators, options?: FreshOptions): Promise<FreshOutcome> {
    const { settings } = this
    try {
      const halt = options === undefined || readHalt(options)
      if (isPromise(given)) {
        return this.track(Promise.resolve(given).then(state => this.answer(state, halt, settings)))
      }
      const answer = this.answer(given, halt, settings)
      return this.mustBeAwaited(settings) ? this.track(answer) : answer
    } catch (error) {
      return this.track(Promise.reject(error))
    }
  }

  // Whether it is said that an await was forgotten: in development always; elsewhere where work may run that
  // the response denies.
  private mustBeAwaited(settings: HttpCacheSettings | undefined): boolean {
    return settings?.isDevelopment === true || !isRetrieval(this.ctx.req.method)
  }

  private track(answer: Promise<FreshOutcome>): PendingResult {
    const result = new PendingResult(answer)
    this.pending ??= []
    this.pending.push(result)
    return result
  }

  private answer(
    state: FreshValidators,
    halt: boolean,
    settings: HttpCacheSettings | undefined
  ): Promise<FreshOutcome> {
    // Too late: the response is on its way, or the request has left.
    if (settings === undefined || this.settings === undefined || this.ctx.res.headersSent) return NO
    const status = this.verdict?.status ?? this.decide(state, halt, settings)
    if (status === undefined) return NO
    return halt ? halted(status) : STATUS[status]
  }

  private decide(
    state: FreshValidators,
    halt: boolean,
    settings: HttpCacheSettings
  ): 304 | 412 | undefined {
    const validators = identify(state, settings.version(this.ctx))
    const outcome = this.judge(validators, settings)
    if (validators.etag !== undefined || validators.lastModified !== undefined) {
      this.hasValidators = true
    }
    if (outcome === 'proceed') return undefined
    if (halt) this.latch(outcome, validators)
    return statusOf(outcome)
  }
}

function statusOf(outcome: Exclude<Outcome, 'proceed'>): 304 | 412 {
  return outcome === 'failed' ? 412 : 304
}
