// Plans which joined modules are entries, and into which files those of packages go.
import { posix } from 'node:path'
import { importOrder } from '../../../runtime/views/modules.ts'
import { reachedFrom, withImporters, type Script, type Scripts } from './scripts.ts'

export type Plan = ReturnType<typeof planOf>

interface Known {
  /** All modules, sorted by path. */
  readonly modules: Scripts
  readonly scripts: Scripts
  /** The paths of scripts that something other than a module loads. */
  readonly named: ReadonlySet<string>
  readonly mode: 'packages' | boolean
}

export function planOf({ scripts, modules, named, mode }: Known, moved: ReadonlySet<string>) {
  const isOwn = ({ source }: Script) => source.packageName === undefined
  const joined = new Map([...modules].filter(([path]) => !moved.has(path)))
  const every = [...scripts.values()]
  const imported = new Set(every.flatMap(({ imports }) => [...imports]))
  const lazy = new Set(every.flatMap(({ dynamicImports }) => [...dynamicImports]))
  const loaded = new Set([...named, ...every.flatMap(({ others }) => [...others])])
  const outside = [...scripts].flatMap(([path, each]) => (joined.has(path) ? [] : each))
  const used = new Set(outside.flatMap(each => [...each.imports, ...each.dynamicImports]))
  const isEntry = ([path, script]: readonly [string, Script]) => {
    if (loaded.has(path) || used.has(path) || script.isPlaced) return true
    if (isOwn(script) && mode === 'packages') return true
    return !imported.has(path) && (isOwn(script) || !lazy.has(path))
  }
  const entries = [...joined].filter(isEntry).map(([path]) => path)
  const reached = reachedFrom(entries, joined)
  // The remaining modules only import each other.
  for (const path of joined.keys()) {
    if (reached.has(path)) continue
    entries.push(path)
    for (const each of reachedFrom([path], joined)) reached.add(each)
  }
  const begins = ([path, script]: readonly [string, Script]) =>
    loaded.has(path) || (isOwn(script) && !imported.has(path))
  const starts = [...scripts].filter(begins).map(([path]) => path)
  const first = starts.filter(path => loaded.has(path) || !lazy.has(path))
  const [fileOf, files] = packageFiles(joined, scripts, first, [...lazy])
  const common = foldersOf(entries, joined)
  const guarded = [...joined].flatMap(([path, script]) => {
    const folders = isOwn(script) ? starts.map(start => folderOf(posix.dirname(path), start)) : []
    return folders.every(folder => `${common.get(path)}/`.startsWith(`${folder}/`)) ? [] : path
  })
  const apart = new Set([...modules.keys()].filter(path => moved.has(path)))
  // A module that is imported by one kept apart must not be in a file that imports the latter.
  const shared = reachedFrom(apart, scripts, true)
  const names = [...Array.from(files, file => `${file}/shared`), ...files]
  const groups = new Map(names.map(name => [name, new Set<string>()]))
  for (const [path, script] of joined) {
    const file = script.isPlaced ? undefined : fileOf(script.source.packageName ?? '')
    if (file !== undefined) groups.get(shared.has(path) ? `${file}/shared` : file)?.add(path)
  }
  const isCommonJs = (script: Script) => !isOwn(script) && !script.isModule
  const joinedThat = (is: (script: Script) => boolean) =>
    new Set([...joined].flatMap(([path, script]) => (is(script) ? path : [])))
  return {
    modules,
    /** The paths of modules that stay separate files, as the bundler would put them into another one. */
    apart,
    /** The paths of joined modules that keep their names. */
    entries: entries.toSorted(),
    /** The paths of the modules in each file, by its name; each file follows those that it imports. */
    groups,
    folders: common,
    /** The paths of modules that would leave a folder in which a page or an import() starts, and of those that load them. */
    guarded: withImporters(mode === true ? guarded : [], scripts),
    /** The paths of entries whose code must be in the file of their name. */
    placed: joinedThat(({ isPlaced, isModule }) => isPlaced && isModule),
    /** The paths of joined modules without named exports. */
    commonJs: joinedThat(isCommonJs),
    hasCommonJs: every.some(isCommonJs)
  }
}

/** Returns for each module the deepest folder of all entries that load it: who guards the folder guards what they share. */
function foldersOf(entries: readonly string[], modules: Scripts): ReadonlyMap<string, string> {
  const folders = new Map<string, string>()
  for (const entry of entries)
    for (const path of reachedFrom([entry], modules, true)) {
      folders.set(path, folderOf(folders.get(path) ?? posix.dirname(entry), entry))
    }
  return folders
}

/** Returns the deepest folder, from the given one up, that contains the path. */
function folderOf(folder: string, path: string): string {
  return path.startsWith(`${folder}/`) ? folder : folderOf(posix.dirname(folder), path)
}

/** Packages with fewer bytes, not minified, may share a file. */
const SMALL = 160_000

// Small packages share a file with those that the same scripts load. The scripts that load a package also load its
// imports, so no file is imported by one that it imports. Each file follows those that it imports.
export function packageFiles(
  modules: Scripts,
  scripts: Scripts,
  first: readonly string[],
  later: readonly string[]
): [fileOf: (name: string) => string | undefined, files: ReadonlySet<string>] {
  const packages = packagesIn(modules)
  const importsOf = (name: string) => [...(packages.get(name)?.imports ?? [])]
  const sizeOf = (name: string) => packages.get(name)?.size ?? 0
  /** A package that needs a large one counts as large. */
  const isSmall = (name: string) =>
    [...importOrder([name], importsOf)].every(each => sizeOf(each) < SMALL)
  const [atOnce, soon] = [loadersIn(scripts, first), loadersIn(scripts, later)]
  const keys = new Map<string, string>()
  for (const name of packages.keys()) {
    const loaders = atOnce.get(name) ?? soon.get(name)
    keys.set(name, loaders && isSmall(name) ? loaders.join('\n') : name)
  }
  const bySize = [...keys].toSorted(([one], [other]) => sizeOf(one) - sizeOf(other))
  const largest = new Map(bySize.map(([name, key]) => [key, name]))
  const fileOf = (name: string) => largest.get(keys.get(name) ?? '')
  const files = new Map<string, string[]>()
  for (const name of packages.keys()) {
    const [file, ...others] = [name, ...importsOf(name)].map(each => fileOf(each) ?? each)
    files.set(file as string, [...(files.get(file as string) ?? []), ...others])
  }
  return [fileOf, importOrder([...files.keys()], file => files.get(file) ?? [])]
}

/** Returns the scripts that load each package, in the same order for all. */
function loadersIn(scripts: Scripts, roots: readonly string[]): ReadonlyMap<string, string[]> {
  const loaders = new Map<string, string[]>()
  for (const root of roots.toSorted()) {
    const reached = [...reachedFrom([root], scripts, true)]
    const names = reached.flatMap(path => scripts.get(path)?.source.packageName ?? [])
    for (const name of new Set(names)) loaders.set(name, [...(loaders.get(name) ?? []), root])
  }
  return loaders
}

function packagesIn(modules: Scripts) {
  const packages = new Map<string, { readonly imports: Set<string>; size: number }>()
  for (const { source, code, isModule, imports, dynamicImports } of modules.values()) {
    const name = source.packageName
    if (name === undefined) continue
    const known = packages.get(name) ?? { imports: new Set(), size: 0 }
    packages.set(name, known)
    // The modules that CommonJS requires are unknown here.
    known.size += isModule ? code.length : SMALL
    for (const path of [...imports, ...dynamicImports]) {
      const to = modules.get(path)?.source.packageName
      if (to !== undefined && to !== name) known.imports.add(to)
    }
  }
  return packages
}
