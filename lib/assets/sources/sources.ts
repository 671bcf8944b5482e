// From a name to the file that a person wrote.
import { join } from 'node:path'
import { makeCatalog, type Catalog, type Source } from './catalog.ts'
import { choose, type Candidates } from './choose-source.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import { thirdParty } from './third-party.ts'
import { Tree } from './tree.ts'

export type { Source } from './catalog.ts'

export interface Sources {
  /**
   * The source of a name; the listing is brought up to date first.
   * @param passedOver files that turned out not to be readable
   */
  find(
    app: AppSettings,
    name: string,
    passedOver?: ReadonlySet<string>
  ): Promise<Source | undefined>
  /** The source that has just this tail, or path, in one directory. */
  findTail(app: AppSettings, directory: string, tail: string): Promise<Source | undefined>
  /** What each directory has for a name, in the order in which they are searched. */
  candidates(app: AppSettings, name: string): Promise<readonly Candidates[]>
  /** Every name that can be published, with the source that it leads to. */
  list(app: AppSettings): Promise<readonly Listed[]>
  /** All directories that the app searches, in order. */
  directories(app: AppSettings): readonly string[]
  /** One number for one state of all that the app searches. */
  generation(app: AppSettings): number
  /** Whether the listing is known to be up to date, without a look at the disk. */
  isCurrent(app: AppSettings): boolean
  /** Brings the listing up to date; where events tell of nothing it costs no look at the disk. */
  refresh(app: AppSettings): Promise<void>
  /** The same, but asks the disk about every folder: a link may lead elsewhere without an event. */
  verify(app: AppSettings): Promise<void>
  /** Directories in which a compiler may find imports, in order; the project's packages come last. */
  loadPaths(app: AppSettings): readonly string[]
}

/** A name, its source, and where it was found. */
export interface Listed {
  readonly name: string
  readonly source: Source
  /** The position of its directory in the order of search; 0 is the app's own. */
  readonly from: number
  /** Other sources of that name in the same directory. */
  readonly rivals: readonly Source[]
}

export function makeSources(settings: Settings, warn: (message: string) => void): Sources {
  const trees = new Map<string, Tree>()
  const catalogs = new Map<string, { version: number; catalog: Catalog }>()

  const treeOf = (directory: string): Tree => {
    const known = trees.get(directory)
    if (known) return known
    const tree = new Tree(directory, settings.symlinks)
    trees.set(directory, tree)
    return tree
  }

  const searched = new Map<string, { length: number; trees: readonly Tree[] }>()

  const treesOf = (app: AppSettings): readonly Tree[] => {
    const known = searched.get(app.name)
    if (known?.length === thirdParty.length) return known.trees
    const trees = [...new Set([...app.sources, ...thirdParty])].map(treeOf)
    searched.set(app.name, { length: thirdParty.length, trees })
    return trees
  }

  const catalogOf = (app: AppSettings, tree: Tree): Catalog => {
    const key = `${app.name}\0${tree.directory}`
    const known = catalogs.get(key)
    if (known?.version === tree.version) return known.catalog
    const catalog = makeCatalog(tree.directory, tree.files(), app.compilers)
    catalogs.set(key, { version: tree.version, catalog })
    return catalog
  }

  const candidatesOf = (app: AppSettings, name: string): readonly Candidates[] =>
    treesOf(app).map(tree => {
      const { byName, byTail } = catalogOf(app, tree)
      const { directory } = tree
      const tailed = app.tails ? (byTail.get(name) ?? []) : []
      return { directory, named: byName.get(name) ?? [], tailed }
    })

  const lookUp = (
    app: AppSettings,
    name: string,
    passedOver?: ReadonlySet<string>
  ): Source | undefined => {
    const all = candidatesOf(app, name)
    const { source, warning } = choose(name, passedOver?.size ? without(all, passedOver) : all)
    if (warning) warn(warning)
    return source
  }

  const refresh = async (app: AppSettings, thorough: boolean): Promise<void> => {
    await Promise.all(treesOf(app).map(tree => tree.refresh({ thorough })))
  }

  return {
    async find(app, name, passedOver) {
      await refresh(app, false)
      const found = lookUp(app, name, passedOver)
      if (found) return found
      await refresh(app, true)
      return lookUp(app, name, passedOver)
    },
    async candidates(app, name) {
      await refresh(app, true)
      return candidatesOf(app, name)
    },
    async findTail(app, directory, tail) {
      await refresh(app, false)
      const tree = treesOf(app).find(candidate => candidate.directory === directory)
      const all = tree ? catalogOf(app, tree).byTail.get(tail) : undefined
      return all?.find(source => source.tail === tail)
    },
    async list(app) {
      await refresh(app, true)
      const listed = new Map<string, Listed>()
      treesOf(app).forEach((tree, from) => {
        for (const [name, [source, ...rivals]] of catalogOf(app, tree).byName) {
          if (source && !listed.has(name)) listed.set(name, { name, source, from, rivals })
        }
      })
      return [...listed.values()]
    },
    directories: app => treesOf(app).map(tree => tree.directory),
    generation: app => treesOf(app).reduce((sum, tree) => sum + tree.version + 1, 0),
    isCurrent: app => treesOf(app).every(tree => tree.isCurrent),
    refresh: app => refresh(app, false),
    verify: app => refresh(app, true),
    loadPaths(app) {
      const directories = treesOf(app).flatMap(tree => [
        tree.directory,
        ...tree.folders.map(folder => join(tree.directory, folder))
      ])
      return [...directories, join(settings.root, 'node_modules')]
    }
  }
}

function without(all: readonly Candidates[], passedOver: ReadonlySet<string>): Candidates[] {
  const isLeft = ({ file }: Source) => !passedOver.has(file)
  return all.map(({ directory, named, tailed }) => ({
    directory,
    named: named.filter(isLeft),
    tailed: tailed.filter(isLeft)
  }))
}
