/** `importMap`: `<script type="importmap">`, which resolves `import './dial.js'` to the published file. */

import type { AppAssets, AssetUrl, UrlOf } from './asset-url.ts'
import { escapeInScript, openTag } from './html.ts'
import { isModulePath, makePageMemory, reachedFrom } from './module-graph.ts'

export interface ImportMapOptions {
  /** For a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
  /**
   * The modules that the page loads: the map then contains only what they import, by whatever chain of
   * literal specifiers. Without fingerprints it has no effect. Default: every module of the app.
   */
  readonly entry?: string | readonly string[] | undefined
  /**
   * More specifiers, each with the name of an asset or an absolute URL. They take precedence over those of
   * the option `imports`.
   */
  readonly imports?: Readonly<Record<string, string>> | undefined
}

type MapEntry = readonly [specifier: string, asset: AssetUrl]

export function importMapHelpers(host: string, assets: AppAssets, urlOf: UrlOf) {
  const named = ([specifier, name]: readonly [string, string]): MapEntry => [
    specifier,
    urlOf(name, { extension: '.js' })
  ]
  /** The specifier includes the host: a relative import is resolved against the URL of its module. */
  const published = (entry: ImportMapOptions['entry']): MapEntry[] => {
    const found = entry === undefined ? assets.modules() : reachedFrom(assets, [entry].flat())
    return [...found]
      .filter(([plainPath]) => isModulePath(plainPath))
      .map(([at, { path, integrity }]) => [host + at, { url: host + path, integrity }])
  }
  const write = (
    entry: ImportMapOptions['entry'],
    imports: Readonly<Record<string, string>>
  ): string => {
    const modules = published(entry)
    const urls = new Set(modules.map(([, { url }]) => url))
    // Of the option `imports`, what leads to a module that is not reached is left out. Without fingerprints,
    // what is reached is not known.
    const isReached = ([, name]: readonly [string, string]): boolean => {
      if (urls.size === 0 || !isModulePath(name)) return true
      const { url } = urlOf(name)
      return urls.has(url) || url === name
    }
    const byOption = [...assets.imports].filter(isReached)
    const entries = [...modules, ...[...byOption, ...Object.entries(imports)].map(named)]
    const hashed = entries.flatMap(([, { url, integrity }]): [string, string][] =>
      integrity?.length ? [[url, integrity.join(' ')]] : []
    )
    return escapeInScript(
      JSON.stringify({
        imports: sorted(entries.map(([specifier, { url }]) => [specifier, url])),
        integrity: hashed.length > 0 ? sorted(hashed) : undefined
      })
    )
  }
  const remembered = makePageMemory<string>(() => assets.version())
  return {
    /**
     * The import map from plain module URLs to the published ones, with their integrity, and of the
     * option `imports`, on one line. Place it before the first module. Without fingerprints it contains
     * only `imports`.
     *
     * @example
     * importMap({ nonce: 'r4nd0m', entry: 'app' })
     * // <script type="importmap" nonce="r4nd0m">{"imports":{
     * // "/assets/dial.js":"/assets/dial-<32 hex>.js"},"integrity":{…}}</script>
     */
    importMap: ({ nonce, entry, imports }: ImportMapOptions = {}): string => {
      const json = imports
        ? write(entry, imports)
        : remembered(JSON.stringify(entry ?? null), () => write(entry, {}))
      return `${openTag('script', { type: 'importmap', nonce })}${json}</script>`
    }
  } as const
}

// Through a Map, so the later of two entries with the same key wins.
function sorted(entries: Iterable<[string, string]>): object {
  return Object.fromEntries([...new Map(entries)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
