// Decides into which files the packages go whose modules are joined.
import { importOrder } from '../../../assets/views/modules.ts'
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
  readonly importers: Set<string>
  readonly imports: Set<string>
  size: number
}

/**
 * A package that only one other imports is a part of that one's file. Small ones share the file of those that the same
 * scripts load, and what a script loads loads no less: no file is imported by one that it imports.
 * @returns the name of each package's file, and all files, each after those that it imports
 */
export function packageFiles(
  modules: Scripts,
  loaded: Loaded,
  isModule: (code: string) => boolean | undefined
): [fileOf: (name: string) => string, files: ReadonlySet<string>] {
  const ownerOf = ownersIn(packagesIn(modules, isModule))
  const packages = packagesIn(modules, isModule, ownerOf)
  const small = smallPackages(packages)
  const first = loadersIn(loaded.scripts, loaded.first, ownerOf)
  const later = loadersIn(loaded.scripts, loaded.later, ownerOf)
  const keyOf = (name: string) => {
    const loaders = first.get(name) ?? later.get(name) ?? []
    return small.has(name) && loaders.length > 0 ? loaders.join('\n') : name
  }
  const bySize = [...packages].toSorted(([, one], [, other]) => one.size - other.size)
  const largest = new Map(bySize.map(([name]) => [keyOf(name), name]))
  const fileOf = (name: string) => {
    const key = keyOf(ownerOf(name))
    return key.startsWith('/') ? (largest.get(key) ?? key) : key
  }
  const importsOf = (file: string) =>
    [...packages].flatMap(([name, { imports }]) => (fileOf(name) === file ? [...imports] : []))
  const files = Array.from(packages.keys(), fileOf)
  return [fileOf, importOrder(files, file => importsOf(file).map(fileOf))]
}

/** Returns for each package the scripts that load it, in the same order for all. */
function loadersIn(
  scripts: Scripts,
  roots: readonly string[],
  ownerOf: (name: string) => string
): ReadonlyMap<string, readonly string[]> {
  const loaders = new Map<string, string[]>()
  for (const root of roots.toSorted()) {
    const groups = [...reachedFrom([root], scripts, true)].flatMap(
      path => scripts.get(path)?.source.packageName ?? []
    )
    for (const name of new Set(groups.map(ownerOf)))
      loaders.set(name, [...(loaders.get(name) ?? []), root])
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

function ownersIn(packages: ReadonlyMap<string, Package>): (name: string) => string {
  return name => {
    const seen = new Set<string>()
    for (let owner = name; ;) {
      const [importer, ...others] = packages.get(owner)?.importers ?? []
      // The application is an importer without a name.
      if (!importer || others.length > 0 || seen.has(owner)) return owner
      seen.add(owner)
      owner = importer
    }
  }
}

function packagesIn(
  modules: Scripts,
  isModule: (code: string) => boolean | undefined,
  ownerOf = (name: string) => name
): Map<string, Package> {
  const packages = new Map<string, Package>()
  const at = (name: string) => {
    const known = packages.get(name) ?? { importers: new Set(), imports: new Set(), size: 0 }
    packages.set(name, known)
    return known
  }
  for (const { source, code, imports, dynamicImports } of modules.values()) {
    const from = source.packageName === undefined ? '' : ownerOf(source.packageName)
    // Modules that CommonJS requires are not known here.
    if (from !== '') at(from).size += isModule(code) ? code.length : SMALL
    for (const path of [...imports, ...dynamicImports]) {
      const packageName = modules.get(path)?.source.packageName
      const to = packageName === undefined ? from : ownerOf(packageName)
      if (to === from) continue
      at(to).importers.add(from)
      if (from !== '') at(from).imports.add(to)
    }
  }
  return packages
}
