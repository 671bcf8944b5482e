// The bundles of all mounts, and their entries by name.
import { inspect } from 'node:util'
import { AssetError } from '../../errors.ts'
import { nearestPath } from '../../nearest.ts'
import type { MountSettings, Settings } from '../settings/settings.ts'
import type { EntryUrls, FindEntry } from '../views/entry.ts'
import type { EntrySource } from './bundle.ts'
import { AnnouncedDevServer, devServerOf, inDevelopment, type DevServer } from './dev-server.ts'
import { MountedBundle } from './mounted-bundle.ts'

/** A page waits while the nearest name is searched for. */
const MAX_COMPARED = 10_000
const MAX_LISTED = 10

export class Bundles {
  readonly #sources: readonly EntrySource[]

  /** @throws AssetError for a manifest that is missing or broken, or names a file that does not exist */
  constructor({ env, publicApp, host = '', mounts }: Settings, warn: (message: string) => void) {
    const options = { env, host, algorithms: publicApp.integrity, warn }
    this.#sources = mounts.flatMap((mount): EntrySource[] => {
      const { manifest, dev } = mount
      if (dev !== undefined) return [new DevServerEntries(mount, () => devServerOf(dev))]
      if (manifest === undefined) return []
      const bundle = new MountedBundle({ ...mount, manifest }, options)
      return [env === 'development' ? new BundleInDevelopment(bundle, warn) : bundle]
    })
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

  /** Costs one stat for each manifest that was not looked at for `seconds`, or for the mount's own `revalidate`. */
  refresh(seconds: number): Promise<void>[] {
    return this.#sources.flatMap(source => source.refresh(seconds) ?? [])
  }

  readonly find: FindEntry = (given, mount) => {
    const name = given.replace(/^(?:\.?\/)+/, '')
    const sources = this.#sourcesAt(mount)
    const found = sources.flatMap(source => {
      const entry = source.entry(name)
      return entry ? [{ entry, urlPath: source.urlPath }] : []
    })
    const [only, ...others] = found
    if (!only) throw unknownEntry(name, sources)
    if (others.length === 0) return only.entry
    const [path, ...more] = found.map(({ urlPath }) => `'${urlPath || '/'}'`)
    throw new TypeError(
      `entry '${name}' may be of the mounts ${[path, ...more].join(' and ')}: name one, as in { mount: ${path} }`
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

function unknownEntry(name: string, sources: readonly EntrySource[]): AssetError {
  const names = sources.flatMap(source => source.names)
  const near = nearestPath(name, names.slice(0, MAX_COMPARED))
  const listed = names.slice(0, MAX_LISTED).join(', ')
  const hint =
    near === undefined
      ? `its entries: ${listed}${names.length > MAX_LISTED ? ', …' : ''}`
      : `did you mean '${near}'?`
  const places = sources.map(({ label }) => label).join(' or ')
  return new AssetError('asset-unknown', `'${name}' is not an entry of ${places}; ${hint}`)
}

type Mounted = Pick<MountSettings, 'urlPath' | 'dir'>

class DevServerEntries implements EntrySource {
  readonly urlPath: string
  readonly label = "Vite's dev server"
  readonly #look: () => DevServer

  constructor({ urlPath }: Mounted, look: () => DevServer) {
    this.urlPath = urlPath
    this.#look = look
  }

  get names(): readonly string[] {
    return [...(this.#look().inputs?.keys() ?? [])]
  }

  get version(): string {
    const { origin, inputs = [] } = this.#look()
    return [origin, ...inputs].join(' ')
  }

  entry(name: string): EntryUrls | undefined {
    return inDevelopment(this.urlPath, this.#look(), name)
  }

  isHashed(): boolean {
    return false
  }

  refresh(): undefined {
    return undefined
  }
}

/** A dev server that has announced itself, as long as it runs; else the build. */
class BundleInDevelopment implements EntrySource {
  readonly urlPath: string
  readonly #bundle: MountedBundle
  readonly #announced: AnnouncedDevServer

  constructor(bundle: MountedBundle, warn: (message: string) => void) {
    const { urlPath, dir } = bundle.mount
    this.urlPath = urlPath
    this.#bundle = bundle
    this.#announced = new AnnouncedDevServer(dir, urlPath, warn)
  }

  get #source(): EntrySource {
    const { current } = this.#announced
    return current ? new DevServerEntries(this.#bundle.mount, () => current) : this.#bundle
  }

  get label(): string {
    return this.#source.label
  }

  get names(): readonly string[] {
    return this.#source.names
  }

  get version(): string {
    return this.#source.version
  }

  entry(name: string): EntryUrls | undefined {
    return this.#source.entry(name)
  }

  isHashed(file: string): boolean {
    return this.#bundle.isHashed(file)
  }

  async refresh(seconds: number): Promise<void> {
    await Promise.all([this.#announced.refresh(), this.#bundle.refresh(seconds)])
  }
}
