// Lists the files of packages that an app publishes: those of a build, and those that the option names.
import { isDeepStrictEqual } from 'node:util'
import { join, posix } from 'node:path'
import { oneAtATime } from '../../../runtime/concurrency.ts'
import { ifAssetError, reasonOf } from '../../../runtime/errors.ts'
import { errorCode, statOf } from '../../../runtime/files/disk.ts'
import { digestOf } from '../../../runtime/files/digest.ts'
import { readSnapshot } from '../../../runtime/files/open-file.ts'
import { pathFrom } from '../../../runtime/files/paths.ts'
import type {
  MakeSourceList,
  OwnSources,
  Project,
  SourceFile,
  SourceList
} from '../../../runtime/app/extra.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { isAbsoluteUrl } from '../../../runtime/settings/table.ts'
import { candidatesFor } from '../../../publishing/compilers/leads.ts'
import { positionsOf } from '../../../publishing/references/references.ts'
import {
  hasSameInputs,
  observeAll,
  Remembered,
  type Made,
  type Observation
} from '../../../publishing/sources/observation.ts'
import { distinct, importedBy, mayImport, type Imported, type ScriptImports } from '../imports.ts'
import { findsPackages, isPackage, joinModeOf, namesPackages, specifiersIn } from '../options.ts'
import { OPTION, Packages, splitSpecifier, unusable } from '../packages.ts'
import { FOLDER, isOptional, type Import, type Needed } from '../resolving.ts'
import {
  hasRolldown,
  loadRolldown,
  requireFolders,
  rolldownVersion,
  startedWithout
} from '../rolldown.ts'
import * as builds from './build-process.ts'
import { AskedFiles, namedFiles } from './package-files.ts'
import { readPackages, type Listed } from './read.ts'

export async function packagesOf(project: Project): Promise<MakeSourceList> {
  const { apps, root } = project
  const isBuilt = apps.some(findsPackages) && (await hasRolldown(root))
  if (apps.some(namesPackages)) requireFolders(OPTION)
  if (apps.some(app => specifiersIn(app).length > 0)) await rolldownVersion(OPTION, root)
  return (app, own) => {
    if (!isBuilt) startedWithout.add(app)
    const isListed = namesPackages(app) || (isBuilt && findsPackages(app))
    return [...(isListed ? [new AppPackages(app, project, own)] : []), new AskedFiles(root, app)]
  }
}

class AppPackages implements SourceList {
  readonly place = 'node_modules'
  readonly prefix = FOLDER
  version = 0
  files: readonly SourceFile[] = []
  readonly #app: AppSettings
  readonly #project: Project
  readonly #own: OwnSources
  readonly #made = new Remembered(() => this.#list())
  readonly #imports = new Map<string, ScriptImports>()
  #scripts: readonly SourceFile[] = []
  #kept: builds.KeptBuild | undefined
  #listed: Listed | undefined
  /** False until a script imports a package, or asks for one; until then nothing is checked again. */
  #isWatched: boolean
  #digest = ''
  #failure: unknown

  constructor(app: AppSettings, project: Project, own: OwnSources) {
    this.#app = app
    this.#project = project
    this.#own = own
    this.#isWatched = namesPackages(app)
  }

  /** A digest that also changes with a failure, so that pages are written again. */
  get digest(): string {
    return this.#failure === undefined ? this.#digest : reasonOf(this.#failure)
  }

  get imports() {
    if (this.#failure !== undefined) throw this.#failure
    return this.#listed?.imports
  }

  /** Compares everything from which the list was made by its stat. */
  readonly verify = oneAtATime(async () => {
    const scripts = (await this.#own.listOwn()).filter(({ name }) => /\.m?js$/i.test(name))
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
    const parts = [...imports.names, ...imports.links]
    this.#digest = parts.length > 0 ? digestOf(JSON.stringify(parts)) : ''
  }

  async #list(): Promise<Made<Listed>> {
    const packages = new Packages(this.#project.root)
    const inputs = new Array<Observation>()
    const all = async () => distinct([...inputs, ...(await observeAll(packages.looked))])
    try {
      return { value: await this.#listFrom(packages, inputs), inputs: await all() }
    } catch (error) {
      if (errorCode(error) !== 'package-unusable') throw error
      return { error, inputs: await all() }
    }
  }

  /** @param inputs gets everything on which the list depends, or the failure to make it */
  async #listFrom(packages: Packages, inputs: Observation[]): Promise<Listed> {
    const isScanned = this.#isWatched || (await mayImport(this.#scripts, this.#app))
    const scripts = isScanned ? this.#scripts : []
    const found = await importedBy(scripts, this.#app, this.#project, this.#own, this.#imports)
    const imports = found.flatMap(each => each.imports)
    const isOwn = ({ specifier, to }: Imported) =>
      to !== undefined || this.#app.imports.has(specifier)
    if (!this.#isWatched && imports.every(isOwn)) return NONE
    this.#isWatched = true
    inputs.push(...found.flatMap(each => each.inputs))
    const wanted = await wantedBy(this.#app, this.#project, imports, packages)
    const listed = wanted.specifiers.size === 0 ? NONE : await this.#modules(wanted, inputs)
    const named = await namedFiles(this.#app, packages)
    const all = new Map([...named, ...listed.files].map(each => [each.name, each]))
    const { names, links } = listed.imports
    const mapped = new Map([...names, ...this.#app.imports])
    const known = { names, links: new Map([...links, ...linksOf(imports, this.#scripts, mapped)]) }
    return { ...listed, files: [...all.values()], imports: known }
  }

  async #modules(wanted: Needed, inputs: Observation[]): Promise<Listed> {
    const { root, mapped, constants } = wanted
    // These packages are joined with the modules of the app.
    if (isPrecompiled(this.#app, this.#project) && joinModeOf(this.#app) !== false)
      return readPackages(await loadRolldown(OPTION, root), wanted)
    const versions = [process.env.PACKAGE_VERSION, await rolldownVersion(OPTION, root)]
    const places = Array.from(wanted.specifiers, ([each, { from }]) => [each, from])
    const elsewhere = places.filter(([, from]) => from !== root)
    // The number is the version of the format of kept builds.
    const key = JSON.stringify([3, versions, specifiersIn(this.#app), mapped, constants, elsewhere])
    const directory = await builds.directoryFor(root, this.#app.name, wanted.condition)
    const known = this.#kept ?? (await builds.restoreBuild({ directory, key }))
    const isUsable = known && isEnough(known, wanted) && (await statOf(known.directory))
    const made =
      isUsable && (await hasSameInputs(known))
        ? known
        : await builds.buildApart({ wanted, directory, key })
    inputs.push(...made.inputs)
    if ('failure' in made) throw unusable(made.failure)
    this.#kept = made
    // Another process may remove the build.
    const [first] = made.files
    inputs.push(...(await observeAll(first ? [first.file] : [])))
    return made
  }

  async drafted(file: string, project: Project, isMapped: boolean) {
    if (project !== this.#project) return undefined
    const known = this.#imports.get(file)
    if (known && !(await hasSameInputs(known))) {
      const scripts = this.#scripts.filter(each => each.file === file)
      const found = await importedBy(scripts, this.#app, project, this.#own, new Map())
      for (const each of found) this.#imports.set(file, each)
    }
    const isBuilt = (each: Imported) => !this.#kept || hasNames(this.#kept, each)
    // A build may have begun that has the CommonJS names it imports now. A failure is reported where it belongs.
    if (this.#imports.get(file)?.imports.every(isBuilt) === false)
      await this.verify().catch(ifAssetError(() => {}))
    const found = this.#imports.get(file)
    if (found?.isMapped !== isMapped) return undefined
    const { draft } = found
    found.draft = undefined
    return draft && (await hasSameInputs(draft)) ? draft : undefined
  }

  async named(specifier: string, importer: string) {
    const known = () => {
      const { inside, imports } = this.#listed ?? NONE
      return inside?.get(importer)?.get(specifier) ?? imports.names.get(specifier)
    }
    // Views name more than packages, and packages import only known modules.
    const isAsked = importer !== '' && !importer.startsWith(FOLDER)
    if (this.#listed && (known() !== undefined || !isAsked)) return known()
    if (this.#listed && !this.#isWatched) {
      this.#isWatched = true
      this.#made.forget()
    }
    await this.verify()
    const failure = isAsked ? this.#listed?.failed?.get(specifier) : undefined
    if (failure !== undefined) throw unusable(await this.#withPlace(failure, specifier, importer))
    return known()
  }

  /** Adds the place of an import, looked up now, as a build is kept while the lines of a script move. */
  async #withPlace(failure: string, specifier: string, importer: string): Promise<string> {
    const { file = '' } = this.#scripts.find(({ name }) => name === importer) ?? {}
    const text = String((await readSnapshot(file))?.bytes ?? '')
    const at = Math.max(...['"', "'"].map(quote => text.indexOf(quote + specifier + quote)))
    const [place] = positionsOf(text, at < 0 ? [] : [at])
    if (!place) return failure
    const path = pathFrom(this.#project.root, file)
    return failure.replace(path, () => `${path}:${place.line + 1}:${place.column + 1}`)
  }
}

const NONE: Listed = { files: [], imports: { names: new Map(), links: new Map() } }

/** Tells whether packages are listed as in a precompile, which joins modules, as every command sees them. */
const isPrecompiled = ({ compile }: AppSettings, { isPrecompile }: Project) =>
  isPrecompile || !compile

/** Returns the specifiers that the option names, and those of its packages and of dependencies that scripts import. */
async function wantedBy(
  app: AppSettings,
  project: Project,
  imports: readonly Imported[],
  installed: Packages
): Promise<Needed> {
  const { root, env } = project
  const isProduction = isPrecompiled(app, project) || !['development', 'test'].includes(env)
  const given = specifiersIn(app)
  const packages = new Set(given.map(each => splitSpecifier(each)[0]))
  const specifiers = new Map<string, Import>()
  const add = async (specifier: string, by: string, file: string, names: readonly string[]) => {
    const known = specifiers.get(specifier)
    const from = known?.from ?? (await installed.placeOf(splitSpecifier(specifier)[0], file))
    const all = new Set([...(known?.names ?? []), ...names])
    specifiers.set(specifier, { importer: by, from, ...known, names: [...all].toSorted() })
  }
  for (const each of given) await add(each, OPTION, join(app.dir, 'index.js'), [])
  for (const { specifier, file, names, to } of imports) {
    if (to !== undefined || app.imports.has(specifier) || !isPackage(specifier)) continue
    const [name] = splitSpecifier(specifier)
    const isImplied = given.length > 0 && specifier.endsWith('/jsx-runtime')
    const isWanted = packages.has(name) || isImplied
    if (!isWanted && !(await installed.isDependency(name, file, app))) continue
    await add(specifier, pathFrom(root, file), file, names)
  }
  return {
    root,
    condition: isProduction ? 'production' : 'development',
    constants: app.constants,
    mapped: [...app.imports.keys()],
    specifiers: new Map([...specifiers].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}

function linksOf(
  imports: readonly Imported[],
  scripts: readonly SourceFile[],
  names: ReadonlyMap<string, string>
): ReadonlyMap<string, readonly string[]> {
  const byFile = new Map(scripts.map(({ name, file }) => [file, name]))
  const links = new Map(scripts.map(({ name }) => [name, new Array<string>()]))
  for (const { file, specifier, to: path } of imports.filter(({ isStatic }) => isStatic)) {
    const from = byFile.get(file) ?? ''
    const candidate = path && candidatesFor([path]).find(each => byFile.has(each))
    const byUrl = specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined
    const to = byFile.get(candidate ?? '') ?? byUrl ?? names.get(specifier)
    if (to !== undefined && !isAbsoluteUrl(to)) links.get(from)?.push(to)
  }
  return links
}

function isEnough(kept: builds.KeptBuild, { specifiers }: Needed) {
  return [...specifiers].every(([specifier, { names }]) => {
    if (kept.failed.has(specifier)) return true
    if (kept.withoutMain.includes(specifier)) return isOptional(specifier, specifiers)
    return kept.imports.names.has(specifier) && hasNames(kept, { specifier, names })
  })
}

const hasNames = (
  { commonJs }: builds.KeptBuild,
  { specifier, names }: Pick<Imported, 'specifier' | 'names'>
) => names.every(each => commonJs.get(specifier)?.includes(each) ?? true)
