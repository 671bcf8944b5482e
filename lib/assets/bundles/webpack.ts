// The stats of webpack and Rspack (`--json`, `stats.toJson()`), and the manifests of plugins that list
// entrypoints: webpack-assets-manifest, and the `generate` of webpack-manifest-plugin and rspack-manifest-plugin.
import { isRecord } from '../../options.ts'
import { hasFixedUrl } from '../urls/fingerprint.ts'
import { fileBelow, isBelow, type Bundle, type Json } from './bundle.ts'
import { HASHES, hashedAmong } from './hashed-names.ts'

/** What stats say about a file. */
interface Asset {
  /** For what a loader copies; relative to the compiler's context. */
  readonly source: string | undefined
  readonly isModule: boolean
  readonly isHashed: boolean
}

/** @param urlPath that of the mount, which plugins may put before the files */
export function readWebpack(manifest: Json, urlPath: string): Bundle | undefined {
  const { entrypoints } = manifest
  if (!isRecord(entrypoints)) return undefined
  const below = (path: string) =>
    path.startsWith(`${urlPath}/`) ? path.slice(urlPath.length + 1) : path
  const entries = new Map(
    Object.entries(entrypoints).map(([name, entrypoint]) => {
      // Neither a source map nor a file that a script loads gets a tag.
      const files = filesIn(entrypoint, name).map(below).map(fileBelow)
      return [name, files.filter(file => /\.(?:css|m?js)(?:\?|$)/.test(file))]
    })
  )
  const assets = readAssets(manifest['assets'])
  const mapped = Object.values(manifest).filter(value => typeof value === 'string')
  const others = assets ? assets.keys() : mapped.map(below).filter(isBelow)
  const tagged = new Set([...entries.values()].flat())
  const files = new Set([...tagged, ...others])
  const isModule = (file: string) => assets?.get(file)?.isModule || /\.mjs(?:\?|$)/.test(file)
  return {
    names: [...entries.keys()],
    // In the order of the list, in which a chunk comes after those that it needs.
    entry: name => {
      const listed = entries.get(name)
      if (!listed) return undefined
      const isCss = (file: string) => /\.css(?:\?|$)/.test(file)
      const scripts = listed.filter(file => !isCss(file))
      return {
        stylesheets: listed.filter(isCss),
        scripts: scripts.map(file => ({ file, kind: isModule(file) ? 'module' : 'classic' })),
        preloads: []
      }
    },
    sources: new Map(
      [...(assets ?? [])].flatMap(([file, { source }]) =>
        source === undefined ? [] : [[source, file] as const]
      )
    ),
    tagged,
    files,
    hashed: assets
      ? new Set([...files].filter(file => assets.get(file)?.isHashed))
      : hashedAmong([Array.from(files, file => [file, undefined] as const)], HASHES.webpack)
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

/** By file, which may end in a query; undefined where the manifest does not describe its files. */
function readAssets(given: unknown): ReadonlyMap<string, Asset> | undefined {
  if (!Array.isArray(given)) return undefined
  const assets = new Map<string, Asset>()
  for (const asset of given) {
    const { name, info, filteredChildren } = isRecord(asset) ? asset : {}
    // webpack leaves out those that a build has not rewritten.
    if (filteredChildren) throw new TypeError('it omits assets: set cachedAssets: true')
    if (isBelow(name)) assets.set(name, readInfo(name, isRecord(info) ? info : {}))
  }
  return assets
}

function readInfo(file: string, info: Json): Asset {
  const hashes = ['contenthash', 'chunkhash', 'fullhash', 'modulehash'].flatMap(kind => info[kind])
  const isInName = hashes.some(
    hash => typeof hash === 'string' && hash.length >= 8 && file.includes(hash)
  )
  // A hash in the query is not part of the path that is requested.
  const isHashed = info['immutable'] === true && isInName && !file.includes('?')
  const { sourceFilename: source, javascriptModule } = info
  return {
    source: typeof source === 'string' ? source : undefined,
    isModule: javascriptModule === true,
    isHashed: isHashed && !hasFixedUrl(file)
  }
}
