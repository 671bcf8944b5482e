// Connects the rooms: everything that one koaAssets() holds.
import { AssetError } from '../errors.ts'
import { warnOnce } from '../printable.ts'
import { addressesOf, type Addresses } from './addresses.ts'
import { ReloadedManifest } from './building/manifest/read-manifest.ts'
import { kindOf } from './building/on-request/app-files.ts'
import type { OnRequest } from './building/on-request/on-request.ts'
import type { Running, Site, Watch } from './parts.ts'
import { Published } from './published.ts'
import { Directories } from './serving/directories/directories.ts'
import type { AppSettings } from './settings/settings.ts'
import type { Sources } from './sources/sources.ts'
import { UrlState } from './url-state.ts'
import { makeViewHelpers, type ViewHelpers } from './views/view-helpers.ts'

export class Pipeline {
  readonly settings: Site
  readonly directories: Directories
  /** What the extras do. */
  readonly running: readonly Running[]
  /** A manifest that is needed and missing or broken: no server starts without it. */
  failure: AssetError | undefined
  /** Every request waits for it: what publishes on request, and what knows dev servers. Undefined without these. */
  loading: Promise<void> | undefined
  /** These are there once it is loaded. */
  published!: Published
  urlState!: UrlState
  /** Where names lead in the pages of an app. */
  addressesOf!: (app: AppSettings) => Addresses
  /** By the name of an app. */
  viewHelpers!: (app: string, isLive?: boolean) => ViewHelpers
  readonly #warn: (message: string) => void
  readonly #precompiled: ReloadedManifest | undefined
  #onRequest: OnRequest | undefined
  #loaded: Promise<void> | undefined

  constructor(settings: Site, warn = warnOnce()) {
    const { apps, extras } = settings
    this.settings = settings
    this.#warn = warn
    this.running = extras.flatMap(
      extra => this.#unlessBroken(() => extra.run?.(settings, warn)) ?? []
    )
    if (apps.some(app => kindOf(app) === 'precompiled'))
      this.#precompiled = this.#unlessBroken(() => new ReloadedManifest(settings, warn))
    this.directories = new Directories(settings, {
      isHashed: (mount, path) => this.running.some(each => each.isHashed?.(mount, path)),
      isOrdinary: (wanted, plain) => this.published.isOrdinary(wanted, plain)
    })
    const isLoaded = this.running.some(({ loading }) => loading !== undefined)
    if (isLoaded || apps.some(({ compile }) => compile)) this.loading = this.load()
    else this.#join()
  }

  /** Loads what publishes on request, whether an app does or not. */
  load(): Promise<void> {
    return (this.#loaded ??= this.#load())
  }

  async #load(): Promise<void> {
    const [{ makeOnRequest }] = await Promise.all([
      import('./building/on-request/on-request.ts'),
      ...this.running.flatMap(({ loading }) => loading ?? [])
    ])
    const forget = (path: string) => this.directories.public.forget({ path })
    const onRequest = await makeOnRequest(this.settings, this.#warn, forget)
    this.#onRequest = onRequest
    this.#join()
    for (const extra of this.settings.extras)
      onRequest.plain.keeper ??= await extra.keepIndex?.(this)
    this.loading = undefined
  }

  #join(): void {
    const { settings, running, directories } = this
    const { apps, publicApp } = settings
    const parts = { onRequest: this.#onRequest, precompiled: this.#precompiled, running }
    const published = new Published(settings, directories, parts)
    const urlState = new UrlState(settings, parts)
    const addresses = new Map(
      [...apps, publicApp].map(app => {
        return [app, addressesOf(app, settings, published.filesOf(app), parts)]
      })
    )
    this.published = published
    this.urlState = urlState
    this.addressesOf = app => addresses.get(app) ?? throwUnloaded()
    this.viewHelpers = makeViewHelpers(
      {
        ...settings,
        apps: apps.length > 0 ? apps : [publicApp],
        warn: settings.env === 'development' ? this.#warn : undefined
      },
      app => ({
        imports: app.imports,
        version: () => urlState.version,
        ...this.addressesOf(app)
      }),
      running.flatMap(({ helpers }) => helpers ?? [])
    )
  }

  /** Of all apps; after `load`, or where an app publishes on request. */
  get sources(): Sources {
    return this.#onRequest?.sources ?? throwUnloaded()
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

function throwUnloaded(): never {
  throw new Error('the pipeline has not been loaded')
}
