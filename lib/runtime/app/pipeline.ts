// Connects the rooms: it has everything that one koaAssets() needs, and brings files up to date with their sources.
import { once } from '../concurrency.ts'
import { AssetError, reasonOf, warnOnce } from '../errors.ts'
import { sameStamp } from '../files/disk.ts'
import { Directories } from '../serving/directories.ts'
import type { Found } from '../serving/file.ts'
import { wantedAt, type Wanted } from '../serving/request.ts'
import { assetPath, type AppSettings } from '../settings/apps.ts'
import type { Names } from '../urls/manifest.ts'
import { ReloadedNames } from '../urls/read-manifest.ts'
import { encodePath, splitFingerprint } from '../urls/spelling.ts'
import { makeViewHelpers, type ViewHelpers } from '../views/view-helpers.ts'
import { makeAddresses, type Addresses } from './addresses.ts'
import type { OnRequest } from './on-request.ts'
import type { PageDependency, Project, Running } from './extra.ts'

/** The number of attempts while others replace or remove the target, perhaps with the bytes from before an edit. */
const MAX_ATTEMPTS = 5
/** The longest name, in characters, that is reported: nobody writes longer ones, and a flood would stay in memory. */
const MAX_WRITTEN = 200

export class Pipeline {
  readonly settings: Project
  readonly directories: Directories
  readonly running: readonly Running[]
  readonly watch: Running['watch']
  /** The error of a required manifest that is missing or broken: a server with one does not start. */
  failure: AssetError | undefined
  recall: Directories['recall']
  /** Set once publishing is loaded; the next two are also set where nothing needs it. */
  onRequest: OnRequest | undefined
  addressesOf!: (app: AppSettings) => Addresses
  viewHelpers!: (app: string, isLive?: boolean) => ViewHelpers
  readonly warn: (message: string) => void
  readonly #precompiled: ReloadedNames | undefined
  #dependencies: readonly PageDependency[] = []
  /** The time in seconds for which the last look at dependencies is trusted. */
  readonly #trusted: number
  /** The names in use when a file was reported missing; others usually are too, so only the first is reported. */
  #reported: Names | undefined
  #isReady = false
  readonly #loadRooms = once(async () => {
    // Jest needs these imports one after the other.
    for (const { load } of this.running) await load?.()
  })
  /** Loads publishing on request, whether or not an app needs it. */
  readonly load = once(async () => {
    await this.#loadRooms()
    const { makeOnRequest } = await import('../../publishing/building/on-request.ts')
    const { directories } = this
    const forget = (path: string) => directories.public.forget({ path })
    const onRequest = await makeOnRequest(this.settings, this.warn, forget)
    this.onRequest = onRequest
    // A verified fingerprint is trusted permanently, unless its source may be gone.
    const recallCurrent: typeof this.recall = (rawPath, mounts) => {
      const known = directories.recall(rawPath, mounts)
      return known === 'missing' || onRequest.rebuilt.isCurrent ? known : undefined
    }
    if (this.settings.apps.some(app => app.compile && app.fingerprint)) this.recall = recallCurrent
    this.#join()
  })
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
    this.warn = warn
    this.#trusted = settings.env === 'development' ? 0 : settings.publicApp.revalidate
    this.running = extras.flatMap(
      extra => this.#unlessBroken(() => extra.run?.(settings, warn)) ?? []
    )
    this.watch = this.running.find(({ watch }) => watch)?.watch
    if (apps.some(({ compile, fingerprint }) => fingerprint && !compile))
      this.#precompiled = this.#unlessBroken(() => new ReloadedNames(settings, warn))
    this.directories = new Directories(settings, {
      isHashed: (mount, path) => this.running.some(each => each.isHashed?.(mount, path)),
      isOrdinary: (wanted, plain) => this.#isOrdinary(wanted, plain),
      sender: extras.flatMap(extra => extra.deltas?.sender(settings) ?? [])[0]
    })
    this.recall = this.directories.recall.bind(this.directories)
    this.#isReady = !this.running.some(({ load }) => load) && !this.#publishes
    if (this.#isReady) this.#join()
    else void this.#begin()
  }

  get #publishes(): boolean {
    return this.settings.apps.some(({ compile }) => compile)
  }

  // Node 20 remembers an import() that has failed, and Node 22 one that has failed in a deeper file. Only another
  // process can load it then, so a server in production ends; in development pages show the error.
  async #begin(): Promise<void> {
    const failure = await failureOf(this.#start)
    if (failure === undefined || this.settings.env === 'development') return
    if ((await failureOf(this.#start)) !== failure) return
    const message = `koaAssets cannot start: ${reasonOf(failure)}`
    process.nextTick(() => {
      throw new Error(message, { cause: failure })
    })
  }

  /** Resolves once all that requests wait for is loaded, such as publishing; undefined if nothing is left to load. */
  get loading(): Promise<void> | undefined {
    return this.#isReady ? undefined : this.#start()
  }

  #join(): void {
    const { settings, running, onRequest } = this
    const { apps, publicApp } = settings
    this.#dependencies = [
      ...(this.#precompiled ? [this.#precompiled] : []),
      ...running.flatMap(({ pageDependencies = [] }) => pageDependencies),
      ...(onRequest?.dependencies ?? [])
    ]
    const addresses = makeAddresses(this)
    this.addressesOf = app => addresses.get(app) as Addresses
    this.viewHelpers = makeViewHelpers(
      { ...settings, apps: apps.length > 0 ? apps : [publicApp] },
      app => ({ imports: app.imports, version: () => this.version, ...this.addressesOf(app) }),
      running.flatMap(({ helpers }) => helpers ?? [])
    )
  }

  refresh(): Promise<unknown> | undefined {
    let work: Promise<unknown>[] | undefined
    for (const each of this.#dependencies) {
      const refreshed = each.refresh?.(this.#trusted)
      if (refreshed) (work ??= []).push(refreshed)
    }
    return work && Promise.all(work)
  }

  get version(): string {
    let version = ''
    for (const each of this.#dependencies) {
      const one = each.version
      if (one) version = version === '' ? one : `${version}-${one}`
    }
    return version
  }

  namesOf(app: AppSettings): Names | undefined {
    if (!app.fingerprint) return undefined
    return app.compile ? this.onRequest?.rebuilt.names : this.#precompiled?.current
  }

  /** Brings a file up to date with its source, and finds it. @throws AssetError for one that cannot be published */
  current(wanted: Wanted): Promise<Found> | Found {
    const mounted = this.directories.findInMounts(wanted)
    return mounted instanceof Promise
      ? mounted.then(file => file ?? this.#currentInPublic(wanted))
      : this.#currentInPublic(wanted)
  }

  #currentInPublic(wanted: Wanted): Promise<Found> | Found {
    if (wanted.isFolder || !this.settings.servesPublic) return undefined
    const { onRequest } = this
    return onRequest && wanted.app.compile
      ? this.#published(onRequest, wanted)
      : this.directories.public.find(wanted)
  }

  async #published(onRequest: OnRequest, wanted: Wanted): Promise<Found> {
    const { app, name } = wanted
    const directory = this.directories.public
    const plain = app.fingerprint ? splitFingerprint(name)?.name : undefined
    if (plain !== undefined && (await onRequest.sourced(app, plain)) !== undefined) {
      const file = await directory.find(wanted)
      if (file?.isVerified) return file
    }
    for (let attempt = 1; ; attempt++) {
      const target = await onRequest.publish(app, name)
      const file = await directory.find(wanted, target)
      const isOurs = !target || (file && sameStamp(file.stamp, target.stamp))
      if (isOurs || attempt === MAX_ATTEMPTS) return file
    }
  }

  /** Tells whether the path is that of an asset, published or not; nothing is written. */
  async has(wanted: Wanted): Promise<boolean> {
    if (await this.directories.findInMounts(wanted)) return true
    if (wanted.isFolder || !this.settings.servesPublic) return false
    if ((await this.#sourced(wanted)) === wanted.name) return true
    return (await this.directories.public.find(wanted)) !== undefined
  }

  /** Returns the path of the same asset without a fingerprint. */
  async plain(wanted: Wanted): Promise<Wanted> {
    const sourced = await this.#sourced(wanted)
    return sourced === undefined ? wanted : wantedAt(assetPath(wanted.app, sourced), this.settings)
  }

  /** Returns the URL path that helpers currently emit, encoded. */
  addressOf({ app, name, path }: Wanted): string {
    return this.namesOf(app)?.find(app, name)?.target ?? encodePath(path)
  }

  /** Warns of the probable reason for a 404. In development source maps and pages for developers are left out. */
  reportMissing(wanted: Wanted): void {
    const { env, apps, serve } = this.settings
    const { app, name } = wanted
    if (!app.compile) this.#reportUnsent(wanted)
    const isSought = env === 'development' && serve && app.compile && apps.includes(app)
    if (!isSought || name.length > MAX_WRITTEN || /^-\/|\.map$/.test(name)) return
    this.onRequest?.checkName(app, name, 'a browser asked for')
  }

  /** @param referrer of a request that got a file; empty for a request without one */
  reportTail(referrer: string, { app, name }: Wanted): void {
    const { env, apps, base, prefix } = this.settings
    const isPage = referrer !== '' && !referrer.includes(`${base}${prefix}/`)
    const isPlain = app.compile && !app.fingerprint && apps.includes(app)
    if (env === 'development' && isPage && isPlain) this.onRequest?.reportTail(app, name)
  }

  /** Warns of a file that pages name and `public` lacks. */
  #reportUnsent({ app, name, path }: Wanted): void {
    const plain = splitFingerprint(name)?.name
    const names = this.namesOf(app)
    if (plain === undefined || !names || names === this.#reported) return
    if (names.assets.get(encodePath(assetPath(app, plain)))?.target !== encodePath(path)) return
    this.#reported = names
    this.warn(
      this.settings.serve
        ? `${path} is a 404, though the manifest names it: public lacks this file, or has other bytes under its name. npx koa-fresh-assets verify lists all such files`
        : `${path} is a 404, as serve is off: set SERVE_STATIC_ASSETS=true or serve: true, or let the web server in front send public`
    )
  }

  // Tells whether hex digits that are not the digest of the bytes belong to the name. They do when an asset is
  // published under the name, or when its plain name, the path without them, does not exist.
  async #isOrdinary(wanted: Wanted, plain: string): Promise<boolean> {
    const { app, path } = wanted
    const assets = this.namesOf(app)?.assets
    if (assets?.has(encodePath(path))) return true
    if (assets?.has(encodePath(plain))) return false
    const sourced = await this.#sourced(wanted)
    if (sourced !== undefined) return sourced === wanted.name
    return !(await this.directories.public.find(wantedAt(plain, this.settings)))
  }

  async #sourced({ app, name }: Wanted): Promise<string | undefined> {
    return app.compile ? this.onRequest?.sourced(app, name) : undefined
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

function failureOf(work: () => Promise<void>): Promise<unknown> {
  return work().catch((error: unknown) => error)
}
