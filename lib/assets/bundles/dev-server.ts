// What pages load while Vite's dev server compiles the sources.
import { relative, resolve } from 'node:path'
import { oneAtATime } from '../../concurrency.ts'
import { isText } from '../../check-options.ts'
import type { ViteConfig, ViteServer } from '../settings/mount-options.ts'
import type { MountSettings } from '../settings/settings.ts'
import { encodeAsImported } from '../urls/canonical-path.ts'
import type { AssetAddress } from '../views/asset-url.ts'
import type { EntryUrl } from '../views/entry.ts'
import { sourceUrl, type EntrySource } from './bundle.ts'
import { announcedFor, namesIn, type Running } from './dev-announcement.ts'
import { LEGACY } from './vite.ts'

/** The name of our plugin for Vite, which gives the entries React's preamble. */
export const PLUGIN = 'koa-fresh-assets'

/** The entries of a build, relative to Vite's root; none for HTML. */
export function inputsOf({ root, build }: ViteConfig): string[] {
  const given: unknown = (build.rolldownOptions ?? build.rollupOptions)?.input ?? []
  const inputs = isText(given) ? [given] : Object.values(given as object)
  return inputs
    .filter(input => isText(input) && !/\.html?$/.test(input))
    .map(input => relative(root, resolve(root, input as string)).replaceAll('\\', '/'))
}

/** When a module was changed last while the server runs; Vite's own page adds it to the URL. */
export function changedAt({ environments }: ViteServer, name: string): number {
  return environments.client.moduleGraph.urlToModuleMap.get(`/${name}`)?.lastHMRTimestamp ?? 0
}

export class DevServer implements EntrySource {
  readonly urlPath: string
  readonly label = "Vite's dev server"
  readonly sourceNames = undefined
  /** Looks for it again; undefined where there is nothing to look for. */
  readonly refresh: (() => Promise<void>) | undefined
  #running: Running | undefined

  constructor(urlPath: string, running?: Running, look?: () => Promise<Running | undefined>) {
    this.urlPath = urlPath
    this.#running = running
    this.refresh = look && oneAtATime(async () => void (this.#running = await look()))
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get names(): EntrySource['names'] {
    return this.#running?.inputs
  }

  get version(): string {
    const { origin = '', inputs = [] } = this.#running ?? {}
    return [origin, ...inputs].join(' ')
  }

  entry(name: string): readonly EntryUrl[] | undefined {
    const { origin = '', inputs, isReact = false } = this.#running ?? {}
    // The plugin only takes part in builds.
    if (LEGACY.test(name)) return []
    if (inputs && !inputs.has(name)) return undefined
    const changed = inputs?.get(name) ?? 0
    // As Vite's own page has it: React's plugin imports a changed module under that URL once more.
    const source = sourceUrl(origin, this.urlPath, name, changed > 0 ? `?t=${changed}` : '')
    const urlOf = (path: string) => origin + encodeAsImported(`${this.urlPath}/${path}`)
    return [
      { url: urlOf('@react-refresh'), as: 'preamble', isNeeded: isReact },
      { url: urlOf('@vite/client'), as: 'module' },
      source
    ]
  }

  file(name: string, isChosen: boolean): AssetAddress | undefined {
    const { origin = '', top } = this.#running ?? {}
    if (!isChosen && !top?.has(name.replace(/\/.*$/s, ''))) return undefined
    return { origin, path: encodeAsImported(`${this.urlPath}/${name}`) }
  }
}

/** That of the option `dev`, or the one that announces itself beside the build, as long as it runs. */
export function devServerOf(mount: MountSettings, warn: (message: string) => void): DevServer {
  const { urlPath, dev } = mount
  if (dev === undefined) return new DevServer(urlPath, undefined, announcedFor(mount, warn))
  if (typeof dev !== 'object') return new DevServer(urlPath, { origin: dev === true ? '' : dev })
  const inputs = inputsOf(dev.config)
  const plugins = dev.config.plugins.map(({ name }) => name)
  const isReact = plugins.some(name => name.startsWith('vite:react')) && !plugins.includes(PLUGIN)
  const running = (): Running => {
    const changed = new Map(inputs.map(name => [name, changedAt(dev, name)]))
    return { origin: '', inputs: inputs.length > 0 ? changed : undefined, isReact }
  }
  const look = async () => ({ ...running(), top: await namesIn(dev.config.root) })
  return new DevServer(urlPath, running(), look)
}
