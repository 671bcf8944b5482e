// Lists the files of packages that an app publishes: those of a build, and those that the option names.
import { isDeepStrictEqual } from 'node:util'
import { dirname, join, posix } from 'node:path'
import { oneAtATime } from '../../../runtime/concurrency.ts'
import { errorCode, realpathOf } from '../../../runtime/files/disk.ts'
import { digestOf } from '../../../runtime/files/digest.ts'
import { pathFrom } from '../../../runtime/files/paths.ts'
import type { KnownImports, MakeSourceList } from '../../../runtime/app/parts.ts'
import type { Project, SourceFile, SourceList } from '../../../runtime/app/parts.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { hasSameInputs, observeAll, Remembered } from '../../../publishing/building/observation.ts'
import type { Made, Observation } from '../../../publishing/building/observation.ts'
import { importedBy, type Imported, type OwnScript } from '../imports.ts'
import { hasModules, isJoined } from '../options.ts'
import { OPTION, Packages, splitSpecifier, unusable } from '../packages.ts'
import { FOLDER, isOptional, type Import, type Wanted } from '../resolving.ts'
import { loadRolldown, requireFolders, rolldownVersion } from '../rolldown.ts'
import { readPackages, type Listed } from './build.ts'
import { buildApart, directoryFor, isWhole, restoreBuild } from './build-process.ts'
import type { KeptBuild } from './build-process.ts'
import { namedFiles } from './files.ts'

interface PackageSettings extends Pick<Project, 'root' | 'env' | 'isPrecompile'> {
  /** The version of Rolldown. */
  readonly version: string
}

/** @throws AssetError where Rolldown is needed and not there */
export async function packagesOf(project: Project): Promise<MakeSourceList> {
  const { apps, root } = project
  requireFolders(OPTION)
  const version = apps.some(hasModules) ? await rolldownVersion(OPTION, root) : ''
  return (app, own) =>
    app.packages.length > 0 ? new AppPackages(app, { ...project, version }, own) : undefined
}

class AppPackages implements SourceList {
  readonly place = 'node_modules'
  version = 0
  digest = ''
  files: readonly SourceFile[] = []
  readonly #app: AppSettings
  readonly #settings: PackageSettings
  readonly #own: () => Promise<readonly OwnScript[]>
  readonly #condition: Wanted['condition']
  /** True for a list as precompile makes it, and as every command sees that. */
  readonly #isPrecompiled: boolean
  readonly #made = new Remembered(() => this.#list())
  #listed: Listed | undefined
  #byFile: ReadonlyMap<string, string> = new Map()
  #kept: KeptBuild | undefined
  #scripts: readonly OwnScript[] = []
  #failure: unknown

  /** @param own lists the sources of the app itself: its scripts import from packages */
  constructor(
    app: AppSettings,
    settings: PackageSettings,
    own: () => Promise<readonly OwnScript[]>
  ) {
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
    if (!isDeepStrictEqual(scripts, this.#scripts)) this.#made.forget()
    this.#scripts = scripts
    try {
      this.#take(await this.#made.get())
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
      throw error
    }
  })

  #take(listed: Listed): void {
    if (listed === this.#listed) return
    const { files, imports } = listed
    if (!isDeepStrictEqual(files, this.files)) this.version++
    this.#listed = listed
    this.files = files
    this.#byFile = new Map(files.map(({ file, name }) => [file, name]))
    this.digest = digestOf(JSON.stringify([...imports.names, ...imports.links]))
  }

  async #list(): Promise<Made<Listed>> {
    const packages = new Packages(this.#settings.root)
    const inputs = new Array<Observation>()
    const add = (more: readonly Observation[]) => void inputs.push(...more)
    const made = await this.#listFrom(packages, add).then(
      value => ({ value }),
      (error: unknown) => {
        if (errorCode(error) !== 'package-unusable') throw error
        return { error }
      }
    )
    return { ...made, inputs: [...inputs, ...(await observeAll(packages.looked))] }
  }

  /** @param add remembers on what the list depends, or the failure of making it */
  async #listFrom(
    packages: Packages,
    add: (inputs: readonly Observation[]) => void
  ): Promise<Listed> {
    const scripts = this.#scripts
    const { imports, read } = await importedBy(scripts, this.#settings.root)
    add(read)
    const wanted = this.#wanted(imports)
    const listed = wanted.specifiers.size === 0 ? NONE : await this.#modules(wanted, add)
    const given = this.#app.packages.filter(each => typeof each !== 'string')
    const named = await namedFiles(given, packages)
    add(named.read)
    const all = new Map([...named.files, ...listed.files].map(each => [each.name, each]))
    const { names, links } = listed.imports
    const own = linksOf(imports, scripts, names)
    return {
      ...listed,
      files: [...all.values()],
      imports: { names, links: new Map([...links, ...own]) }
    }
  }

  get #specifiers(): readonly string[] {
    return this.#app.packages.filter(each => typeof each === 'string')
  }

  /** The specifiers that the option names, and those of its packages that scripts of the app import. */
  #wanted(imports: readonly Imported[]): Wanted {
    const { root } = this.#settings
    const given = this.#specifiers
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

  async #modules(wanted: Wanted, add: (inputs: readonly Observation[]) => void): Promise<Listed> {
    const { root, version } = this.#settings
    // These are joined with the modules of the app.
    if (this.#isPrecompiled && isJoined(this.#app))
      return readPackages(await loadRolldown(OPTION, root), wanted)
    const versions = [process.env.PACKAGE_VERSION, version]
    const key = JSON.stringify([versions, this.#specifiers, wanted.mapped])
    const directory = await directoryFor(root, this.#app.name, this.#condition)
    const known = this.#kept ?? (await restoreBuild({ directory, key }))
    const isThere = known && isEnough(known, wanted) && (await isWhole(known))
    if (isThere && (await hasSameInputs(known))) this.#kept = known
    else {
      const { kept, failure } = await buildApart({ wanted, directory, key })
      if (!kept) {
        add(failure?.inputs ?? [])
        throw unusable(failure?.message ?? '')
      }
      this.#kept = kept
    }
    const { directory: own, names, inputs } = this.#kept
    // Another process may have removed it.
    add([...inputs, ...(await observeAll(names.slice(0, 1).map(name => join(own, name))))])
    return listBuilt(this.#kept)
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
  scripts: readonly OwnScript[],
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
  const made = names.map((name): SourceFile => {
    const specifiers = [...modules].flatMap(([specifier, to]) => (to === name ? specifier : []))
    const [first] = specifiers
    const packageName = splitSpecifier(first ?? '-')[0]
    return {
      name,
      file: join(directory, name),
      directory,
      specifiers: first ? specifiers : undefined,
      packageName
    }
  })
  return { files: [...made, ...files], imports: { names: modules, links }, inside: new Map() }
}
