// Finds the source of a name in the directories that an app searches.
import { join, relative, sep } from 'node:path'
import { isInside } from '../../files/disk.ts'
import { nodeModulesFrom } from '../compilers/peers.ts'
import {
  choose,
  makeCatalog,
  tailsOf,
  type Candidates,
  type Catalog,
  type Source
} from './catalog.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
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
  /** Sources of that name beside a plain file of the same name, and in directories that are searched later. */
  readonly shadowed: readonly Source[]
}

/** A tail of a source's path. */
export interface Tail {
  readonly name: string
  /** `ambiguous`: several sources of the directory have it. `taken`: it finds another source. */
  readonly finds: 'this source' | 'ambiguous' | 'taken'
}

/** The sources of all apps. Apps that search the same directory share its listing. */
export class Sources {
  readonly of: (app: AppSettings) => AppSources
  readonly #apps: readonly AppSettings[]
  readonly #listeners = new Set<() => void>()

  constructor(settings: Settings, warn: (message: string) => void) {
    this.#apps = settings.apps
    const announce = () => this.#listeners.forEach(listener => listener())
    const treeOf = memoized((directory: string) => new Tree(directory, settings.symlinks, announce))
    this.of = memoized(app => new AppSources(app, settings.root, treeOf, warn))
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

function memoized<K, V>(make: (key: K) => V): (key: K) => V {
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
  readonly #warn: (message: string) => void
  readonly #catalogs = new Map<Tree, { readonly version: number; readonly catalog: Catalog }>()

  constructor(
    app: AppSettings,
    root: string,
    treeOf: (directory: string) => Tree,
    warn: (message: string) => void
  ) {
    this.#app = app
    this.packages = nodeModulesFrom(root)
    this.#treeOf = treeOf
    this.#warn = warn
  }

  /**
   * The source of a name, after refreshing the listing. A name that is not found is looked up again
   * after verifying it.
   * @param skipped files that turned out to be unreadable
   */
  async find(name: string, skipped?: ReadonlySet<string>): Promise<Source | undefined> {
    await this.refresh()
    const source = this.#choose(name, skipped)
    if (source) return source
    await this.verify()
    return this.#choose(name, skipped)
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

  /** What each directory has for a name, in search order. */
  async candidates(name: string): Promise<readonly Candidates[]> {
    await this.verify()
    return this.#candidates(name)
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
        else listed.set(name, { app, name, source, from, rivals, shadowed: [...beside] })
      }
    })
    return [...listed.values()]
  }

  /** What each tail of a source's path, other than its name, finds in the listing. */
  tailsOf(source: Source): Tail[] {
    const tails = [...tailsOf(source.tail)].filter(tail => tail !== source.name)
    return tails.flatMap((name): Tail[] => {
      const { source: found, warning } = choose(name, this.#candidates(name))
      if (found?.file === source.file) return [{ name, finds: 'this source' }]
      if (found) return [{ name, finds: 'taken' }]
      return warning === undefined ? [] : [{ name, finds: 'ambiguous' }]
    })
  }

  /** All directories that the app searches, in order. */
  get directories(): readonly string[] {
    return this.#trees.map(tree => tree.directory)
  }

  /** Directories in which a compiler may find imports, in order; packages come last. */
  get loadPaths(): readonly string[] {
    const directories = this.#trees.flatMap(tree => [
      tree.directory,
      ...tree.folders.map(folder => join(tree.directory, folder))
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
    return Array.from(new Set([...this.#app.sources, ...thirdParty]), this.#treeOf)
  }

  #catalogOf(tree: Tree): Catalog {
    const known = this.#catalogs.get(tree)
    if (known?.version === tree.version) return known.catalog
    const catalog = makeCatalog(tree.directory, tree.files(), this.#app.compilers)
    this.#catalogs.set(tree, { version: tree.version, catalog })
    return catalog
  }

  #candidates(name: string, skipped?: ReadonlySet<string>): readonly Candidates[] {
    const isLeft = ({ file }: Source) => !skipped?.has(file)
    return this.#trees.map((tree, from) => {
      const { byName, byTail, hidden } = this.#catalogOf(tree)
      const tailed = this.#app.tails ? (byTail.get(name) ?? []) : []
      return {
        directory: tree.directory,
        named: byName.get(name)?.filter(isLeft) ?? [],
        tailed: tailed.filter(isLeft),
        // Packages ship what they compiled beside its source on purpose.
        hidden: from === 0 ? (hidden.get(name) ?? []) : []
      }
    })
  }

  #choose(name: string, skipped?: ReadonlySet<string>): Source | undefined {
    const { source, warning } = choose(name, this.#candidates(name, skipped))
    if (warning) this.#warn(warning)
    return source
  }
}
