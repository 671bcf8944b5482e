// In development: the entries of Vite's dev server, and those of a build while none runs.
import type { ViteServer } from '../settings/mount-options.ts'
import type { MountSettings } from '../settings/settings.ts'
import { encodeAsImported } from '../urls/encode.ts'
import type { AssetAddress } from '../views/asset-url.ts'
import type { EntryUrls } from '../views/entry.ts'
import type { EntrySource, FollowedBuild } from './bundle.ts'
import {
  AnnouncedDevServer,
  devServerOf,
  inDevelopment,
  namesIn,
  type DevServer
} from './dev-server.ts'
import type { MountedBundle } from './mounted-bundle.ts'
import { isLoadable } from './source-urls.ts'

type Mounted = Pick<MountSettings, 'urlPath' | 'dir'>

/** The entries of a dev server. */
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

  isEntry(name: string): boolean {
    return this.#look().inputs?.has(name) ?? isLoadable(name)
  }

  file(name: string, isChosen: boolean): AssetAddress | undefined {
    const { origin, top } = this.#look()
    if (!isChosen && !top?.has(name.replace(/\/.*$/s, ''))) return undefined
    return { origin, path: encodeAsImported(`${this.urlPath}/${name}`) }
  }

  isHashed(): boolean {
    return false
  }

  refresh(): Promise<void> | undefined {
    return undefined
  }
}

class ViteInProcess extends DevServerEntries {
  readonly #vite: ViteServer
  #top: ReadonlySet<string> | undefined

  constructor(mount: Mounted, vite: ViteServer) {
    super(mount, () => ({ ...devServerOf(vite), top: this.#top }))
    this.#vite = vite
  }

  override async refresh(): Promise<void> {
    this.#top = await namesIn(this.#vite.config.root)
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

  get sourceNames(): readonly string[] | undefined {
    return this.#source.sourceNames
  }

  get version(): string {
    return this.#source.version
  }

  entry(name: string): EntryUrls | undefined {
    return this.#source.entry(name)
  }

  isEntry(name: string): boolean {
    return this.#source.isEntry(name)
  }

  file(name: string, isChosen: boolean): AssetAddress | undefined {
    return this.#source.file(name, isChosen)
  }

  get followed(): FollowedBuild | undefined {
    return this.#announced.current ? undefined : this.#bundle
  }

  isHashed(file: string): boolean {
    return this.#bundle.isHashed(file)
  }

  async refresh(seconds: number): Promise<void> {
    await Promise.all([this.#announced.refresh(), this.#bundle.refresh(seconds)])
  }
}

/** Undefined for a mount without entries. @param bundle its build, if it has a manifest */
export function sourceInDevelopment(
  mount: MountSettings,
  bundle: MountedBundle | undefined,
  { env, warn }: { readonly env: string; readonly warn: (message: string) => void }
): EntrySource | undefined {
  const { dev } = mount
  if (typeof dev === 'object') return new ViteInProcess(mount, dev)
  if (dev !== undefined) return new DevServerEntries(mount, () => devServerOf(dev))
  return bundle && env === 'development' ? new BundleInDevelopment(bundle, warn) : bundle
}
