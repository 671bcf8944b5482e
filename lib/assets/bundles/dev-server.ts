// What pages load while Vite's dev server compiles the sources, and how a running dev server is found.
import { readdir, readFile } from 'node:fs/promises'
import { get as getOverHttp } from 'node:http'
import { get as getOverHttps } from 'node:https'
import { join, relative, resolve } from 'node:path'
import { oneAtATime } from '../../concurrency.ts'
import { ifThere } from '../../files/disk.ts'
import { isRecord, isText } from '../../check-options.ts'
import type { ViteConfig, ViteServer } from '../settings/mount-options.ts'
import type { MountSettings } from '../settings/settings.ts'
import { encodeAsImported } from '../urls/canonical-path.ts'
import type { AssetAddress } from '../views/asset-url.ts'
import type { EntryUrl } from '../views/entry.ts'
import { sourceUrl, type EntrySource } from './bundle.ts'
import { LEGACY } from './vite.ts'

/** The name of our plugin for Vite, which gives the entries React's preamble. */
export const PLUGIN = 'koa-fresh-assets'

/** What the plugin writes beside the build while its dev server runs. */
export interface Announcement {
  /** Without a trailing slash. */
  readonly origin: string
  /** Vite's: the mount's URL path and a slash. */
  readonly base: string
  /** The entries, relative to Vite's root. */
  readonly inputs: readonly string[]
  /** Vite's, relative to the directory of the build. */
  readonly root: string
  /** Different for each dev server. */
  readonly token: string
}

/** What the dev server responds with below its base: it may have ended without removing its announcement. */
export interface DevServerStatus {
  readonly token: string
  /** By entry, when it was changed last: `lastHMRTimestamp`, 0 if it was not. */
  readonly changed: Readonly<Record<string, number>>
}

/** The path below its base at which it does. */
export const STATUS = '@koa-fresh-assets'

/** @param dir the directory of the build */
export function announcementIn(dir: string): string {
  return join(dir, '.vite/dev-server.json')
}

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

interface Running {
  /** Without a trailing slash; empty for that of the page. */
  readonly origin: string
  /** By entry, when it was changed last; undefined where any name may be one. */
  readonly inputs?: ReadonlyMap<string, number> | undefined
  /** Whether a page needs React's preamble, unless `entry` is told. */
  readonly isReact?: boolean
  /** The names in Vite's root; undefined when unknown. A name below one is taken for a source of the front end. */
  readonly top?: ReadonlySet<string>
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

async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  return new Set(await ifThere(readdir(directory)))
}

function announcedFor({ dir, urlPath }: MountSettings, warn: (message: string) => void) {
  const expected = encodeAsImported(`${urlPath}/`)
  /** A build that empties the directory removes the file of a server that is still running. */
  let last: string | undefined
  return async (): Promise<Running | undefined> => {
    const text = (await ifThere(readFile(announcementIn(dir), 'utf8'))) ?? last
    last = undefined
    const announced = parse(text)
    const { origin = '', base, inputs = [], root = '', token } = announced as Partial<Announcement>
    if (!/^https?:/.test(origin) || !URL.canParse(origin)) return undefined
    if (base !== expected) {
      const advice = `it must be the mount's URL path, '${expected}'`
      warn(`Vite's dev server has the base '${base}': ${advice}`)
      return undefined
    }
    const status: Partial<DevServerStatus> = parse(await responseOf(origin + base + STATUS))
    if (!token || status.token !== token) return undefined
    last = text
    const changed = inputs.map(name => [name, status.changed?.[name] ?? 0] as const)
    return { origin, inputs: new Map(changed), top: await namesIn(resolve(dir, root)) }
  }
}

/** Empty for anything but an object: the dev server may be another program's by now. */
function parse(text = ''): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

const LONGEST_MS = 5000

/** Empty when nothing responds. */
function responseOf(url: string): Promise<string> {
  return new Promise(resolve => {
    const get = url.startsWith('https:') ? getOverHttps : getOverHttp
    // Its certificate is one that a developer made on this machine.
    const options = { rejectUnauthorized: false, timeout: LONGEST_MS }
    const request = get(url, options, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(''))
    request.on('close', () => resolve(''))
  })
}
