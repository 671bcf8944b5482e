// One page that is connected to the live channel (the HTML standard, "Server-sent events").
import { PassThrough } from 'node:stream'
import type { Context } from 'koa'
import { suppressDisconnects } from '../../serving/koa/serve.ts'
import type { AssetState, Part } from './page-state.ts'

const MAX_USED = 1000

/** Proxies end a connection on which nothing is sent, often after 30 s. */
const HEARTBEAT_MS = 15_000

/** For a page that does not read what it is sent. */
const MAX_WAITING_BYTES = 256 * 1024

export class Connection {
  /** The URL paths that the page has requested. */
  readonly used: readonly string[]
  /** Given to Koa, so middleware in front can set fields and cookies after it. */
  readonly #events = new PassThrough()
  readonly #server: { readonly listening?: boolean } | undefined
  /** When the page was opened, in milliseconds since 1970; Infinity for one that was connected before. */
  readonly #openedAt: number
  #told = ''
  #writtenAt = 0

  /**
   * @param prefix of the paths that do not begin with a slash
   * @param onClose is called when the page has been closed
   */
  constructor(ctx: Context, prefix: string, onClose: () => void) {
    const query = new URLSearchParams(ctx.querystring)
    const paths = (query.get('use') ?? '').split('\n', MAX_USED).filter(Boolean)
    this.used = [...new Set(paths.map(path => (path.startsWith('/') ? path : prefix + path)))]
    const age = Number(query.get('age') ?? NaN)
    this.#openedAt = age >= 0 ? Date.now() - age : Infinity
    this.#server = Reflect.get(ctx.req.socket, 'server') as { listening?: boolean } | undefined
    suppressDisconnects(ctx)
    ctx.type = 'text/event-stream'
    ctx.set({
      // If compressed, events would wait for more of them.
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no'
    })
    ctx.body = this.#events
    ctx.res.once('close', () => {
      this.#events.destroy()
      onClose()
    })
    // It sends the head of the response: until then the browser is still connecting.
    this.#write(':\n\n')
  }

  /** Tells the page what has changed, if anything has. */
  tell(shared: readonly Part[], assets: ReadonlyMap<string, AssetState | undefined>): void {
    const used = this.used.flatMap(path => assets.get(path) ?? [])
    const parts = [...shared, ...used.map(({ part }) => part)].map(({ changedAt, ...part }) => {
      // Between opening the page and connecting. A time in the future would reload the page again and again.
      const isLate = changedAt > this.#openedAt && changedAt <= Date.now()
      return { ...part, isLate }
    })
    // One source may break several assets.
    const problems = new Set(
      used.flatMap(({ problem }) => (problem ? JSON.stringify(problem) : []))
    )
    const state = `{"parts":${JSON.stringify(parts)},"problems":[${[...problems].join()}]}`
    if (state === this.#told) return
    this.#told = state
    this.#write(`data: ${state}\n\n`)
  }

  /** Sends a comment from time to time, and ends when the server no longer accepts connections. */
  keepAlive(): void {
    if (this.#server?.listening === false) this.#events.end()
    else if (performance.now() - this.#writtenAt > HEARTBEAT_MS) this.#write(':\n\n')
  }

  #write(text: string): void {
    const events = this.#events
    this.#writtenAt = performance.now()
    if (!events.writable) return
    events.write(text)
    if (events.readableLength + events.writableLength > MAX_WAITING_BYTES) events.destroy()
  }
}
