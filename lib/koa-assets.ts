// The asset middleware: the route of one request.
import compose from 'koa-compose'
import type Koa from 'koa'
import type { Context, Middleware, Next } from 'koa'
import { errorPage } from './assets/inspecting/error-page.ts'
import { noticesAtStart } from './assets/inspecting/start-notices.ts'
import { Pipeline } from './assets/pipeline.ts'
import { announceLinks } from './assets/serving/early-hints.ts'
import type { ServedFile } from './assets/serving/files/served-file.ts'
import { isOurs, locate, rawPath, type Wanted } from './assets/serving/request-path.ts'
import {
  isPathForKoa,
  isUntouched,
  passOnUnstored,
  redirectToFolder,
  reportDisconnects,
  respondBadRequest,
  respondMethodNotAllowed,
  serve,
  suppressDisconnects,
  TO_KOA,
  TO_SOCKET
} from './assets/serving/serve.ts'
import { appOfPage } from './assets/settings/app-settings.ts'
import type { KoaAssetsOptions } from './assets/settings/options.ts'
import { settle } from './assets/settings/settings.ts'
import { MALFORMED } from './assets/urls/canonical-path.ts'
import { splitArguments } from './assets/views/arguments.ts'
import type { NamesThenPreloadOptions } from './assets/views/preload.ts'
import type { ViewHelpers } from './assets/views/view-helpers.ts'
import { AssetError } from './errors.ts'
import type { OpenFile } from './files/disk.ts'
import { warnOnce } from './warn-once.ts'

export { assetSources } from './assets/sources/third-party.ts'
export type { IntegrityAlgorithm } from './files/checksums.ts'

export * from './assets/building/commands.ts'
export { AssetError, CompileError, type AssetErrorCode, type SourceLocation } from './errors.ts'
export type { Compiler, CompilerInput, CompilerOutput } from './assets/compilers/compiler.ts'
export type {
  AppOptions,
  Configure,
  KoaAssetsOptions,
  LayeredOptions
} from './assets/settings/options.ts'
export type { NamesThenPreloadOptions, PreloadOptions } from './assets/views/preload.ts'
export type { EntryOptions, ViewHelpers } from './assets/views/view-helpers.ts'

declare module 'koa' {
  interface ExtendableContext {
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
  }
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
  const helpers = provideHelpers(pipeline)
  return settings.serve ? new AssetServer(pipeline, helpers).middleware : helpers
}

function provideHelpers(pipeline: Pipeline): Middleware {
  const { settings } = pipeline
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

function makePreload(sendsHints: boolean): Preload {
  return function preload(...args) {
    if (!(this as Partial<Context> | undefined)?.res)
      throw new TypeError("preload() is a method: call it on Koa's context")
    const { names, options } = splitArguments('preload', args)
    announceLinks(
      this,
      names.map(name => this.assets.preload(name, options)),
      sendsHints
    )
  }
}

async function nextAfter(work: Promise<void>, next: Next): Promise<void> {
  await work
  await next()
}

class AssetServer {
  readonly middleware: Middleware
  readonly #pipeline: Pipeline

  constructor(pipeline: Pipeline, helpers: Middleware) {
    this.#pipeline = pipeline
    this.middleware = compose([this.#respond, helpers])
  }

  /** The route of one request: from memory if possible, then from the disk. */
  readonly #respond: Middleware = (ctx, next) => {
    const { directories, settings } = this.#pipeline
    const target = ctx.req.url ?? ''
    const path = rawPath(target)
    const known = target.startsWith('/') ? this.#pipeline.recall(path) : undefined
    if (known && isRead(ctx.req)) return this.#serve(ctx, known)
    if (directories.lack(path)) return this.#passOn(ctx, next, path)
    const wanted = isPathForKoa(ctx, path) ? locate(path, settings) : undefined
    if (wanted === MALFORMED) return respondBadRequest(ctx)
    if (!wanted) return this.#passOn(ctx, next, path)
    return isRead(ctx.req) ? this.#read(ctx, next, wanted) : this.#otherMethod(ctx, next, wanted)
  }

  async #read(ctx: Context, next: Next, wanted: Wanted): Promise<void> {
    suppressDisconnects(ctx)
    if (await this.#respondWithFile(ctx, wanted)) return
    if (await this.#pipeline.directories.hasIndex(wanted)) return redirectToFolder(ctx)
    reportDisconnects(ctx)
    await this.#passOn(ctx, next, wanted.path)
  }

  async #otherMethod(ctx: Context, next: Next, wanted: Wanted): Promise<void> {
    await this.#passOn(ctx, next, wanted.path)
    if (isUntouched(ctx) && (await this.#pipeline.has(wanted))) respondMethodNotAllowed(ctx)
  }

  #passOn(ctx: Context, next: Next, path: string): Promise<unknown> {
    const { directories, settings } = this.#pipeline
    const fallback = directories.fallbackFor(ctx.req)
    const rest = fallback ? () => this.#nextOrFallback(ctx, next, fallback) : next
    return isOurs(path, settings) ? passOnUnstored(ctx, rest) : rest()
  }

  /** A navigation that the rest of the stack leaves as 404 gets the page of a single-page application. */
  async #nextOrFallback(ctx: Context, next: Next, fallback: Wanted): Promise<void> {
    await next()
    if (isUntouched(ctx)) await this.#respondWithFile(ctx, fallback)
  }

  /** @returns false when there is no such file */
  async #respondWithFile(ctx: Context, wanted: Wanted): Promise<boolean> {
    const { directories } = this.#pipeline
    // A file may be replaced, or written to, between being found and being opened.
    for (let attempt = 0; attempt < 2; attempt++) {
      const file = await this.#fileFor(ctx, wanted)
      if (file === 'explained') return true
      if (!file) return false
      if (await this.#serve(ctx, file)) return true
      directories.forget(wanted)
    }
    // One that changes all the time is described while it is open.
    const done = await directories.withOpened(wanted, (file, opened) =>
      this.#serve(ctx, file, opened)
    )
    return done ?? false
  }

  #serve(ctx: Context, file: ServedFile, opened?: OpenFile): boolean | Promise<boolean> {
    const { middleware, compose: join = compose } = ctx.app as Koa & { compose?: unknown }
    // A request that comes here again, behind others, has the helpers already.
    const isFirst = middleware[0] === this.middleware && join === compose && !('assets' in ctx)
    return serve(ctx, file, opened, isFirst ? TO_SOCKET : TO_KOA)
  }

  /** For a source that cannot be published: in development an error page, else the last good target. */
  async #fileFor(ctx: Context, wanted: Wanted): Promise<ServedFile | 'explained' | undefined> {
    try {
      return await this.#pipeline.current(wanted)
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      const isDevelopment = this.#pipeline.settings.env === 'development'
      const lastGood = isDevelopment ? undefined : await this.#pipeline.lastGood(wanted)
      if (!isDevelopment && !lastGood) throw error
      ctx.app.emit('error', error, ctx)
      return lastGood ?? this.#explain(ctx, error)
    }
  }

  async #explain(ctx: Context, error: AssetError): Promise<'explained'> {
    const type = ctx.accepts('text', 'html') === 'html' ? 'html' : 'text'
    ctx.status = error.status
    ctx.type = type
    ctx.set('Cache-Control', 'no-store')
    ctx.body = await errorPage(error, this.#pipeline.settings, type)
    return 'explained'
  }
}

function isRead({ method }: { method?: string | undefined }): boolean {
  return method === 'GET' || method === 'HEAD'
}
