// Connects the rooms: it holds everything that one koaAssets() needs.
import { AssetError, reasonOf, warnOnce } from '../errors.ts'
import { once } from '../concurrency.ts'
import { makeAddresses, type Addresses } from './addresses.ts'
import { ReloadedManifest } from '../urls/read-manifest.ts'
import { publishingOf } from './publisher.ts'
import type { OnRequest } from '../../publishing/building/on-request.ts'
import type { PageDependency, Running, Project, Watch } from './parts.ts'
import { RequestedFiles, type PublishingParts } from './requested-files.ts'
import { Directories } from '../serving/directories/directories.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { makeViewHelpers, type ViewHelpers } from '../views/view-helpers.ts'

export class Pipeline {
  readonly settings: Project
  readonly directories: Directories
  /** The running parts of the extras. */
  readonly running: readonly Running[]
  /** The error of a manifest that is needed and missing or broken: no server starts with one. */
  failure: AssetError | undefined
  /** The members below are set once it is loaded. */
  requested!: RequestedFiles
  /** Returns the addresses of names in the pages of an app. */
  addressesOf!: (app: AppSettings) => Addresses
  /** Returns the view helpers of an app, by its name. */
  viewHelpers!: (app: string, isLive?: boolean) => ViewHelpers
  readonly #warn: (message: string) => void
  readonly #precompiled: ReloadedManifest | undefined
  /** The dependencies of the URLs in pages. */
  #dependencies: readonly PageDependency[] = []
  /** The time in seconds for which the last look at them is trusted. */
  readonly #trusted: number
  #onRequest: OnRequest | undefined
  #isReady = false
  /** Loads publishing on request, whether or not an app needs it. */
  readonly load = once(() => this.#load())
  readonly #loadRooms = once(() => this.#loadThoseOfRequests())
  readonly #start = once(async () => {
    if (this.#publishes) await this.load()
    else {
      await this.#loadRooms()
      this.#join()
    }
    this.#isReady = true
  })

  constructor(settings: Project, warn = warnOnce()) {
    const { apps, extras } = settings
    this.settings = settings
    this.#warn = warn
    this.#trusted = settings.env === 'development' ? 0 : settings.publicApp.revalidate
    this.running = extras.flatMap(
      extra => this.#unlessBroken(() => extra.run?.(settings, warn)) ?? []
    )
    if (apps.some(app => publishingOf(app) === 'precompiled'))
      this.#precompiled = this.#unlessBroken(() => new ReloadedManifest(settings, warn))
    this.directories = new Directories(settings, {
      isHashed: (mount, path) => this.running.some(each => each.isHashed?.(mount, path)),
      isOrdinary: (wanted, plain) => this.requested.isOrdinary(wanted, plain)
    })
    this.#isReady = !this.running.some(({ load }) => load) && !this.#publishes
    if (this.#isReady) this.#join()
    else void this.#begin()
  }

  get #publishes(): boolean {
    return this.settings.apps.some(({ compile }) => compile)
  }

  /**
   * Loads before the first request what requests need. Node 20 remembers an import() that has failed, and Node 22 one
   * that has failed in a deeper file: the next attempt then gets the same error. A server in production ends, since
   * only another process can load it; in development pages show the error.
   */
  async #begin(): Promise<void> {
    const failure = await failureOf(this.#start)
    if (failure === undefined || this.settings.env === 'development') return
    if ((await failureOf(this.#start)) !== failure) return
    const message = `koaAssets cannot start: ${reasonOf(failure)}`
    process.nextTick(() => {
      throw new Error(message, { cause: failure })
    })
  }

  /**
   * Every request waits for it: publishing on request and dev servers are loaded first. Undefined without these, and once
   * they are loaded.
   */
  get loading(): Promise<void> | undefined {
    return this.#isReady ? undefined : this.#start()
  }

  /** These are imported one after the other, as Jest needs it. */
  async #loadThoseOfRequests(): Promise<void> {
    for (const { load } of this.running) await load?.()
  }

  async #load(): Promise<void> {
    await this.#loadRooms()
    const { makeOnRequest } = await import('../../publishing/building/on-request.ts')
    const onRequest = await makeOnRequest(this.settings, this.#warn)
    this.#onRequest = onRequest
    this.#join()
    for (const extra of this.settings.extras)
      onRequest.plain.keeper ??= await extra.keepIndex?.(this)
  }

  #join(): void {
    const { settings, running, directories } = this
    const { apps, publicApp } = settings
    const parts = { onRequest: this.#onRequest, precompiled: this.#precompiled, running }
    const requested = new RequestedFiles(settings, directories, parts, this.#warn)
    const addresses = makeAddresses(settings, app => requested.publisherOf(app), parts)
    this.requested = requested
    this.#dependencies = dependenciesOf(settings, parts)
    this.addressesOf = app => addresses.get(app) ?? throwUnloaded()
    this.viewHelpers = makeViewHelpers(
      {
        ...settings,
        apps: apps.length > 0 ? apps : [publicApp],
        warn: settings.env === 'development' ? this.#warn : undefined
      },
      app => ({
        imports: app.imports,
        version: () => this.version,
        ...this.addressesOf(app)
      }),
      running.flatMap(({ helpers }) => helpers ?? [])
    )
  }

  /** The sources of all apps; they exist after `load`, or if an app publishes on request. */
  get sources(): Sources {
    return this.#onRequest?.sources ?? throwUnloaded()
  }

  /** Looks for changes before a page; undefined when there is nothing to wait for. */
  refresh(): Promise<unknown> | undefined {
    let work: Promise<unknown>[] | undefined
    for (const each of this.#dependencies) {
      const refreshed = each.refresh?.(this.#trusted)
      if (refreshed) (work ??= []).push(refreshed)
    }
    return work && Promise.all(work)
  }

  /** A text that changes with any URL in pages. */
  get version(): string {
    let version = ''
    for (const each of this.#dependencies) {
      const one = each.version
      if (one) version = version === '' ? one : `${version}-${one}`
    }
    return version
  }

  get watch(): Watch | undefined {
    return this.running.find(({ watch }) => watch)?.watch
  }

  #unlessBroken<T>(make: () => T): T | undefined {
    try {
      return make()
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      this.failure ??= error
      return undefined
    }
  }
}

/** Returns the dependencies: mostly few or none. */
function dependenciesOf(
  { apps }: Settings,
  { onRequest, precompiled, running }: PublishingParts & { readonly running: readonly Running[] }
): readonly PageDependency[] {
  const listed = apps.flatMap(app => onRequest?.listed(app) ?? [])
  return [
    ...[precompiled, onRequest?.fingerprints].filter(each => each !== undefined),
    ...running.flatMap(({ pageDependencies = [] }) => pageDependencies),
    ...listed
      .flatMap(({ lists }) => lists)
      .map(each => ({
        refresh: () => each.verify(),
        get version() {
          return each.digest
        }
      })),
    // Plain names need the sources: tails, names that a mount may have too, and the sizes of images.
    ...listed.map(sources => ({ refresh: () => sources.refresh() }))
  ]
}

async function failureOf(work: () => Promise<void>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

function throwUnloaded(): never {
  throw new Error('the pipeline has not been loaded')
}
