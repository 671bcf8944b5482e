// Finds the source of a name in the directories that an app searches.
import { join, relative, sep } from 'node:path'
import { isInside } from '../../files/disk.ts'
import { nodeModulesFrom } from '../compilers/compiler.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import {
  choose,
  clashOf,
  makeCatalog,
  tailsOf,
  type Candidates,
  type Catalog,
  type Choice,
  type Source
} from './catalog.ts'
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
  /** The sentence about these, or about a plain file that hides a source of the app's own. */
  readonly clash: string | undefined
  /** Sources of that name beside a plain file of the same name, and in directories that are searched later. */
  readonly shadowed: readonly Source[]
}

/** The sources of all apps. Apps that search the same directory share its listing. */
export class Sources {
  readonly of: (app: AppSettings) => AppSources
  readonly #apps: readonly AppSettings[]
  readonly #listeners = new Set<() => void>()

  /** @param warnOfClash for who reports several sources of one name by itself */
  constructor(settings: Settings, warn: (message: string) => void, warnOfClash = warn) {
    this.#apps = settings.apps
    const announce = () => this.#listeners.forEach(listener => listener())
    const treeOf = memoized((directory: string) => new Tree(directory, settings.symlinks, announce))
    this.of = memoized(app => new AppSources(app, settings.root, treeOf, { warn, warnOfClash }))
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

export function memoized<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return key => {
    const value = known.get(key) ?? make(key)
    known.set(key, value)
    return value
  }
}

/** The sources of one app. */
export class AppSources {
  /** Directories of packages: the nearest first. */
  readonly packages: readonly string[]
  readonly #app: AppSettings
  readonly #treeOf: (directory: string) => Tree
  readonly #warnings: Warnings
  #searched: { readonly trees: readonly Tree[]; readonly count: number } | undefined
  readonly #catalogs = new Map<Tree, { readonly version: number; readonly catalog: Catalog }>()

  constructor(
    app: AppSettings,
    root: string,
    treeOf: (directory: string) => Tree,
    warnings: Warnings
  ) {
    this.#app = app
    this.#treeOf = treeOf
    this.#warnings = warnings
    this.packages = nodeModulesFrom(root)
  }

  /**
   * The source of a name, after refreshing the listing. A name that is not found is looked up again
   * after verifying it.
   * @param skipped files that turned out to be unreadable
   */
  async find(name: string, skipped?: ReadonlySet<string>): Promise<Source | undefined> {
    for (const update of [() => this.refresh(), () => this.verify()]) {
      await update()
      const { source, clash, warning } = choose(name, this.#candidates(name, skipped))
      if (clash) this.#warnings.warnOfClash(clash)
      if (warning) this.#warnings.warn(warning)
      if (source) return source
    }
    return undefined
  }

  /** The source that has `path` as its tail: `<directory>/a/app.css` is that of `a/app.css.scss`. */
  async findAt(path: string): Promise<Source | undefined> {
    const tree = this.#trees.find(({ directory }) => isInside(directory, path))
    if (!tree) return undefined
    await this.refresh()
    const tail = relative(tree.directory, path).split(sep).join('/')
    const { byTail } = this.#catalogOf(tree)
    return byTail.get(tail)?.find(source => source.tail === tail)
  }

  /** What is found for a name, and what each directory has for it, in search order. */
  async explain(name: string): Promise<Choice & { readonly candidates: readonly Candidates[] }> {
    await this.verify()
    const candidates = this.#candidates(name)
    return { ...choose(name, candidates), candidates }
  }

  /** Whether there is a source of the name, by the listing as it is now. */
  has(name: string): boolean {
    return choose(name, this.#candidates(name)).source !== undefined
  }

  /** Every name that can be published. */
  async list(): Promise<readonly Listed[]> {
    await this.verify()
    const app = this.#app
    const listed = new Map<string, Listed & { readonly shadowed: Source[] }>()
    this.#trees.forEach((tree, from) => {
      const { byName, hidden } = this.#catalogOf(tree)
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
    return this.#trees.map(tree => tree.directory)
  }

  /** Directories in which a compiler may find imports, in order; packages come last. */
  get loadPaths(): readonly string[] {
    const directories = this.#trees.flatMap(({ directory, folders }) => [
      directory,
      ...folders.map(folder => join(directory, folder))
    ])
    return [...directories, ...this.packages]
  }

  /** A number that grows with every change of the set of files. */
  get generation(): number {
    return this.#trees.reduce((sum, tree) => sum + tree.version + 1, 0)
  }

  /** Whether the listing is known to be current without reading the disk. */
  get isCurrent(): boolean {
    return this.#trees.every(tree => tree.isCurrent)
  }

  /** Brings the listing up to date from file-system events where they are available. */
  async refresh(): Promise<void> {
    await Promise.all(this.#trees.map(tree => tree.refresh()))
  }

  /** Brings the listing up to date from the stat of every folder: no event reports a retargeted link. */
  async verify(): Promise<void> {
    await Promise.all(this.#trees.map(tree => tree.verify()))
  }

  get #trees(): readonly Tree[] {
    if (this.#searched?.count !== thirdParty.length) {
      const trees = Array.from(new Set([...this.#app.sources, ...thirdParty]), this.#treeOf)
      this.#searched = { trees, count: thirdParty.length }
    }
    return this.#searched.trees
  }

  #catalogOf(tree: Tree): Catalog {
    const known = this.#catalogs.get(tree)
    if (known?.version === tree.version) return known.catalog
    const catalog = makeCatalog(tree.directory, tree.files(), this.#app.compilers)
    this.#catalogs.set(tree, { version: tree.version, catalog })
    return catalog
  }

  #candidates(name: string, skipped?: ReadonlySet<string>): readonly Candidates[] {
    const left = (list: readonly Source[] = []) => list.filter(({ file }) => !skipped?.has(file))
    return this.#trees.map((tree, from) => {
      const { byName, byTail, hidden } = this.#catalogOf(tree)
      return {
        directory: tree.directory,
        named: left(byName.get(name)),
        tailed: this.#app.tails ? left(byTail.get(name)) : [],
        // Packages ship what they compiled beside its source on purpose.
        hidden: from === 0 ? (hidden.get(name) ?? []) : []
      }
    })
  }
}
