// Finds the files that pages load while Vite's dev server compiles the sources.
import type { Warn } from '../../runtime/errors.ts'
import { get as getOverHttp } from 'node:http'
import { get as getOverHttps } from 'node:https'
import { basename, dirname, join, resolve } from 'node:path'
import { isRecord, isText } from '../../runtime/check-options.ts'
import { oneAtATime } from '../../runtime/concurrency.ts'
import { readDirectory, statIfThere } from '../../runtime/files/at-start.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'
import { encodeAsImported } from '../../runtime/urls/spelling.ts'
import type { LoadedUrl } from '../../runtime/views/asset-url.ts'
import { LEGACY, MODULE, sourceUrl, type EntrySource } from './entry-source.ts'
import {
  announcementIn,
  describe,
  PREAMBLE,
  socketsOf,
  STATUS,
  type RunningVite
} from './vite-server.ts'

type Look = () => RunningVite | undefined | Promise<RunningVite | undefined>

/** Vite's dev server of a mount, which may start and end while the application runs. */
export class DevServer {
  /** The files that pages load from it; undefined while it does not run. */
  source: EntrySource | undefined
  origins: readonly string[] = []
  version = ''
  /** Looks for the server again; undefined if there is nothing to look for. */
  readonly refresh: (() => Promise<void>) | undefined

  constructor(mount: MountSettings, warn: Warn, running?: RunningVite, look?: Look) {
    const use = (now?: RunningVite) => {
      if (this.source && !now) warn(`${this.source.label} has stopped: pages have the last build`)
      const { origin = '', inputs = [], changed = [], sockets = [] } = now ?? {}
      this.source = now && sourceOf(now, mount)
      this.origins = origin ? [new URL(origin).origin, ...sockets] : sockets
      this.version = [origin, ...inputs, ...changed].join(' ')
    }
    use(running)
    this.refresh = look && oneAtATime(async () => use(await look()))
  }
}

function sourceOf(running: RunningVite, { urlPath, base, fallback }: MountSettings): EntrySource {
  const { origin, inputs, changed = [], isReact = false, isPrepared, root } = running
  const stale = fallback ? `: open pages there, as ${fallback} is that of the last build here` : ''
  // Vite's own base begins with that of the page.
  const start = origin + base
  const urlOf = (path: string) => start + encodeAsImported(`${urlPath}/${path}`)
  const moduleAt = (path: string) => ({ url: urlOf(path), as: 'module' }) as const
  const tagsOf = (name: string, before: readonly string[] = []): LoadedUrl[] => {
    // React's plugin imports a changed module once more under this URL, which is in Vite's own page.
    const [, at] = changed.find(([path]) => path === name) ?? []
    return [
      { url: urlOf('@react-refresh'), as: 'preamble', isNeeded: isReact },
      ...['@vite/client', ...before].map(moduleAt),
      sourceUrl(start, urlPath, name, at === undefined ? '' : `?t=${at}`)
    ]
  }
  return {
    urlPath,
    label: "Vite's dev server",
    state: origin === '' ? "the bundler's dev server" : `Vite at ${origin}${stale}`,
    names: inputs,
    entry(name) {
      if (LEGACY.test(name)) return { kind: 'possible', load: () => [] }
      if (!inputs) return { kind: 'possible', load: () => tagsOf(name) }
      if (inputs.includes(name)) return { kind: 'entry', load: () => tagsOf(name) }
      // Any script may be imported dynamically: Vite knows only the imports of modules that it has compiled.
      if (!MODULE.test(name) || root === undefined || !isFile(join(root, name))) return undefined
      const before = isPrepared ? [`@id/__x00__${PREAMBLE}`] : []
      return { kind: 'lazy', load: () => tagsOf(name, before) }
    },
    file(name, isChosen) {
      // A name below a folder of Vite's root counts as a source of the front end.
      const isBelowRoot = root !== undefined && isListed(join(root, name.replace(/\/.*$/s, '')))
      if (!isChosen && !isBelowRoot) return undefined
      const path = encodeAsImported(`${urlPath}/${name}`)
      return { origin: start, path, target: path }
    }
  }
}

// This is synchronous, as helpers cannot wait, and only on a developer's machine.
const isFile = (path: string) => statIfThere(path)?.isFile() === true && isListed(path)

/** Tells whether a name has exactly this spelling: in production `App.ts` is not `app.ts`, whatever this disk says. */
function isListed(path: string): boolean {
  return readDirectory(dirname(path)).some(({ name }) => name === basename(path))
}

/** Returns the server of the option `dev`, or one that announces itself beside the build while it runs. */
export function devServerOf(mount: MountSettings, warn: Warn): DevServer {
  const { dev } = mount
  if (dev === undefined) return new DevServer(mount, warn, undefined, announcedFor(mount, warn))
  if (dev === true) return new DevServer(mount, warn, { origin: '' })
  if (typeof dev === 'object') return new DevServer(mount, warn, describe(dev), () => describe(dev))
  return new DevServer(mount, warn, { origin: dev, sockets: socketsOf({}, dev) })
}

/** A server whose response is longer, or takes longer, is another program. */
const LIMITS = { bytes: 128 * 1024, ms: 5000 } as const

function announcedFor({ dir, urlPath, base: start }: MountSettings, warn: Warn): Look {
  const file = announcementIn(dir)
  const expected = start + encodeAsImported(`${urlPath}/`)
  /** The last announcement, as a build that empties the directory removes that of a running server. */
  let last: string | undefined
  let givenUp: string | undefined
  return async () => {
    const text = (await readSnapshot(file))?.bytes.toString() ?? last
    last = undefined
    // Any program can write to the directory of a build.
    const { origin, base, token } = parse(text)
    if (!isText(origin) || !isText(base) || !isText(token) || text === givenUp) return undefined
    if (!/^https?:/.test(origin) || !URL.canParse(origin)) return undefined
    if (base !== expected) {
      const advice = `it must be the mount's URL path, '${expected}'`
      warn(`Vite's dev server has the base '${base}': ${advice}`)
      return undefined
    }
    const response = await responseOf(origin + base + STATUS)
    const status = parse(response)
    if (status['token'] === token) {
      last = text
      // The plugin of an earlier release put the rest into its announcement.
      const { inputs = [], changed = [], sockets = [] } = status
      if (![inputs, changed, sockets].every(Array.isArray)) {
        warn(`Vite at ${origin} has the plugin of another release of koa-fresh-assets: restart it`)
        return undefined
      }
      // Only our plugin knows the token.
      const running = status as unknown as RunningVite
      return { ...running, origin, root: resolve(dir, String(running.root)) }
    }
    if (response !== undefined) return undefined
    const way = `restart Vite, or remove ${file}`
    warn(`Vite does not respond at ${origin}, so pages no longer wait for it: ${way}`)
    givenUp = text
    return undefined
  }
}

/** Parses a JSON object; empty for anything else, as the port may belong to another program by now. */
function parse(text = ''): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

/** Resolves to an empty text if nothing listens, and to undefined for a response beyond the limits. */
function responseOf(url: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const get = url.startsWith('https:') ? getOverHttps : getOverHttp
    const signal = AbortSignal.timeout(LIMITS.ms)
    // The certificate was made by a developer on this machine.
    const request = get(url, { rejectUnauthorized: false, signal }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length >= LIMITS.bytes) response.destroy()
      })
      response.on('close', () => resolve(response.complete ? text : undefined))
    })
    request.on('error', () => resolve(signal.aborted ? undefined : ''))
  })
}
