// The plugin `koa-fresh-assets/vite`, which tells koaAssets about Vite's dev server.
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { Plugin, ResolvedConfig, ViteDevServer } from 'vite'
import { reasonOf } from '../../runtime/errors.ts'
import { BASE } from '../../runtime/urls/spelling.ts'
import { preambleFrom, STYLESHEET } from './entry-source.ts'
import {
  announcementIn,
  describe,
  inputsOf,
  isReact,
  PLUGIN,
  PREAMBLE,
  STATUS
} from './vite-server.ts'
import { readIfThere } from '../../runtime/files/at-start.ts'
import { check, isRecord, isText, text, type Expectation } from '../../runtime/check-options.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

export interface FreshAssetsOptions {
  /** The URL path of the mount, as in the option `mounts` of koaAssets: `/admin`. With `base`, it is Vite's `base`. */
  readonly mount: string
  /** The option `base` of koaAssets, with which Vite's begins: `/shop`. Default: none. */
  readonly base?: string | undefined
  /** The scripts and stylesheets that pages load, relative to Vite's `root`: `src/main.tsx`; or pages: `index.html`. */
  readonly input: string | readonly string[]
}

const OPTIONS = {
  mount: { ...text, expected: "a URL path such as '/admin'", isRequired: true },
  base: BASE,
  input: {
    expected: 'the path of a script or a stylesheet, or a list of them',
    holds: value => [value].flat().length > 0 && [value].flat().every(isText),
    isRequired: true
  }
} satisfies Record<keyof FreshAssetsOptions, Expectation>

/**
 * A plugin for Vite: sets `base`, the input and `build.manifest` for a mount of koaAssets, which in
 * development finds the dev server by itself while it runs, with its entries and React's refresh. Unless
 * `publicDir` is set, no folder is copied into the build: koaAssets serves `public`.
 * @example
 * // vite.config.ts
 * export default defineConfig({
 *   plugins: [react(), freshAssets({ mount: '/admin', input: 'src/main.tsx' })]
 * })
 * @throws TypeError for an invalid option
 */
export function freshAssets(options: FreshAssetsOptions): Plugin {
  check(options, OPTIONS)
  const { mount, input, base: cut = '' } = options
  const base = `${cut}/${mount}/`.replace(/\/{2,}/g, '/')
  /** The scripts that get React's preamble. */
  let entries = new Set<string>()
  let announced: () => void = () => undefined
  return {
    name: PLUGIN,
    // Other plugins must have compiled the module.
    enforce: 'post',

    config({ base: own, build = {}, publicDir }) {
      const key = 'rolldownVersion' in (this?.meta ?? {}) ? 'rolldownOptions' : 'rollupOptions'
      return {
        base: own ?? base,
        // koaAssets serves `public`, and precompile writes to it: no build needs a copy.
        publicDir: publicDir ?? false,
        build: { manifest: build.manifest ?? true, [key]: { input: [input].flat() } }
      }
    },

    configResolved(config) {
      if (config.command === 'build') announced = keepingAnnouncement(config)
      const names = config.command === 'serve' && isReact(config) ? inputsOf(config) : []
      const scripts = names.filter(name => !STYLESHEET.test(name))
      entries = new Set(scripts.map(name => resolve(config.root, name).replaceAll('\\', '/')))
    },

    configureServer(server) {
      announce(server)
      if (![input].flat().some(each => each.endsWith('.html'))) pointToPages(server)
      if (cut !== '') restoreBase(server, cut)
    },

    // A build empties the directory, and perhaps no application is running that would ask the dev server.
    writeBundle: () => announced(),

    resolveId: id => (id === PREAMBLE ? `\0${PREAMBLE}` : undefined),
    load: id => (id === `\0${PREAMBLE}` ? preambleFrom("'/@react-refresh'") : undefined),
    // The import is added to the first line, so the lines of the source stay the same.
    transform: (code, id) =>
      entries.has(id.replace(/\?.*$/s, ''))
        ? { code: `import '${PREAMBLE}';${code}`, map: null }
        : undefined
  }
}

/** Returns a function that restores the announcement, if there is one now. */
function keepingAnnouncement({ root, build }: ResolvedConfig): () => void {
  const file = announcementIn(resolve(root, build.outDir))
  const announcement = readIfThere(file)
  return () => {
    if (!announcement || readIfThere(file)) return
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, announcement)
  }
}

/** Tells koaAssets of a dev server while it listens. A server in Koa's process is passed as an option instead. */
function announce(server: ViteDevServer): void {
  const { config, httpServer, middlewares } = server
  if (!httpServer) return
  const outDir = resolve(config.root, config.build.outDir)
  const [token, file] = [randomUUID(), announcementIn(outDir)]
  const root = pathFrom(outDir, config.root)
  const write = () => {
    const { origin = '' } = config.server
    try {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, JSON.stringify({ origin, base: config.base, token }))
    } catch (error) {
      const advice = `set dev: '${origin}' for the mount of koaAssets`
      config.logger.warnOnce(`koa-fresh-assets: ${reasonOf(error)}: ${advice}`)
    }
  }
  middlewares.use(config.base + STATUS, (_, res) => {
    // A build empties the directory.
    if (!readIfThere(file)) write()
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify({ token, ...describe(server, config.server.origin), root }))
  })
  httpServer.once('listening', () => {
    // Pages have a different origin from the images that their scripts and stylesheets name.
    config.server.origin ??= originOf(config, httpServer.address() as AddressInfo)
    write()
    httpServer.once('close', () => {
      // Another dev server may have announced itself in the meantime.
      if (readIfThere(file)?.includes(token)) rmSync(file, { force: true })
    })
  })
}

/** Prints a note, as the URLs that Vite prints have no page unless one is an input. */
function pointToPages(server: ViteDevServer): void {
  const print = server.printUrls.bind(server)
  server.printUrls = () => {
    print()
    server.config.logger.info('  ➜  Pages:   those of your own server, as Vite has none here')
  }
}

/** Restores the base in requests for Vite's socket, which is below it; a proxy in front has removed the base. */
function restoreBase({ config: { base, server } }: ViteDevServer, cut: string): void {
  const { ws, hmr }: { ws?: unknown; hmr?: unknown } = server
  const shared = [ws, hmr].find(isRecord)?.['server'] as Server | undefined
  const arriving = base.slice(cut.length)
  shared?.prependListener('upgrade', (req: IncomingMessage) => {
    if (req.url?.replace(/\?.*$/s, '') === arriving) req.url = cut + req.url
  })
}

function originOf({ server }: ResolvedConfig, { port }: AddressInfo): string {
  const { host, https } = server
  const isNamed = typeof host === 'string' && !/^(?:0\.0\.0\.0|::)$/.test(host)
  const name = isNamed ? host : 'localhost'
  return `${https ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`
}
