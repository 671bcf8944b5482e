// Which modules are joined, which of them are entries, and which files packages become.
import { loadModuleLexer } from '../../assets/references/module-references.ts'
import type { Script } from './combining.ts'

type Scripts = ReadonlyMap<string, Script>

export interface Plan {
  /** By path, sorted. */
  readonly modules: Scripts
  /** The paths of modules that keep their names. */
  readonly entries: readonly string[]
  /** The name of a file, by the paths of the modules that it gets; others are left to the bundler. */
  readonly groups: ReadonlyMap<string, string>
  /** The paths of entries whose code must be in the file of their name. */
  readonly placed: ReadonlySet<string>
  /** Those that the bundler would put into another file. */
  readonly apart: Scripts
}

/** What packages with less share one file. In bytes, not minified. */
const SMALL = 20_000

/**
 * @param named the paths of scripts that are loaded by something else than a module
 * @param moved the paths of modules that the bundler puts into other files than those of their names
 */
export async function planOf(
  scripts: Scripts,
  named: ReadonlySet<string>,
  { mode, moved }: { readonly mode: 'packages' | true; readonly moved: ReadonlySet<string> }
): Promise<Plan> {
  const { isModule } = await loadModuleLexer()
  const found = await modulesIn(scripts, mode)
  const modules = new Map([...found].filter(([path]) => !moved.has(path)))
  const apart = new Map([...found].filter(([path]) => moved.has(path)))
  const all = [...modules]
  const outside = [...scripts].filter(([path]) => !modules.has(path))
  const imported = new Set(all.flatMap(([, { imports }]) => imports))
  const lazy = new Set(all.flatMap(([, { dynamicImports }]) => dynamicImports))
  const loaded = new Set([
    ...named,
    ...outside.flatMap(([, each]) => [...each.imports, ...each.dynamicImports, ...each.others]),
    ...all.flatMap(([, { others }]) => others)
  ])
  const isEntry = ([path, module]: readonly [string, Script]) => {
    const isOwn = module.source.group === undefined
    if (loaded.has(path) || isPlaced(module.code)) return true
    if (isOwn && mode === 'packages') return true
    return !imported.has(path) && (isOwn || !lazy.has(path))
  }
  const entries = all.filter(isEntry).map(([path]) => path)
  const reached = reachedFrom(entries, modules)
  // Modules that only import each other.
  for (const [path] of all) {
    if (reached.has(path)) continue
    entries.push(path)
    for (const each of reachedFrom([path], modules)) reached.add(each)
  }
  const placed = new Set(
    all.filter(([, { code }]) => isPlaced(code) && isModule(code)).map(([path]) => path)
  )
  const groups = groupsOf(modules, entries)
  return { modules, entries: entries.toSorted(), groups, placed, apart }
}

async function modulesIn(scripts: Scripts, mode: 'packages' | true): Promise<Scripts> {
  const { isModule } = await loadModuleLexer()
  const isPart = ({ source, imports, dynamicImports }: Script) =>
    mode === true ||
    source.group !== undefined ||
    [...imports, ...dynamicImports].some(path => scripts.get(path)?.source.group !== undefined)
  const found = new Set<string>()
  for (const [path, script] of scripts) {
    const isMeant = script.source.specifiers !== undefined
    if (isPart(script) && (isMeant || isModule(script.code))) found.add(path)
  }
  // What a module imports is one, whatever it contains.
  for (const path of found) {
    const { imports = [], dynamicImports = [] } = scripts.get(path) ?? {}
    for (const to of [...imports, ...dynamicImports]) {
      const script = scripts.get(to)
      if (script && isPart(script)) found.add(to)
    }
  }
  return new Map([...scripts].filter(([path]) => found.has(path)).toSorted(byPath))
}

function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

const LITERAL_URL =
  /\bnew\s+URL\s*\(\s*(["'`])\/(?:(?!\1)[^\\\n])*\1\s*,\s*import\.meta\.url\s*,?\s*\)/g
/** Not a method of that name: `static import(name) {`, `Quill.import(name)`. */
const PLACE =
  /\bimport\s*\.\s*meta\b|(?<![.$])\bimport\s*\((?![^()]*\)\s*\{)(?:\s*\/\*[^]*?\*\/)*\s*(?!["'\s/])/

/** Whether what it does depends on its own URL: it would be that of another file. */
function isPlaced(code: string): boolean {
  return PLACE.test(code) && PLACE.test(code.replace(LITERAL_URL, ''))
}

function reachedFrom(paths: Iterable<string>, modules: Scripts, isEager = false): Set<string> {
  const reached = new Set(paths)
  for (const path of reached) {
    const { imports = [], dynamicImports = [] } = modules.get(path) ?? {}
    for (const to of isEager ? imports : [...imports, ...dynamicImports])
      if (modules.has(to)) reached.add(to)
  }
  return reached
}

interface Package {
  readonly importers: Set<string>
  readonly imports: Set<string>
  size: number
}

/** A package that only one other imports is a part of this one; small ones that need no other one share a file. */
function groupsOf(modules: Scripts, entries: readonly string[]): Map<string, string> {
  const ownerOf = ownersIn(modules)
  const packages = packagesIn(modules, ownerOf)
  const small = new Set<string>()
  for (let before = -1; before < small.size;) {
    before = small.size
    for (const [name, { size, imports }] of packages)
      if (size < SMALL && [...imports].every(each => small.has(each))) small.add(name)
  }
  const later = reachedLater(modules, entries)
  const groups = new Map<string, string>()
  for (const [path, { source, code }] of modules) {
    if (source.group === undefined || isPlaced(code)) continue
    const owner = ownerOf(source.group)
    const shared = later.has(path) ? 'packages-later' : 'packages'
    groups.set(path, small.has(owner) ? shared : owner)
  }
  return groups
}

/** By `import()` alone. */
function reachedLater(modules: Scripts, entries: readonly string[]): Set<string> {
  const lazy = new Set([...modules.values()].flatMap(({ dynamicImports }) => dynamicImports))
  const later = reachedFrom(lazy, modules)
  const isFirst = (path: string) => !lazy.has(path) && modules.get(path)?.source.group === undefined
  for (const path of reachedFrom(entries.filter(isFirst), modules, true)) later.delete(path)
  return later
}

function ownersIn(modules: Scripts): (name: string) => string {
  const packages = packagesIn(modules, name => name)
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

function packagesIn(modules: Scripts, ownerOf: (name: string) => string): Map<string, Package> {
  const packages = new Map<string, Package>()
  const at = (name: string) => {
    const known = packages.get(name) ?? { importers: new Set(), imports: new Set(), size: 0 }
    packages.set(name, known)
    return known
  }
  for (const { source, code, imports, dynamicImports } of modules.values()) {
    const from = source.group === undefined ? '' : ownerOf(source.group)
    if (from !== '') at(from).size += code.length
    for (const path of [...imports, ...dynamicImports]) {
      const group = modules.get(path)?.source.group
      const to = group === undefined ? from : ownerOf(group)
      if (to === from) continue
      at(to).importers.add(from)
      if (from !== '') at(from).imports.add(to)
    }
  }
  return packages
}
