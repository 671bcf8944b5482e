// Settles the options `manifest` and `dev` of mounts.
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { isRecord, optionError, text, type Expectation } from '../../runtime/check-options.ts'
import { undefinedIfMissing } from '../../runtime/files/disk.ts'
import { absolutePath } from '../../runtime/files/paths.ts'
import { encodeAsImported } from '../../runtime/urls/spelling.ts'

/** The part of Vite's resolved configuration that is used. */
export interface ViteConfig {
  readonly root: string
  readonly base: string
  readonly appType?: string
  readonly plugins: readonly { readonly name: string }[]
  readonly build: Partial<Record<'rollupOptions' | 'rolldownOptions', { readonly input?: unknown }>>
  readonly server?: Partial<Record<'middlewareMode' | 'https' | 'ws' | 'hmr', unknown>>
}

/** The part of Vite's dev server that is used. */
export interface ViteServer {
  readonly config: ViteConfig
  readonly middlewares: (
    req: IncomingMessage,
    res: ServerResponse,
    next: (error?: unknown) => void
  ) => void
  readonly transformIndexHtml: (url: string, html: string) => Promise<string>
  readonly environments: { readonly client: { readonly moduleGraph: ModuleGraph } }
}

interface ModuleGraph {
  readonly urlToModuleMap: ReadonlyMap<string, { readonly lastHMRTimestamp: number }>
}

export interface BuildOptions {
  /**
   * The bundler's manifest, relative to `root`, for `ctx.assets.entry` and for `immutable`: Vite's, esbuild's metafile,
   * or webpack's and Rspack's stats. It is read at start and when it changes, and is never served. Default: none.
   */
  manifest?: string | undefined
  /**
   * Vite's dev server, while `env` is `development`: `ctx.assets.entry` emits its URLs, the manifest is not
   * read and the directory is not served.
   *
   * Not needed with our plugin, `freshAssets` of `koa-fresh-assets/vite`: a mount with a `manifest` then
   * finds the dev server while it runs. Otherwise the server itself, made with `server: { middlewareMode: true }`,
   * which gets the requests below the mount that routes leave as 404; or its origin, such as
   * `http://localhost:5173`; or `true` if the application uses its middleware itself.
   * `false` and the empty string mean none. Default: none.
   */
  dev?: string | boolean | ViteServer | undefined
}

export const BUILD = {
  manifest: text,
  dev: {
    expected: "Vite's dev server, its origin such as 'http://localhost:5173', true or false",
    holds: value =>
      typeof value === 'boolean' ||
      (typeof value === 'string' &&
        /^(?:https?:\/\/[^/?#\s\0"'<>\\]+\/?)?$/.test(value) &&
        URL.canParse(value, 'http://a')) ||
      (isRecord(value) && isRecord(value['config']) && typeof value['middlewares'] === 'function')
  }
} satisfies Record<keyof BuildOptions, Expectation>

export interface Place {
  readonly root: string
  readonly env: string
  readonly base: string
  readonly urlPath: string
  /** The path of the option in messages: `mounts./static.` */
  readonly place: string
  readonly fallback: string | undefined
}

export function settleBuild(options: BuildOptions, at: Place) {
  const { root, env, fallback } = at
  const manifest = options.manifest === undefined ? undefined : absolutePath(root, options.manifest)
  const dev = env === 'development' ? devServer(options.dev, at) : undefined
  if (dev === undefined) return { manifest, dev }
  // Only a dev server in this process has the current page; any other serves its own.
  const page = typeof dev === 'object' && (fallback ? () => htmlOf(dev, fallback) : undefined)
  return { manifest, dev, isServed: false, page }
}

/** Returns an origin without a trailing slash, `true` for the page's, or the server itself. */
function devServer(dev: BuildOptions['dev'], { base: start, urlPath, place }: Place) {
  if (typeof dev === 'string') return dev.replace(/\/$/, '') || undefined
  if (typeof dev !== 'object') return dev || undefined
  const base = start + encodeAsImported(`${urlPath}/`)
  if (dev.config.base === base) return dev
  const plugin = `freshAssets({ mount: '${urlPath || '/'}'${start && `, base: '${start}'`} })`
  const expected = `a dev server with the base '${base}', as ${plugin} sets it`
  throw optionError('dev', expected, dev.config.base, place)
}

async function htmlOf({ config, transformIndexHtml }: ViteServer, name: string) {
  const html = await undefinedIfMissing(readFile(join(config.root, name), 'utf8'))
  return html === undefined ? undefined : transformIndexHtml(`${config.base}${name}`, html)
}
