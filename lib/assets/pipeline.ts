// Connects the rooms: everything that one koaAssets() holds. The targets of an app are published on
// request, or built with fingerprints on request, or precompiled.
import { AssetError } from '../errors.ts'
import { warnOnce } from '../warn-once.ts'
import { Bundles } from './bundles/bundles.ts'
import { ManifestInForce } from './building/manifest/manifest-in-force.ts'
import type { ManifestEntry } from './building/manifest/entries.ts'
import type { Manifest } from './building/manifest/manifest.ts'
import { makeNameCheck } from './inspecting/unknown-names.ts'
import { isLive, LiveBuild } from './publishing/live-build.ts'
import { Publications } from './publishing/publications.ts'
import { ordinaryBy } from './publishing/ordinary-names.ts'
import { Publisher } from './publishing/publisher.ts'
import type { ServedFile } from './serving/files/served-file.ts'
import { Directories } from './serving/directories/directories.ts'
import type { ServedFiles } from './serving/files/served-files.ts'
import { wantedAt, type Wanted } from './serving/request-path.ts'
import { assetPath } from './settings/app-settings.ts'
import type { AppSettings, Settings } from './settings/settings.ts'
import { Sources } from './sources/sources.ts'
import { encodePath } from './urls/encode.ts'
import { splitFingerprint } from './urls/fingerprint.ts'
import {
  plainAddress,
  type AppAssets,
  type AssetAddress,
  type Module,
  type ModuleAddress
} from './views/asset-url.ts'
import { makeViewHelpers, type ViewHelpers } from './views/view-helpers.ts'

type Found = ServedFile | undefined

export class Pipeline {
  readonly settings: Settings
  readonly directories: Directories
  readonly #publicFiles: ServedFiles
  /** By the name of an app. */
  readonly viewHelpers: (app: string, isLive?: boolean) => ViewHelpers
  /** Undefined when no mount has a bundle. */
  readonly #bundles: Bundles | undefined
  readonly sources: Sources
  readonly publications = new Publications()
  readonly #publisher: Publisher
  readonly #live: LiveBuild | undefined
  readonly #precompiled: ManifestInForce | undefined
  readonly #checkName: ((app: AppSettings, name: string) => void) | undefined

  /** @throws AssetError for a manifest that is needed and missing or broken */
  constructor(settings: Settings) {
    const { apps, env, publicApp } = settings
    const warn = warnOnce()
    this.settings = settings
    this.sources = new Sources(settings, warn)
    this.#publisher = new Publisher(settings, this.sources, warn, this.publications)
    const isOrdinary = ordinaryBy({
      manifestOf: app => this.manifestOf(app),
      sourcedName: (app, name) => this.#sourcedName(app, name),
      has: wanted => this.#publicFiles.has(wanted)
    })
    this.directories = new Directories(settings, {
      isOrdinary,
      isHashed: (mount, path) => this.#bundles?.isHashed(mount, path) ?? false
    })
    this.#publicFiles = this.directories.public
    const forget = (path: string) => this.#publicFiles.forget(path)
    if (apps.some(isLive))
      this.#live = new LiveBuild(settings, this.sources, warn, forget, this.publications)
    if (apps.some(isPrecompiled)) this.#precompiled = new ManifestInForce(settings, warn)
    if (env === 'development') this.#checkName = makeNameCheck(settings, this.sources, warn)
    const bundles = new Bundles(settings, warn)
    if (!bundles.isEmpty) this.#bundles = bundles
    const assetsOf = (app: AppSettings): AppAssets => ({
      imports: app.imports,
      resolve: name => this.#resolve(app, name),
      modules: () => modulesOf(this.manifestOf(app)),
      moduleAt: path => this.#moduleAt(app, path),
      version: () => this.#version
    })
    const liveScript = `${encodePath(settings.prefix)}/-/live.js`
    const pages = { ...settings, liveScript, apps: apps.length > 0 ? apps : [publicApp] }
    this.viewHelpers = makeViewHelpers(pages, assetsOf, this.#bundles?.find)
  }

  /** What is known of a raw path without reading the disk: its file, or that no directory has one. */
  recall(rawPath: string): Found | 'missing' {
    const known = this.directories.recall(rawPath)
    // A verified fingerprint is trusted permanently, unless its source may be gone.
    return known !== 'missing' && this.#live?.isCurrent === false ? undefined : known
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

  /** What was published since then for a path, fingerprinted or not. @param start by `performance.now()` */
  publishedSince({ path }: Wanted, start: number) {
    const plain = splitFingerprint(path)?.name ?? path
    return this.publications.since(path, start) ?? this.publications.since(plain, start)
  }

  /** The last target of a source that cannot be published. */
  lastGood(wanted: Wanted): Promise<Found> | Found {
    return this.#publicFiles.find(wanted)
  }

  #currentInPublic(wanted: Wanted): Promise<Found> | Found {
    if (wanted.isFolder || !this.settings.servesPublic) return undefined
    if (!this.#isPublished(wanted)) return this.#publicFiles.find(wanted)
    return wanted.app.fingerprint ? this.#build(wanted) : this.#publish(wanted)
  }

  /** Whether the helpers belong to one page, because `entry` writes each tag once. */
  get hasBundles(): boolean {
    return this.#bundles !== undefined
  }

  /** Whether the path is an asset, published or not; nothing is written. */
  async has(wanted: Wanted): Promise<boolean> {
    const { app, name } = wanted
    if (await this.directories.isInMounts(wanted)) return true
    if (wanted.isFolder || !this.settings.servesPublic) return false
    if (this.#isPublished(wanted) && (await this.sources.of(app).find(name))) return true
    return this.#publicFiles.has(wanted)
  }

  /** What has the same source, under its name without a fingerprint. */
  async plain(wanted: Wanted): Promise<Wanted> {
    const { app, name } = wanted
    const sourced = this.#isPublished(wanted) ? await this.#sourcedName(app, name) : undefined
    return sourced === undefined ? wanted : wantedAt(assetPath(app, sourced), this.settings)
  }

  /** The URL path that helpers emit now, encoded. */
  addressOf({ app, name, path }: Wanted): string {
    const [, entry] = this.manifestOf(app)?.find(app, name) ?? []
    return entry?.target ?? encodePath(path)
  }

  /**
   * Calls `listener` when a source may have changed.
   * @returns ends it
   */
  onSourceEvent(listener: () => void): () => void {
    return this.sources.onEvent(listener)
  }

  /** Brings the manifests up to date for a page; undefined when there is nothing to wait for. */
  beforePage(): Promise<unknown> | undefined {
    const { env, publicApp } = this.settings
    const seconds = env === 'development' ? 0 : publicApp.revalidate
    const own = [this.#live?.refresh(), this.#precompiled?.refresh(seconds)]
    const all = [...own, ...(this.#bundles?.refresh(seconds) ?? [])].filter(
      each => each !== undefined
    )
    return all.length > 0 ? Promise.all(all) : undefined
  }

  #isPublished({ app }: Wanted): boolean {
    return app.compile && app !== this.settings.publicApp
  }

  async #publish(wanted: Wanted): Promise<Found> {
    return this.#publicFiles.find(wanted, await this.#publisher.publish(wanted.app, wanted.name))
  }

  async #build(wanted: Wanted): Promise<Found> {
    const { app, name } = wanted
    const plain = splitFingerprint(name)?.name
    if (plain !== undefined && (await this.sources.of(app).find(plain))) {
      const file = await this.#publicFiles.find(wanted)
      if (file?.isVerified) return file
    }
    const sourced = await this.#sourcedName(app, name)
    // Refreshing looks at every asset: not worth it for a name that has no source and never had one.
    const isKnown = [name, plain ?? name].some(each => this.#live?.has(assetPath(app, each)))
    if (sourced === undefined && !isKnown) return this.#publicFiles.find(wanted)
    await this.#live?.refresh()
    const path = assetPath(app, sourced ?? name)
    const problem = this.#live?.problemOf(path)
    if (problem) throw problem
    await this.#live?.restore(path)
    return this.#publicFiles.find(wanted)
  }

  /** The name itself before the name without its fingerprint; undefined when neither has a source. */
  async #sourcedName(app: AppSettings, name: string): Promise<string | undefined> {
    const sources = this.sources.of(app)
    if (await sources.find(name)) return name
    const plain = splitFingerprint(name)?.name
    return plain !== undefined && (await sources.find(plain)) ? plain : undefined
  }

  #resolve(app: AppSettings, name: string): AssetAddress {
    if (app === this.settings.publicApp) {
      const message = `'${name}' is not an asset: this project has none of its own`
      throw new AssetError('asset-unknown', message)
    }
    const manifest = this.manifestOf(app)
    if (!manifest) {
      if (app.compile) this.#checkName?.(app, name)
      return plainAddress(encodePath(app.urlPrefix), name)
    }
    const problem = this.#live?.problemOf(assetPath(app, name))
    const lastGood = problem && manifest.find(app, name)
    if (problem && !lastGood) throw problem
    const [plainPath, { target, integrity }] = lastGood ?? manifest.entry(app, name)
    return { path: target, integrity, plainPath }
  }

  #moduleAt(app: AppSettings, plainPath: string): ModuleAddress | undefined {
    const entry = this.manifestOf(app)?.at(plainPath)
    return entry && moduleAddress(entry)
  }

  /** Undefined for an app without fingerprints. */
  manifestOf(app: AppSettings): Manifest | undefined {
    if (!app.fingerprint) return undefined
    return isLive(app) ? this.#live?.manifest : this.#precompiled?.current
  }

  get #version(): string {
    const versions = [
      this.#precompiled?.current.version,
      this.#live?.manifest.version,
      this.#bundles?.version
    ]
    return versions.filter(Boolean).join('-')
  }
}

function isPrecompiled({ compile, fingerprint }: AppSettings): boolean {
  return fingerprint && !compile
}

function* modulesOf(manifest: Manifest | undefined): Generator<Module> {
  for (const [plainPath, entry] of manifest?.entries() ?? []) {
    yield [plainPath, moduleAddress(entry)]
  }
}

function moduleAddress(entry: ManifestEntry): ModuleAddress {
  const { target, integrity, imports, dynamicImports } = entry
  return { path: target, integrity, imports, dynamicImports }
}
