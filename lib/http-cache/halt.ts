// The exception that ends a route whose answer is decided.

/** What a route is halted with. `koaHttpCache` answers it; nobody else needs to catch it. */
export class Halt extends Error {
  override readonly name = 'Halt'
  readonly code = 'ERR_HTTP_CACHE_HALT'
  // Koa logs no error that may be shown to the client.
  readonly expose = true
  readonly status: 304 | 412

  constructor(status: 304 | 412) {
    // A halt is no failure whose origin anybody seeks.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(status === 304 ? 'Not Modified' : 'Precondition Failed')
    Error.stackTraceLimit = stackTraceLimit
    this.status = status
  }
}

/** The halts, made once: an exception and a rejected promise would cost more than the answer. */
const HALTED = { 304: rejected(new Halt(304)), 412: rejected(new Halt(412)) } as const

/** A promise rejected with the halt. Nobody has to listen to it: the verdict is latched. */
export function halted(status: 304 | 412): Promise<never> {
  return HALTED[status]
}

function rejected(halt: Halt): Promise<never> {
  const promise = Promise.reject(halt)
  // A listener, so that Node does not take it for a rejection that nobody handles.
  void Promise.allSettled([promise])
  return promise
}
