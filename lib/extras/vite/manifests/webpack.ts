// Reads the stats of webpack and Rspack (`--json`, `stats.toJson()`), and the manifests of plugins that list
// entrypoints: webpack-assets-manifest, and the `generate` of webpack-manifest-plugin and rspack-manifest-plugin.
import { isRecord } from '../../../runtime/check-options.ts'
import { hasFixedUrl } from '../../../runtime/urls/spelling.ts'
import {
  fileBelow,
  hashedAmong,
  HASHES,
  isBelow,
  loadedAs,
  namedBy,
  withoutQuery,
  type Json,
  type LoadedFile,
  type Loads
} from './bundle.ts'

/** @param urlPath the mount's, with the base, which plugins may put before the files */
export function readWebpack(manifest: Json, urlPath: string) {
  const { entrypoints, namedChunkGroups: groups } = manifest
  if (!isRecord(entrypoints)) return undefined
  const below = (path: string) =>
    path.startsWith(`${urlPath}/`) ? path.slice(urlPath.length + 1) : path
  const infos = readAssets(manifest['assets'])
  const asOf = (file: string) =>
    /\.mjs(?:\?|$)/.test(file) || infos?.get(file)?.['javascriptModule'] === true
      ? 'module'
      : 'classic'
  const loadOf = ([name, given]: readonly [string, unknown]) => {
    // This order puts a chunk after those that it needs. Other files, such as source maps, get no tag.
    const listed = filesIn(given, name).map(below).map(fileBelow)
    const stylesheets = listed.filter(file => /\.css(?:\?|$)/.test(file))
    const scripts = listed.filter(file => /\.m?js(?:\?|$)/.test(file))
    const loaded = scripts.map((file): LoadedFile => ({ file, as: asOf(file) }))
    return [name, () => [...loadedAs('stylesheet', stylesheets), ...loaded]] as const
  }
  const entries = new Map(Object.entries(entrypoints).map(loadOf))
  // The names are those of `webpackChunkName` and the entrypoints. Such a chunk waits for the entry's runtime.
  const named = Object.entries(isRecord(groups) ? groups : {})
  const lazy = new Map(named.filter(each => !entries.has(each[0]) && isListed(each[1])).map(loadOf))
  const filesOf = (loads: Loads) => namedBy([...loads.values()].flatMap(load => load()))
  const tagged = filesOf(entries)
  const values = Object.values(manifest).filter(value => typeof value === 'string')
  const others = infos?.keys() ?? values.map(below).filter(isBelow)
  const files = new Set([...tagged, ...filesOf(lazy), ...others])
  return {
    entries,
    lazy,
    tagged,
    // A loader copies files under names relative to the compiler's context.
    sources: new Map(
      Array.from(infos ?? []).flatMap(([file, { sourceFilename: source }]) =>
        typeof source === 'string' ? [[source, file] as const] : []
      )
    ),
    files,
    paths: new Set(Array.from(files, withoutQuery)),
    hashed: infos
      ? new Set([...files].filter(file => isHashed(file, infos.get(file) ?? {})))
      : hashedAmong(
          Array.from(files, file => [file, undefined] as const),
          HASHES.webpack
        )
  }
}

/** `['a.js']`, `[{ name: 'a.js' }]`, `{ assets: … }` or `{ js: ['a.js'], css: ['a.css'] }` */
function filesIn(value: unknown, entrypoint: string): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(each => filesIn(each, entrypoint))
  const { assets, name, css, js, filteredAssets } = isRecord(value) ? value : {}
  if (filteredAssets) throw new TypeError(`entrypoint ${entrypoint} omits some of its assets`)
  if (assets !== undefined) return filesIn(assets, entrypoint)
  if (typeof name === 'string') return [name]
  if (css ?? js) return filesIn([css ?? [], js ?? []], entrypoint)
  throw new TypeError(`entrypoint ${entrypoint} lists no assets`)
}

function isListed(group: unknown): boolean {
  return isRecord(group) && Array.isArray(group['assets']) && !group['filteredAssets']
}

/** Returns the stats about each file, whose name may end in a query; undefined if they describe none. */
function readAssets(given: unknown): ReadonlyMap<string, Json> | undefined {
  if (!Array.isArray(given)) return undefined
  const assets = new Map<string, Json>()
  for (const asset of given) {
    const { name, info, filteredChildren } = isRecord(asset) ? asset : {}
    // webpack omits the assets that a build has not rewritten.
    if (filteredChildren) throw new TypeError('it omits assets: set cachedAssets: true')
    if (isBelow(name)) assets.set(name, isRecord(info) ? info : {})
  }
  return assets
}

/** Tells whether the requested path, without a query, has a hash of the content. */
function isHashed(file: string, info: Json): boolean {
  const hashes = ['contenthash', 'chunkhash', 'fullhash', 'modulehash'].flatMap(kind => info[kind])
  const isInName = hashes.some(
    hash => typeof hash === 'string' && hash.length >= 8 && file.includes(hash)
  )
  return info['immutable'] === true && isInName && !file.includes('?') && !hasFixedUrl(file)
}
