// Joins the builds and the dev servers of all mounts, and finds their entries by name.
import { inspect } from 'node:util'
import { AssetError, reasonOf, type Warn } from '../../runtime/errors.ts'
import { didYouMean, nearestPath } from '../../runtime/check-options.ts'
import { once } from '../../runtime/concurrency.ts'
import type { PageDependency, Running, Project } from '../../runtime/app/extra.ts'
import { loadDetails } from '../../runtime/app/details.ts'
import { isBelow } from '../../runtime/serving/request.ts'
import type { Located, LoadedUrl, MountAssets } from '../../runtime/views/asset-url.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import { MountedBuild } from './build.ts'
import type { DevServer } from './dev-server.ts'
import { KINDS, MODULE, STYLESHEET, type EntrySource, type Kind } from './entry-source.ts'
import { findNone, helpersOf } from './entry.ts'

/** The number of names compared with a mistyped one, for which a page waits. */
const MAX_COMPARED = 10_000
const MAX_LISTED = 10

interface Mount {
  readonly settings: MountSettings
  readonly build: MountedBuild | undefined
  dev?: DevServer
}

/** @throws AssetError for a missing or broken manifest, or one that names a file that does not exist */
export function startBundles(project: Project, warn: Warn): Running {
  const isAsked = project.mounts.some(({ manifest, isServed }) => manifest ?? !isServed)
  return isAsked ? new Bundles(project, warn) : { helpers: helpersOf(findNone, () => []) }
}

class Bundles implements Running, MountAssets {
  readonly mountAssets = this
  readonly helpers = helpersOf(
    (name, mount) => this.entry(name, mount),
    // The http and ws origins of the dev servers that run outside of the application.
    () => [...new Set(this.#mounts.flatMap(({ dev }) => dev?.origins ?? []))]
  )
  /** Finds dev servers, and loads the code that reads the sizes of a new build's images. */
  readonly load: () => Promise<void>
  readonly responderAt: Running['responderAt']
  readonly #env: string
  readonly #mounts: readonly Mount[]
  readonly #warn: Warn

  constructor(project: Project, warn: Warn) {
    const { env, publicApp, host = '', base, mounts, extras } = project
    this.#env = env
    this.#warn = warn
    const options = { env, host: host + base, algorithms: publicApp.integrity, warn, extras }
    this.#mounts = mounts.flatMap((settings): Mount[] => {
      const { manifest, isServed } = settings
      if (manifest !== undefined)
        return [{ settings, build: new MountedBuild({ ...settings, ...options, manifest }) }]
      return isServed ? [] : [{ settings, build: undefined }]
    })
    this.responderAt = responderOf(project)
    this.load = once(async () => {
      if (env === 'development') {
        const { devServerOf } = await import('./dev-server.ts')
        for (const mount of this.#mounts) mount.dev = devServerOf(mount.settings, warn)
      }
      if (this.#mounts.some(({ build }) => build)) await loadDetails({ ...project, apps: [] })
    })
  }

  /** Read once dev servers are known. */
  get pageDependencies(): readonly PageDependency[] {
    return this.#mounts.flatMap(({ build, dev }) => [build ?? [], dev ?? []].flat())
  }

  isHashed({ urlPath }: Pick<MountSettings, 'urlPath'>, path: string): boolean {
    const mount = this.#mounts.find(({ settings }) => settings.urlPath === urlPath)
    return mount?.build?.isHashed(path.slice(urlPath.length + 1)) ?? false
  }

  /** Returns, by URL path, where tags lead if it may be either Vite's dev server or a build. */
  async states(): Promise<ReadonlyMap<string, string>> {
    const looks = this.#mounts.map(async ({ dev }) => dev?.refresh?.())
    await Promise.all(looks).catch((error: unknown) => this.#warn(reasonOf(error)))
    const known = this.#sourcesAt()
    return new Map(known.flatMap(({ urlPath, state }) => (state ? [[urlPath, state]] : [])))
  }

  /** The builds without a running dev server, which would notify pages itself. */
  get followed(): readonly MountedBuild[] {
    return this.#mounts.flatMap(({ build, dev }) => (dev?.source ? [] : (build ?? [])))
  }

  entry(given: string, mount: string | undefined): readonly LoadedUrl[] {
    const name = given.replace(/^(?:\.?\/)+/, '')
    const found = this.#only(`entry '${name}'`, mount, source => source.entry(name))
    if (!found) {
      const message = `'${name}' is not an entry of ${this.labelsAt(mount)}; ${this.#hint(name, mount)}`
      throw new AssetError('asset-unknown', message)
    }
    // Only a build shows which modules are loaded by `import()`.
    const isBuilt = this.#mounts.some(({ build }) => build?.source.names?.includes(name))
    if (found.kind === 'lazy' && !isBuilt)
      this.#warn(
        `'${name}' is not an input of Vite: in production, entry() has it only if a module imports it dynamically`
      )
    return found.load()
  }

  #hint(name: string, mount: string | undefined): string {
    const names = this.#sourcesAt(mount).flatMap(source => source.names ?? [])
    const near = nearestPath(name, names.slice(0, MAX_COMPARED))
    if (near !== undefined) return didYouMean(name, near)
    const more = names.length > MAX_LISTED ? ', …' : ''
    return `its entries: ${names.slice(0, MAX_LISTED).join(', ')}${more}`
  }

  hasEntry(name: string, mount: string | undefined): boolean {
    return this.#sourcesAt(mount).some(source => {
      const found = source.entry(name)
      return found?.kind === 'possible' ? MODULE.test(name) || STYLESHEET.test(name) : !!found
    })
  }

  known() {
    const sources = this.#sourcesAt()
    return {
      entries: new Set(sources.flatMap(({ names = [] }) => names)),
      sources: new Set(sources.flatMap(({ sourceNames = [] }) => sourceNames)),
      hasAllEntries: sources.every(({ names }) => names),
      // The sources of a dev server are unknown.
      hasAllSources: sources.every(({ sourceNames }) => sourceNames)
    }
  }

  file(name: string, mount: string | undefined): Located | undefined {
    const found = this.#only(`'${name}'`, mount, source => {
      const address = source.file(name, mount !== undefined)
      return address && { kind: source.names ? 'entry' : 'possible', address }
    })
    return found?.address
  }

  labelsAt(mount: string | undefined): string {
    return Array.from(this.#sourcesAt(mount), ({ label }) => label).join(' or ')
  }

  /** Returns the surest match. @throws TypeError if several mounts have it */
  #only<Found extends { readonly kind: Kind }>(
    what: string,
    mount: string | undefined,
    look: (source: EntrySource) => Found | undefined
  ): Found | undefined {
    const all = this.#sourcesAt(mount).map(each => ({ found: look(each), urlPath: each.urlPath }))
    const kind = KINDS.find(each => all.some(({ found }) => found?.kind === each))
    const surest = all.filter(({ found }) => found && found.kind === kind)
    // Without a build, any mount of a test may have any name.
    if (surest.length < 2 || this.#env === 'test') return surest[0]?.found
    const paths = surest.map(({ urlPath }) => `'${urlPath || '/'}'`)
    const exists = kind === 'possible' ? 'may be' : 'exists'
    throw new TypeError(
      `${what} ${exists} in the mounts ${paths.join(' and ')}: name one, as in { mount: ${paths[0]} }`
    )
  }

  #sourcesAt(mount?: string): readonly EntrySource[] {
    const urlPath = mount?.replace(/\/$/, '')
    const sources = this.#mounts
      .filter(({ settings }) => mount === undefined || settings.urlPath === urlPath)
      .flatMap(({ build, dev }) => dev?.source ?? build?.source ?? [])
    if (sources.length > 0 || mount === undefined) return sources
    const known = this.#mounts.map(({ settings }) => `'${settings.urlPath || '/'}'`).join(', ')
    throw new TypeError(
      `mount must be the URL path of a mount that has a manifest or dev, ${known}, got ${inspect(mount)}`
    )
  }
}

function responderOf({ base, mounts }: Project): Running['responderAt'] {
  const inProcess = mounts.filter(({ dev }) => typeof dev === 'object')
  if (inProcess.length === 0) return undefined
  return path => {
    const { dev } = inProcess.find(({ urlPath }) => isBelow(path, urlPath)) ?? {}
    if (typeof dev !== 'object') return undefined
    return async ctx => (await import('./vite-server.ts')).respond(ctx, dev, base)
  }
}

/** Finds the bundles of a running process; undefined if no mount can have entries. */
export function bundlesIn(running: readonly Running[]): Bundles | undefined {
  return running.find(each => each instanceof Bundles)
}

/** Finds the names in mounts for pages, now or, without `running`, in the last build; undefined if there are none. */
export async function namesInMounts(project: Project, warn: Warn, running?: readonly Running[]) {
  const bundles = bundlesIn(running ?? [startBundles(project, warn)])
  await bundles?.load()
  return bundles?.known()
}
