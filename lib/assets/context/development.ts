// Lets requests from this machine, and no others, reach what is under `<prefix>/-/` in development.
import type { Context, Next } from 'koa'
import { isLocal, isOwnPage } from '../../http/requests.ts'
import type { makeHandlers } from '../development/handlers.ts'
import type { Pipeline } from '../pipeline.ts'
import { isRead, rawPath } from '../serving/request-path.ts'
import type { LiveSettings } from '../settings/settings.ts'
import { encodePath } from '../urls/encode.ts'

export class Development {
  readonly #pipeline: Pipeline
  readonly #hosts: ReadonlySet<string>
  /** `/assets/-/` */
  readonly #start: string
  #handlers: Promise<ReturnType<typeof makeHandlers>> | undefined

  constructor(pipeline: Pipeline, { hosts }: LiveSettings) {
    this.#pipeline = pipeline
    this.#hosts = hosts
    this.#start = `${encodePath(pipeline.settings.prefix)}/-/`
  }

  /** Whether a page may have the tag of the live channel. */
  isAllowed(req: Context['req']): boolean {
    return isLocal(req, this.#hosts)
  }

  /** Undefined for a request that is not for it. */
  respond(ctx: Context, next: Next): Promise<unknown> | undefined {
    const { req } = ctx
    const path = rawPath(req.url ?? '')
    if (!path.startsWith(this.#start) || !isRead(req)) return undefined
    if (!this.isAllowed(req) || !isOwnPage(req.headers)) return undefined
    return this.#respond(ctx, path.slice(this.#start.length), next)
  }

  async #respond(ctx: Context, name: string, next: Next): Promise<unknown> {
    this.#handlers ??= Promise.all([
      import('../development/handlers.ts'),
      this.#pipeline.load()
    ]).then(([room]) => room.makeHandlers(this.#pipeline))
    const handler = (await this.#handlers).get(name)
    if (!handler) return next()
    // For browsers without Fetch Metadata; browsers do not send it over http to the names in `hosts` either.
    ctx.set('Content-Security-Policy', "frame-ancestors 'none'")
    return handler(ctx)
  }
}
