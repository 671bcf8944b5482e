// Finds what pages load while Vite's dev server compiles the sources.
import { basename, dirname, join } from 'node:path'
import { oneAtATime } from '../../runtime/concurrency.ts'
import { readDirectory, statIfThere } from '../../runtime/files/at-start.ts'
import type { ViteConfig } from './options.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import { encodeAsImported } from '../../runtime/urls/spelling.ts'
import type { AssetAddress, LoadedUrl } from '../../runtime/views/asset-url.ts'
import { announcedFor, namesIn, type RunningVite } from './dev-announcement.ts'
import { LEGACY, MODULE, sourceUrl, type EntrySource } from './entry-source.ts'
import { changedIn, inputsOf, isReact, PLUGIN, PREAMBLE, socketsOf } from './vite-server.ts'

export class DevServer implements EntrySource {
  readonly urlPath: string
  /** Vite's own base begins with that of the page. */
  readonly #base: string
  readonly label = "Vite's dev server"
  /** Looks for the server again; undefined where there is nothing to look for. */
  readonly refresh: (() => Promise<void>) | undefined
  #running: RunningVite | undefined

  constructor(
    { urlPath, base }: Pick<MountSettings, 'urlPath' | 'base'>,
    running?: RunningVite,
    look?: () => Promise<RunningVite | undefined>
  ) {
    this.urlPath = urlPath
    this.#base = base
    this.#running = running
    this.refresh = look && oneAtATime(async () => void (this.#running = await look()))
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get names(): EntrySource['names'] {
    const { inputs } = this.#running ?? {}
    return inputs && { has: name => this.#has(name), keys: () => inputs }
  }

  get state(): string | undefined {
    if (!this.#running) return undefined
    const { origin } = this.#running
    return origin === '' ? "the bundler's dev server" : `Vite at ${origin}`
  }

  get #start(): string {
    return (this.#running?.origin ?? '') + this.#base
  }

  /** The origins, http and ws, for a Content-Security-Policy. */
  get origins(): readonly string[] {
    const { origin, sockets = [] } = this.#running ?? {}
    return origin ? [new URL(origin).origin, ...sockets] : sockets
  }

  get version(): string {
    const { origin = '', inputs = [], changed = [] } = this.#running ?? {}
    return [origin, ...inputs, ...changed].join(' ')
  }

  entry(name: string): readonly LoadedUrl[] | undefined {
    const { inputs } = this.#running ?? {}
    if (LEGACY.test(name)) return []
    return inputs && !inputs.has(name) ? undefined : this.#tagsOf(name)
  }

  lazy(name: string): readonly LoadedUrl[] | undefined {
    const { isPrepared } = this.#running ?? {}
    if (!this.names?.has(name)) return undefined
    return this.#tagsOf(name, isPrepared ? [`@id/__x00__${PREAMBLE}`] : [])
  }

  /** @param before lists modules that run before it */
  #tagsOf(name: string, before: readonly string[] = []): LoadedUrl[] {
    const { isReact: isNeeded = false, changed } = this.#running ?? {}
    const urlOf = (path: string) => this.#start + encodeAsImported(`${this.urlPath}/${path}`)
    const at = changed?.get(name) ?? 0
    return [
      { url: urlOf('@react-refresh'), as: 'preamble', isNeeded },
      ...['@vite/client', ...before].map(path => ({ url: urlOf(path), as: 'module' }) as const),
      // React's plugin imports a changed module once more under this URL, which Vite's own page has.
      sourceUrl(this.#start, this.urlPath, name, at > 0 ? `?t=${at}` : '')
    ]
  }

  /** Any script may be imported dynamically: Vite knows only what the modules import that it has compiled. */
  #has(name: string): boolean {
    const { inputs, root } = this.#running ?? {}
    if (inputs?.has(name)) return true
    // Helpers cannot wait; these are looks on a developer's own machine, for a name that is no input.
    return MODULE.test(name) && root !== undefined && isFile(join(root, name))
  }

  file(name: string, isChosen: boolean): AssetAddress | undefined {
    const { top } = this.#running ?? {}
    if (!isChosen && !top?.has(name.replace(/\/.*$/s, ''))) return undefined
    return { origin: this.#start, path: encodeAsImported(`${this.urlPath}/${name}`) }
  }
}

/** Tells whether a file has exactly this name: in production `App.ts` is not `app.ts`, whatever the disk says. */
function isFile(path: string): boolean {
  if (!statIfThere(path)?.isFile()) return false
  return readDirectory(dirname(path)).some(({ name }) => name === basename(path))
}

/** Returns the server of the option `dev`, or the one that announces itself beside the build, as long as it runs. */
export function devServerOf(mount: MountSettings, warn: (message: string) => void): DevServer {
  const { dev } = mount
  if (dev === undefined) return new DevServer(mount, undefined, announcedFor(mount, warn))
  if (dev === true) return new DevServer(mount, { origin: '' })
  if (typeof dev === 'string')
    return new DevServer(mount, { origin: dev, sockets: socketsOf(UNKNOWN, dev) })
  const { config } = dev
  const inputs = new Set(inputsOf(config))
  const hasPlugin = config.plugins.some(({ name }) => name === PLUGIN)
  const running = (): RunningVite => ({
    origin: '',
    inputs: inputs.size > 0 ? inputs : undefined,
    changed: changedIn(dev),
    isReact: isReact(config) && !hasPlugin,
    isPrepared: isReact(config) && hasPlugin,
    sockets: socketsOf(config),
    root: config.root
  })
  const look = async () => ({ ...running(), top: await namesIn(config.root) })
  return new DevServer(mount, running(), look)
}

const UNKNOWN: ViteConfig = { root: '', base: '', plugins: [], build: {} }
