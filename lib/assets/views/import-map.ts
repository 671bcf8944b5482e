/** `importMap`: `<script type="importmap">`, which resolves `import './dial.js'` to the published file. */

import type { AssetName } from './asset-names.ts'
import type { AppAssets, AssetUrl, UrlOf } from './asset-url.ts'
import { escapeInScript, openTag } from './html.ts'
import { isModulePath, makePageMemory, reachedFrom } from './module-graph.ts'

export interface ImportMapOptions {
  /** For a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
  /**
   * The modules that the page loads: the map then contains only what they import, through any chain of literal
   * specifiers. Without fingerprints it has no effect on the map. Default: every module of the app.
   */
  readonly entry?: AssetName<'javascript'> | readonly AssetName<'javascript'>[] | undefined
  /**
   * More specifiers, each with the name of an asset or an absolute URL. They take precedence over those of
   * the option `imports`.
   */
  readonly imports?: Readonly<Record<string, AssetName<'javascript'>>> | undefined
}

type MapEntry = readonly [specifier: string, asset: AssetUrl]

/** A specifier that is a path includes the host: a relative import is resolved against the URL of its module. */
function published(host: string, assets: AppAssets, entry: ImportMapOptions['entry']): MapEntry[] {
  const found = entry === undefined ? assets.modules() : reachedFrom(assets, [entry].flat())
  // Only now: with packages too, the entry's name was to be checked first.
  if (assets.bareImports) return []
  return [...found].flatMap(([at, { path, integrity, specifiers = [] }]) => {
    if (!isModulePath(at)) return []
    const to = { url: host + path, integrity }
    return [host + at, ...specifiers].map((key): MapEntry => [key, to])
  })
}

export function importMapHelpers(host: string, assets: AppAssets, urlOf: UrlOf) {
  const named = ([specifier, name]: readonly [string, string]): MapEntry => [
    specifier,
    urlOf(name, { extension: '.js' })
  ]
  const write = (
    entry: ImportMapOptions['entry'],
    imports: Readonly<Record<string, string>>
  ): string => {
    const modules = published(host, assets, entry)
    const urls = new Set(modules.map(([, { url }]) => url))
    // Entries of the option `imports` that lead to a module that is not reached are left out. Without
    // fingerprints, what is reached is not known.
    const isReached = ([, name]: readonly [string, string]): boolean => {
      if (urls.size === 0 || !isModulePath(name)) return true
      const { url } = urlOf(name)
      return urls.has(url) || url === name
    }
    const { everywhere = [], scopes = [] } = assets.bareImports?.() ?? {}
    const byOption = [...everywhere, ...[...assets.imports].filter(isReached)]
    const entries = [...modules, ...[...byOption, ...Object.entries(imports)].map(named)]
    const hashed = entries.flatMap(([, { url, integrity }]): [string, string][] =>
      integrity?.length ? [[url, integrity.join(' ')]] : []
    )
    const scoped = Array.from(scopes, ([path, names]): [string, object] => [
      host + path,
      sorted(Array.from(names, named).map(([specifier, { url }]) => [specifier, url]))
    ])
    return escapeInScript(
      JSON.stringify({
        imports: sorted(entries.map(([specifier, { url }]) => [specifier, url])),
        scopes: scoped.length > 0 ? sorted(scoped) : undefined,
        integrity: hashed.length > 0 ? sorted(hashed) : undefined
      })
    )
  }
  const remembered = makePageMemory<string>(() => assets.version())
  return {
    /**
     * The import map from plain module URLs to the published ones, with their integrity, and the specifiers of the
     * options `imports` and `packages`, on one line. Place it before the first module. Without fingerprints it
     * contains only the latter two.
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
function sorted<Value>(entries: Iterable<[string, Value]>): Record<string, Value> {
  return Object.fromEntries([...new Map(entries)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
