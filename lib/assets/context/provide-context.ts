// Provides the context of a request.
import type { Context, Middleware, Next } from 'koa'
import { AssetError } from '../../errors.ts'
import { opensPage } from '../../http/requests.ts'
import type { Pipeline } from '../pipeline.ts'
import { rawPath } from '../serving/request-path.ts'
import { appOfPage } from '../settings/app-settings.ts'
import type { Settings } from '../settings/settings.ts'
import type { ViewHelpers } from '../views/view-helpers.ts'
import type { Development } from './development.ts'
import { providerWatch } from './neighbours.ts'
import { showError } from './show-error.ts'
import { makePreload, type Preload } from './preload.ts'
import { makeSendFile, type SendFile } from './send-file.ts'

/** What koaAssets adds to Koa's context. */
export interface AssetContext {
  /**
   * The view helpers of the app that the request's path belongs to; templates read them from `ctx.state.assets`.
   *
   * @example
   * ctx.assets.stylesheet('app')
   * // <link href="/assets/app.css" type="text/css" rel="stylesheet">
   * ctx.assets.app('admin').path('menu.js') // /assets/admin/menu.js
   */
  assets: ViewHelpers
  /**
   * Lets the browser fetch assets while the page is still being generated: see {@link Preload}.
   *
   * @example
   * ctx.preload('app.css', 'inter-400.woff2')
   */
  preload: Preload
  /**
   * Responds with one file: see {@link SendFile}.
   *
   * @example
   * await ctx.sendFile(`${report.id}.pdf`, { root: 'data/reports', download: report.title + '.pdf' })
   */
  sendFile: SendFile
}

export function provideContext(
  pipeline: Pipeline,
  development: Development | undefined
): Middleware {
  const { settings } = pipeline
  const preload = makePreload(pipeline)
  const sendFile = makeSendFile(pipeline)
  const hasNames = settings.apps.length > 0 || pipeline.hasNames
  const watch = providerWatch(settings)
  const pageAfter = settings.env === 'development' ? developedAfter(settings) : nextAfter
  return function assetContext(ctx, next): Promise<unknown> {
    if (pipeline.loading) return pipeline.loading.then(() => assetContext(ctx, next))
    ctx.sendFile = sendFile
    // An instance with mounts only, such as behind a session, leaves names to the one in front.
    if (!hasNames && 'assets' in ctx) return next()
    const app = appOfPage(settings, rawPath(ctx.req.url ?? ''))?.name ?? ''
    const isLive = development?.isAllowed(ctx.req) ?? false
    watch?.(ctx)
    provide(ctx, pipeline.viewHelpers(app, isLive))
    ctx.preload = preload
    const refreshed = pipeline.beforePage()
    const responded = refreshed ? pageAfter(refreshed, ctx, next) : next()
    if (!pipeline.hasNames) return responded
    return responded.catch((error: unknown) => {
      // An error page starts afresh: the tags that `entry` has written were for another page.
      provide(ctx, pipeline.viewHelpers(app, isLive))
      throw error
    })
  }
}

function provide(ctx: Context, helpers: ViewHelpers): void {
  ctx.assets = helpers
  ctx.state.assets = helpers
}

async function nextAfter(work: Promise<unknown>, _: Context, next: Next): Promise<void> {
  await work
  await next()
}

/** While something that pages need cannot be used, browsers get a page that says so, and any other request what it asks for. */
function developedAfter(settings: Settings): typeof nextAfter {
  return async (work, ctx, next) => {
    try {
      await work
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      if (opensPage(ctx.req)) return showError(ctx, error, settings)
    }
    await next()
  }
}
