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
    urlOf(name, '.js')
  ]
  const write = (
    entry: ImportMapOptions['entry'],
    imports: Readonly<Record<string, string>>
  ): string => {
    const modules = publishedModules(host, assets, entry)
    const byOption = [...assets.imports].filter(isReachedBy(modules, urlOf))
    const entries = [...modules, ...byOption.map(named), ...Object.entries(imports).map(named)]
    const urls = sorted(entries.map(([specifier, { url }]) => [specifier, url]))
    return escapeInScript(JSON.stringify({ imports: urls, integrity: hashes(entries) }))
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

// The specifier includes the host: a relative import is resolved against the URL of its module.
function publishedModules(
  host: string,
  assets: AppAssets,
  entry: ImportMapOptions['entry']
): MapEntry[] {
  const found = entry === undefined ? assets.modules() : reachedFrom(assets, [entry].flat())
  return [...found]
    .filter(([plainPath]) => isModulePath(plainPath))
    .map(([plainPath, { path, integrity }]) => [host + plainPath, { url: host + path, integrity }])
}

/** Whether an entry of the option `imports` leads to one of the modules, if it leads to a module of ours. */
function isReachedBy(modules: readonly MapEntry[], urlOf: UrlOf) {
  const urls = new Set(modules.map(([, { url }]) => url))
  return ([, name]: readonly [string, string]): boolean => {
    // Without fingerprints, what is reached is not known.
    if (urls.size === 0 || !isModulePath(name)) return true
    const { url } = urlOf(name)
    return urls.has(url) || url === name
  }
}

function hashes(entries: readonly MapEntry[]): object | undefined {
  const known = entries.flatMap(([, { url, integrity }]): [string, string][] =>
    integrity?.length ? [[url, integrity.join(' ')]] : []
  )
  return known.length > 0 ? sorted(known) : undefined
}

// Through a Map, so the later of two entries with the same key wins.
function sorted(entries: Iterable<[string, string]>): object {
  return Object.fromEntries([...new Map(entries)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
