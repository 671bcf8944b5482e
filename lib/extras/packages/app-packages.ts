// The files of packages that an app publishes: a listing that is made by following what they import.
import { isDeepStrictEqual } from 'node:util'
import { oneAtATime } from '../../concurrency.ts'
import { digestOf } from '../../files/digest.ts'
import { realpathOf } from '../../files/disk.ts'
import { observeAll, recheck, type Observation } from '../../files/observation.ts'
import type { Graph, Script } from './graph.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import type { Source } from '../../assets/sources/catalog.ts'

/** All names of files of packages begin with it. */
const FOLDER = 'npm/'

export class AppPackages {
  /** Grows with every change of the set of files. */
  version = 0
  /** The last one that could be made. */
  graph: Graph | undefined
  /** For what import maps contain. */
  digest = ''
  readonly #app: AppSettings
  readonly #settings: { readonly root: string; readonly env: string }
  readonly #own: () => Promise<readonly Source[]>
  #inputs: readonly Observation[] | undefined
  #walked: readonly Script[] = []
  #failure: unknown

  /** @param own lists the sources of the app itself: its scripts import from packages as well */
  constructor(
    app: AppSettings,
    settings: { readonly root: string; readonly env: string },
    own: () => Promise<readonly Source[]>
  ) {
    this.#app = app
    this.#settings = settings
    this.#own = own
  }

  /** Whether the name can only be one of these. */
  static owns(name: string): boolean {
    return name.startsWith(FOLDER)
  }

  /**
   * For pages; undefined until it is made.
   * @throws AssetError for a package that a browser cannot import
   */
  get current(): Graph | undefined {
    if (this.#failure !== undefined) throw this.#failure
    return this.graph
  }

  /** Makes the listing, unless it exists. */
  async refresh(): Promise<void> {
    if (!this.graph) await this.verify()
  }

  /**
   * Brings the listing up to date from a stat of everything that it was made from.
   * @throws AssetError for a package that a browser cannot import
   */
  readonly verify = oneAtATime(async () => {
    const own = (await this.#own()).filter(({ name }) => /\.m?js$/i.test(name))
    const scripts = own.map(({ name, file }) => ({ name, file }))
    const hasSameScripts = isDeepStrictEqual(scripts, this.#walked)
    if (hasSameScripts && this.#inputs && (await isUnchanged(this.#inputs))) return
    this.#inputs = undefined
    const packages = await import('./graph.ts')
    const graph = new packages.Graph(this.#app, this.#settings)
    try {
      await graph.walk(scripts)
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
      throw error
    }
    const { imports, scopes, looked, read } = graph
    this.#inputs = [...(await observeAll(looked)), ...read]
    this.#walked = scripts
    const before = this.sourcesFrom(0)
    this.graph = graph
    if (!isDeepStrictEqual(this.sourcesFrom(0), before)) this.version++
    const entries = Array.from(scopes, ([folder, scope]) => [folder, ...scope])
    this.digest = digestOf(JSON.stringify([...imports, entries]))
  })

  /** The name of the file that a path leads to, through any links. */
  async nameAt(path: string): Promise<string | undefined> {
    await this.refresh()
    const real = await realpathOf(path)
    return [...(this.graph?.files.values() ?? [])].find(({ file }) => file === real)?.name
  }

  /** The name that a bare specifier means. @param name of the importer */
  async named(specifier: string, name: string): Promise<string | undefined> {
    await this.refresh()
    const folder = this.graph?.files.get(name)?.of.folder
    const scope = this.graph?.scopes.get(folder ?? '')
    return scope?.get(specifier) ?? this.graph?.imports.get(specifier)
  }

  /** All files. @param from the position of packages in the search order */
  sourcesFrom(from: number): Source[] {
    const [files, imports] = [
      [...(this.graph?.files.values() ?? [])],
      [...(this.graph?.imports ?? [])]
    ]
    return files.map(({ name, file, of }) => {
      const meant = imports.flatMap(([specifier, to]) => (to === name ? specifier : []))
      const specifiers = meant.length > 0 ? meant : undefined
      const { directory } = of
      return {
        file,
        directory,
        from,
        path: name,
        tail: name,
        name,
        compiler: undefined,
        specifiers
      }
    })
  }
}

async function isUnchanged(inputs: readonly Observation[]): Promise<boolean> {
  return (await Promise.all(inputs.map(recheck))).every(Boolean)
}
