// The stats of webpack and Rspack (`--json`, `stats.toJson()`), and the manifests of plugins that list
// entrypoints: webpack-assets-manifest, and the `generate` of webpack-manifest-plugin and rspack-manifest-plugin.
import { isRecord } from '../../options.ts'
import type { ScriptKind } from '../views/entry.ts'
import { fileBelow, isBelow, type Json, type Bundle, type BundleEntry } from './bundle.ts'
import { hasFixedUrl } from '../urls/fingerprint.ts'
import { HASHES, hashedAmong, type NamedFile } from './hashed-names.ts'

/** What stats say of a file. */
interface Asset {
  readonly isModule: boolean
  readonly isHashed: boolean
}

type Assets = ReadonlyMap<string, Asset>

/** @param urlPath that of the mount, which plugins may put before the files */
export function readWebpack(manifest: Json, urlPath: string): Bundle | undefined {
  const { entrypoints } = manifest
  if (!isRecord(entrypoints)) return undefined
  const below = (path: string) =>
    path.startsWith(`${urlPath}/`) ? path.slice(urlPath.length + 1) : path
  const entries = new Map(
    Object.entries(entrypoints).map(([name, entrypoint]) => [
      name,
      filesIn(entrypoint, name).map(below).map(fileBelow).filter(isTagged)
    ])
  )
  const assets = readAssets(manifest['assets'])
  const mapped = Object.values(manifest).filter(value => typeof value === 'string')
  const others = assets ? assets.keys() : mapped.map(below).filter(isBelow)
  const tagged = new Set([...entries.values()].flat())
  const files = new Set([...tagged, ...others])
  return {
    names: [...entries.keys()],
    entry: name => entryOf(entries.get(name), assets),
    tagged,
    files,
    hashed: assets
      ? new Set([...assets].filter(([, { isHashed }]) => isHashed).map(([file]) => file))
      : hashedAmong([Array.from(files, (file): NamedFile => [file, undefined])], HASHES.webpack)
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

/** Neither a source map nor a file that a script loads. */
function isTagged(file: string): boolean {
  return /\.(?:css|m?js)(?:\?|$)/.test(file)
}

/** By file, which may end in a query; undefined where the manifest does not describe its files. */
function readAssets(given: unknown): Assets | undefined {
  if (!Array.isArray(given)) return undefined
  const assets = new Map<string, Asset>()
  for (const asset of given) {
    const { name, info, filteredChildren } = isRecord(asset) ? asset : {}
    // webpack leaves out those that a build has not written anew.
    if (filteredChildren) throw new TypeError('it omits assets: set cachedAssets: true')
    if (isBelow(name)) assets.set(name, readInfo(name, isRecord(info) ? info : {}))
  }
  return assets
}

function readInfo(file: string, info: Json): Asset {
  const kinds = ['contenthash', 'chunkhash', 'fullhash', 'modulehash']
  const hashes = kinds.flatMap(kind => info[kind])
  const inName = hashes.filter(
    hash => typeof hash === 'string' && hash.length >= 8 && file.includes(hash)
  )
  // A hash in the query is not part of the path that is requested.
  const isImmutable = info['immutable'] === true && inName.length > 0 && !file.includes('?')
  return {
    isModule: info['javascriptModule'] === true,
    isHashed: isImmutable && !hasFixedUrl(file)
  }
}

/** In the order of the list, in which a chunk stands behind those that it needs. */
function entryOf(
  files: readonly string[] | undefined,
  assets: Assets | undefined
): BundleEntry | undefined {
  if (!files) return undefined
  const isCss = (file: string) => /\.css(?:\?|$)/.test(file)
  const kindOf = (file: string): ScriptKind =>
    assets?.get(file)?.isModule || /\.mjs(?:\?|$)/.test(file) ? 'module' : 'classic'
  return {
    stylesheets: files.filter(isCss),
    scripts: files.filter(file => !isCss(file)).map(file => ({ file, kind: kindOf(file) })),
    preloads: []
  }
}
