// The asset middleware, which shows the way of a request, and precompile, which a deploy calls.
import compose from 'koa-compose'
import type { Context, Middleware, Next } from 'koa'
import type { PrecompileOptions, PrecompileReport } from './runtime/settings/extra-options.ts'
import type { ContextExtras } from './runtime/app/extra-exports.ts'
import {
  hasAssets,
  makeDevelopment,
  provideContext,
  showError,
  type Development,
  type OwnContext
} from './runtime/app/context.ts'
import { Pipeline } from './runtime/app/pipeline.ts'
import {
  isOurs,
  isRead,
  locate,
  mountsAt,
  rawPath,
  type Wanted
} from './runtime/serving/request.ts'
import * as missing from './runtime/serving/missing.ts'
import {
  reportDisconnects,
  suppressDisconnects,
  respondAtOnce,
  respondWithFile,
  toKoa,
  type Exit
} from './runtime/serving/respond.ts'
import type { Found } from './runtime/serving/file.ts'
import { exitToSocket } from './runtime/serving/socket.ts'
import type { Running } from './runtime/app/extra.ts'
import type { KoaAssetsOptions } from './runtime/settings/options.ts'
import { settleForPrecompile, settleProject } from './runtime/app/extras.ts'
import { MALFORMED } from './runtime/urls/spelling.ts'
import { firstAnswer } from './runtime/concurrency.ts'
import { AssetError, logInFullOnce, reasonOf, warnOnce } from './runtime/errors.ts'
import { tellRefusals } from './runtime/files/refusals.ts'

export { assetSources } from './runtime/settings/third-party.ts'
export type { IntegrityAlgorithm } from './runtime/files/digest.ts'
export type {
  PrecompileOptions,
  PrecompileReport,
  Progress
} from './runtime/settings/extra-options.ts'
export * from './runtime/app/extra-exports.ts'
export type { Problem as VerifyProblem } from './runtime/app/extra.ts'
export type { DiagnosticMessages } from './runtime/diagnostics.ts'
export {
  AssetError,
  CompileError,
  PrecompileError,
  type AssetErrorCode,
  type SourceLocation
} from './runtime/errors.ts'
export type { Compiler, CompilerInput, CompilerOutput } from './runtime/settings/compiler.ts'
export type {
  AppOptions,
  Configure,
  FallbackPage,
  KoaAssetsOptions,
  LayeredOptions,
  LiveOptions,
  MountOptions,
  SourceOptions
} from './runtime/settings/options.ts'
export type { AppName, AssetName } from './runtime/views/asset-names.ts'
export type { ViewHelpers } from './runtime/views/view-helpers.ts'

/** The members that koaAssets adds to Koa's context. */
export interface AssetContext extends OwnContext, ContextExtras {}

// The declaration is here because the types of an entry point contain only the names that it exports.
declare module 'koa' {
  interface ExtendableContext extends AssetContext {}
}

/**
 * Keeps web assets up to date, serves them, and provides `ctx.assets`, the view helpers that emit their
 * URLs, `ctx.preload`, and `ctx.sendFile`. Use it before the router.
 * @example
 * const app = new Koa()
 * app.use(koaAssets({ root: import.meta.dirname, serve: true }))
 * app.use(ctx => { ctx.body = ctx.assets.stylesheet('app') })
 * @throws TypeError for an invalid option
 * @throws AssetError for a required directory or manifest that cannot be used
 */
export function koaAssets(options?: KoaAssetsOptions): Middleware {
  const settings = settleProject(options)
  const pipeline = new Pipeline(settings)
  pipeline.running.flatMap(({ notices = [] }) => notices).forEach(warnOnce())
  if (pipeline.failure) throw pipeline.failure
  if (settings.env === 'development') void beginDevelopment(pipeline)
  const development = settings.live && makeDevelopment(pipeline, settings.live)
  const helpers = provideContext(pipeline, development)
  if (settings.serve) return new AssetServer(pipeline, helpers, development).middleware
  // A server in front forwards requests for files that it does not have yet.
  const unstored: Middleware = (ctx, next) =>
    isOurs(rawPath(ctx.req.url ?? ''), settings) ? passOnUnserved(pipeline, ctx, next) : next()
  return compose([unstored, helpers])
}

async function passOnUnserved(pipeline: Pipeline, ctx: Context, next: Next): Promise<void> {
  await missing.passOnUnstored(ctx, next)
  if (ctx.status !== 404 || !isRead(ctx.req)) return
  const wanted = locate(rawPath(ctx.req.url ?? ''), pipeline.settings)
  if (typeof wanted === 'object') pipeline.reportMissing(wanted)
}

/** Starts extras one by one: Jest's ES modules fail when two imports that share a module run at once. */
async function beginDevelopment(pipeline: Pipeline): Promise<void> {
  const warn = warnOnce()
  tellRefusals(warn)
  await pipeline.loading?.catch((error: unknown) => warn(reasonOf(error)))
  for (const extra of pipeline.settings.extras) {
    try {
      await extra.start?.(pipeline)
    } catch (error) {
      warn(`cannot start ${extra.name} beside the server: ${reasonOf(error)}`)
    }
  }
}

class AssetServer {
  readonly middleware: Middleware
  readonly #pipeline: Pipeline
  readonly #development: Development | undefined
  readonly #responderAt: Running['responderAt']
  /** True if a request that the rest of the stack leaves as a 404 may still get a response. */
  readonly #mayFallBack: boolean
  /** Provides the helpers, then runs the rest of the stack. */
  readonly #rest: Middleware
  readonly #exitOf: (ctx: Context) => Exit = () => toKoa

  constructor(pipeline: Pipeline, helpers: Middleware, development: Development | undefined) {
    this.#pipeline = pipeline
    this.#development = development
    this.#responderAt = pipeline.running.find(each => each.responderAt)?.responderAt
    this.#mayFallBack = this.#responderAt !== undefined || missing.hasFallbacks(pipeline.settings)
    this.#rest = helpers
    this.middleware = (ctx, next) => {
      try {
        return Promise.resolve(this.#respond(ctx, next))
      } catch (error) {
        return Promise.reject(error)
      }
    }
    this.#exitOf = exitToSocket(this.middleware, compose, hasAssets)
  }

  /** Responds from memory if possible, then from the disk. */
  #respond(ctx: Context, next: Next): unknown {
    const { loading, settings } = this.#pipeline
    if (loading) return loading.then(() => this.#respond(ctx, next))
    const target = ctx.req.url ?? ''
    const path = rawPath(target)
    const mounts = mountsAt(path, settings)
    if (this.#development?.owns(path)) return this.#passOn(ctx, next, path, mounts)
    const known = this.#pipeline.recall(path, mounts)
    if (known === 'missing') return this.#passOn(ctx, next, path, mounts)
    if (known && target.startsWith('/') && isRead(ctx.req)) {
      if (!respondAtOnce(ctx, known, this.#exitOf(ctx))) return this.#send(ctx, () => known)
      return this.#pipeline.watch?.(ctx)
    }
    const wanted = missing.isPathForKoa(ctx, path) ? locate(path, settings, mounts) : undefined
    if (wanted === MALFORMED) return missing.respondBadRequest(ctx)
    if (!wanted) return this.#passOn(ctx, next, path, mounts)
    return isRead(ctx.req) ? this.#read(ctx, next, wanted) : this.#otherMethod(ctx, next, wanted)
  }

  async #read(ctx: Context, next: Next, wanted: Wanted): Promise<void> {
    suppressDisconnects(ctx)
    const { directories, settings } = this.#pipeline
    if (await this.#respondWithFile(ctx, wanted)) {
      return this.#pipeline.reportTail(ctx.get('Referer'), wanted)
    }
    if (await directories.hasIndex(wanted)) return missing.redirectToFolder(ctx, settings.base)
    reportDisconnects(ctx)
    await this.#passOn(ctx, next, wanted.path, wanted.mounts)
    if (ctx.status === 404) this.#pipeline.reportMissing(wanted)
  }

  async #otherMethod(ctx: Context, next: Next, wanted: Wanted): Promise<void> {
    await this.#passOn(ctx, next, wanted.path, wanted.mounts)
    if (missing.isUntouched(ctx) && (await this.#pipeline.has(wanted)))
      missing.respondMethodNotAllowed(ctx)
  }

  #passOn(ctx: Context, next: Next, path: string, mounts: Wanted['mounts']): Promise<unknown> {
    const mayBeOurs = isOurs(path, this.#pipeline.settings, mounts)
    if (!mayBeOurs && !this.#mayFallBack) return this.#rest(ctx, next)
    const rest = this.#withFallback(ctx, next, path)
    if (!mayBeOurs) return rest()
    const unstored = () => missing.passOnUnstored(ctx, rest, this.#exitOf(ctx))
    return this.#development ? this.#development.respond(ctx, unstored) : unstored()
  }

  #withFallback(ctx: Context, next: Next, path: string): Next {
    const { settings } = this.#pipeline
    const { mount, wanted } = missing.fallbackFor(ctx.req, settings) ?? {}
    const respond = this.#responderAt?.(path)
    const rest = () => this.#rest(ctx, next)
    if (!mount && !respond) return rest
    return async () => {
      await rest()
      if (!missing.isUntouched(ctx)) return
      if (mount) missing.forgetFailure(ctx)
      if (mount && (await missing.respondWithPage(ctx, mount))) return
      if (wanted && (await this.#respondWithFile(ctx, wanted))) return
      if (respond && isRead(ctx.req)) await respond(ctx)
    }
  }

  /** @returns false if the requested file does not exist */
  async #respondWithFile(ctx: Context, wanted: Wanted): Promise<boolean> {
    const pipeline = this.#pipeline
    const { directories, settings } = pipeline
    const isDevelopment = settings.env === 'development'
    const find = isDevelopment ? () => this.#adapted(wanted) : () => pipeline.current(wanted)
    try {
      return await this.#send(ctx, find)
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      // While a source cannot be published, its last target is served.
      const lastGood = () => directories.public.find(wanted)
      if (isDevelopment) await showError(ctx, error, settings)
      else if (await this.#send(ctx, lastGood)) ctx.app.emit('error', logInFullOnce(error), ctx)
      else throw logInFullOnce(error)
      return true
    }
  }

  /** Lets an extra change the file that a request gets in development. */
  async #adapted(wanted: Wanted): Promise<Found> {
    const { running } = this.#pipeline
    const file = await this.#pipeline.current(wanted)
    return file && ((await firstAnswer(running, each => each.adapt?.(file, wanted))) ?? file)
  }

  async #send(ctx: Context, find: Parameters<typeof respondWithFile>[1]): Promise<boolean> {
    const isSent = await respondWithFile(ctx, find, { exit: this.#exitOf(ctx) })
    if (isSent) this.#pipeline.watch?.(ctx)
    return isSent
  }
}

/**
 * Publishes the assets of all apps and third-party directories into `public`: under plain names, under
 * fingerprinted names, and with compressed copies (`.br`, `.zst`, `.gz`) and other representations where
 * they are smaller. Files that are up to date are not written again, and fingerprinted files of earlier
 * deploys stay; see `clean`. Plain names and the manifest `public/assets.json` are replaced together at the end.
 * @param options those of `koaAssets`; here `env` defaults to `NODE_ENV`, else `production`, `compile`
 *   and `fingerprint` to true, and `missing` to `error`
 * @throws TypeError for an invalid option of either argument
 * @throws PrecompileError that lists every broken source; nothing is published
 * @returns a report; with `apps: false` it has no assets, and nothing is written
 * @throws AssetError with the code `precompile-empty` when apps have no assets, `precompile-busy` while
 *   another precompile is running, or `publish-failed` when a file cannot be written
 * @example
 * const { assets, seconds } = await precompile({ root: import.meta.dirname }, { minify: true })
 */
export async function precompile(
  options: KoaAssetsOptions = {},
  precompileOptions: PrecompileOptions = {}
): Promise<PrecompileReport> {
  const room = await import('./publishing/building/precompile.ts')
  return room.precompile(settleForPrecompile(options), precompileOptions)
}
