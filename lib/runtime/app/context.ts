// Adds helpers and methods to Koa's context and, in development, the pages below `<prefix>/-/` and error pages.
import type { Context, Middleware, Next } from 'koa'
import { AssetError, logInFullOnce } from '../errors.ts'
import { isLocal, isOwnPage, opensPage } from '../http/requests.ts'
import { once } from '../concurrency.ts'
import type { Pages } from './extra.ts'
import type { Pipeline } from './pipeline.ts'
import { reportErrorPage } from '../serving/missing.ts'
import { isRead, rawPath } from '../serving/request.ts'
import { appOfPage } from '../settings/apps.ts'
import type { Settings } from '../settings/settings.ts'
import { encodePath } from '../urls/spelling.ts'
import type { ViewHelpers } from '../views/view-helpers.ts'

/** The members of Koa's context, without those of extras. */
export interface OwnContext {
  /**
   * The view helpers of the app that the request's path belongs to; templates read them from `ctx.state.assets`.
   * @example
   * ctx.assets.stylesheet('app')
   * // <link href="/assets/app.css" type="text/css" rel="stylesheet">
   * ctx.assets.app('admin').path('menu.js') // /assets/admin/menu.js
   */
  assets: ViewHelpers
}

export function provideContext(pipeline: Pipeline, development?: Development): Middleware {
  const { settings } = pipeline
  const methods = settings.extras.flatMap(extra => extra.methods?.(pipeline) ?? [])
  const hasNames =
    settings.apps.length > 0 || pipeline.running.some(({ mountAssets }) => mountAssets)
  const areOfPage = pipeline.running.some(({ helpers }) => helpers?.isPerPage)
  const only = settings.apps.length < 2 ? (settings.apps[0]?.name ?? '') : undefined
  const helpersOf = ({ req }: Context): ViewHelpers => {
    const app = only ?? appOfPage(settings, rawPath(req.url ?? ''))?.name ?? ''
    return pipeline.viewHelpers(app, development?.isAllowed(req) ?? false)
  }
  const tell = (ctx: Context) =>
    Promise.all(pipeline.running.flatMap(each => each.responded?.(ctx) ?? []))
  const areFixed = only !== undefined && !development && !areOfPage
  let fixed: ViewHelpers | undefined
  return function assetContext(ctx, next): Promise<unknown> {
    const { loading } = pipeline
    if (loading) return loading.then(() => assetContext(ctx, next))
    // An instance that has only mounts, such as one behind a session, leaves names to the one in front.
    const isProvider = hasNames || !hasAssets(ctx)
    for (const provide of methods) provide(ctx, isProvider)
    if (!isProvider) return next()
    if (areOfPage) provideWhenRead(ctx, helpersOf)
    else ctx.assets = ctx.state.assets = fixed ?? helpersOf(ctx)
    if (areFixed) fixed ??= ctx.assets
    const refreshed = pipeline.refresh()
    const made = refreshed ? nextAfter(refreshed, ctx, next, settings) : next()
    const responded = development?.isAllowed(ctx.req) ? made.then(() => tell(ctx)) : made
    if (!areOfPage) return responded
    return responded.catch((error: unknown) => {
      // The error page is not the page for which helpers have written tags.
      provideWhenRead(ctx, helpersOf)
      throw error
    })
  }
}

/** Tells whether a koaAssets in front, or anything else, has provided `ctx.assets`. */
export function hasAssets(ctx: Context): boolean {
  return Object.hasOwn(ctx, MAKE) || ctx.assets !== undefined
}

const MAKE = Symbol('makes ctx.assets')
const MADE = Symbol('ctx.assets')

type Lazy = Context & { [MAKE]?: (ctx: Context) => ViewHelpers; [MADE]?: ViewHelpers | undefined }

/** Makes the helpers of a page when they are first read; a 304 never reads them. */
function provideWhenRead(ctx: Lazy, make: (ctx: Context) => ViewHelpers): void {
  const { context } = ctx.app
  if (!Object.hasOwn(context, 'assets')) Object.defineProperty(context, 'assets', WHEN_READ)
  // An instance in front may have set its own `assets`, which would hide the accessor.
  if (Object.hasOwn(ctx, 'assets')) Reflect.deleteProperty(ctx, 'assets')
  ctx[MAKE] = make
  ctx[MADE] = undefined
  Object.defineProperty(ctx.state, 'assets', {
    get: () => ctx.assets,
    set(value: ViewHelpers) {
      ctx.assets = value
    },
    enumerable: true,
    configurable: true
  })
}

const WHEN_READ: PropertyDescriptor & ThisType<Lazy> = {
  get() {
    return (this[MADE] ??= this[MAKE]?.(this))
  },
  set(value: ViewHelpers) {
    this[MADE] = value
  },
  configurable: true
}

/** Waits for `work`, then passes the request on. If it fails in development, a navigation gets an error page. */
async function nextAfter(work: Promise<unknown>, ctx: Context, next: Next, settings: Settings) {
  try {
    await work
  } catch (error) {
    if (settings.env !== 'development' || !(error instanceof AssetError)) throw error
    if (opensPage(ctx.req)) return showError(ctx, error, settings)
  }
  await next()
}

export type Development = ReturnType<typeof makeDevelopment>

export function makeDevelopment(pipeline: Pipeline, { hosts }: NonNullable<Settings['live']>) {
  const start = `${encodePath(pipeline.settings.prefix)}/-/`
  const pages = once(async (): Promise<Pages> => {
    const made = Object.create(null) as Pages
    await pipeline.load()
    // Jest needs these imports one after the other.
    for (const extra of pipeline.settings.extras) Object.assign(made, await extra.pages?.(pipeline))
    return made
  })
  const isAllowed = (req: Context['req']) => isLocal(req, hosts)
  return {
    isAllowed,
    owns: (path: string) => path.startsWith(start),
    async respond(ctx: Context, next: Next): Promise<unknown> {
      const { req } = ctx
      const path = rawPath(req.url ?? '')
      // Browsers send `Origin` with every POST.
      const isSent = req.method === 'POST' && req.headers.origin !== undefined
      const isFor = path.startsWith(start) && (isSent || isRead(req))
      if (!isFor || !isAllowed(req) || !isOwnPage(req.headers)) return next()
      const handler = (await pages())[`${isSent ? 'POST ' : ''}${path.slice(start.length)}`]
      if (!handler) return next()
      // This protects browsers that send no Fetch Metadata, as none does over http to the names in `hosts`.
      ctx.set('Content-Security-Policy', "frame-ancestors 'none'")
      return handler(ctx)
    }
  }
}

/** Responds with the error that must be fixed first: a page for browsers, text for others. */
export async function showError(ctx: Context, error: AssetError, settings: Settings) {
  const type = ctx.accepts('text', 'html') === 'html' ? 'html' : 'text'
  const { errorPage } = await import('../../publishing/error-page.ts')
  ctx.status = error.status
  ctx.type = type
  ctx.set('Cache-Control', 'no-store')
  ctx.body = await errorPage(error, settings, type)
  reportErrorPage(ctx, error)
  ctx.app.emit('error', logInFullOnce(error), ctx)
}
