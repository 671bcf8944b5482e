// Finds the source of a name in one app.
import { join } from 'node:path'
import { firstAnswer, memoized } from '../../runtime/concurrency.ts'
import { ifAssetError, type Warn } from '../../runtime/errors.ts'
import { realpathOf } from '../../runtime/files/disk.ts'
import { isInside, matcherOf } from '../../runtime/files/paths.ts'
import { compilersFor } from '../compilers/built-in.ts'
import { nodeModulesFrom } from '../compilers/compiler.ts'
import type { Compiler } from '../../runtime/settings/compiler.ts'
import type { MakeSourceList, Project, SourceList } from '../../runtime/app/extra.ts'
import { ownerOf, type AppSettings, type SourceDirectory } from '../../runtime/settings/apps.ts'
import { tailsOf } from '../../runtime/urls/spelling.ts'
import {
  chosenIn,
  placeOf,
  snapshotOf,
  sourceAt,
  type Choice,
  type Failure,
  type Listed,
  type Snapshot,
  type Source
} from './snapshot.ts'
import { assetSources } from '../../runtime/settings/third-party.ts'
import { Tree } from './tree.ts'

interface Searched extends SourceDirectory {
  readonly tree: Tree
  readonly isIncluded: (path: string) => boolean
}

export class AppSources {
  readonly nodeModules: readonly string[]
  /** The sources that extras add; they are searched last, in order. */
  readonly lists: readonly SourceList[]
  readonly #app: AppSettings
  readonly #settings: Project
  readonly #warn: Warn
  readonly #searchedAt: (source: SourceDirectory) => Searched
  readonly #thirdParty = memoized((dir: string): SourceDirectory => ({ dir }))
  #last: { readonly snapshot: Snapshot; readonly of: readonly unknown[] } | undefined

  constructor(
    app: AppSettings,
    settings: Project,
    treeOf: (source: SourceDirectory) => Tree,
    makers: readonly MakeSourceList[],
    warn: Warn
  ) {
    this.#app = app
    this.#settings = settings
    this.#warn = warn
    this.#searchedAt = memoized(source => {
      const isIncluded = source.include ? matcherOf(source.include) : () => true
      return { ...source, tree: treeOf(source), isIncluded }
    })
    this.nodeModules = nodeModulesFrom(settings.root)
    this.lists = makers.flatMap(make => make(app, this))
  }

  /** Finds a source; a name that is not found is looked up again after the listing has been verified. */
  async find(name: string): Promise<Source | undefined> {
    for (const update of [() => this.refresh(), () => this.#verifyFor(name)]) {
      await update()
      const { source, warning } = this.chosen(name)
      if (warning !== undefined) this.#warn(warning)
      if (source) return source
    }
    return undefined
  }

  /** Finds the source at a path after compilation: `<directory>/a/app.css` is that of `a/app.css.scss`. */
  async findAt(path: string): Promise<Source | undefined> {
    if (this.#searched.some(({ dir }) => isInside(dir, path))) {
      await this.refresh()
      return this.#snapshot.compiled.get(placeOf(path))
    }
    // The first list wins, but its last entry: a module of a package may also be listed as one of its files.
    const added = this.lists.toReversed().flatMap(({ files }) => files)
    const real = added.length > 0 ? await realpathOf(path) : undefined
    const name = added.findLast(({ file }) => file === real)?.name
    return this.chosen(name ?? '').source
  }

  /** Finds the published source of the first existing file: `a/money.js` for `<directory>/a/money.ts`. */
  async findWritten(paths: readonly string[]): Promise<Source | undefined> {
    if (paths.length === 0) return undefined
    await this.refresh()
    const { files } = this.#snapshot
    const path = paths.find(each => files.has(each))
    return this.chosen(files.get(path ?? '')?.name ?? '').source
  }

  named(specifier: string, importer: string): Promise<string | undefined> {
    return firstAnswer(this.lists, each => each.named?.(specifier, importer))
  }

  async addFile(path: string, from: Source, compiled: readonly string[]) {
    const name = await firstAnswer(this.lists, each => each.addFile?.(path, from, compiled))
    return this.chosen(name ?? '').source
  }

  drafted(file: string, project: Project, isMapped: boolean): Promise<unknown> {
    return firstAnswer(this.lists, each => each.drafted?.(file, project, isMapped))
  }

  /** Tells whether a module is published for a bare specifier; also true if that fails, as the error is reported. */
  isMeant(specifier: string, importer: string): Promise<boolean> {
    const name = this.named(specifier, importer).catch(ifAssetError(() => specifier))
    return name.then(found => found !== undefined)
  }

  /** Explains the choice for a name by the paths that each directory has for it, in search order. */
  async explain(name: string) {
    await this.#verifyFor(name)
    const choice = this.chosen(name)
    const { rivals = [], shadowed = [] } = this.#snapshot.listed.get(name) ?? {}
    const named = this.#snapshot.listed.has(name) && choice.source ? [choice.source] : []
    const tailed = this.#snapshot.tailed.get(name) ?? []
    const all = [...named, ...rivals, ...shadowed, ...tailed]
    const lists = this.lists.map(({ place, files }) => (files.length > 0 ? place : undefined))
    const candidates = [...this.directories, ...lists].flatMap((directory, at) => {
      const found = all.filter(({ from }) => from === at).map(({ path }) => path)
      return directory === undefined ? [] : { directory, found: [...new Set(found)] }
    })
    return { ...choice, candidates }
  }

  /** Does not refresh the listing, like the next two methods. */
  has(name: string): boolean {
    return this.chosen(name).source !== undefined
  }

  chosen(name: string): Choice {
    return chosenIn(this.#snapshot, name)
  }

  /** Returns the tails of a source's path, other than its name, that find it, and those that are ambiguous. */
  tailsOf(source: Source) {
    const isOther = (tail: string) => ownerOf(this.#settings, this.#app, tail).app !== this.#app
    const tails = [...tailsOf(source.tail)].filter(tail => tail !== source.name && !isOther(tail))
    const chosen = tails.map(tail => ({ tail, ...this.chosen(tail) }))
    const own = chosen.filter(each => each.source?.file === source.file)
    const ambiguous = chosen.filter(each => each.warning !== undefined)
    return { own: own.map(({ tail }) => tail), ambiguous: ambiguous.map(({ tail }) => tail) }
  }

  async list(): Promise<readonly Listed[]> {
    await Promise.all([this.verify(), ...this.lists.map(each => each.verify())])
    return [...this.#snapshot.listed.values()]
  }

  /** Returns the sources that are never published, without refreshing the listing. */
  unpublished(): readonly Failure[] {
    return this.#snapshot.unusable
  }

  async compilers(): Promise<readonly Compiler[]> {
    return (await this.listOwn()).flatMap(({ compiler }) => compiler ?? [])
  }

  get directories(): readonly string[] {
    return this.#searched.map(({ dir }) => dir)
  }

  get loadPaths(): readonly string[] {
    const directories = this.#searched.flatMap(({ dir, at, tree }) => [
      dir,
      ...(at === undefined ? tree.folders.map(folder => join(dir, folder)) : [])
    ])
    return [...directories, ...this.nodeModules]
  }

  get generation(): number {
    const listed = this.lists.reduce((sum, { version }) => sum + version, 0)
    return this.#searched.reduce((sum, { tree }) => sum + tree.version + 1, listed)
  }

  get isCurrent(): boolean {
    return this.#searched.every(({ tree }) => tree.isCurrent)
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#searched.map(({ tree }) => tree.refresh()))
  }

  /** Brings the listing up to date by a stat of every folder: no event reports that a link leads elsewhere now. */
  async verify(): Promise<void> {
    await Promise.all(this.#searched.map(({ tree }) => tree.verify()))
  }

  async #verifyFor(name: string): Promise<void> {
    const lists = this.lists.filter(({ prefix }) => name.startsWith(prefix))
    await Promise.all([this.verify(), ...lists.map(each => each.verify())])
  }

  get #searched(): readonly Searched[] {
    const { sources } = this.#app
    const others = assetSources.list().filter(dir => sources.every(source => source.dir !== dir))
    return [...sources, ...others.map(this.#thirdParty)].map(this.#searchedAt)
  }

  get #snapshot(): Snapshot {
    // A file to which a stylesheet refers is added to a list without a new version.
    const of = [this.generation, ...this.lists.map(({ files }) => files)]
    if (this.#last && of.every((each, at) => each === this.#last?.of[at]))
      return this.#last.snapshot
    const places = this.#searched
    const own = places.map(({ tree, isIncluded, ...place }, from) => {
      const paths = [...tree.files()].filter(isIncluded)
      return paths.map(path => sourceAt(place, from, path, compilersFor(this.#app.compilers)))
    })
    const added = this.lists.map(({ files }, at) =>
      files.map(file => ({ ...file, from: places.length + at, path: file.name, tail: file.name }))
    )
    const hasTails = ({ from }: Source) =>
      this.#app.tails && from < places.length && places[from]?.at === undefined
    const snapshot = snapshotOf(this.#settings, this.#app, [...own, ...added], hasTails)
    this.#last = { snapshot, of }
    // Precompile reports these as errors.
    if (!this.#settings.isPrecompile)
      snapshot.unusable.forEach(({ error }) => this.#warn(error.message))
    return snapshot
  }

  /** Lists the sources in directories, without those of extras, which may depend on them. */
  async listOwn(): Promise<readonly Source[]> {
    await this.refresh()
    const all = Array.from(this.#snapshot.listed.values(), ({ source }) => source)
    return all.filter(({ from }) => from < this.#searched.length)
  }
}
