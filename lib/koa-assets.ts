// The asset middleware: the route of one request.
import compose from 'koa-compose'
import type { Context, Middleware, Next } from 'koa'
import { errorPage } from './assets/inspecting/error-page.ts'
import { noticesAtStart } from './assets/inspecting/start-notices.ts'
import { Pipeline } from './assets/pipeline.ts'
import type { PublicFile } from './assets/serving/public-file.ts'
import {
  hasOneSpelling,
  isUnderPrefix,
  locate,
  rawPath,
  type Wanted
} from './assets/serving/request-path.ts'
import {
  passOnUnstored,
  reportDisconnects,
  respondBadRequest,
  respondMethodNotAllowed,
  serve,
  suppressDisconnects
} from './assets/serving/serve.ts'
import { appOfPage } from './assets/settings/app-settings.ts'
import type { KoaAssetsOptions } from './assets/settings/options.ts'
import { settle, type Settings } from './assets/settings/settings.ts'
import { MALFORMED } from './assets/urls/canonical-path.ts'
import { makePreload, type Preload } from './assets/views/early-hints.ts'
import type { ViewHelpers } from './assets/views/view-helpers.ts'
import { AssetError } from './errors.ts'
import { errorCode } from './files/disk.ts'
import { warnOnce } from './warn-once.ts'

export { assetSources } from './assets/sources/third-party.ts'
export type { IntegrityAlgorithm } from './files/checksums.ts'

export {
  precompile,
  PrecompileError,
  type PrecompileOptions,
  type PrecompileReport,
  type Progress
} from './assets/building/precompile.ts'
export { verify, type VerifyProblem, type VerifyReport } from './assets/building/verify.ts'
export { clean, type CleanOptions, type CleanReport } from './assets/building/clean.ts'
export { AssetError, CompileError, type AssetErrorCode, type SourceLocation } from './errors.ts'
export type { Compiler, CompilerInput, CompilerOutput } from './assets/compilers/compiler.ts'
export type {
  AppOptions,
  Configure,
  KoaAssetsOptions,
  LayeredOptions
} from './assets/settings/options.ts'
export type { NamesThenPreloadOptions, Preload } from './assets/views/early-hints.ts'
export type { PreloadOptions } from './assets/views/preload.ts'
export type { ViewHelpers } from './assets/views/view-helpers.ts'

declare module 'koa' {
  interface ExtendableContext {
    /**
     * The view helpers of the app that the request's path belongs to; also `ctx.state.assets`, for
     * templates.
     *
     * @example
     * ctx.assets.stylesheet('app')
     * // <link href="/assets/app.css" type="text/css" rel="stylesheet">
     * ctx.assets.app('admin').path('menu.js') // /assets/admin/menu.js
     */
    assets: ViewHelpers
    /**
     * Adds a `Link: <…>; rel=preload` field for each asset, so the browser fetches it while the page is
     * still being rendered. With the option `earlyHints` the fields are also sent as 103 Early Hints.
     *
     * @example
     * ctx.preload('app.css', 'inter-400.woff2')
     * @throws TypeError for a name that no asset can have; no field is set then
     */
    preload: Preload
  }
}

/**
 * Keeps web assets up to date, serves them, and provides `ctx.assets`, the view helpers that emit their
 * URLs, and `ctx.preload`. Use it before the router.
 *
 * @example
 * const app = new Koa()
 * app.use(koaAssets({ root: import.meta.dirname, serve: true }))
 * app.use(ctx => { ctx.body = ctx.assets.stylesheet('app') })
 * @throws TypeError for a wrong option
 * @throws AssetError for a directory or a manifest that is needed and cannot be used
 */
export function koaAssets(options?: KoaAssetsOptions): Middleware {
  const settings = settle(options)
  noticesAtStart(settings, options).forEach(warnOnce())
  const pipeline = new Pipeline(settings)
  const helpers = provideHelpers(settings, pipeline)
  if (!settings.serve) return helpers
  return compose([new AssetServer(settings, pipeline).respond, helpers])
}

function provideHelpers(settings: Settings, pipeline: Pipeline): Middleware {
  const preload = makePreload(settings.earlyHints)
  return function assetHelpers(ctx, next) {
    const app = appOfPage(settings, rawPath(ctx.req.url ?? ''))
    ctx.assets = pipeline.viewHelpers(app?.name ?? '')
    ctx.state.assets = ctx.assets
    ctx.preload = preload
    const refreshed = pipeline.beforePage()
    return refreshed ? nextAfter(refreshed, next) : next()
  }
}

async function nextAfter(work: Promise<void>, next: Next): Promise<void> {
  await work
  await next()
}

class AssetServer {
  readonly #settings: Settings
  readonly #pipeline: Pipeline

  constructor(settings: Settings, pipeline: Pipeline) {
    this.#settings = settings
    this.#pipeline = pipeline
  }

  /** The route of one request: from memory if possible, then from the disk. */
  readonly respond: Middleware = (ctx, next) => {
    const { publicFiles } = this.#pipeline
    const target = ctx.req.url ?? ''
    const path = rawPath(target)
    const known = target.startsWith('/') ? this.#pipeline.recall(path) : undefined
    if (known && isRead(ctx.req)) return serve(ctx, known)
    if (publicFiles.lacksFirstFolderOf(path)) return next()
    if (publicFiles.lacks(path)) return this.#passOn(ctx, next, path)
    const wanted = isPathForKoa(ctx, path) ? locate(path, this.#settings) : undefined
    if (wanted === MALFORMED) return respondBadRequest(ctx)
    if (!wanted) return this.#passOn(ctx, next, path)
    return isRead(ctx.req) ? this.#read(ctx, next, wanted) : this.#otherMethod(ctx, next, wanted)
  }

  async #read(ctx: Context, next: Next, wanted: Wanted): Promise<void> {
    suppressDisconnects(ctx)
    if (await this.#respondWithFile(ctx, wanted)) return
    reportDisconnects(ctx)
    await this.#passOn(ctx, next, wanted.path)
  }

  async #otherMethod(ctx: Context, next: Next, wanted: Wanted): Promise<void> {
    await this.#passOn(ctx, next, wanted.path)
    const isUntouched = ctx.status === 404 && ctx.body == null && !ctx.headerSent
    if (isUntouched && (await this.#pipeline.has(wanted))) respondMethodNotAllowed(ctx)
  }

  #passOn(ctx: Context, next: Next, path: string): Promise<unknown> {
    return isUnderPrefix(path, this.#settings) ? passOnUnstored(ctx, next) : next()
  }

  /** @returns false when there is no such file */
  async #respondWithFile(ctx: Context, wanted: Wanted): Promise<boolean> {
    const { publicFiles } = this.#pipeline
    // A file may be replaced, or written to, between being found and being opened.
    for (let attempt = 0; attempt < 2; attempt++) {
      const file = await this.#findOrExplain(ctx, wanted)
      if (file === 'explained') return true
      if (!file) return false
      if (await serve(ctx, file)) return true
      publicFiles.forget(wanted.path)
    }
    // One that changes all the time is described while it is open.
    const isServed = await publicFiles.withOpened(wanted, (file, opened) =>
      serve(ctx, file, opened)
    )
    return isServed ?? false
  }

  /** For a source that cannot be published: in development an error page, else the last good target. */
  async #findOrExplain(
    ctx: Context,
    wanted: Wanted
  ): Promise<PublicFile | 'explained' | undefined> {
    try {
      return await this.#pipeline.current(wanted)
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      if (this.#settings.env === 'development') {
        ctx.app.emit('error', error, ctx)
        await this.#respondWithErrorPage(ctx, error)
        return 'explained'
      }
      const lastGood = await this.#pipeline.publicFiles.find(wanted)
      if (!lastGood) throw error
      ctx.app.emit('error', error, ctx)
      return lastGood
    }
  }

  async #respondWithErrorPage(ctx: Context, error: AssetError): Promise<void> {
    const type = ctx.accepts('text', 'html') === 'html' ? 'html' : 'text'
    ctx.status = error.status
    ctx.type = type
    ctx.set('Cache-Control', 'no-store')
    ctx.body = await errorPage(error, this.#settings, type)
  }
}

function isRead({ method }: { method?: string | undefined }): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Whether `ctx.path`, which a guard in front compares, is the same path. */
function isPathForKoa(ctx: Context, path: string): boolean {
  // Koa stores the parsed URL on the request, and requests of two shapes slow down what follows.
  if (hasOneSpelling(path) && path === ctx.req.url) return true
  try {
    return ctx.path === path
  } catch (error) {
    // Node rejects some authorities of an absolute request target.
    if (errorCode(error) === 'ERR_INVALID_URL' || isUriError(error)) return false
    throw error
  }
}

/** By name: Koa's URIError may come from another realm. */
function isUriError(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'URIError'
}
