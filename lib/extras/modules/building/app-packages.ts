// Lists the files of packages that an app publishes: those of a build, and those that the option names.
import { isDeepStrictEqual } from 'node:util'
import { dirname, join, posix } from 'node:path'
import { oneAtATime } from '../../../runtime/concurrency.ts'
import { errorCode, realpathOf } from '../../../runtime/files/disk.ts'
import { digestOf } from '../../../runtime/files/digest.ts'
import { observeAll, type Observation } from '../../../publishing/building/observation.ts'
import { pathFrom } from '../../../runtime/files/paths.ts'
import type {
  KnownImports,
  MakeSourceList,
  Project,
  SourceFile,
  SourceList
} from '../../../runtime/app/parts.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { scanPackages } from './build.ts'
import { buildApart } from './build-process.ts'
import { namedFiles } from './files.ts'
import { importedBy, type Imported, type Script } from './imported.ts'
import { directoryFor, isUnchanged, isWhole, restoreBuild, type KeptBuild } from './kept.ts'
import { OPTION, Packages, splitSpecifier, unusable } from '../packages.ts'
import { FOLDER, isOptional, type Import, type Wanted } from '../resolving.ts'
import { hasModules, isJoined } from '../options.ts'
import { loadRolldown, requireFolders, rolldownVersion } from '../rolldown.ts'
import { listScanned, type Listed } from './scanned.ts'

export interface PackageSettings {
  readonly root: string
  readonly env: string
  readonly isPrecompile: boolean
  /** The version of Rolldown. */
  readonly version: string
}

/** @throws AssetError where Rolldown is needed and not there */
export async function packagesOf(project: Project): Promise<MakeSourceList> {
  const { apps, root } = project
  requireFolders(OPTION)
  const isNeeded = apps.some(hasModules)
  const version = isNeeded ? await rolldownVersion(OPTION, root) : ''
  return (app, own) => {
    if (app.packages.length === 0) return undefined
    return new AppPackages(app, { ...project, version }, own)
  }
}

export class AppPackages implements SourceList {
  readonly place = 'node_modules'
  version = 0
  digest = ''
  files: readonly SourceFile[] = []
  readonly #app: AppSettings
  readonly #settings: PackageSettings
  readonly #own: () => Promise<readonly Script[]>
  readonly #condition: Wanted['condition']
  /** True for a list as precompile makes it, and as every command sees that. */
  readonly #isPrecompiled: boolean
  #listed: Listed | undefined
  #byFile: ReadonlyMap<string, string> = new Map()
  #kept: KeptBuild | undefined
  #scripts: readonly Script[] = []
  /** The files on which the list depends too, or the failure of making it does. */
  #inputs: readonly Observation[] | undefined
  #failure: unknown

  /** @param own lists the sources of the app itself: its scripts import from packages */
  constructor(app: AppSettings, settings: PackageSettings, own: () => Promise<readonly Script[]>) {
    this.#app = app
    this.#settings = settings
    this.#own = own
    // Modules that are published on request are not joined.
    this.#isPrecompiled = settings.isPrecompile || !app.compile
    const isProduction = this.#isPrecompiled || !DEVELOPMENT.has(settings.env)
    this.#condition = isProduction ? 'production' : 'development'
  }

  owns(name: string): boolean {
    return name.startsWith(FOLDER)
  }

  get imports(): KnownImports | undefined {
    if (this.#failure !== undefined) throw this.#failure
    return this.#listed?.imports
  }

  /** Everything from which the list was made is compared by a stat. */
  readonly verify = oneAtATime(async () => {
    const own = (await this.#own()).filter(({ name }) => /\.m?js$/i.test(name))
    const scripts = own.map(({ name, file }) => ({ name, file }))
    const isSame = isDeepStrictEqual(scripts, this.#scripts)
    if (isSame && this.#inputs && (await isUnchanged(this.#inputs))) {
      if (this.#failure !== undefined) throw this.#failure
      return
    }
    this.#inputs = undefined
    this.#scripts = scripts
    try {
      await this.#list(scripts)
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
      throw error
    }
  })

  async #list(scripts: readonly Script[]): Promise<void> {
    const { root } = this.#settings
    const packages = new Packages(root)
    const imported = await importedBy(scripts, root)
    const inputs: Observation[] = [...imported.read]
    try {
      const wanted = this.#wanted(imported.imports)
      const listed = wanted.specifiers.size === 0 ? NONE : await this.#modules(wanted, inputs)
      const given = this.#app.packages.filter(each => typeof each !== 'string')
      const named = await namedFiles(given, packages)
      inputs.push(...named.read)
      const all = new Map([...named.files, ...listed.files].map(each => [each.name, each]))
      const files = [...all.values()]
      if (!isDeepStrictEqual(files, this.files)) this.version++
      this.files = files
      this.#byFile = new Map(files.map(({ file, name }) => [file, name]))
      const { names } = listed.imports
      const links = new Map([...listed.imports.links, ...linksOf(imported.imports, scripts, names)])
      this.#listed = { ...listed, imports: { names, links } }
      this.digest = digestOf(JSON.stringify([...names, ...links]))
    } catch (error) {
      if (errorCode(error) !== 'package-unusable') throw error
      this.#inputs = [...inputs, ...(await observeAll(packages.looked))]
      throw error
    }
    this.#inputs = [...inputs, ...(await observeAll(packages.looked))]
  }

  /** The specifiers that the option names, and those of its packages that scripts of the app import. */
  #wanted(imports: readonly Imported[]): Wanted {
    const { root } = this.#settings
    const given = this.#app.packages.filter(each => typeof each === 'string')
    const packages = new Set(given.map(each => splitSpecifier(each)[0]))
    const specifiers = new Map<string, Import>(
      given.map(each => [each, { importer: OPTION, names: [] }])
    )
    for (const { specifier, file, names, isImplied } of imports) {
      const isWanted = packages.has(splitSpecifier(specifier)[0]) || (isImplied && given.length > 0)
      if (!isWanted || this.#app.imports.has(specifier)) continue
      const known = specifiers.get(specifier) ?? { importer: pathFrom(root, file), names: [] }
      const all = new Set([...known.names, ...names])
      specifiers.set(specifier, { ...known, names: [...all].toSorted() })
    }
    const sorted = [...specifiers].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const mapped = [...this.#app.imports.keys()]
    return { root, condition: this.#condition, mapped, specifiers: new Map(sorted) }
  }

  async #modules(wanted: Wanted, inputs: Observation[]): Promise<Listed> {
    const { root } = this.#settings
    // These are joined with the modules of the app.
    if (this.#isPrecompiled && isJoined(this.#app))
      return listScanned(await scanPackages(await loadRolldown(OPTION, root), wanted))
    const kept = await this.#built(wanted, inputs)
    // Another process may have removed it.
    const scripts = kept.names.slice(0, 1).map(name => join(kept.directory, name))
    inputs.push(...kept.inputs, ...(await observeAll(scripts)))
    this.#kept = kept
    return listBuilt(kept)
  }

  async #built(wanted: Wanted, inputs: Observation[]): Promise<KeptBuild> {
    const { root, version } = this.#settings
    const versions = [process.env.PACKAGE_VERSION, version]
    const given = this.#app.packages.filter(each => typeof each === 'string')
    const key = JSON.stringify([versions, given, wanted.mapped])
    const directory = await directoryFor(root, this.#app.name, this.#condition)
    const known = this.#kept ?? (await restoreBuild(directory, key))
    const isThere = known && isEnough(known, wanted) && (await isWhole(known))
    if (isThere && (await isUnchanged(known.inputs))) return known
    const { kept, failure } = await buildApart({ wanted, directory, key })
    if (kept) return kept
    inputs.push(...(failure?.inputs ?? []))
    throw unusable(failure?.message ?? '')
  }

  async nameAt(path: string): Promise<string | undefined> {
    if (!this.#listed) await this.verify()
    return this.#byFile.get((await realpathOf(path)) ?? '')
  }

  async named(specifier: string, importer: string): Promise<string | undefined> {
    if (!this.#listed) await this.verify()
    const { inside, imports } = this.#listed ?? NONE
    return inside.get(importer)?.get(specifier) ?? imports.names.get(specifier)
  }
}

const DEVELOPMENT = new Set(['development', 'test'])

const NONE: Listed = {
  files: [],
  imports: { names: new Map(), links: new Map() },
  inside: new Map()
}

/** Returns the static imports of the app's scripts, by the names of the scripts. */
function linksOf(
  imports: readonly Imported[],
  scripts: readonly Script[],
  names: ReadonlyMap<string, string>
): ReadonlyMap<string, readonly string[]> {
  const byFile = new Map(scripts.map(({ name, file }) => [file, name]))
  const links = new Map(scripts.map(({ name }) => [name, new Array<string>()]))
  for (const { file, specifier, isStatic } of imports) {
    const [from, isPath] = [byFile.get(file) ?? '', specifier.startsWith('.')]
    const source = byFile.get(isPath ? join(dirname(file), specifier) : '')
    const beside = isPath ? posix.join(posix.dirname(from), specifier) : undefined
    const to = source ?? beside ?? names.get(specifier)
    if (isStatic && to !== undefined) links.get(from)?.push(to)
  }
  return links
}

function isEnough({ modules, withoutMain, commonJs }: KeptBuild, { specifiers }: Wanted): boolean {
  return [...specifiers].every(([specifier, { names }]) => {
    if (withoutMain.includes(specifier)) return isOptional(specifier, specifiers)
    const known = commonJs.get(specifier)
    return modules.has(specifier) && (!known || names.every(each => known.includes(each)))
  })
}

function listBuilt({ directory, names, files, modules, links }: KeptBuild): Listed {
  const specifiersOf = (name: string) =>
    [...modules].flatMap(([specifier, to]) => (to === name ? specifier : []))
  const made = names.map((name): SourceFile => {
    const specifiers = specifiersOf(name)
    const [first = '-'] = specifiers
    return {
      name,
      file: join(directory, name),
      directory,
      specifiers: specifiers.length > 0 ? specifiers : undefined,
      packageName: splitSpecifier(first)[0]
    }
  })
  return {
    files: [...made, ...files],
    imports: { names: modules, links },
    inside: new Map()
  }
}
