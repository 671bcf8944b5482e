// The asset middleware: the route of one request, read top to bottom.
import compose from 'koa-compose'
import type { Context, Middleware, Next } from 'koa'
import { AssetError } from './errors.ts'
import { makePreload, type Preload } from './assets/views/early-hints.ts'
import { errorPage } from './assets/inspecting/error-page.ts'
import { MALFORMED } from './assets/urls/canonical-path.ts'
import { errorCode } from './files/disk.ts'
import { makePipeline, type Pipeline } from './assets/pipeline.ts'
import { appOfPage } from './assets/settings/app-settings.ts'
import type { KoaAssetsOptions } from './assets/settings/options.ts'
import type { PublicFile } from './assets/serving/public-file.ts'
import {
  hasOneSpelling,
  isUnderPrefix,
  locate,
  rawPath,
  type Wanted
} from './assets/serving/request-path.ts'
import { heedDisconnects, ignoreDisconnects, serve } from './assets/serving/serve.ts'
import { settle, type Settings } from './assets/settings/settings.ts'
import { noticesAtStart } from './assets/inspecting/start-notices.ts'
import type { ViewHelpers } from './assets/views/view-helpers.ts'
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
    /** The view helpers of the app that the request's path belongs to. */
    assets: ViewHelpers
    preload: Preload
  }
}

/**
 * Keeps web assets current, serves them, and gives views the helpers that emit their URLs
 * (`ctx.assets`, `ctx.state.assets`) and `ctx.preload`. Put it in front of the router.
 *
 * @throws TypeError for a wrong option; AssetError for a directory that cannot be used
 */
export function koaAssets(options?: KoaAssetsOptions): Middleware {
  const settings = settle(options)
  noticesAtStart(settings, options).forEach(warnOnce())
  const pipeline = makePipeline(settings)
  const helpers = provideHelpers(settings, pipeline)
  return settings.serve ? compose([serveAssets(settings, pipeline), helpers]) : helpers
}

function provideHelpers(settings: Settings, pipeline: Pipeline): Middleware {
  const preload = makePreload(settings.earlyHints)
  return function assetHelpers(ctx, next) {
    const app = appOfPage(settings, rawPath(ctx.req.url ?? ''))
    ctx.assets = pipeline.viewHelpers(app?.name ?? '')
    ctx.state.assets = ctx.assets
    ctx.preload = preload
    const refreshed = pipeline.beforePage()
    return refreshed ? after(refreshed, next) : next()
  }
}

async function after(work: Promise<void>, next: Next): Promise<void> {
  await work
  await next()
}

function serveAssets(settings: Settings, pipeline: Pipeline): Middleware {
  return function koaAssets(ctx, next) {
    const target = ctx.req.url ?? ''
    const path = rawPath(target)
    const held = target.startsWith('/') ? pipeline.recall(path) : undefined
    if (held && isRead(ctx.req)) return serve(ctx, held)
    if (pipeline.isAbsent(path)) return next()
    if (pipeline.isMissing(path)) return passOn(ctx, next, isUnderPrefix(path, settings))
    const wanted = isAsRead(ctx, path) ? locate(path, settings) : undefined
    if (wanted === MALFORMED) return respondBadRequest(ctx)
    if (!wanted) return passOn(ctx, next, isUnderPrefix(path, settings))
    return isRead(ctx.req)
      ? read(ctx, next, settings, pipeline, wanted)
      : otherMethod(ctx, next, settings, pipeline, wanted)
  }
}

function isRead({ method }: { method?: string | undefined }): boolean {
  return method === 'GET' || method === 'HEAD'
}

async function read(
  ctx: Context,
  next: Next,
  settings: Settings,
  pipeline: Pipeline,
  wanted: Wanted
): Promise<void> {
  ignoreDisconnects(ctx)
  if (await respondWithFile(ctx, settings, pipeline, wanted)) return
  heedDisconnects(ctx)
  await passOn(ctx, next, isUnderPrefix(wanted.path, settings))
}

/** Whether Koa reads the same path: it is what a guard in front compares. */
function isAsRead(ctx: Context, path: string): boolean {
  // Koa keeps what it reads on the request, and requests of two shapes slow down what follows.
  if (hasOneSpelling(path) && path === ctx.req.url) return true
  try {
    return ctx.path === path
  } catch (error) {
    // Node does not take every authority of an absolute target.
    if (errorCode(error) === 'ERR_INVALID_URL' || isUriError(error)) return false
    throw error
  }
}

/** By name: Koa's may be of another realm than ours. */
function isUriError(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'URIError'
}

/** A file may be replaced, or written to, between being found and being opened. */
async function respondWithFile(
  ctx: Context,
  settings: Settings,
  pipeline: Pipeline,
  wanted: Wanted
): Promise<boolean> {
  for (let attempt = 0; attempt < 2; attempt++) {
    const file = await find(ctx, settings, pipeline, wanted)
    if (file === 'error-page') return true
    if (!file) return false
    if (await serve(ctx, file)) return true
    pipeline.forget(wanted)
  }
  // One that changes all the time is described from what is open.
  const isServed = await pipeline.withOpened(wanted, (file, opened) => serve(ctx, file, opened))
  return isServed ?? false
}

/** A source that cannot be published: in development its page, elsewhere the last good copy. */
async function find(
  ctx: Context,
  settings: Settings,
  pipeline: Pipeline,
  wanted: Wanted
): Promise<PublicFile | 'error-page' | undefined> {
  try {
    return await pipeline.find(wanted)
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    if (settings.env === 'development') {
      ctx.app.emit('error', error, ctx)
      await respondWithErrorPage(ctx, error, settings)
      return 'error-page'
    }
    const lastGood = await pipeline.findPublished(wanted)
    if (!lastGood) throw error
    ctx.app.emit('error', error, ctx)
    return lastGood
  }
}

async function respondWithErrorPage(
  ctx: Context,
  error: AssetError,
  settings: Settings
): Promise<void> {
  const type = ctx.accepts('text', 'html') === 'html' ? 'html' : 'text'
  ctx.status = error.status
  ctx.type = type
  ctx.set('Cache-Control', 'no-store')
  ctx.body = await errorPage(error, settings, type)
}

/** A path that cannot be decoded is nobody's. */
function respondBadRequest(ctx: Context): void {
  ctx.status = 400
  ctx.set('Cache-Control', 'no-store')
  ctx.body = 'Bad Request'
}

/** What is not found goes on. A 404 under the prefix may be a rolling deploy's gap: nobody keeps it. */
async function passOn(ctx: Context, next: Next, underPrefix: boolean): Promise<void> {
  if (!underPrefix) return next() as Promise<void>
  try {
    await next()
  } catch (error) {
    forbidStoring(error)
    throw error
  }
  if (ctx.status !== 404 || ctx.headerSent) return undefined
  ctx.set('Cache-Control', 'no-store')
  ctx.remove('Expires')
}

/** Koa's error handling drops every header that the error itself does not carry. */
function forbidStoring(error: unknown): void {
  const thrown = error as { status?: number; headers?: object } | undefined
  if (thrown?.status !== 404) return
  // An error that is frozen stays as it is.
  Reflect.set(thrown, 'headers', { ...thrown.headers, 'Cache-Control': 'no-store' })
}

/** RFC 9110 15.5.6: an asset that nobody else handles can be read, and that is all. */
async function otherMethod(
  ctx: Context,
  next: Next,
  settings: Settings,
  pipeline: Pipeline,
  wanted: Wanted
): Promise<void> {
  await passOn(ctx, next, isUnderPrefix(wanted.path, settings))
  const isUntouched = ctx.status === 404 && ctx.body == null && !ctx.headerSent
  if (!isUntouched || !(await pipeline.has(wanted))) return
  ctx.set('Allow', 'GET, HEAD, OPTIONS')
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405
}
