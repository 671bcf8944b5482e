// Describes a Vite dev server in this process for pages, and passes requests to it.
import { join, resolve } from 'node:path'
import type { Context } from 'koa'
import { isRecord, isText } from '../../runtime/check-options.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import type { ViteConfig, ViteServer } from './options.ts'

export const PLUGIN = 'koa-fresh-assets'

/** This module of the plugin does what React's plugin adds to Vite's own pages. */
export const PREAMBLE = `virtual:${PLUGIN}/preamble`

/** The facts that pages need about a running dev server. Our plugin sends them to koaAssets as JSON. */
export type RunningVite = Partial<ReturnType<typeof describe>> & { readonly origin: string }

/** The file to which our plugin writes the origin, Vite's base and a token, with which a running server responds. */
export const announcementIn = (dir: string) => join(dir, '.vite/dev-server.json')

/** The path below the base at which the plugin responds. */
export const STATUS = '@koa-fresh-assets'

/** @param origin undefined for a server that has the origin of each page */
export function describe(server: ViteServer, origin?: string) {
  const { config } = server
  const inputs = inputsOf(config)
  const hasPlugin = config.plugins.some(({ name }) => name === PLUGIN)
  return {
    /** The origin without a trailing slash; empty for that of the page. */
    origin: origin ?? '',
    /** The entries, relative to Vite's root; undefined if any name may be one. */
    inputs: origin !== undefined || inputs.length > 0 ? inputs : undefined,
    /** The times of the last changes of sources since the server started: `lastHMRTimestamp`. */
    changed: changedIn(server),
    /** True if a page needs React's preamble, unless an option of `entry` decides. */
    isReact: isReact(config) && !hasPlugin,
    /** True if the entries, but no other modules, contain it. */
    isPrepared: isReact(config) && hasPlugin,
    sockets: socketsOf(config, origin),
    root: config.root
  }
}

/** Returns the entries of a build, relative to Vite's root; none for HTML. */
export function inputsOf({ root, build }: ViteConfig): string[] {
  const given = (build.rolldownOptions ?? build.rollupOptions)?.input ?? []
  const inputs = typeof given === 'string' ? [given] : Object.values(given)
  const loaded = inputs.filter(input => !/\.html?$/.test(input))
  return loaded.map(input => pathFrom(root, resolve(root, input)))
}

/** More changes would make the response longer than koaAssets reads. */
const MAX_CHANGED = 300

/** Vite's own page adds these times to the URLs of sources. */
function changedIn({ environments }: ViteServer): [name: string, at: number][] {
  const modules = [...environments.client.moduleGraph.urlToModuleMap]
  const changed = modules.flatMap(([url, { lastHMRTimestamp: at }]): [string, number][] =>
    at > 0 && !url.includes('?') ? [[url.slice(1), at]] : []
  )
  return changed.toSorted(([, a], [, b]) => b - a).slice(0, MAX_CHANGED)
}

export const isReact = ({ plugins }: ViteConfig) =>
  plugins.some(({ name }) => name.startsWith('vite:react'))

/** The port of Vite's socket if it has one of its own. */
const OWN_PORT = 24678

/** The hosts at which developers open pages. The Host of a request is not trusted. */
const LOOPBACK = ['localhost', '127.0.0.1']

/** Finds, like Vite, where its client connects: Vite 8 has the options in `server.ws`, others in `server.hmr`. */
export function socketsOf({ server = {} }: Pick<ViteConfig, 'server'>, origin?: string): string[] {
  if (server.ws === false) return []
  const options = [server.ws, server.hmr].find(isRecord) ?? {}
  const { clientPort, port: given, host, protocol, server: shared } = options
  const own = server.middlewareMode && !shared ? OWN_PORT : undefined
  const port = clientPort ?? given ?? own
  // The socket is at the page's own host and port, which `connect-src 'self'` allows.
  if (origin === undefined && port === undefined) return []
  const { hostname, port: ofOrigin, protocol: scheme } = new URL(origin ?? 'http://localhost')
  const isSecure = origin === undefined ? Boolean(server.https) : scheme === 'https:'
  const start = isText(protocol) ? protocol : isSecure ? 'wss' : 'ws'
  const hosts = isText(host) ? [host] : origin === undefined ? LOOPBACK : [hostname]
  const at = Number(port ?? ofOrigin)
  return hosts.map(each => `${start}://${each}${at > 0 ? `:${at}` : ''}`)
}

/** @param base was removed from the start of the path, and Vite's own base begins with it */
export function respond(ctx: Context, { middlewares, config }: ViteServer, base: string) {
  const { req, res } = ctx
  const { url = '', headers } = req
  const { accept } = headers
  // Vite's `index.html` would hide that a file is missing. `fallback` says where a page belongs.
  if (config.appType === 'spa' && !/^[^?]*\/(?:\?|$)/.test(url))
    headers.accept = accept?.replaceAll(/text\/html|\*\/\*/g, '-/-') || '-/-'
  return new Promise<void>((resolve, reject) => {
    // Vite has responded, or the client has gone away.
    res.once('close', () => {
      ctx.respond = false
      // Like Koa's own `ctx.set` then, this does nothing: a session in front would set its cookie, an error in Node.
      res.setHeader = () => res
      resolve()
    })
    req.url = base + url
    middlewares(req, res, (error?: unknown) => {
      // Other middleware sees the URL without Vite's base.
      req.url = url
      headers.accept = accept
      if (error) reject(error)
      else resolve()
    })
  })
}
