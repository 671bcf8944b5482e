// Which files of packages a browser needs: those that the options name, and what these refer to.
import { dirname, join, relative } from 'node:path'
import { errorCode } from '../../files/disk.ts'
import { isBare } from '../references/module-references.ts'
import type { Reference } from '../references/references.ts'
import type { AppSettings } from '../settings/settings.ts'
import { decodeIfValid } from '../urls/encode.ts'
import { parseAll, type Parsed, type ParsedFiles } from './parse.ts'
import { PublishedFiles, type PackageFile } from './published.ts'
import { BUNDLE, labelOf, pathIn, Resolver, splitSpecifier, unusable } from './resolve.ts'

export interface Graph {
  /** By name. */
  readonly files: ReadonlyMap<string, PackageFile>
  /** The names that bare specifiers mean. */
  readonly imports: ReadonlyMap<string, string>
  /** Where they mean something else: by the folder of the importing package. */
  readonly scopes: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** The names of what a script, of a package or of the application, imports statically. */
  readonly links: ReadonlyMap<string, readonly string[]>
  /** Every `package.json` that was read or looked for. */
  readonly looked: ReadonlySet<string>
  /** Of each file that was read. */
  readonly parsed: ParsedFiles
}

export interface Script {
  readonly name: string
  readonly file: string
}

/**
 * @param scripts of the application, whose imports of these packages count as well
 * @param known what an earlier walk read, which is not read again unless it has changed
 * @throws AssetError for a package that a browser cannot import
 */
export async function walk(
  app: AppSettings,
  { root, env }: { readonly root: string; readonly env: string },
  scripts: readonly Script[],
  known: ParsedFiles = new Map()
): Promise<Graph> {
  const isDevelopment = env === 'development' || env === 'test'
  const resolver = new Resolver(isDevelopment ? 'development' : 'production')
  return new Walk(app, root, resolver, known).walk(scripts)
}

/** The importer of what the options name. */
const OPTION = 'the option packages'

class Walk {
  readonly #app: AppSettings
  readonly #root: string
  readonly #resolver: Resolver
  readonly #known: ParsedFiles
  readonly #files: PublishedFiles
  readonly #imports = new Map<string, string>()
  readonly #scopes = new Map<string, Map<string, string>>()
  readonly #links = new Map<string, readonly string[]>()
  readonly #parsed = new Map<string, Parsed>()

  constructor(app: AppSettings, root: string, resolver: Resolver, known: ParsedFiles) {
    this.#app = app
    this.#root = root
    this.#resolver = resolver
    this.#known = known
    this.#files = new PublishedFiles(resolver, root)
  }

  async walk(scripts: readonly Script[]): Promise<Graph> {
    const { packages } = this.#app
    for (const { specifier, files } of packages) {
      if (files) await this.#files.addFiles(specifier, files, OPTION)
      else this.#imports.set(specifier, await this.#files.module(specifier, this.#root, OPTION))
    }
    const modules = packages.filter(({ files }) => !files)
    const listed = new Set(modules.map(({ specifier }) => splitSpecifier(specifier)[0]))
    await this.#parse(scripts)
    for (const script of scripts) await this.#followScript(script, listed)
    for (let next = [...this.#files.all.values()], done = 0; next.length > 0;) {
      await this.#parse(next)
      for (const file of next) await this.#follow(file)
      done += next.length
      next = [...this.#files.all.values()].slice(done)
    }
    this.#requireModules()
    return {
      files: this.#files.all,
      imports: this.#imports,
      scopes: this.#scopes,
      links: this.#links,
      looked: this.#resolver.looked,
      parsed: this.#parsed
    }
  }

  async #followScript({ name, file }: Script, listed: ReadonlySet<string>): Promise<void> {
    const links = new Set<string>()
    for (const reference of this.#parsed.get(file)?.references ?? []) {
      const { path: specifier } = reference
      if (!isImport(reference)) continue
      let to = this.#app.imports.get(specifier)
      if (!isBare(reference)) to = join(dirname(name), specifier).replaceAll('\\', '/')
      else if (to === undefined && listed.has(splitSpecifier(specifier)[0])) {
        to = await this.#files.module(specifier, this.#root, relative(this.#root, file))
        this.#imports.set(specifier, to)
      }
      if (to !== undefined && reference.kind === 'import') links.add(to)
    }
    this.#links.set(name, [...links])
  }

  async #follow(file: PackageFile): Promise<void> {
    const links = new Set<string>()
    for (const reference of this.#parsed.get(file.file)?.references ?? []) {
      const to = await this.#target(file, reference)
      if (to !== undefined && reference.kind === 'import') links.add(to)
    }
    this.#links.set(file.name, [...links])
  }

  /** The name of what a package's file refers to; undefined where that is left as it is written. */
  async #target(from: PackageFile, reference: Reference): Promise<string | undefined> {
    const { kind, path: specifier } = reference
    const isStatic = kind === 'import'
    const { found, folder } = from.of
    const label = `${labelOf(found)} (${pathIn(found, from.file)})`
    if (isBare(reference)) {
      if (this.#app.imports.has(specifier)) return undefined
      if (/^(?:https?|data|blob):/i.test(specifier)) return undefined
      const resolving = this.#files.moduleFor(from, specifier, label)
      // What only some environments load may be missing.
      const to = await (isStatic ? resolving : resolving.catch(unlessUnusable))
      if (to !== undefined) this.#remember(folder, specifier, to)
      return to
    }
    const path = decodeIfValid(specifier)
    if (path === undefined || /^(?:\/|[a-z][a-z\d+.-]*:|$)/i.test(path)) return undefined
    const importer = isStatic ? label : undefined
    const file = pathIn(found, join(dirname(from.file), path))
    const to = await this.#files.add(from.of, file, importer)
    if (to === undefined && isStatic)
      throw unusable(`${label} imports '${specifier}', which a browser cannot find: ${BUNDLE}`)
    return to
  }

  /** The first meaning of a specifier counts everywhere; another one, in the package that it belongs to. */
  #remember(folder: string, specifier: string, to: string): void {
    const isPrivate = specifier.startsWith('#')
    const first = isPrivate ? undefined : (this.#imports.get(specifier) ?? to)
    if (first === to) return void this.#imports.set(specifier, to)
    const scope = this.#scopes.get(folder) ?? new Map<string, string>()
    this.#scopes.set(folder, scope.set(specifier, to))
  }

  #requireModules(): void {
    for (const { importer, file, of } of this.#files.all.values()) {
      if (importer === undefined || !this.#parsed.get(file)?.isCommonJs) continue
      const what = `${labelOf(of.found)} is CommonJS (${pathIn(of.found, file)})`
      throw unusable(`${what}, which no browser can import: ${BUNDLE}. It is named by ${importer}`)
    }
  }

  async #parse(files: readonly Script[]): Promise<void> {
    for (const [file, parsed] of await parseAll(files, this.#known)) this.#parsed.set(file, parsed)
  }
}

function isImport({ kind }: Reference): boolean {
  return kind === 'import' || kind === 'dynamic-import'
}

function unlessUnusable(error: unknown): undefined {
  if (errorCode(error) !== 'package-unusable') throw error
}
