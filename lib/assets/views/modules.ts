/** Which modules a page loads for an entry, and `importMap`, which maps their plain URLs to the published ones. */

import type { AssetName } from './asset-names.ts'
import { assetName, type AppAssets, type AppView, type AssetUrl, type Module } from './asset-url.ts'
import { escapeInScript, openTag } from './html.ts'

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

export function importMapHelpers(view: AppView) {
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
      const json = view.remembered(['importMap', entry, imports], () =>
        writeMap(view, entry, imports)
      )
      return `${openTag('script', { type: 'importmap', nonce })}${json}</script>`
    }
  } as const
}

function writeMap(
  { host, assets, urlOf }: AppView,
  entry: ImportMapOptions['entry'],
  imports: ImportMapOptions['imports'] = {}
): string {
  const named = ([specifier, name]: readonly [string, string]): MapEntry => [
    specifier,
    urlOf(name, { extension: '.js' })
  ]
  const found = entry === undefined ? assets.modules() : reachedFrom(assets, [entry].flat())
  // Only now: with packages too, the entry's name was to be checked first. A specifier that is a path includes
  // the host: a relative import is resolved against the URL of its module.
  const modules = [...(assets.bareImports ? [] : found)].filter(isScript).flatMap(module => {
    const { path, plainPath, integrity, specifiers = [] } = module
    const asset = { url: host + path, integrity }
    return [host + plainPath, ...specifiers].map((key): MapEntry => [key, asset])
  })
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
  const scoped = Array.from(scopes, ([path, names]): [string, object] => [
    host + path,
    sorted(Array.from(names, named).map(toUrl))
  ])
  const hashes = entries.flatMap(([, { url, integrity = [] }]): [string, string][] =>
    integrity.length > 0 ? [[url, integrity.join(' ')]] : []
  )
  return escapeInScript(
    JSON.stringify({
      imports: sorted(entries.map(toUrl)),
      scopes: scoped.length > 0 ? sorted(scoped) : undefined,
      integrity: hashes.length > 0 ? sorted(hashes) : undefined
    })
  )
}

const toUrl = ([specifier, { url }]: MapEntry): [string, string] => [specifier, url]

// Through a Map, so the later of two entries with the same key wins.
function sorted<Value>(entries: Iterable<[string, Value]>): Record<string, Value> {
  return Object.fromEntries([...new Map(entries)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function isModulePath(path: string): boolean {
  return /\.m?js$/i.test(path)
}

const isScript = ({ plainPath }: Module): boolean => isModulePath(plainPath)

/** The modules that entries import statically, each after what it imports itself; not the entries. */
export function staticImports(assets: AppAssets, names: readonly string[]): Module[] {
  const entries = plainPaths(assets, names)
  const reached = modulesFrom(assets, entries, ({ imports = [] }) => imports)
  return reached.filter(module => isScript(module) && !entries.includes(module.plainPath))
}

/**
 * The entries and everything that they import, statically or not. All modules if it is not known
 * what one of these imports: the manifest comes from an earlier release, or another app has no fingerprints.
 */
function reachedFrom(assets: AppAssets, names: readonly string[]): Iterable<Module> {
  const reached = modulesFrom(
    assets,
    plainPaths(assets, names),
    ({ imports = [], dynamicImports = [] }) => [...imports, ...dynamicImports]
  )
  return reached.every(each => each.imports || !isScript(each)) ? reached : assets.modules()
}

/** None where it is not known what they import. @param given the names that a view writes */
function plainPaths(assets: AppAssets, given: readonly string[]): string[] {
  const names = given.map(name => assetName(name, '.js')).filter(name => name !== undefined)
  return names.flatMap(name => assets.resolve(name).plainPath ?? [])
}

function modulesFrom(
  assets: AppAssets,
  paths: readonly string[],
  importsOf: (module: Module) => readonly string[]
): Module[] {
  const found = (path: string) => assets.moduleAt(path) ?? []
  const order = importOrder(paths, path => [found(path)].flat().flatMap(importsOf))
  return [...order].flatMap(found)
}

/** What is reached from the keys, and the keys themselves; what one imports is before it. */
export function importOrder(
  keys: readonly string[],
  importsOf: (key: string) => readonly string[]
): Set<string> {
  const entered = new Set<string>()
  const left = new Set<string>()
  // A stack of its own: a chain of imports may be longer than the call stack.
  const stack = keys.toReversed()
  for (let key = stack.at(-1); key !== undefined; key = stack.at(-1)) {
    if (entered.has(key)) {
      left.add(key)
      stack.pop()
      continue
    }
    entered.add(key)
    for (const each of importsOf(key).toReversed()) if (!entered.has(each)) stack.push(each)
  }
  return left
}
