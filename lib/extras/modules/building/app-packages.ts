// Lists the files of packages that an app publishes: those of a build, and those that the option names.
import { isDeepStrictEqual } from 'node:util'
import { dirname, join, posix } from 'node:path'
import { oneAtATime } from '../../../runtime/concurrency.ts'
import { errorCode, realpathOf } from '../../../runtime/files/disk.ts'
import { digestOf } from '../../../runtime/files/digest.ts'
import { pathFrom } from '../../../runtime/files/paths.ts'
import type { MakeSourceList, Project, SourceFile, SourceList } from '../../../runtime/app/extra.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { isAbsoluteUrl } from '../../../runtime/settings/table.ts'
import {
  hasSameInputs,
  observeAll,
  Remembered,
  type Made,
  type Observation
} from '../../../publishing/sources/observation.ts'
import { importedBy, type Imported, type OwnScript } from '../imports.ts'
import { hasModules, isJoined } from '../options.ts'
import { OPTION, Packages, splitSpecifier, unusable } from '../packages.ts'
import { FOLDER, isOptional, type Import, type Wanted } from '../resolving.ts'
import { loadRolldown, requireFolders, rolldownVersion } from '../rolldown.ts'
import { readPackages, specifiersOf, type Listed } from './build.ts'
import * as builds from './build-process.ts'
import { namedFiles } from './files.ts'

/** @throws AssetError where Rolldown is needed and not there */
export async function packagesOf(project: Project): Promise<MakeSourceList> {
  requireFolders(OPTION)
  if (project.apps.some(hasModules)) await rolldownVersion(OPTION, project.root)
  return (app, own) => (app.packages.length > 0 ? new AppPackages(app, project, own) : undefined)
}

class AppPackages implements SourceList {
  readonly place = 'node_modules'
  version = 0
  digest = ''
  files: readonly SourceFile[] = []
  readonly #app: AppSettings
  readonly #project: Project
  /** Lists the sources of the app itself: its scripts import from packages. */
  readonly #own: () => Promise<readonly OwnScript[]>
  readonly #made = new Remembered(() => this.#list())
  #scripts: readonly OwnScript[] = []
  #kept: builds.KeptBuild | undefined
  #listed: Listed | undefined
  #failure: unknown

  constructor(app: AppSettings, project: Project, own: () => Promise<readonly OwnScript[]>) {
    this.#app = app
    this.#project = project
    this.#own = own
  }

  owns(name: string): boolean {
    return name.startsWith(FOLDER)
  }

  get imports() {
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
    this.digest = digestOf(JSON.stringify([...imports.names, ...imports.links]))
  }

  async #list(): Promise<Made<Listed>> {
    const packages = new Packages(this.#project.root)
    const inputs = new Array<Observation>()
    const all = async () => [...inputs, ...(await observeAll(packages.looked))]
    try {
      return { value: await this.#listFrom(packages, inputs), inputs: await all() }
    } catch (error) {
      if (errorCode(error) !== 'package-unusable') throw error
      return { error, inputs: await all() }
    }
  }

  /** @param inputs gets that on which the list depends, or the failure of making it */
  async #listFrom(packages: Packages, inputs: Observation[]): Promise<Listed> {
    const { root } = this.#project
    const { imports, read } = await importedBy(this.#scripts, root)
    inputs.push(...read)
    const wanted = wantedBy(this.#app, this.#project, imports)
    const listed = wanted.specifiers.size === 0 ? NONE : await this.#modules(wanted, inputs)
    const named = await namedFiles(this.#app.packages, packages, inputs)
    const all = new Map([...named, ...listed.files].map(each => [each.name, each]))
    const { names, links } = listed.imports
    const mapped = new Map([...names, ...this.#app.imports])
    const known = { names, links: new Map([...links, ...linksOf(imports, this.#scripts, mapped)]) }
    return { ...listed, files: [...all.values()], imports: known }
  }

  async #modules(wanted: Wanted, inputs: Observation[]): Promise<Listed> {
    const { root } = wanted
    // These are joined with the modules of the app.
    if (isPrecompiled(this.#app, this.#project) && isJoined(this.#app))
      return readPackages(await loadRolldown(OPTION, root), wanted)
    const versions = [process.env.PACKAGE_VERSION, await rolldownVersion(OPTION, root)]
    const key = JSON.stringify([versions, namedIn(this.#app), wanted.mapped])
    const directory = await builds.directoryFor(root, this.#app.name, wanted.condition)
    const known = this.#kept ?? (await builds.restoreBuild({ directory, key }))
    const isUsable = known && isEnough(known, wanted) && (await builds.isWhole(known))
    const { kept, failure } =
      isUsable && (await hasSameInputs(known))
        ? { kept: known }
        : await builds.buildApart({ wanted, directory, key })
    inputs.push(...((kept ?? failure)?.inputs ?? []))
    if (!kept) throw unusable(failure?.message ?? '')
    this.#kept = kept
    // Another process may have removed it.
    const [first] = kept.names
    inputs.push(...(await observeAll(first ? [join(kept.directory, first)] : [])))
    return listBuilt(kept)
  }

  async nameAt(path: string) {
    if (!this.#listed) await this.verify()
    const real = await realpathOf(path)
    return this.files.findLast(({ file }) => file === real)?.name
  }

  async named(specifier: string, importer: string) {
    if (!this.#listed) await this.verify()
    const { inside, imports } = this.#listed ?? NONE
    return inside.get(importer)?.get(specifier) ?? imports.names.get(specifier)
  }
}

const NONE: Listed = {
  files: [],
  imports: { names: new Map(), links: new Map() },
  inside: new Map()
}

/** True for a list as precompile makes it, and as every command sees that: modules published on request are not joined. */
const isPrecompiled = ({ compile }: AppSettings, { isPrecompile }: Project) =>
  isPrecompile || !compile

const namedIn = ({ packages }: AppSettings) => packages.filter(each => typeof each === 'string')

/** The specifiers that the option names, and those of its packages that scripts of the app import. */
function wantedBy(app: AppSettings, project: Project, imports: readonly Imported[]): Wanted {
  const { root, env } = project
  const isProduction = isPrecompiled(app, project) || !['development', 'test'].includes(env)
  const given = namedIn(app)
  const packages = new Set(given.map(each => splitSpecifier(each)[0]))
  const none: Import = { importer: OPTION, names: [] }
  const specifiers = new Map(given.map(each => [each, none]))
  for (const { specifier, file, names, isImplied } of imports) {
    const isWanted = packages.has(splitSpecifier(specifier)[0]) || (isImplied && given.length > 0)
    if (!isWanted || app.imports.has(specifier)) continue
    const known = specifiers.get(specifier) ?? { importer: pathFrom(root, file), names: [] }
    const all = new Set([...known.names, ...names])
    specifiers.set(specifier, { ...known, names: [...all].toSorted() })
  }
  return {
    root,
    condition: isProduction ? 'production' : 'development',
    mapped: [...app.imports.keys()],
    specifiers: new Map([...specifiers].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** Returns the static imports of the app's scripts, by the names of the scripts. */
function linksOf(
  imports: readonly Imported[],
  scripts: readonly OwnScript[],
  names: ReadonlyMap<string, string>
): ReadonlyMap<string, readonly string[]> {
  const byFile = new Map(scripts.map(({ name, file }) => [file, name]))
  const links = new Map(scripts.map(({ name }) => [name, new Array<string>()]))
  for (const { file, specifier, leadsTo = '' } of imports.filter(({ isStatic }) => isStatic)) {
    const from = byFile.get(file) ?? ''
    const to = specifier.startsWith('.')
      ? (byFile.get(join(dirname(file), specifier)) ?? posix.join(posix.dirname(from), specifier))
      : (names.get(specifier) ?? byFile.get(leadsTo))
    if (to !== undefined && !isAbsoluteUrl(to)) links.get(from)?.push(to)
  }
  return links
}

function isEnough({ modules, withoutMain, commonJs }: builds.KeptBuild, { specifiers }: Wanted) {
  return [...specifiers].every(([specifier, { names }]) => {
    if (withoutMain.includes(specifier)) return isOptional(specifier, specifiers)
    const known = commonJs.get(specifier)
    return modules.has(specifier) && (!known || names.every(each => known.includes(each)))
  })
}

function listBuilt({ directory, names, files, modules, links }: builds.KeptBuild): Listed {
  const made = names.map((name): SourceFile => {
    const specifiers = specifiersOf(name, modules)
    const [packageName] = splitSpecifier(specifiers?.[0] ?? '-')
    return { name, file: join(directory, name), directory, specifiers, packageName }
  })
  return { files: [...made, ...files], imports: { names: modules, links }, inside: new Map() }
}
