// Holds the sources of all apps.
import { firstAnswer } from '../../concurrency.ts'
import { matcherOf } from '../../files/paths.ts'
import type { MakeSourceList, Project } from '../parts.ts'
import type { SourceDirectory } from '../settings/app-settings.ts'
import type { AppSettings } from '../settings/settings.ts'
import { AppSources } from './app-sources.ts'
import { memoized } from './catalog.ts'
import { Tree } from './tree.ts'

export async function loadSources(
  project: Project,
  warn: (message: string) => void
): Promise<Sources> {
  const makers = await Promise.all(project.extras.map(async extra => extra.sources?.make(project)))
  const made = makers.filter(each => each !== undefined)
  return new Sources(project, warn, made)
}

/** Watches the sources until `use` is over: on Windows a directory that is watched can be neither removed nor renamed. */
export async function withSources<T>(
  project: Project,
  warn: (message: string) => void,
  use: (sources: Sources) => Promise<T>
): Promise<T> {
  const sources = await loadSources(project, warn)
  try {
    return await use(sources)
  } finally {
    sources.unwatch()
  }
}

/** The sources of all apps. Apps that search the same directory share its listing. */
export class Sources {
  readonly of: (app: AppSettings) => AppSources
  readonly #project: Project
  readonly #listeners = new Set<() => void>()
  readonly #trees: Tree[] = []

  constructor(
    project: Project,
    warn: (message: string) => void,
    makers: readonly MakeSourceList[]
  ) {
    this.#project = project
    const announce = () => this.#listeners.forEach(listener => listener())
    const treeOf = memoized((key: string) => {
      const { dir, exclude } = JSON.parse(key) as SourceDirectory
      const tree = new Tree(dir, project.symlinks, announce, exclude && matcherOf(exclude))
      this.#trees.push(tree)
      return tree
    })
    const listed = ({ dir, exclude }: SourceDirectory) => treeOf(JSON.stringify({ dir, exclude }))
    this.of = memoized(app => new AppSources(app, project, listed, makers, warn))
  }

  /** Returns how the module of a bare specifier could be published; undefined if no extra can tell. */
  adviceOn(app: AppSettings, specifier: string): Promise<string | undefined> {
    return firstAnswer(this.#project.extras, each =>
      each.sources?.advise?.(app, specifier, this.#project)
    )
  }

  /** Returns the name of another app that has a name. */
  async otherWith(app: AppSettings, name: string): Promise<string | undefined> {
    await this.#refresh()
    return this.#project.apps.find(each => each !== app && this.of(each).has(name))?.name
  }

  /** Returns why a source that would be at a path is never published there. */
  async unpublishedAt(path: string): Promise<string | undefined> {
    await this.#refresh()
    const all = this.#project.apps.flatMap(app => this.of(app).unpublished())
    return all.find(each => each.path === path)?.error.message
  }

  async #refresh(): Promise<void> {
    await Promise.all(this.#project.apps.map(app => this.of(app).refresh()))
  }

  /** A number that grows with every change of the set of files. */
  get generation(): number {
    return this.#project.apps.reduce((sum, app) => sum + this.of(app).generation, 0)
  }

  /** True if all listings are known to be current without reading the disk. */
  get isCurrent(): boolean {
    return this.#project.apps.every(app => this.of(app).isCurrent)
  }

  /**
   * Calls `listener` when something may have changed in a directory that was searched before.
   * @returns a function that ends this
   */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Ends all watching. */
  unwatch(): void {
    for (const tree of this.#trees) tree.unwatch()
  }
}
