// What pages load while Vite's dev server compiles the sources, and how a running dev server is found.
import { readdir, readFile } from 'node:fs/promises'
import { get as getOverHttp } from 'node:http'
import { get as getOverHttps } from 'node:https'
import { join, relative, resolve } from 'node:path'
import { oneAtATime } from '../../concurrency.ts'
import { ifThere } from '../../files/disk.ts'
import { isRecord, isText } from '../../options.ts'
import type { ViteConfig, ViteServer } from '../settings/mount-options.ts'
import { encodeAsImported } from '../urls/encode.ts'
import type { EntryScript, EntryUrls } from '../views/entry.ts'
import { sourceUrls } from './source-urls.ts'
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

/** A dev server that runs. */
export interface DevServer {
  /** Without a trailing slash; empty for that of the page. */
  readonly origin: string
  /** By entry, when it was changed last; undefined where any name may be one. */
  readonly inputs?: ReadonlyMap<string, number>
  /** Whether a page needs React's preamble, unless `entry` is told. */
  readonly isReact?: boolean
  /** The names in Vite's root; undefined when unknown. */
  readonly top?: ReadonlySet<string> | undefined
}

/** A name below one of those is taken for a source of the front end. */
export async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  return new Set(await ifThere(readdir(directory)))
}

export function devServerOf(dev: string | true | ViteServer): DevServer {
  if (dev === true) return { origin: '' }
  if (typeof dev === 'string') return { origin: dev }
  const names = inputsOf(dev.config)
  const plugins = dev.config.plugins.map(({ name }) => name)
  return {
    origin: '',
    ...(names.length > 0 && { inputs: new Map(names.map(name => [name, changedAt(dev, name)])) }),
    isReact: plugins.some(name => name.startsWith('vite:react')) && !plugins.includes(PLUGIN)
  }
}

/** Looks for the dev server whose announcement is beside the build, each time that it is asked. */
export class AnnouncedDevServer {
  current: DevServer | undefined
  readonly #dir: string
  readonly #base: string
  readonly #warn: (message: string) => void
  /** A build that empties its directory removes the file of a server that is still running. */
  #last: string | undefined

  constructor(dir: string, urlPath: string, warn: (message: string) => void) {
    this.#dir = dir
    this.#base = encodeAsImported(`${urlPath}/`)
    this.#warn = warn
  }

  readonly refresh = oneAtATime(async () => {
    this.current = await this.#look()
  })

  async #look(): Promise<DevServer | undefined> {
    const text = (await ifThere(readFile(announcementIn(this.#dir), 'utf8'))) ?? this.#last
    this.#last = undefined
    const announced = text === undefined ? undefined : parse(text)
    if (!isAnnouncement(announced)) return undefined
    const { origin, base, inputs, root, token } = announced
    if (base === this.#base) {
      const status = parse(await responseOf(`${origin}${base}${STATUS}`))
      if (status?.['token'] !== token) return undefined
      this.#last = text
      const { changed: times = {} } = status as Partial<DevServerStatus>
      const changed = inputs.map(name => [name, times[name] ?? 0] as const)
      return { origin, inputs: new Map(changed), top: await namesIn(resolve(this.#dir, root)) }
    }
    const advice = `it must be the mount's URL path, '${this.#base}'`
    this.#warn(`Vite's dev server has the base '${base}': ${advice}`)
    return undefined
  }
}

/** Another release of the plugin may have written it. */
function isAnnouncement(value: object | undefined): value is Announcement {
  const { origin, inputs, root, token }: Partial<Announcement> = value ?? {}
  const isWeb = isText(origin) && /^https?:/.test(origin) && URL.canParse(origin)
  return isWeb && isText(root) && isText(token) && Array.isArray(inputs) && inputs.every(isText)
}

/** Undefined for anything but an object: the dev server may be another program's by now. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
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

/** Undefined for a name that is not an entry. @param urlPath that of the mount, which is Vite's `base` */
export function inDevelopment(
  urlPath: string,
  { origin, inputs, isReact }: DevServer,
  name: string
): EntryUrls | undefined {
  // The plugin only takes part in builds.
  if (LEGACY.test(name)) return { stylesheets: [], scripts: [], preloads: [] }
  if (inputs && !inputs.has(name)) return undefined
  const changed = inputs?.get(name) ?? 0
  // As Vite's own page has it: React's plugin imports a changed module under that URL once more.
  const urls = sourceUrls(origin, urlPath, name, changed > 0 ? `?t=${changed}` : '')
  const urlOf = (path: string) => origin + encodeAsImported(`${urlPath}/${path}`)
  const client: EntryScript = { url: urlOf('@vite/client'), kind: 'module' }
  return {
    ...urls,
    scripts: [client, ...urls.scripts],
    reactRefresh: urlOf('@react-refresh'),
    isReact
  }
}
