// Finds the source of a name in the directories that an app searches.
import { join, posix, relative, sep } from 'node:path'
import { isInside } from '../../files/disk.ts'
import { matcherOf } from '../../globs.ts'
import { nodeModulesFrom } from '../compilers/compiler.ts'
import type { SourceDirectory } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import {
  choose,
  clashOf,
  Searched,
  type Candidates,
  type Choice,
  type Source,
  memoized
} from './catalog.ts'
import { tailsOf } from '../urls/canonical-path.ts'
import { AppPackages } from './packages.ts'
import { thirdParty } from './third-party.ts'
import { Tree } from './tree.ts'

/** A name of an app, and the source that is published under it. */
export interface Asset {
  readonly app: AppSettings
  readonly name: string
  readonly source: Source
}

/** An asset, and where its source was found. */
export interface Listed extends Asset {
  /** The position of its directory in the search order; 0 is the app's own. */
  readonly from: number
  /** Other sources of that name in the same directory. */
  readonly rivals: readonly Source[]
  /** The message about these, or about a plain file that hides a source of the app's own. */
  readonly clash: string | undefined
  /** Sources of that name beside a plain file of the same name, and in directories that are searched later. */
  readonly shadowed: readonly Source[]
}

/** The sources of all apps. Apps that search the same directory share its listing. */
export class Sources {
  readonly of: (app: AppSettings) => AppSources
  readonly #apps: readonly AppSettings[]
  readonly #listeners = new Set<() => void>()

  /** @param warnOfClash false for a caller that reports several sources of one name itself */
  constructor(settings: Settings, warn: (message: string) => void, warnOfClash = warn) {
    this.#apps = settings.apps
    const announce = () => this.#listeners.forEach(listener => listener())
    const treeOf = memoized((key: string) => {
      const { dir, exclude = [] } = JSON.parse(key) as SourceDirectory
      return new Tree(dir, settings.symlinks, announce, matcherOf(exclude))
    })
    const listed = ({ dir, exclude }: SourceDirectory) => treeOf(JSON.stringify({ dir, exclude }))
    this.of = memoized(app => new AppSources(app, settings, listed, { warn, warnOfClash }))
  }

  /** A number that grows with every change of the set of files. */
  get generation(): number {
    return this.#apps.reduce((sum, app) => sum + this.of(app).generation, 0)
  }

  /** Whether all listings are known to be current without reading the disk. */
  get isCurrent(): boolean {
    return this.#apps.every(app => this.of(app).isCurrent)
  }

  /**
   * Calls `listener` when something may have changed in a directory that was searched before.
   * @returns ends it
   */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

type Warnings = Readonly<Record<'warn' | 'warnOfClash', (message: string) => void>>

/** The sources of one app. */
export class AppSources {
  /** Directories of packages: the nearest first. */
  readonly nodeModules: readonly string[]
  readonly packages: AppPackages | undefined
  readonly #app: AppSettings
  readonly #treeOf: (source: SourceDirectory) => Tree
  readonly #warnings: Warnings
  #searched: { readonly places: readonly Searched[]; readonly count: number } | undefined

  constructor(
    app: AppSettings,
    settings: Settings,
    treeOf: (source: SourceDirectory) => Tree,
    warnings: Warnings
  ) {
    this.#app = app
    this.#treeOf = treeOf
    this.#warnings = warnings
    this.nodeModules = nodeModulesFrom(settings.root)
    const hasPackages = app.packages.length > 0
    this.packages = hasPackages ? new AppPackages(app, settings, () => this.#listOwn()) : undefined
  }

  /**
   * The source for a name, after refreshing the listing. A name that is not found is looked up again after the
   * listing has been verified.
   * @param skipped files that turned out to be unreadable
   */
  async find(name: string, skipped?: ReadonlySet<string>): Promise<Source | undefined> {
    const packages = AppPackages.owns(name) ? this.packages : undefined
    for (const update of ['refresh', 'verify'] as const) {
      await Promise.all([this[update](), packages?.[update]()])
      const { source, clash, warning } = choose(name, this.#candidates(name, skipped))
      if (clash) this.#warnings.warnOfClash(clash)
      if (warning) this.#warnings.warn(warning)
      if (source) return source
    }
    return undefined
  }

  /** The source that has `path` as its tail: `<directory>/a/app.css` is that of `a/app.css.scss`. */
  async findAt(path: string): Promise<Source | undefined> {
    const places = this.#places.filter(({ source }) => isInside(source.dir, path))
    if (places.length === 0) return this.packages?.findAt(path)
    await this.refresh()
    const found = places.map(({ source: { dir, at = '' }, catalog }) => {
      const tail = posix.join(at, relative(dir, path).split(sep).join('/'))
      return catalog.byTail.get(tail)?.find(source => source.tail === tail)
    })
    return found.find(source => source !== undefined)
  }

  /** What is found for a name, and what each directory has for it, in search order. */
  async explain(name: string): Promise<Choice & { readonly candidates: readonly Candidates[] }> {
    await Promise.all([this.verify(), AppPackages.owns(name) && this.packages?.verify()])
    const candidates = this.#candidates(name)
    return { ...choose(name, candidates), candidates }
  }

  /** Whether there is a source of the name, by the listing as it is now. */
  has(name: string): boolean {
    return choose(name, this.#candidates(name)).source !== undefined
  }

  /** Every name that can be published. */
  async list(): Promise<readonly Listed[]> {
    await Promise.all([this.verify(), this.packages?.verify()])
    const app = this.#app
    const listed = new Map<string, Listed & { readonly shadowed: Source[] }>()
    this.#places.forEach((place, from) => {
      const { byName, hidden } = place.catalog
      for (const [name, [source, ...rivals]] of byName) {
        const [first, beside] = [listed.get(name), hidden.get(name) ?? []]
        if (!source) continue
        if (first) first.shadowed.push(source, ...rivals, ...beside)
        else {
          const clash = clashOf(name, [source, ...rivals], from === 0 ? beside : [])
          listed.set(name, { app, name, source, from, rivals, clash, shadowed: [...beside] })
        }
      }
    })
    for (const [name, source] of this.packages?.sources ?? []) {
      const [first, from] = [listed.get(name), this.#places.length]
      if (first) first.shadowed.push(source)
      else listed.set(name, { app, name, source, from, rivals: [], clash: undefined, shadowed: [] })
    }
    return [...listed.values()]
  }

  /** Tails of a source's path, other than its name, that find it in the listing, and that are ambiguous. */
  tailsOf(source: Source) {
    const [own, ambiguous]: [string[], string[]] = [[], []]
    for (const tail of tailsOf(source.tail)) {
      if (tail === source.name) continue
      const { source: found, warning } = choose(tail, this.#candidates(tail))
      if (found?.file === source.file) own.push(tail)
      else if (!found && warning !== undefined) ambiguous.push(tail)
    }
    return { own, ambiguous }
  }

  /** All directories that the app searches, in order. */
  get directories(): readonly string[] {
    return this.#places.map(({ source }) => source.dir)
  }

  /** Directories in which a compiler may find imports, in order; packages come last. */
  get loadPaths(): readonly string[] {
    const directories = this.#places.flatMap(({ source: { dir, at }, tree }) => [
      dir,
      ...(at === undefined ? tree.folders.map(folder => join(dir, folder)) : [])
    ])
    return [...directories, ...this.nodeModules]
  }

  /** A number that grows with every change of the set of files. */
  get generation(): number {
    const packages = this.packages?.version ?? 0
    return this.#places.reduce((sum, { tree }) => sum + tree.version + 1, packages)
  }

  /** Whether the listing is known to be current without reading the disk. */
  get isCurrent(): boolean {
    return this.#places.every(({ tree }) => tree.isCurrent)
  }

  /** Brings the listing up to date from file-system events where they are available. */
  async refresh(): Promise<void> {
    await Promise.all(this.#places.map(({ tree }) => tree.refresh()))
  }

  /** Brings the listing up to date from the stat of every folder: no event reports a retargeted link. */
  async verify(): Promise<void> {
    await Promise.all(this.#places.map(({ tree }) => tree.verify()))
  }

  get #places(): readonly Searched[] {
    if (this.#searched?.count !== thirdParty.length) {
      const { sources, compilers } = this.#app
      const others = thirdParty.filter(dir => sources.every(source => source.dir !== dir))
      const all = [...sources, ...others.map(dir => ({ dir }))]
      const places = all.map(source => new Searched(source, this.#treeOf(source), compilers))
      this.#searched = { places, count: thirdParty.length }
    }
    return this.#searched.places
  }

  #candidates(name: string, skipped?: ReadonlySet<string>): readonly Candidates[] {
    const left = (list: readonly Source[] = []) => list.filter(({ file }) => !skipped?.has(file))
    const inTrees = this.#places.map((place, from) => {
      const { byName, byTail, hidden } = place.catalog
      return {
        directory: place.source.dir,
        named: left(byName.get(name)),
        tailed: this.#app.tails ? left(byTail.get(name)) : [],
        // Packages ship what they compiled beside its source on purpose.
        hidden: from === 0 ? (hidden.get(name) ?? []) : []
      }
    })
    const inPackages = this.packages?.candidates(name)
    return inPackages ? [...inTrees, { ...inPackages, named: left(inPackages.named) }] : inTrees
  }

  /** What may import from packages. */
  async #listOwn(): Promise<readonly Source[]> {
    await this.refresh()
    return this.#places.flatMap(({ catalog }) => [...catalog.byName.values()].flat())
  }
}
