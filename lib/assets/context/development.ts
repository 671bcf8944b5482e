// Responses in development only: what is under `<prefix>/-/`, for requests from this machine and no others, and what
// has to be fixed first.
import type { Context, Next } from 'koa'
import type { AssetError } from '../../errors.ts'
import { isLocal, isOwnPage } from '../../http/requests.ts'
import type { Pages } from '../parts.ts'
import type { Pipeline } from '../pipeline.ts'
import { reportErrorPage } from '../serving/koa/no-file.ts'
import { isRead, rawPath } from '../serving/request-path.ts'
import type { LiveSettings, Settings } from '../settings/settings.ts'
import { encodePath } from '../urls/canonical-path.ts'

export type Development = ReturnType<typeof makeDevelopment>

export function makeDevelopment(pipeline: Pipeline, { hosts }: LiveSettings) {
  /** `/assets/-/` */
  const start = `${encodePath(pipeline.settings.prefix)}/-/`
  let pages: Promise<Pages> | undefined
  const load = async (): Promise<Pages> => {
    const made: Pages[] = []
    await pipeline.load()
    // One import after the other, as Jest needs it.
    for (const extra of pipeline.settings.extras) {
      const pages = await extra.pages?.(pipeline)
      if (pages) made.push(pages)
    }
    return Object.assign(Object.create(null) as Pages, ...made)
  }
  /** Whether a page may have the tag of the live channel. */
  const isAllowed = (req: Context['req']) => isLocal(req, hosts)
  return {
    isAllowed,
    /** @param next for a request that is not for it */
    async respond(ctx: Context, next: Next): Promise<unknown> {
      const { req } = ctx
      const path = rawPath(req.url ?? '')
      const isFor = path.startsWith(start) && isRead(req)
      if (!isFor || !isAllowed(req) || !isOwnPage(req.headers)) return next()
      const handler = (await (pages ??= load()))[path.slice(start.length)]
      if (!handler) return next()
      // For browsers without Fetch Metadata; browsers do not send it over http to the names in `hosts` either.
      ctx.set('Content-Security-Policy', "frame-ancestors 'none'")
      return handler(ctx)
    }
  }
}

/** What has to be fixed first: as a page for browsers, else as text. */
export async function showError(
  ctx: Context,
  error: AssetError,
  settings: Settings
): Promise<void> {
  const type = ctx.accepts('text', 'html') === 'html' ? 'html' : 'text'
  const { errorPage } = await import('../inventory/error-page.ts')
  ctx.status = error.status
  ctx.type = type
  ctx.set('Cache-Control', 'no-store')
  ctx.body = await errorPage(error, settings, type)
  reportErrorPage(ctx, error)
  ctx.app.emit('error', error, ctx)
}
