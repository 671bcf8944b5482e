// The files of packages that an app publishes: a listing that is made by following what they import.
import { isDeepStrictEqual } from 'node:util'
import { oneAtATime } from '../../concurrency.ts'
import { digestOf } from '../../files/digest.ts'
import { realpathOf } from '../../files/disk.ts'
import { observeAll, recheck, type Observation } from '../../files/observation.ts'
import type { Graph, Script } from '../packages/graph.ts'
import type { AppSettings } from '../settings/settings.ts'
import type { Candidates, Source } from './catalog.ts'

/** All names of files of packages begin with it. */
const FOLDER = 'npm/'

export class AppPackages {
  /** Grows with every change of the set of files. */
  version = 0
  /** Undefined until it is made. */
  graph: Graph | undefined
  /** By name. */
  sources: ReadonlyMap<string, Source> = new Map()
  readonly #app: AppSettings
  readonly #settings: { readonly root: string; readonly env: string }
  readonly #own: () => Promise<readonly Source[]>
  #inputs: readonly Observation[] | undefined
  #walked: readonly Script[] = []
  #digest: string | undefined

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
    const { walk } = await import('../packages/graph.ts')
    const graph = await walk(this.#app, this.#settings, scripts, this.graph?.parsed)
    const read = Array.from(graph.parsed.values(), ({ seen }) => seen)
    this.#inputs = [...(await observeAll(graph.looked)), ...read]
    this.#walked = scripts
    const sources = sourcesOf(graph)
    if (!isDeepStrictEqual(sources, this.sources)) this.version++
    this.sources = sources
    this.graph = graph
    this.#digest = undefined
  })

  candidates(name: string): Candidates {
    const named = this.sources.get(name)
    return { directory: 'node_modules', named: named ? [named] : [], tailed: [], hidden: [] }
  }

  /** The source that a path leads to, through any links. */
  async findAt(path: string): Promise<Source | undefined> {
    await this.refresh()
    const real = await realpathOf(path)
    return [...this.sources.values()].find(({ file }) => file === real)
  }

  /** The name that a bare specifier means. @param name of the importer */
  named(specifier: string, name: string): string | undefined {
    const folder = this.graph?.files.get(name)?.of.folder
    const scope = this.graph?.scopes.get(folder ?? '')
    return scope?.get(specifier) ?? this.graph?.imports.get(specifier)
  }

  /** For what import maps contain. */
  get digest(): string {
    const { imports, scopes } = this.graph ?? {}
    const entries = [...(scopes ?? [])].map(([folder, scope]) => [folder, ...scope])
    return (this.#digest ??= digestOf(Buffer.from(JSON.stringify([...(imports ?? []), entries]))))
  }
}

async function isUnchanged(inputs: readonly Observation[]): Promise<boolean> {
  return (await Promise.all(inputs.map(recheck))).every(Boolean)
}

function sourcesOf({ files, imports }: Graph): ReadonlyMap<string, Source> {
  const specifiers = new Map<string, string[]>()
  for (const [specifier, name] of imports) {
    specifiers.set(name, [...(specifiers.get(name) ?? []), specifier])
  }
  const named = Array.from(files.values(), ({ name, file, of }): Source => ({
    ...{ file, directory: of.found.directory, path: name, tail: name, name },
    compiler: undefined,
    specifiers: specifiers.get(name)
  }))
  return new Map(named.map(source => [source.name, source]))
}
