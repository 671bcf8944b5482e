// Lists the files of packages that an app publishes, by following what they import.
import { isDeepStrictEqual } from 'node:util'
import { oneAtATime } from '../../concurrency.ts'
import { digestOf } from '../../files/digest.ts'
import { realpathOf } from '../../files/disk.ts'
import { observeAll, recheck, type Observation } from '../../files/observation.ts'
import { Graph, type GraphSettings, type Script } from './graph.ts'
import type { KnownImports, SourceList, SourceFile } from '../../assets/parts.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'

/** The names of files of packages begin with this. */
const FOLDER = 'npm/'

export class AppPackages implements SourceList {
  readonly place = 'node_modules'
  version = 0
  digest = ''
  files: readonly SourceFile[] = []
  /** The last graph that could be made. */
  #graph: Graph | undefined
  readonly #app: AppSettings
  readonly #settings: GraphSettings
  readonly #own: () => Promise<readonly Script[]>
  #inputs: readonly Observation[] | undefined
  #walked: readonly Script[] = []
  #failure: unknown

  /** @param own lists the sources of the app itself: its scripts import from packages as well */
  constructor(app: AppSettings, settings: GraphSettings, own: () => Promise<readonly Script[]>) {
    this.#app = app
    this.#settings = settings
    this.#own = own
  }

  owns(name: string): boolean {
    return name.startsWith(FOLDER)
  }

  get imports(): KnownImports | undefined {
    if (this.#failure !== undefined) throw this.#failure
    return this.#graph
  }

  /** Everything from which the list was made is compared by a stat. */
  readonly verify = oneAtATime(async () => {
    const own = (await this.#own()).filter(({ name }) => /\.m?js$/i.test(name))
    const scripts = own.map(({ name, file }) => ({ name, file }))
    const hasSameScripts = isDeepStrictEqual(scripts, this.#walked)
    if (hasSameScripts && this.#inputs && (await isUnchanged(this.#inputs))) return
    this.#inputs = undefined
    const graph = new Graph(this.#app, this.#settings)
    try {
      await graph.walk(scripts)
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
      throw error
    }
    const { everywhere, scopes, links, looked, read } = graph
    this.#inputs = [...(await observeAll(looked)), ...read]
    this.#walked = scripts
    const files = filesOf(graph)
    if (!isDeepStrictEqual(files, this.files)) this.version++
    this.files = files
    this.#graph = graph
    const entries = Array.from(scopes, ([folder, scope]) => [folder, ...scope])
    this.digest = digestOf(JSON.stringify([...everywhere, entries, ...links]))
  })

  async nameAt(path: string): Promise<string | undefined> {
    if (!this.#graph) await this.verify()
    const real = await realpathOf(path)
    return this.files.find(({ file }) => file === real)?.name
  }

  async named(specifier: string, importer: string): Promise<string | undefined> {
    if (!this.#graph) await this.verify()
    const folder = this.#graph?.files.get(importer)?.of.folder
    const scope = this.#graph?.scopes.get(folder ?? '')
    return scope?.get(specifier) ?? this.#graph?.everywhere.get(specifier)
  }
}

function filesOf({ files, everywhere }: Graph): SourceFile[] {
  return Array.from(files.values(), ({ name, file, of: { directory, folder } }) => {
    const meant = [...everywhere].flatMap(([specifier, to]) => (to === name ? specifier : []))
    const specifiers = meant.length > 0 ? meant : undefined
    return { name, file, directory, specifiers, packageName: folder.slice(FOLDER.length) }
  })
}

async function isUnchanged(inputs: readonly Observation[]): Promise<boolean> {
  return (await Promise.all(inputs.map(recheck))).every(Boolean)
}
