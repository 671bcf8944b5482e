// Joins the bundles of all mounts, and finds their entries by name.
import { inspect } from 'node:util'
import { AssetError, reasonOf } from '../../runtime/errors.ts'
import { didYouMean, nearestPath } from '../../runtime/check-options.ts'
import { once } from '../../runtime/concurrency.ts'
import type { PageDependency, Running, Project } from '../../runtime/app/parts.ts'
import { loadDetails } from '../../runtime/app/details.ts'
import { isBelow } from '../../runtime/serving/request-path.ts'
import type { AssetAddress, MountAssets } from '../../runtime/views/asset-url.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import type { DevServer } from './dev-server.ts'
import { isLoadable, type EntrySource } from './entry-source.ts'
import { findNone, helpersOf, type FindEntry } from './entry.ts'
import { MountedBundle } from './mounted-bundle.ts'

/** A page waits while the nearest name is searched for. */
const MAX_COMPARED = 10_000
const MAX_LISTED = 10

/** A mount that has entries. */
interface Mount {
  readonly settings: MountSettings
  readonly build: MountedBundle | undefined
  /** A dev server stands in for the build while it runs. */
  dev?: DevServer
}

export interface KnownNames {
  readonly entries: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  /** True if there are no other entries. */
  readonly hasAllEntries: boolean
  /** True if there are no other sources. */
  readonly hasAllSources: boolean
}

/** @throws AssetError for a manifest that is missing or broken, or that names a file that does not exist */
export function startBundles(settings: Project, warn: (message: string) => void): Running {
  const isAsked = settings.mounts.some(({ manifest, isServed }) => manifest ?? !isServed)
  return isAsked ? new Bundles(settings, warn) : { helpers: helpersOf(findNone, () => []) }
}

class Bundles implements Running, MountAssets {
  readonly mountAssets = this
  readonly helpers = helpersOf(
    (name, mount) => this.entry(name, mount),
    () => this.#devOrigins
  )
  /** Dev servers are known once this resolves, and the sizes of a new build's images can be read. */
  readonly load: () => Promise<void>
  /** Hands requests to the dev servers in this process. */
  readonly responderAt: Running['responderAt']
  readonly #env: string
  readonly #mounts: readonly Mount[]
  readonly #warn: (message: string) => void

  constructor(project: Project, warn: (message: string) => void) {
    const { env, publicApp, host = '', base, mounts, extras } = project
    this.#env = env
    this.#warn = warn
    const options = { env, host: host + base, algorithms: publicApp.integrity, warn, extras }
    this.#mounts = mounts.flatMap((settings): Mount[] => {
      const { manifest, isServed } = settings
      if (manifest !== undefined)
        return [{ settings, build: new MountedBundle({ ...settings, manifest }, options) }]
      return isServed ? [] : [{ settings, build: undefined }]
    })
    this.responderAt = responderIn(project)
    this.load = once(async () => {
      if (env === 'development') await this.#findDevServers()
      if (this.#mounts.some(({ build }) => build)) await loadDetails(project)
    })
  }

  async #findDevServers(): Promise<void> {
    const { devServerOf } = await import('./dev-server.ts')
    for (const mount of this.#mounts) mount.dev = devServerOf(mount.settings, this.#warn)
  }

  /** This is read once dev servers are known. */
  get pageDependencies(): readonly PageDependency[] {
    return this.#mounts.flatMap(({ build, dev }) => [build ?? [], dev ?? []].flat())
  }

  isHashed({ urlPath }: Pick<MountSettings, 'urlPath'>, path: string): boolean {
    const mount = this.#mounts.find(({ settings }) => settings.urlPath === urlPath)
    return mount?.build?.isHashed(path.slice(urlPath.length + 1)) ?? false
  }

  /** The origins, http and ws, of the dev servers that run apart from the application. */
  get #devOrigins(): readonly string[] {
    return [...new Set(this.#mounts.flatMap(({ dev }) => dev?.origins ?? []))]
  }

  /** Says what the tags lead to, where it may be either Vite's dev server or a build. */
  async states(): Promise<ReadonlyMap<string, string>> {
    const looks = this.#mounts.map(async ({ dev }) => dev?.refresh?.())
    await Promise.all(looks).catch((error: unknown) => this.#warn(reasonOf(error)))
    return new Map(
      this.#sourcesAt().flatMap(({ urlPath, state }) => (state ? [[urlPath, state]] : []))
    )
  }

  /** The builds without a running dev server, which would notify pages itself. */
  get followed(): readonly MountedBundle[] {
    return this.#mounts.flatMap(({ build, dev }) => (dev?.isRunning ? [] : (build ?? [])))
  }

  entry(given: string, mount: string | undefined): ReturnType<FindEntry> {
    const name = given.replace(/^(?:\.?\/)+/, '')
    const known = (source: EntrySource) => (source.names ? source.entry(name) : undefined)
    const lazyOf = (source: EntrySource) => source.lazy(name)
    const possible = (source: EntrySource) => source.entry(name)
    for (const look of [known, lazyOf, possible]) {
      const found = this.#pick(`entry '${name}'`, mount, look)
      if (found && look === lazyOf) this.#tellUnbuilt(name)
      if (found) return found
    }
    const message = `'${name}' is not an entry of ${this.labelsAt(mount)}; ${this.#hint(name, mount)}`
    throw new AssetError('asset-unknown', message)
  }

  /** Only a build shows which modules are imported dynamically. */
  #tellUnbuilt(name: string): void {
    if (this.#mounts.some(({ build }) => build?.names?.has(name))) return
    this.#warn(
      `'${name}' is not an input of Vite: in production, entry() has it only if a module imports it dynamically`
    )
  }

  #hint(name: string, mount: string | undefined): string {
    const sources = this.#sourcesAt(mount)
    const users = sources.flatMap(source => source.entriesWith?.(name) ?? [])
    if (users.length > 0) return `it is a part of ${listed(users)}, which the page has to name`
    const names = sources.flatMap(namesOf)
    const near = nearestPath(name, names.slice(0, MAX_COMPARED))
    return near === undefined ? `its entries: ${listed(names)}` : didYouMean(name, near)
  }

  hasEntry(name: string, mount: string | undefined): boolean {
    return this.#sourcesAt(mount).some(({ names }) => names?.has(name) ?? isLoadable(name))
  }

  /** Returns the names that exist, as far as they are known. */
  known(): KnownNames {
    const sources = this.#sourcesAt()
    return {
      entries: new Set(sources.flatMap(namesOf)),
      sources: new Set(sources.flatMap(({ sourceNames = [] }) => sourceNames)),
      hasAllEntries: sources.every(({ names }) => names !== undefined),
      // The sources of a dev server are not known.
      hasAllSources: sources.every(({ sourceNames }) => sourceNames !== undefined)
    }
  }

  file(name: string, mount: string | undefined): AssetAddress | undefined {
    const isChosen = mount !== undefined
    return this.#pick(`'${name}'`, mount, source => source.file(name, isChosen))
  }

  labelsAt(mount: string | undefined): string {
    return this.#sourcesAt(mount)
      .map(({ label }) => label)
      .join(' or ')
  }

  /** A mount that is known to have it comes before a dev server that may. @throws TypeError for several */
  #pick<Found>(
    what: string,
    mount: string | undefined,
    look: (source: EntrySource) => Found | undefined
  ): Found | undefined {
    const all = this.#sourcesAt(mount).flatMap(source => {
      const one = look(source)
      return one === undefined ? [] : [{ one, urlPath: source.urlPath, isSure: !!source.names }]
    })
    const sure = all.filter(({ isSure }) => isSure)
    const found = sure.length > 0 ? sure : all
    // Without a build, any mount of a test may have any name.
    if (found.length < 2 || this.#env === 'test') return found[0]?.one
    const paths = found.map(({ urlPath }) => `'${urlPath || '/'}'`)
    const exists = sure.length > 0 ? 'exists' : 'may be'
    throw new TypeError(
      `${what} ${exists} in the mounts ${paths.join(' and ')}: name one, as in { mount: ${paths[0]} }`
    )
  }

  #sourcesAt(mount?: string): readonly EntrySource[] {
    const urlPath = mount?.replace(/\/$/, '')
    const chosen = this.#mounts.filter(
      ({ settings }) => mount === undefined || settings.urlPath === urlPath
    )
    const sources = chosen.flatMap(({ build, dev }) => (dev?.isRunning ? dev : (build ?? [])))
    if (sources.length > 0 || mount === undefined) return sources
    const known = this.#mounts.map(({ settings }) => `'${settings.urlPath || '/'}'`).join(', ')
    throw new TypeError(
      `mount must be the URL path of a mount that has a manifest or dev, ${known}, got ${inspect(mount)}`
    )
  }
}

function responderIn({ base, mounts }: Project): Running['responderAt'] {
  const servers = mounts.flatMap(({ dev, urlPath }) =>
    typeof dev === 'object' ? { dev, urlPath } : []
  )
  if (servers.length === 0) return undefined
  return path => {
    const { dev } = servers.find(({ urlPath }) => isBelow(path, urlPath)) ?? {}
    return dev && (async ctx => (await import('./respond.ts')).respond(ctx, dev, base))
  }
}

function listed(names: readonly string[]): string {
  return names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? ', …' : '')
}

function namesOf({ names }: EntrySource): string[] {
  return [...(names?.keys() ?? [])]
}

/** Finds the bundles of a running process; undefined where no mount can have entries. */
export function bundlesIn(running: readonly Running[]): Bundles | undefined {
  return running.find(each => each instanceof Bundles)
}

/**
 * Returns the names that pages can use beside those of own assets; undefined where there can be none.
 * @param running has the names as they are now; without it they are those of the last build
 */
export async function namesInMounts(
  project: Project,
  warn: (message: string) => void,
  running: readonly Running[] = [startBundles(project, warn)]
): Promise<KnownNames | undefined> {
  const bundles = bundlesIn(running)
  await bundles?.load()
  return bundles?.known()
}
