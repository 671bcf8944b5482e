// Finds the modules that a page loads for an entry, and writes the import map from plain URLs to published ones.
import type { AssetName } from './asset-names.ts'
import { assetName, MAX_LISTS, type AppAssets, type AppView, type Located } from './asset-url.ts'
import { escapeInScript, openTag } from './html.ts'

export interface ImportMapOptions {
  /** The nonce of a Content-Security-Policy without `unsafe-inline`. */
  readonly nonce?: string | undefined
  /**
   * The modules that the page loads: the map then contains only what they need, through any chain of literal
   * specifiers, and the literal imports of scripts in views, if precompile finds the views: at their usual places,
   * or by the option `views`. Name other imports in `imports`. Without fingerprints it has no effect on the map.
   * Default: every module of the app under each of its names, because any script in the page may import it.
   */
  readonly entry?: AssetName<'javascript'> | readonly AssetName<'javascript'>[] | undefined
  /** Additional specifiers, each with a name or an absolute URL. They take precedence over the option `imports`. */
  readonly imports?: Readonly<Record<string, AssetName<'javascript'>>> | undefined
  /** `false` leaves out Subresource Integrity. Default: true. */
  readonly integrity?: boolean | undefined
}

type MapEntry = [specifier: string, url: string]

export function importMapHelpers(view: AppView) {
  const maps = view.memory<string>(MAX_LISTS)
  return {
    /**
     * Writes the import map: the specifiers of modules and page scripts that only a map resolves, and the integrity of
     * modules for which `javascript` writes none. It is empty if nothing is left to map. Place it before the first
     * module. Without fingerprints it contains all of the options `imports` and `packages`.
     * @example
     * importMap({ nonce: 'r4nd0m' })
     * // <script type="importmap" nonce="r4nd0m">{"imports":{"confetti":"/assets/confetti-<32 hex>.js"}}</script>
     */
    importMap: ({ nonce, ...options }: ImportMapOptions = {}): string => {
      const json = maps(JSON.stringify(options), () => writeMap(view, options))
      if (json === '') return ''
      return `${openTag('script', { type: 'importmap', nonce })}${json}</script>`
    }
  } as const
}

function writeMap({ host, assets, urlOf }: AppView, options: ImportMapOptions): string {
  const { imports = {}, integrity: isGuarded = true } = options
  const named = ([specifier, name]: readonly [string, string]): MapEntry => [
    specifier,
    urlOf(name, { extension: '.js' }).url
  ]
  const needed = neededBy(assets, options)
  // A specifier that is a path includes the host: a relative import is resolved against the URL of its module.
  const mapped = needed.modules.flatMap(({ path, target, specifiers = [] }) =>
    [path, ...specifiers]
      .filter(needed.isMapped)
      .map((key): MapEntry => [key === path ? host + key : key, host + target])
  )
  const byOption = [
    ...(assets.bareImports?.() ?? []),
    ...[...assets.imports].filter(([key]) => needed.isMapped(key))
  ]
  const parts = {
    imports: [...mapped, ...[...byOption, ...Object.entries(imports)].map(named)],
    integrity: needed.guarded.flatMap(({ target, integrity = [] }): MapEntry[] =>
      isGuarded && integrity.length > 0 ? [[host + target, integrity.join(' ')]] : []
    )
  }
  const written = Object.entries(parts).filter(([, { length }]) => length > 0)
  if (written.length === 0) return ''
  const sortedParts = written.map(([name, part]) => [name, sorted<object | string>(part)] as const)
  return escapeInScript(JSON.stringify(Object.fromEntries(sortedParts)))
}

// Modules name each other by their published URLs, and the tags of an entry have the integrity of its static imports.
function neededBy(assets: AppAssets, { entry, imports = {} }: ImportMapOptions) {
  const names = entry === undefined ? undefined : [entry].flat()
  // Names of packages are included, so that they are checked.
  const entries = names && plainPaths(assets, names)
  /** The specifiers that scripts in the page import. */
  const inPage = (names && assets.inViews?.()) ?? []
  const byOptions = inPage.flatMap(key => assets.imports.get(key) ?? [])
  const more = [
    ...plainPaths(assets, [...Object.values(imports), ...byOptions]),
    ...meantBy(assets, inPage)
  ]
  const none: readonly Located[] = []
  // A browser resolves paths without fingerprints itself, and their integrity is not known.
  if (assets.bareImports) return { modules: none, guarded: none, isMapped: () => true }
  const found = entries ? reachedFrom(assets, [...entries, ...more]) : assets.modules()
  const modules = [...found].filter(isScript)
  const unresolved = new Set(modules.flatMap(each => each.unresolved ?? '*'))
  if (entries?.length !== names?.length) unresolved.add('*')
  const isOpen = unresolved.has('*')
  // Any module may be loaded without a tag.
  const roots = isOpen ? [] : (entries ?? rootsOf(modules))
  const tagged = modulesFrom(assets, roots, each => each.imports ?? [])
  const paths = new Set(tagged.map(({ path }) => path))
  return {
    modules,
    /** The modules whose integrity is in no tag. */
    guarded: modules.filter(({ path }) => !paths.has(path)),
    /** @param key a plain path or a bare specifier */
    isMapped: (key: string) => !entries || isOpen || unresolved.has(key) || inPage.includes(key)
  }
}

function meantBy(assets: AppAssets, given: readonly string[]): string[] {
  if (given.length === 0) return []
  const isMeant = ({ path, specifiers = [] }: Located) =>
    given.some(each => each === path || specifiers.includes(each))
  return [...assets.modules()].filter(isMeant).map(({ path }) => path)
}

/** Returns the modules that a page can only load by a tag. */
function rootsOf(modules: readonly Located[]): string[] {
  const imported = new Set(modules.flatMap(allImports))
  const isRoot = ({ path, specifiers }: Located) => !specifiers && !imported.has(path)
  return modules.filter(isRoot).map(({ path }) => path)
}

// A Map lets the later of two entries with the same key win.
function sorted<Value>(entries: Iterable<[string, Value]>): Record<string, Value> {
  return Object.fromEntries([...new Map(entries)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const allImports = ({ imports = [], dynamicImports = [] }: Located) => [
  ...imports,
  ...dynamicImports
]

const isScript = ({ path }: Located): boolean => /\.m?js$/i.test(path)

/** Returns the static imports, each after its own, without the entries themselves. */
export function staticImports(assets: AppAssets, names: readonly string[]): Located[] {
  const entries = plainPaths(assets, names)
  const reached = modulesFrom(assets, entries, ({ imports = [] }) => imports)
  return reached.filter(module => isScript(module) && !entries.includes(module.path))
}

// Returns all modules if the imports of one are unknown: in a manifest of an earlier release, or without fingerprints.
function reachedFrom(assets: AppAssets, entries: readonly string[]): Iterable<Located> {
  const reached = modulesFrom(assets, entries, allImports)
  return reached.every(each => each.imports || !isScript(each)) ? reached : assets.modules()
}

function plainPaths(assets: AppAssets, given: readonly string[]): string[] {
  const names = given.map(name => assetName(name, '.js')).filter(name => name !== undefined)
  const paths = names.map(name => assets.resolve(name).path)
  return paths.filter(path => assets.moduleAt(path))
}

function modulesFrom(
  assets: AppAssets,
  paths: readonly string[],
  importsOf: (module: Located) => readonly string[]
): Located[] {
  const found = (path: string) => [assets.moduleAt(path) ?? []].flat()
  const order = importOrder(paths, path => found(path).flatMap(importsOf))
  return [...order].flatMap(found)
}

/** Returns the keys and everything reached from them, each after its own imports. */
export function importOrder(keys: readonly string[], nextOf: (key: string) => readonly string[]) {
  const entered = new Set<string>()
  const left = new Set<string>()
  // The stack is explicit, as a chain of imports may be longer than the call stack.
  const stack = keys.toReversed()
  for (let key = stack.at(-1); key !== undefined; key = stack.at(-1)) {
    if (entered.has(key)) {
      left.add(key)
      stack.pop()
      continue
    }
    entered.add(key)
    for (const each of nextOf(key).toReversed()) if (!entered.has(each)) stack.push(each)
  }
  return left
}
