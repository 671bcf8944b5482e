// Provides the context of a request.
import type { Context, Middleware, Next } from 'koa'
import type { Pipeline } from '../pipeline.ts'
import { announceLinks } from '../serving/early-hints.ts'
import { rawPath } from '../serving/request-path.ts'
import { appOfPage } from '../settings/app-settings.ts'
import { splitArguments } from '../views/asset-url.ts'
import type { NamesThenPreloadOptions } from '../views/preload.ts'
import type { ViewHelpers } from '../views/view-helpers.ts'
import type { Development } from './development.ts'
import { makeSendFile, requireContext, type SendFile } from './send-file.ts'

/** What koaAssets adds to Koa's context. */
export interface AssetContext {
  /**
   * The view helpers of the app that the request's path belongs to; templates read them from
   * `ctx.state.assets`.
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

/**
 * Lets the browser fetch assets while the page is still being generated: adds a `Link` value
 * (RFC 8288) for each name to the response. With the option `earlyHints`, requests that open a page
 * are also sent the same values ahead, as `103 Early Hints` (RFC 8297). A value that the header
 * already contains is not repeated, and nothing happens once the header has been sent.
 *
 * @example
 * ctx.preload('app.css', 'inter-400.woff2')
 * // Link: </assets/app.css>; rel=preload; as=style
 * // Link: </assets/inter-400.woff2>; rel=preload; as=font; crossorigin
 * @example
 * ctx.preload('app', { as: 'module' })
 * @throws {TypeError} in the cases of `ctx.assets.preload`, and without a name; the header is then
 * unchanged
 */
export type Preload = (
  this: Pick<Context, 'assets' | 'req' | 'res'>,
  ...names: NamesThenPreloadOptions
) => void

export function provideContext(
  pipeline: Pipeline,
  development: Development | undefined
): Middleware {
  const { settings } = pipeline
  const preload = makePreload(settings.earlyHints)
  const sendFile = makeSendFile(pipeline)
  return function assetContext(ctx, next) {
    const app = appOfPage(settings, rawPath(ctx.req.url ?? ''))?.name ?? ''
    const isLive = development?.isAllowed(ctx.req) ?? false
    provide(ctx, pipeline.viewHelpers(app, isLive))
    ctx.preload = preload
    ctx.sendFile = sendFile
    const refreshed = pipeline.beforePage()
    const responded = refreshed ? nextAfter(refreshed, next) : next()
    if (!pipeline.hasBundles) return responded
    return responded.catch((error: unknown) => {
      // An error page starts anew: the tags that `entry` has written were for another.
      provide(ctx, pipeline.viewHelpers(app, isLive))
      throw error
    })
  }
}

function provide(ctx: Context, helpers: ViewHelpers): void {
  ctx.assets = helpers
  ctx.state.assets = helpers
}

async function nextAfter(work: Promise<unknown>, next: Next): Promise<void> {
  await work
  await next()
}

/** @param sendsHints whether a 103 is sent ahead of the response */
function makePreload(sendsHints: boolean): Preload {
  return function preload(...args) {
    requireContext('preload', this)
    const { names, options } = splitArguments('preload', args)
    const links = names.map(name => this.assets.preload(name, options))
    announceLinks(this, links, sendsHints)
  }
}
