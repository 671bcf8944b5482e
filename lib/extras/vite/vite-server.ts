// Asks Vite's dev server for its entries, what was edited, and where its client connects.
import { resolve } from 'node:path'
import { isRecord, isText } from '../../runtime/check-options.ts'
import type { ViteConfig, ViteServer } from './options.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

/** The name of our plugin for Vite, which gives the entries React's preamble. */
export const PLUGIN = 'koa-fresh-assets'

/** This module of the plugin does what React's plugin adds to Vite's own pages. */
export const PREAMBLE = `virtual:${PLUGIN}/preamble`

/** Returns the entries of a build, relative to Vite's root; none for HTML. */
export function inputsOf({ root, build }: ViteConfig): string[] {
  const given = (build.rolldownOptions ?? build.rollupOptions)?.input ?? []
  const inputs = typeof given === 'string' ? [given] : Object.values(given)
  return inputs
    .filter(input => !/\.html?$/.test(input))
    .map(input => pathFrom(root, resolve(root, input)))
}

/** More would make the response longer than it may be. */
const MAX_CHANGED = 300

/** Returns when sources were last changed since the server started; Vite's own page adds the times to their URLs. */
export function changedIn({ environments }: ViteServer): Map<string, number> {
  const modules = [...environments.client.moduleGraph.urlToModuleMap]
  const changed = modules.flatMap(([url, { lastHMRTimestamp: at }]) =>
    at > 0 && !url.includes('?') ? [[url.slice(1), at] as const] : []
  )
  return new Map(changed.toSorted(([, a], [, b]) => b - a).slice(0, MAX_CHANGED))
}

export function isReact({ plugins }: ViteConfig): boolean {
  return plugins.some(({ name }) => name.startsWith('vite:react'))
}

/** Vite's socket uses this port where it has one of its own. */
const OWN_PORT = 24678

/**
 * Returns the origins at which Vite's client connects to its server, found as Vite finds them: Vite 8 has the options
 * in `server.ws`, older versions in `server.hmr`.
 * @param origin is that of the dev server; undefined for one that has the origin of each page
 */
export function socketsOf({ server = {} }: ViteConfig, origin?: string): string[] {
  if (server.ws === false) return []
  const options = [server.ws, server.hmr].find(isRecord) ?? {}
  const { clientPort, port: given, host, protocol, server: shared } = options
  const own = server.middlewareMode && !shared ? OWN_PORT : undefined
  const port = clientPort ?? given ?? own
  const { hostname, port: ofOrigin, protocol: scheme } = new URL(origin ?? 'http://localhost')
  // The socket is at the page's own host and port, which `connect-src 'self'` allows.
  if (origin === undefined && port === undefined) return []
  const isSecure = origin === undefined ? Boolean(server.https) : scheme === 'https:'
  const hosts = isText(host) ? [host] : origin === undefined ? LOOPBACK : [hostname]
  const at = Number(port ?? ofOrigin)
  return hosts.map(each => {
    return `${isText(protocol) ? protocol : isSecure ? 'wss' : 'ws'}://${each}${at > 0 ? `:${at}` : ''}`
  })
}

/** Developers open pages at these hosts. The Host of a request is not trusted. */
const LOOPBACK = ['localhost', '127.0.0.1']
