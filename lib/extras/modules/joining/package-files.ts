// Decides into which files the packages go whose modules are joined.
import { importOrder } from '../../../runtime/views/modules.ts'
import type { Script } from './script.ts'

/** Scripts are found by path. */
export type Scripts = ReadonlyMap<string, Script>

/** Packages with fewer bytes, not minified, may share a file. */
const SMALL = 160_000

export function reachedFrom(
  paths: Iterable<string>,
  modules: Scripts,
  isEager = false
): Set<string> {
  const reached = new Set(paths)
  for (const path of reached) {
    const { imports = [], dynamicImports = [] } = modules.get(path) ?? {}
    for (const to of isEager ? imports : [...imports, ...dynamicImports])
      if (modules.has(to)) reached.add(to)
  }
  return reached
}

/** Returns a module, and those that it imports and that import it, through others as well. */
export function cycleOf(path: string, modules: Scripts): string[] {
  const reached = [...reachedFrom([path], modules, true)]
  return reached.filter(each => reachedFrom([each], modules, true).has(path))
}

interface Loaded {
  readonly scripts: Scripts
  /** The paths of scripts that pages and workers begin with. */
  readonly first: readonly string[]
  /** The paths of scripts that `import()` begins with. */
  readonly later: readonly string[]
}

interface Package {
  readonly imports: Set<string>
  size: number
}

/**
 * Small packages share the file of those that the same scripts load, and what a script loads loads no less: no file is
 * imported by one that it imports.
 * @returns the name of each package's file, and all files, each after those that it imports
 */
export function packageFiles(
  modules: Scripts,
  loaded: Loaded,
  isModule: (code: string) => boolean | undefined
): [fileOf: (name: string) => string, files: ReadonlySet<string>] {
  const packages = packagesIn(modules, isModule)
  const small = smallPackages(packages)
  const first = loadersIn(loaded.scripts, loaded.first)
  const later = loadersIn(loaded.scripts, loaded.later)
  const keyOf = (name: string) => {
    const loaders = first.get(name) ?? later.get(name) ?? []
    return small.has(name) && loaders.length > 0 ? loaders.join('\n') : name
  }
  const bySize = [...packages].toSorted(([, one], [, other]) => one.size - other.size)
  const largest = new Map(bySize.map(([name]) => [keyOf(name), name]))
  const fileOf = (name: string) => largest.get(keyOf(name)) ?? name
  const importsOf = (file: string) =>
    [...packages].flatMap(([name, { imports }]) => (fileOf(name) === file ? [...imports] : []))
  const files = Array.from(packages.keys(), fileOf)
  return [fileOf, importOrder(files, file => importsOf(file).map(fileOf))]
}

/** Returns for each package the scripts that load it, in the same order for all. */
function loadersIn(
  scripts: Scripts,
  roots: readonly string[]
): ReadonlyMap<string, readonly string[]> {
  const loaders = new Map<string, string[]>()
  for (const root of roots.toSorted()) {
    const groups = [...reachedFrom([root], scripts, true)].flatMap(
      path => scripts.get(path)?.source.packageName ?? []
    )
    for (const name of new Set(groups)) loaders.set(name, [...(loaders.get(name) ?? []), root])
  }
  return loaders
}

/** Returns the packages that need no large file. */
function smallPackages(packages: ReadonlyMap<string, Package>): ReadonlySet<string> {
  const found = new Set<string>()
  for (let before = -1; before < found.size;) {
    before = found.size
    for (const [name, { size, imports }] of packages)
      if (size < SMALL && [...imports].every(each => found.has(each))) found.add(name)
  }
  return found
}

function packagesIn(
  modules: Scripts,
  isModule: (code: string) => boolean | undefined
): Map<string, Package> {
  const packages = new Map<string, Package>()
  const at = (name: string) => {
    const known = packages.get(name) ?? { imports: new Set(), size: 0 }
    packages.set(name, known)
    return known
  }
  for (const { source, code, imports, dynamicImports } of modules.values()) {
    const from = source.packageName
    // Modules that CommonJS requires are not known here.
    if (from !== undefined) at(from).size += isModule(code) ? code.length : SMALL
    for (const path of [...imports, ...dynamicImports]) {
      const to = modules.get(path)?.source.packageName
      if (from !== undefined && to !== undefined && to !== from) at(from).imports.add(to)
    }
  }
  return packages
}
