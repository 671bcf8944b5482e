// Holds the sources of all apps, and finds the source of a name.
import type { Warn } from '../../runtime/errors.ts'
import { memoized } from '../../runtime/concurrency.ts'
import { matcherOf } from '../../runtime/files/paths.ts'
import type { MakeSourceList, Project } from '../../runtime/app/extra.ts'
import { appAt, type AppSettings, type SourceDirectory } from '../../runtime/settings/apps.ts'
import { Tree } from './tree.ts'
import { AppSources } from './app-sources.ts'

export async function loadSources(project: Project, warn: Warn): Promise<Sources> {
  const made = await Promise.all(project.extras.map(async extra => extra.sources?.make(project)))
  const makers = made.filter(each => each !== undefined)
  return new Sources(project, warn, makers)
}

/** Watches the sources only until `use` ends: on Windows a watched directory can be neither removed nor renamed. */
export async function withSources<T>(
  project: Project,
  warn: Warn,
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
  readonly #listeners = new Set<(path?: string) => void>()
  readonly #trees: Tree[] = []

  constructor(project: Project, warn: Warn, makers: readonly MakeSourceList[]) {
    this.#project = project
    const announce = (path?: string) => this.#listeners.forEach(listener => listener(path))
    const treeOf = memoized((key: string) => {
      const { dir, exclude } = JSON.parse(key) as SourceDirectory
      const tree = new Tree(dir, project.symlinks, announce, exclude && matcherOf(exclude))
      this.#trees.push(tree)
      return tree
    })
    const listed = ({ dir, exclude }: SourceDirectory) => treeOf(JSON.stringify({ dir, exclude }))
    this.of = memoized(app => new AppSources(app, project, listed, makers, warn))
  }

  get #all(): readonly AppSources[] {
    return this.#project.apps.map(this.of)
  }

  /** Tells whether the path of a request finds a source: by its name, or in development by a tail. */
  has(path: string): boolean {
    const app = appAt(this.#project, path)
    return app !== undefined && this.of(app).has(path.slice(app.urlPrefix.length + 1))
  }

  async otherWith(app: AppSettings, name: string): Promise<string | undefined> {
    await Promise.all(this.#all.map(each => each.refresh()))
    return this.#project.apps.find(each => each !== app && this.of(each).has(name))?.name
  }

  /** Returns the reason why the source at a path is never published. */
  async unpublishedAt(path: string): Promise<string | undefined> {
    await Promise.all(this.#all.map(each => each.refresh()))
    const all = this.#all.flatMap(each => each.unpublished())
    return all.find(each => each.path === path)?.error.message
  }

  get generation(): number {
    return this.#all.reduce((sum, { generation }) => sum + generation, 0)
  }

  get isCurrent(): boolean {
    return this.#all.every(({ isCurrent }) => isCurrent)
  }

  /** Calls `listener` when something may have changed in a directory. @returns a function that ends this */
  onEvent(listener: (path?: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  unwatch(): void {
    for (const tree of this.#trees) tree.unwatch()
  }
}
