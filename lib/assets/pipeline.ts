// Connects the rooms: everything that one koaAssets() holds.
import { AssetError } from '../errors.ts'
import { warnOnce } from '../printable.ts'
import { ownAddresses, withNames, type Addresses } from './addresses.ts'
import type { Manifest } from './building/manifest/manifest.ts'
import { ReloadedManifest } from './building/manifest/read-manifest.ts'
import {
  asTheyAre,
  kindOf,
  precompiled,
  sourcedNameIn,
  type AppFiles
} from './building/on-request/app-files.ts'
import type { OnRequest } from './building/on-request/on-request.ts'
import { Directories } from './serving/directories/directories.ts'
import type { ServedFile } from './serving/files/served-file.ts'
import type { Found } from './serving/files/served-files.ts'
import { wantedAt, type Wanted } from './serving/request-path.ts'
import { appOfPage, assetPath } from './settings/app-settings.ts'
import type { AppSettings } from './settings/settings.ts'
import type { Names, Running, Site } from './parts.ts'
import type { AppSources, Sources } from './sources/sources.ts'
import { encodePath } from './urls/canonical-path.ts'
import { splitFingerprint } from './urls/fingerprint.ts'
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
  /** By the name of an app. */
  viewHelpers: (app: string, isLive?: boolean) => ViewHelpers = throwUnloaded
  /** Of files in mounts. */
  readonly #names: readonly Names[]
  readonly #warn: (message: string) => void
  readonly #precompiled: ReloadedManifest | undefined
  #loaded: Promise<void> | undefined
  #onRequest: OnRequest | undefined
  #files: ReadonlyMap<AppSettings, AppFiles> = new Map()
  /** What a page waits for, and what tells that URLs in pages have changed: chosen once, mostly little or nothing. */
  #waits: readonly (() => Promise<unknown> | undefined)[] = []
  #versions: readonly (() => string | undefined)[] = []

  constructor(settings: Site, warn = warnOnce()) {
    this.settings = settings
    this.#warn = warn
    this.directories = new Directories(settings, {
      isHashed: (mount, path) => this.running.some(each => each.isHashed?.(mount, path)),
      isOrdinary: (asked, plain) => this.#isOrdinary(asked, plain)
    })
    this.running = settings.extras.flatMap(
      extra => this.#unlessBroken(() => extra.run?.(settings, warn)) ?? []
    )
    this.#names = this.running.flatMap(({ names }) => names ?? [])
    if (settings.apps.some(app => kindOf(app) === 'precompiled'))
      this.#precompiled = this.#unlessBroken(() => new ReloadedManifest(settings, warn))
    const publishes = settings.apps.some(({ compile }) => compile)
    if (publishes || this.running.some(({ loading }) => loading !== undefined))
      this.loading = this.load()
    else this.#join()
  }

  /** Loads what publishes on request, whether an app does or not. */
  load(): Promise<void> {
    return (this.#loaded ??= this.#load())
  }

  async #load(): Promise<void> {
    const room = import('./building/on-request/on-request.ts')
    const [{ makeOnRequest }] = await Promise.all([
      room,
      ...this.running.flatMap(({ loading }) => loading ?? [])
    ])
    const forget = (path: string) => this.directories.public.forget({ path })
    this.#onRequest = await makeOnRequest(this.settings, this.#warn, forget)
    this.#join()
    this.loading = undefined
  }

  #join(): void {
    const { apps, publicApp } = this.settings
    const kinds = {
      plain: this.#onRequest?.plain,
      fingerprints: this.#onRequest?.fingerprints,
      precompiled: this.#precompiled && precompiled(this.#precompiled),
      none: asTheyAre
    }
    this.#files = new Map(apps.map(app => [app, kinds[kindOf(app)] ?? asTheyAre]))
    this.#chooseWork()
    this.viewHelpers = makeViewHelpers(
      { ...this.settings, apps: apps.length > 0 ? apps : [publicApp] },
      app => ({ imports: app.imports, version: () => this.#version, ...this.#addressesOf(app) }),
      this.running.flatMap(({ helpers }) => helpers ?? [])
    )
  }

  #chooseWork(): void {
    const { env, publicApp, apps } = this.settings
    const seconds = env === 'development' ? 0 : publicApp.revalidate
    const [inMemory, onDisk] = [this.#onRequest?.fingerprints, this.#precompiled]
    const listed = apps.flatMap(app => this.#listedSources(app) ?? [])
    const more = listed.flatMap(sources => sources.more)
    const changing = this.running.filter(each => 'refresh' in each)
    this.#waits = [
      ...(inMemory ? [() => inMemory.refresh()] : []),
      ...(onDisk ? [() => onDisk.refresh(seconds)] : []),
      // Which names are the app's own, where a mount may have them too; what is measured of their sources.
      ...(this.hasNames || this.#onRequest?.measuresOf
        ? listed.map(sources => () => sources.refresh())
        : []),
      ...more.map(each => () => each.verify()),
      ...changing.map(each => () => each.refresh?.(seconds))
    ]
    this.#versions = [
      ...(onDisk ? [() => onDisk.current.version] : []),
      ...(inMemory ? [() => inMemory.manifest?.version] : []),
      ...changing.map(each => () => each.version),
      ...more.map(each => () => each.digest)
    ]
  }

  #addressesOf(app: AppSettings): Addresses {
    const { env, publicApp } = this.settings
    const known = env === 'development' && app.compile ? this.#onRequest?.checkName : undefined
    const check = app === publicApp ? refuseName : known
    const sources = this.#listedSources(app)
    const measuresOf = sources && this.#onRequest?.measuresOf
    const own = ownAddresses(app, this.#filesOf(app), sources, check, measuresOf)
    return this.#names.reduce(withNames, own)
  }

  /** Of all apps; after `load`, or where an app publishes on request. */
  get sources(): Sources {
    return this.#onRequest?.sources ?? throwUnloaded()
  }

  /** What is known of a raw path without reading the disk: its file, or that no directory has one. */
  recall(rawPath: string): Found | 'missing' {
    const known = this.directories.recall(rawPath)
    // A verified fingerprint is trusted permanently, unless its source may be gone.
    const fingerprints = this.#onRequest?.fingerprints
    return known !== 'missing' && fingerprints?.isCurrent === false ? undefined : known
  }

  /**
   * The file that a request gets, after bringing it up to date with its source.
   * @throws AssetError for a source that cannot be published
   */
  current(wanted: Wanted): Promise<Found> | Found {
    const mounted = this.directories.findInMounts(wanted)
    return mounted instanceof Promise
      ? mounted.then(file => file ?? this.#currentInPublic(wanted))
      : this.#currentInPublic(wanted)
  }

  #currentInPublic(wanted: Wanted): Promise<Found> | Found {
    if (wanted.isFolder || !this.settings.servesPublic) return undefined
    const files = this.#filesOf(wanted.app)
    return files.current<ServedFile>(wanted, stamp => this.directories.public.find(wanted, stamp))
  }

  /** What was published since then for a path, fingerprinted or not. @param start by `performance.now()` */
  publishedSince({ app, path }: Pick<Wanted, 'app' | 'path'>, start: number) {
    const { index } = this.#filesOf(app)
    const plain = splitFingerprint(path)?.name ?? path
    const published = (index?.peek(path) ?? index?.peek(plain))?.published
    return published && published.at >= start ? published : undefined
  }

  /** Whether files in mounts have names that pages may write. */
  get hasNames(): boolean {
    return this.#names.length > 0
  }

  /** What a page loads for a name with all that it needs; undefined for any other name, and for an own asset. */
  loadedFor(path: string, name: string, mount: string | undefined) {
    const names = this.#names.find(each => each.hasEntry(name, mount))
    if (!names) return undefined
    const app = appOfPage(this.settings, path) ?? this.settings.publicApp
    const isOwn = mount === undefined && this.#addressesOf(app).has(name)
    return isOwn ? undefined : names.entry(name, mount)
  }

  /** Whether the path is an asset, published or not; nothing is written. */
  async has(wanted: Wanted): Promise<boolean> {
    if (await this.directories.isInMounts(wanted)) return true
    if (wanted.isFolder || !this.settings.servesPublic) return false
    if ((await this.#sourcedName(wanted)) === wanted.name) return true
    return this.directories.public.has(wanted)
  }

  /** What has the same source, under its name without a fingerprint. */
  async plain(wanted: Wanted): Promise<Wanted> {
    const sourced = await this.#sourcedName(wanted)
    return sourced === undefined ? wanted : wantedAt(assetPath(wanted.app, sourced), this.settings)
  }

  /** The URL path that helpers currently emit, encoded. */
  addressOf({ app, name, path }: Wanted): string {
    const [, entry] = this.manifestOf(app)?.find(app, name) ?? []
    return entry?.target ?? encodePath(path)
  }

  /** Brings the manifests up to date for a page; undefined when there is nothing to wait for. */
  beforePage(): Promise<unknown> | undefined {
    let work: Promise<unknown>[] | undefined
    for (const wait of this.#waits) {
      const refreshed = wait()
      if (refreshed) (work ??= []).push(refreshed)
    }
    return work && Promise.all(work)
  }

  /** Undefined for an app without fingerprints. */
  manifestOf(app: AppSettings): Manifest | undefined {
    return this.#filesOf(app).manifest
  }

  /** Undefined where nothing is published on request. */
  async #sourcedName({ app, name }: Wanted): Promise<string | undefined> {
    return this.#filesOf(app).index && sourcedNameIn(this.sources, app, name)
  }

  /** Undefined where a manifest has the names. */
  #listedSources(app: AppSettings): AppSources | undefined {
    return kindOf(app) === 'plain' ? this.#onRequest?.sources.of(app) : undefined
  }

  #filesOf(app: AppSettings): AppFiles {
    return this.#files.get(app) ?? asTheyAre
  }

  /**
   * Whether hex digits that are not the digest of the bytes belong to the name; `plain` is the path without
   * them. They do when something is published under the name, or when its plain name does not exist.
   */
  async #isOrdinary(wanted: Wanted, plain: string): Promise<boolean> {
    const { app, path } = wanted
    const assets = this.manifestOf(app)?.assets
    if (assets?.has(encodePath(path))) return true
    if (assets?.has(encodePath(plain))) return false
    const sourced = await this.#sourcedName(wanted)
    if (sourced !== undefined) return sourced === wanted.name
    return !(await this.directories.public.has({ app, path: plain }))
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

  get #version(): string {
    let version = ''
    for (const versionOf of this.#versions) {
      const each = versionOf()
      if (each) version = version === '' ? each : `${version}-${each}`
    }
    return version
  }
}

function refuseName(_: AppSettings, name: string): never {
  const message = `'${name}' is not an asset: this project has none of its own`
  throw new AssetError('asset-unknown', message)
}

function throwUnloaded(): never {
  throw new Error('the pipeline has not been loaded')
}
