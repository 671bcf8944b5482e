// The exception that ends a route whose answer is decided.

/** What a route is halted with. `koaHttpCache` answers it; nobody else needs to catch it. */
export class Halt extends Error {
  override readonly name = 'Halt'
  readonly code = 'ERR_HTTP_CACHE_HALT'
  // Koa logs no error that may be shown to the client.
  readonly expose = true
  readonly status: 304 | 412

  constructor(status: 304 | 412) {
    // A halt is no failure whose origin anybody seeks, and its stack would cost more than the answer.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(status === 304 ? 'Not Modified' : 'Precondition Failed')
    Error.stackTraceLimit = stackTraceLimit
    this.status = status
  }
}
