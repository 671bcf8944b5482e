// Finds the source of a name in the directories that one app searches.
import { join, posix } from 'node:path'
import { AssetError } from '../../errors.ts'
import { matcherOf, composed, isInside, pathFrom } from '../../files/paths.ts'
import { nodeModulesFrom, type Compiler } from '../compilers/compiler.ts'
import type { MakeSourceList, SourceFile, SourceList } from '../parts.ts'
import { appInTheWay, ownerOf, type SourceDirectory } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { tailsOf } from '../urls/canonical-path.ts'
import {
  Catalog,
  memoized,
  oneElsewhere,
  sourceAt,
  type Choice,
  type Source,
  unusableName,
  type Unusable
} from './catalog.ts'
import { thirdParty } from './third-party.ts'
import type { Tree } from './tree.ts'

/** A name of an app, and the source that is published under it. */
export interface Asset {
  readonly app: AppSettings
  readonly name: string
  readonly source: Source
}

/** An asset, with the other sources of its name. */
export interface Listed extends Asset, NonNullable<ReturnType<Catalog['first']>> {
  readonly source: Source
}

interface Searched extends SourceDirectory {
  readonly tree: Tree
  readonly isIncluded: (path: string) => boolean
}

/** The sources of one app. */
export class AppSources {
  /** The `node_modules` directories in which packages are searched for, the nearest first. */
  readonly nodeModules: readonly string[]
  /** The sources that extras add; they are searched last, in order. */
  readonly lists: readonly SourceList[]
  readonly #app: AppSettings
  readonly #settings: Settings
  readonly #warn: (message: string) => void
  readonly #searchedAt: (source: SourceDirectory) => Searched
  readonly #thirdParty = memoized((dir: string): SourceDirectory => ({ dir }))
  #listed: { readonly catalog: Catalog; readonly generation: number } | undefined

  constructor(
    app: AppSettings,
    settings: Settings,
    treeOf: (source: SourceDirectory) => Tree,
    makers: readonly MakeSourceList[],
    warn: (message: string) => void
  ) {
    this.#app = app
    this.#settings = settings
    this.#warn = warn
    this.#searchedAt = memoized(source => {
      const isIncluded = source.include ? matcherOf(source.include) : () => true
      return { ...source, tree: treeOf(source), isIncluded }
    })
    this.nodeModules = nodeModulesFrom(settings.root)
    const own = () => this.#listOwn()
    this.lists = makers.map(make => make(app, own)).filter(each => each !== undefined)
  }

  /**
   * Finds the source for a name, after refreshing the listing. A name that is not found is looked up again after the
   * listing has been verified.
   */
  async find(name: string): Promise<Source | undefined> {
    for (const update of [() => this.refresh(), () => this.#verifyFor(name)]) {
      await update()
      const { source, warning } = this.#catalog.choose(name)
      if (warning !== undefined) this.#warn(warning)
      if (source) return source
    }
    return undefined
  }

  /** Finds the source that has `path` as its tail: `<directory>/a/app.css` is that of `a/app.css.scss`. */
  async findAt(path: string): Promise<Source | undefined> {
    const all = this.#searched.map((place, from) => ({ ...place, from }))
    const around = all.filter(({ dir }) => isInside(dir, path))
    if (around.length === 0) {
      const names = await Promise.all(this.lists.map(async each => each.nameAt?.(path)))
      return this.#catalog.named(names.find(name => name !== undefined) ?? '')[0]
    }
    await this.refresh()
    for (const { dir, at = '', from } of around) {
      const tail = composed(posix.join(at, pathFrom(dir, path)))
      const found = this.#catalog.at(tail).find(source => source.from === from)
      if (found) return found
    }
    return undefined
  }

  /** Finds what the name of a source leads to: `<directory>/a/money.ts` to what is published as `a/money.js`. */
  async findWritten(path: string): Promise<Source | undefined> {
    await this.refresh()
    for (const [from, place] of this.#searched.entries()) {
      if (!isInside(place.dir, path)) continue
      const source = sourceAt(place, from, pathFrom(place.dir, path), this.#app.compilers)
      if (source.compiler && this.#catalog.has(source)) return this.#catalog.named(source.name)[0]
    }
    return undefined
  }

  /**
   * Returns the name that a bare specifier resolves to.
   * @param importer the name of the importing module
   */
  async named(specifier: string, importer: string): Promise<string | undefined> {
    const names = await Promise.all(this.lists.map(async each => each.named?.(specifier, importer)))
    return names.find(name => name !== undefined)
  }

  /** Tells whether a module is published for a bare specifier; also true if an error says why that is not known. */
  async isMeant(specifier: string, importer: string): Promise<boolean> {
    try {
      if ((await this.named(specifier, importer)) !== undefined) return true
      await Promise.all(this.lists.map(each => each.verify()))
      return (await this.named(specifier, importer)) !== undefined
    } catch (error) {
      if (!(error instanceof AssetError)) throw error
      return true
    }
  }

  /** Explains the choice of the source for a name, with the paths that each directory has for it, in search order. */
  async explain(name: string) {
    await this.#verifyFor(name)
    const choice = this.#catalog.choose(name)
    const all = [...this.#catalog.named(name), ...this.#catalog.tailed(name)]
    const directories = [...this.directories, ...this.lists.map(({ place }) => place)]
    const candidates = directories.map((directory, at) => {
      const found = all.filter(({ from }) => from === at).map(({ path }) => path)
      return { directory, found: [...new Set(found)] }
    })
    return { ...choice, candidates }
  }

  /** Tells whether there is a source of the name, without refreshing the listing. */
  has(name: string): boolean {
    return this.chosen(name).source !== undefined
  }

  /** Returns the choice for a name, without refreshing the listing. */
  chosen(name: string): Choice {
    return this.#catalog.choose(name)
  }

  /** Lists every name that can be published. */
  async list(): Promise<readonly Listed[]> {
    await Promise.all([this.verify(), ...this.lists.map(each => each.verify())])
    const [app, catalog] = [this.#app, this.#catalog]
    return catalog.names.flatMap(name => {
      const first = catalog.first(name)
      return first ? [{ app, name, ...first }] : []
    })
  }

  /** Returns each source whose name is never published, without refreshing the listing. */
  unpublished(): readonly Unusable[] {
    const { unpublished } = this.#catalog
    return unpublished.map(each => unusableName(this.#settings, this.#app, each))
  }

  /** Returns the tails of a source's path, other than its name, that find it, and those that are ambiguous. */
  tailsOf(source: Source) {
    const isOther = (tail: string) => ownerOf(this.#settings, this.#app, tail).app !== this.#app
    const tails = [...tailsOf(source.tail)].filter(tail => tail !== source.name && !isOther(tail))
    const chosen = tails.map(tail => ({ tail, ...this.#catalog.choose(tail) }))
    const own = chosen.filter(each => each.source?.file === source.file)
    const ambiguous = chosen.filter(each => each.warning !== undefined)
    return { own: own.map(({ tail }) => tail), ambiguous: ambiguous.map(({ tail }) => tail) }
  }

  /** The directories that the app searches, in order. */
  get directories(): readonly string[] {
    return this.#searched.map(({ dir }) => dir)
  }

  /** The directories in which a compiler may find imports, in order; packages come last. */
  get loadPaths(): readonly string[] {
    const directories = this.#searched.flatMap(({ dir, at, tree }) => [
      dir,
      ...(at === undefined ? tree.folders.map(folder => join(dir, folder)) : [])
    ])
    return [...directories, ...this.nodeModules]
  }

  /** A number that grows with every change of the set of files. */
  get generation(): number {
    const listed = this.lists.reduce((sum, { version }) => sum + version, 0)
    return this.#searched.reduce((sum, { tree }) => sum + tree.version + 1, listed)
  }

  /** True if the listing is known to be current without reading the disk. */
  get isCurrent(): boolean {
    return this.#searched.every(({ tree }) => tree.isCurrent)
  }

  /** Brings the listing up to date from file-system events where they are available. */
  async refresh(): Promise<void> {
    await Promise.all(this.#searched.map(({ tree }) => tree.refresh()))
  }

  /**
   * Brings the listing up to date from the stat of every folder: no event reports that a link leads elsewhere now.
   */
  async verify(): Promise<void> {
    await Promise.all(this.#searched.map(({ tree }) => tree.verify()))
  }

  async #verifyFor(name: string): Promise<void> {
    const lists = this.lists.filter(each => each.owns(name))
    await Promise.all([this.verify(), ...lists.map(each => each.verify())])
  }

  get #searched(): readonly Searched[] {
    const { sources } = this.#app
    const others = thirdParty.filter(dir => sources.every(source => source.dir !== dir))
    return [...sources, ...others.map(this.#thirdParty)].map(this.#searchedAt)
  }

  get #catalog(): Catalog {
    const { generation } = this
    if (this.#listed?.generation === generation) return this.#listed.catalog
    const inTheWay = (name: string) => appInTheWay(this.#settings, this.#app, name)
    const catalog = new Catalog(this.#app.tails, inTheWay)
    const places = this.#searched
    places.forEach(({ tree, isIncluded, ...place }, from) => {
      const paths = [...tree.files()].filter(isIncluded)
      const twins = oneElsewhere(place.dir, paths.toSorted())
      if (twins !== undefined) this.#warn(twins)
      const sources = paths.map(path => sourceAt(place, from, path, this.#app.compilers))
      catalog.add(sources, place.at === undefined)
    })
    for (const [at, { files }] of this.lists.entries())
      catalog.add(
        files.map(file => listedSource(file, places.length + at)),
        false
      )
    this.#listed = { catalog, generation }
    // Precompile reports them as errors.
    if (!this.#settings.isPrecompile)
      this.unpublished().forEach(({ error }) => this.#warn(error.message))
    return catalog
  }

  /** Returns the compilers of the sources in directories. */
  async compilers(): Promise<readonly Compiler[]> {
    return (await this.#listOwn()).flatMap(({ compiler }) => compiler ?? [])
  }

  /** Lists the sources in directories, without those of extras, which may depend on them. */
  async #listOwn(): Promise<readonly Source[]> {
    await this.refresh()
    const catalog = this.#catalog
    return catalog.names
      .flatMap(name => catalog.named(name))
      .filter(({ from }) => from < this.#searched.length)
  }
}

function listedSource(file: SourceFile, from: number): Source {
  const { name, compiler, specifiers } = file
  return { ...file, from, path: name, tail: name, compiler, specifiers }
}
