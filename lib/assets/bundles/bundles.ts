// The bundles of all mounts, and their entries by name.
import { inspect } from 'node:util'
import { AssetError } from '../../errors.ts'
import { nearestPath } from '../../nearest.ts'
import type { MountSettings, Settings } from '../settings/settings.ts'
import type { AssetAddress } from '../views/asset-url.ts'
import type { FindEntry } from '../views/entry.ts'
import type { EntrySource, FollowedBuild } from './bundle.ts'
import { MountedBundle } from './mounted-bundle.ts'

/** A page waits while the nearest name is searched for. */
const MAX_COMPARED = 10_000
const MAX_LISTED = 10

export class Bundles {
  /** Until it resolves, dev servers are not known. Undefined where there can be none. */
  readonly loading: Promise<void> | undefined
  readonly #env: string
  #sources: readonly EntrySource[]

  /** @throws AssetError for a manifest that is missing or broken, or names a file that does not exist */
  constructor({ env, publicApp, host = '', mounts }: Settings, warn: (message: string) => void) {
    this.#env = env
    const options = { env, host, algorithms: publicApp.integrity, warn }
    const built = new Map(
      mounts.flatMap(mount => {
        const { manifest, dev } = mount
        if (manifest === undefined || dev !== undefined) return []
        return [[mount, new MountedBundle({ ...mount, manifest }, options)] as const]
      })
    )
    this.#sources = [...built.values()]
    const isBuilt = mounts.every(({ dev }) => dev === undefined)
    if (isBuilt && (env !== 'development' || built.size === 0)) return
    const load = async () => {
      const { sourceInDevelopment } = await import('./dev-sources.ts')
      this.#sources = mounts.flatMap(
        mount => sourceInDevelopment(mount, built.get(mount), options) ?? []
      )
    }
    this.loading = load()
  }

  /** Without any, pages cost nothing. */
  get isEmpty(): boolean {
    return this.#sources.length === 0
  }

  /** Changes with the tags of any entry. */
  get version(): string {
    return this.#sources.map(({ version }) => version).join('-')
  }

  /**
   * Whether the manifest of a mount names the file and its name contains a hash of what is in it.
   * @param path decoded URL path: `/static/assets/main-CZTearZk.css`
   */
  isHashed({ urlPath }: Pick<MountSettings, 'urlPath'>, path: string): boolean {
    const file = path.slice(urlPath.length + 1)
    return this.#sources.some(each => each.urlPath === urlPath && each.isHashed(file))
  }

  /** Those of mounts for which no dev server runs. */
  get followed(): readonly FollowedBuild[] {
    return this.#sources.flatMap(({ followed }) => followed ?? [])
  }

  /** Costs one stat for each manifest that was not checked for `seconds`, or for the mount's own `revalidate`. */
  refresh(seconds: number): Promise<void>[] {
    return this.#sources.flatMap(source => source.refresh(seconds) ?? [])
  }

  readonly find: FindEntry = (given, mount) => {
    const name = given.replace(/^(?:\.?\/)+/, '')
    const found = this.#pick(`entry '${name}'`, mount, source => source.entry(name))
    if (found) return found
    throw unknownEntry(name, this.#sourcesAt(mount), this.labelsAt(mount))
  }

  hasEntry(name: string, mount: string | undefined): boolean {
    return this.#sourcesAt(mount).some(source => source.isEntry(name))
  }

  /** What pages may name, as far as the manifests tell. */
  names() {
    const isBuilt = ({ names }: EntrySource) => names.length > 0
    return {
      entries: new Set(this.#sources.flatMap(({ names }) => names)),
      sources: new Set(this.#sources.flatMap(({ sourceNames = [] }) => sourceNames)),
      /** Whether there are no other entries. */
      hasAllEntries: this.#sources.every(isBuilt),
      /** Whether there are no other sources: those of a dev server are not known. */
      hasAllSources: this.#sources.every(each => isBuilt(each) && each.sourceNames !== undefined)
    }
  }

  /** The file of a source in some mount; undefined for a name that none has. */
  file(name: string, mount: string | undefined): AssetAddress | undefined {
    const isChosen = mount !== undefined
    return this.#pick(`'${name}'`, mount, source => source.file(name, isChosen))
  }

  /** What messages call the places that were searched. */
  labelsAt(mount: string | undefined): string {
    return this.#sourcesAt(mount)
      .map(({ label }) => label)
      .join(' or ')
  }

  /** @throws TypeError where several mounts have it */
  #pick<Found>(
    what: string,
    mount: string | undefined,
    look: (source: EntrySource) => Found | undefined
  ): Found | undefined {
    const found = this.#sourcesAt(mount).flatMap(source => {
      const one = look(source)
      return one === undefined ? [] : [{ one, urlPath: source.urlPath }]
    })
    const [first, ...others] = found
    // Without a build, any mount of a test may have any name.
    if (others.length === 0 || this.#env === 'test') return first?.one
    const [path, ...more] = found.map(({ urlPath }) => `'${urlPath || '/'}'`)
    throw new TypeError(
      `${what} exists in the mounts ${[path, ...more].join(' and ')}: name one, as in { mount: ${path} }`
    )
  }

  #sourcesAt(mount: string | undefined): readonly EntrySource[] {
    if (mount === undefined) return this.#sources
    const urlPath = mount.replace(/\/$/, '')
    const sources = this.#sources.filter(each => each.urlPath === urlPath)
    if (sources.length > 0) return sources
    const known = this.#sources.map(each => `'${each.urlPath || '/'}'`).join(', ')
    throw new TypeError(
      `mount must be the URL path of a mount that has a manifest or dev, ${known}, got ${inspect(mount)}`
    )
  }
}

function unknownEntry(name: string, sources: readonly EntrySource[], places: string): AssetError {
  const names = sources.flatMap(source => source.names)
  const near = nearestPath(name, names.slice(0, MAX_COMPARED))
  const listed = names.slice(0, MAX_LISTED).join(', ')
  const hint =
    near === undefined
      ? `its entries: ${listed}${names.length > MAX_LISTED ? ', …' : ''}`
      : `did you mean '${near}'?`
  return new AssetError('asset-unknown', `'${name}' is not an entry of ${places}; ${hint}`)
}
