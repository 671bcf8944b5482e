// Plans which modules are joined, and which of them are entries.
import { loadModuleLexer } from '../../../publishing/references/module-references.ts'
import type { Script } from './script.ts'
import { packageFiles, reachedFrom, type Scripts } from './package-files.ts'

export interface Plan {
  /** The modules by path, sorted. */
  readonly modules: Scripts
  /** The paths of modules that keep their names. */
  readonly entries: readonly string[]
  /**
   * The paths of the modules that a file gets, by its name, after the files that it imports; the bundler places all
   * others.
   */
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>
  /** The paths of entries whose code must be in the file of their name. */
  readonly placed: ReadonlySet<string>
  /** The paths of entries that have no names of exports of their own. */
  readonly commonJs: ReadonlySet<string>
  readonly hasCommonJs: boolean
  /** Modules that the bundler would put into another file. */
  readonly apart: Scripts
}

/**
 * @param named are the paths of scripts that are loaded by something else than a module
 * @param moved are the paths of modules that the bundler puts into other files than those of their names
 */
export async function planOf(
  scripts: Scripts,
  named: ReadonlySet<string>,
  { mode, moved }: { readonly mode: 'packages' | boolean; readonly moved: ReadonlySet<string> }
): Promise<Plan> {
  const { isModule, usesOwnUrl } = await loadModuleLexer()
  /** The URL would be that of another file. */
  const isPlaced = (code: string) => usesOwnUrl(code.replace(LITERAL_URL, "''"))
  const found = await modulesIn(scripts)
  const modules = new Map([...found].filter(([path]) => !moved.has(path)))
  const apart = new Map([...found].filter(([path]) => moved.has(path)))
  const all = [...modules]
  const every = [...scripts.values()]
  const outside = [...scripts].filter(([path]) => !modules.has(path))
  const imported = new Set(every.flatMap(({ imports }) => imports))
  const lazy = new Set(every.flatMap(({ dynamicImports }) => dynamicImports))
  const loaded = new Set([...named, ...every.flatMap(({ others }) => others)])
  const used = new Set(outside.flatMap(([, each]) => [...each.imports, ...each.dynamicImports]))
  const isEntry = ([path, module]: readonly [string, Script]) => {
    const isOwn = module.source.packageName === undefined
    if (loaded.has(path) || used.has(path) || isPlaced(module.code)) return true
    if (isOwn && mode === 'packages') return true
    return !imported.has(path) && (isOwn || !lazy.has(path))
  }
  const entries = all.filter(isEntry).map(([path]) => path)
  const reached = reachedFrom(entries, modules)
  // These modules only import each other.
  for (const [path] of all) {
    if (reached.has(path)) continue
    entries.push(path)
    for (const each of reachedFrom([path], modules)) reached.add(each)
  }
  const placed = new Set(
    all.filter(([, { code }]) => isPlaced(code) && isModule(code)).map(([path]) => path)
  )
  const isFirst = ([path, { source }]: readonly [string, Script]) =>
    loaded.has(path) || (source.packageName === undefined && !imported.has(path) && !lazy.has(path))
  const first = [...scripts].filter(isFirst).map(([path]) => path)
  const [fileOf, files] = packageFiles(modules, { scripts, first, later: [...lazy] }, isModule)
  // A module that one apart imports must not be in a file that imports that one.
  const shared = reachedFrom(apart.keys(), scripts, true)
  const nameOf = (path: string, group: string) =>
    shared.has(path) ? `${fileOf(group)}/shared` : fileOf(group)
  const names = [...Array.from(files, file => `${file}/shared`), ...files]
  const groups = new Map(names.map(name => [name, new Set<string>()]))
  for (const [path, { source, code }] of modules)
    if (source.packageName !== undefined && !isPlaced(code))
      groups.get(nameOf(path, source.packageName))?.add(path)
  const isCommonJs = ({ source, code }: Script) =>
    source.packageName !== undefined && !isModule(code)
  const commonJs = new Set(entries.filter(path => isCommonJs(modules.get(path) as Script)))
  const hasCommonJs = every.some(isCommonJs)
  return { modules, entries: entries.toSorted(), groups, placed, commonJs, hasCommonJs, apart }
}

/** Rolldown runs at once what is imported so. */
const DEFERRED = /\bimport\s+defer\s*\*/

async function modulesIn(all: Scripts): Promise<Scripts> {
  const { isModule } = await loadModuleLexer()
  const scripts = new Map([...all].filter(([, { code }]) => !DEFERRED.test(code)))
  const found = new Set<string>()
  for (const [path, { source, code }] of scripts)
    if (source.specifiers !== undefined || isModule(code)) found.add(path)
  // An imported file is a module, whatever it contains.
  for (const path of found) {
    const { imports = [], dynamicImports = [] } = scripts.get(path) ?? {}
    for (const to of [...imports, ...dynamicImports]) if (scripts.has(to)) found.add(to)
  }
  return new Map([...scripts].filter(([path]) => found.has(path)).toSorted(byPath))
}

function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

const LITERAL_URL =
  /\bnew\s+URL\s*\(\s*(["'`])\/(?:(?!\1)[^\\\n])*\1\s*,\s*import\.meta\.url\s*,?\s*\)/g
