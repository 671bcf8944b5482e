/** `importMap`: `<script type="importmap">`, which resolves `import './dial.js'` to the published file. */

import type { AppAssets, AssetUrl, UrlOf } from './asset-url.ts'
import { escapeInScript, openTag } from './html.ts'

export interface ImportMapOptions {
  /** For a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
  /** More specifiers, each with the name of an asset or an absolute URL. They take precedence. */
  readonly imports?: Readonly<Record<string, string>> | undefined
}

type Entry = readonly [specifier: string, asset: AssetUrl]

export function importMapHelpers(host: string, assets: AppAssets, urlOf: UrlOf) {
  return {
    /**
     * The import map from plain module URLs to the published ones, with their integrity, on one
     * line. Place it before the first module. Without fingerprints it contains only
     * `options.imports`.
     *
     * @example
     * importMap({ nonce: 'r4nd0m' })
     * // <script type="importmap" nonce="r4nd0m">{"imports":{
     * // "/assets/dial.js":"/assets/dial-<32 hex>.js"},"integrity":{…}}</script>
     */
    importMap: ({ nonce, imports = {} }: ImportMapOptions = {}): string => {
      const added = Object.entries(imports).map(([key, name]): Entry => [key, urlOf(name, '.js')])
      const entries = [...publishedModules(host, assets), ...added]
      const urls = sorted(entries.map(([specifier, { url }]) => [specifier, url]))
      const json = JSON.stringify({ imports: urls, integrity: hashes(entries) })
      return `${openTag('script', { type: 'importmap', nonce })}${escapeInScript(json)}</script>`
    }
  } as const
}

// The specifier includes the host: a relative import is resolved against the URL of its module.
function publishedModules(host: string, assets: AppAssets): Entry[] {
  return [...assets.modules()]
    .filter(([plainPath]) => /\.m?js$/.test(plainPath))
    .map(([plainPath, { path, integrity }]) => [host + plainPath, { url: host + path, integrity }])
}

function hashes(entries: readonly Entry[]): object | undefined {
  const known = entries.flatMap(([, { url, integrity }]): [string, string][] =>
    integrity?.length ? [[url, integrity.join(' ')]] : []
  )
  return known.length > 0 ? sorted(known) : undefined
}

// Through a Map, so the later of two entries with the same key wins.
function sorted(entries: Iterable<[string, string]>): object {
  return Object.fromEntries([...new Map(entries)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
