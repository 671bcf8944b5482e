// Finds which files of packages a browser needs: those that the options name, and what these refer to.
import { dirname, extname, join, posix } from 'node:path'
import { entriesGiven } from '../../check-options.ts'
import { inParallel } from '../../concurrency.ts'
import { errorCode, statOf } from '../../files/disk.ts'
import { observe, type FileObservation } from '../../files/observation.ts'
import { readSnapshot } from '../../files/open-file.ts'
import { isBare, loadModuleLexer } from '../../assets/references/module-references.ts'
import { findReferences, type Reference } from '../../assets/references/references.ts'
import type { AssetError } from '../../errors.ts'
import type { KnownImports } from '../../assets/parts.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import { decodeIfValid, isCanonicalBelow } from '../../assets/urls/canonical-path.ts'
import type { PackageFiles } from './options.ts'
import {
  allOf,
  BUNDLE,
  pathIn,
  Resolver,
  splitSpecifier,
  unusable,
  wayOut,
  type Package
} from './resolve.ts'
import { isInside, pathFrom } from '../../files/paths.ts'

export interface Script {
  readonly name: string
  /** An absolute path without links. */
  readonly file: string
}

/** A file of a package that is published. */
interface PackageFile extends Script {
  readonly of: Package
  /** Messages name what imports it as a module; undefined: nothing does. */
  importer: string | undefined
}

interface OptionItem {
  /** A bare specifier such as `preact/hooks`; for files, the name of the package. */
  readonly specifier: string
  /** Paths in the package; undefined: the module of the specifier. */
  readonly files: readonly string[] | undefined
}

export interface GraphSettings {
  readonly root: string
  readonly env: string
  /** If true, packages that no browser can import are made fit for them. */
  readonly isAdapted: boolean
}

/** The options import what they name. */
const OPTION = 'the option packages'

/** Everything is found by following it. */
export class Graph implements KnownImports {
  /** Files by name, in the order in which they were found. */
  readonly files = new Map<string, PackageFile>()
  /** The names that bare specifiers mean. */
  readonly everywhere = new Map<string, string>()
  /** Other meanings, by the folder of the importing package. */
  readonly scopes = new Map<string, Map<string, string>>()
  /** The names of the modules that a script, of a package or of the application, imports statically. */
  readonly links = new Map<string, readonly string[]>()
  /** The files that were read. */
  readonly read: FileObservation[] = []
  readonly #commonJs = new Set<string>()
  readonly #problems: AssetError[] = []
  /** These files have not been followed yet. */
  readonly #added: PackageFile[] = []
  readonly #app: AppSettings
  readonly #root: string
  readonly #isAdapted: boolean
  readonly #resolver: Resolver

  constructor(app: AppSettings, { root, env, isAdapted }: GraphSettings) {
    this.#isAdapted = isAdapted
    const isDevelopment = env === 'development' || env === 'test'
    this.#app = app
    this.#root = root
    this.#resolver = new Resolver(root, isDevelopment ? 'development' : 'production')
  }

  /** Every `package.json` that was read or looked for. */
  get looked(): ReadonlySet<string> {
    return this.#resolver.looked
  }

  /**
   * @param scripts are those of the application, whose imports of these packages count as well
   * @throws AssetError that tells of all packages that a browser cannot import
   */
  async walk(scripts: readonly Script[]): Promise<void> {
    const packages = this.#app.packages.flatMap(listed)
    for (const { specifier, files } of packages) {
      const work: Promise<unknown> = files
        ? this.#addFiles(specifier, files)
        : this.#addModule(specifier, OPTION)
      await this.#unlessUnusable(work, true)
    }
    const modules = packages.filter(({ files }) => !files)
    const names = new Set(modules.map(({ specifier }) => splitSpecifier(specifier)[0]))
    await this.#follow(scripts, (script, reference) => this.#imported(script, reference, names))
    while (this.#added.length > 0) {
      const next = this.#added.splice(0)
      await this.#follow(next, (file, reference) => this.#target(file, reference))
    }
    for (const file of this.files.values()) await this.#unlessUnusable(this.#refuseCommonJs(file))
    if (this.#problems.length > 0) throw allOf(this.#problems, !this.#isAdapted)
  }

  /** Resolves to undefined for a package that a browser cannot import: the others are looked at as well. */
  async #unlessUnusable<T>(work: Promise<T>, isAppImport = false): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (errorCode(error) !== 'package-unusable') throw error
      if (!this.#isAdapted || isAppImport) this.#problems.push(error as AssetError)
      return undefined
    }
  }

  async #refuseCommonJs({ importer, file, of }: PackageFile): Promise<void> {
    if (importer === undefined || !this.#commonJs.has(file)) return
    const what = `${of.label} is CommonJS (${pathIn(of, file)}), which no browser can import`
    throw unusable(`${what}: ${await wayOut(of)}. It is named by ${importer}`)
  }

  /** @param target returns the name of what a file refers to; undefined where that is left as it is written */
  async #follow<F extends Script>(
    files: readonly F[],
    target: (from: F, reference: Reference) => Promise<string | undefined>
  ): Promise<void> {
    const parsed = await inParallel(files, CONCURRENCY, parse)
    for (const [at, file] of files.entries()) {
      const { seen, references = [], isCommonJs } = parsed[at] ?? {}
      if (seen) this.read.push(seen)
      if (isCommonJs) this.#commonJs.add(file.file)
      const links = new Set<string>()
      for (const reference of references) {
        const to = await this.#unlessUnusable(target(file, reference), !('of' in file))
        if (to !== undefined && reference.kind === 'import') links.add(to)
      }
      this.links.set(file.name, [...links])
    }
  }

  async #imported(
    { name, file }: Script,
    reference: Reference,
    listed: ReadonlySet<string>
  ): Promise<string | undefined> {
    const { kind, path: specifier } = reference
    if (kind !== 'import' && kind !== 'dynamic-import') return undefined
    if (!isBare(reference)) return posix.join(posix.dirname(name), specifier)
    const given = this.#app.imports.get(specifier)
    if (given !== undefined || !listed.has(splitSpecifier(specifier)[0])) return given
    return this.#addModule(specifier, pathFrom(this.#root, file))
  }

  async #target({ of, file }: PackageFile, reference: Reference): Promise<string | undefined> {
    const { kind, path: specifier } = reference
    const isStatic = kind === 'import'
    const label = `${of.label} (${pathIn(of, file)})`
    if (isBare(reference)) {
      if (this.#app.imports.has(specifier)) return undefined
      if (/^(?:https?|data|blob):/i.test(specifier)) return undefined
      const resolving = this.#module(specifier, of, label)
      // Files that only some environments load may be missing.
      const to = await (isStatic ? resolving : resolving.catch(unlessUnusable))
      if (to !== undefined) this.#remember(of.folder, specifier, to)
      return to
    }
    const path = decodeIfValid(specifier)
    if (path === undefined || /^(?:\/|[a-z][a-z\d+.-]*:|$)/i.test(path)) return undefined
    const to = await this.#add(of, join(dirname(file), path), isStatic ? label : undefined)
    if (to === undefined && isStatic)
      throw unusable(`${label} imports '${specifier}', which a browser cannot find: ${BUNDLE}`)
    return to
  }

  /** The first meaning of a specifier counts everywhere; another one, in the package that it belongs to. */
  #remember(folder: string, specifier: string, to: string): void {
    const isPrivate = specifier.startsWith('#')
    const first = isPrivate ? undefined : (this.everywhere.get(specifier) ?? to)
    if (first === to) return void this.everywhere.set(specifier, to)
    const scope = this.scopes.get(folder) ?? new Map<string, string>()
    this.scopes.set(folder, scope.set(specifier, to))
  }

  /** Adds what the application imports. @param importer is named in messages */
  async #addModule(specifier: string, importer: string): Promise<string> {
    const to = await this.#module(specifier, undefined, importer)
    this.everywhere.set(specifier, to)
    return to
  }

  /** Returns the name of the module that a bare specifier means. @param importer is named in messages */
  async #module(specifier: string, from: Package | undefined, importer: string): Promise<string> {
    const { of, path } = await this.#resolver.resolve(specifier, from, importer)
    const name = await this.#add(of, join(of.directory, path), importer)
    if (name !== undefined) return name
    throw unusable(`${of.label} exports ${path}, which is not in the package: ${BUNDLE}`)
  }

  /** Adds files that the options name. */
  async #addFiles(name: string, paths: readonly string[]): Promise<void> {
    const of = await this.#resolver.find(name, undefined, OPTION)
    const { label, directory } = of
    for (const path of paths) {
      if (await this.#add(of, join(directory, path))) continue
      const what = `${label} has no file ${path}, which ${OPTION} names`
      this.#problems.push(unusable(`${what}: look for it in ${directory}`))
    }
  }

  /** Returns its name; undefined if it is not a file of the package. */
  async #add(of: Package, file: string, importer?: string): Promise<string | undefined> {
    const path = pathIn(of, file)
    const name = `${of.folder}/${path}`
    const known = this.files.get(name)
    if (known) known.importer ??= importer
    if (known) return name
    if (!isInside(of.directory, file) || !isCanonicalBelow(path)) return undefined
    if (!(await statOf(file))?.isFile()) return undefined
    const added = { name, file, of, importer }
    this.files.set(name, added)
    this.#added.push(added)
    return name
  }
}

/** Returns what an item of the option lists. */
function listed(given: string | PackageFiles): readonly OptionItem[] {
  if (typeof given === 'string') return [{ specifier: given, files: undefined }]
  return entriesGiven(given).map(([specifier, files]) => ({ specifier, files: [files].flat() }))
}

function unlessUnusable(error: unknown): undefined {
  if (errorCode(error) !== 'package-unusable') throw error
}

const CONCURRENCY = 16
const TYPES: Readonly<Record<string, 'css' | 'js'>> = { '.css': 'css', '.js': 'js', '.mjs': 'js' }
const COMMON_JS = /\bmodule\.exports\b|\bexports\s*[.[=]|\brequire\s*\(/

/** Returns undefined for a file that refers to nothing. */
async function parse({ name, file }: Script) {
  const type = TYPES[extname(name).toLowerCase()]
  const readAt = Date.now()
  const read = type && (await readSnapshot(file))
  if (!read) return undefined
  const seen = observe(file, read, readAt)
  const code = new TextDecoder().decode(read.bytes)
  const found = findReferences(type, code)
  if (type === 'css') return { seen, references: found, isCommonJs: false }
  const { find, isModule } = await loadModuleLexer()
  const isCommonJs = COMMON_JS.test(code) && isModule(code) === false
  return { seen, references: [...found, ...find(code).references], isCommonJs }
}
