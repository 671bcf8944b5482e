// Builds all assets in memory: reads and compiles every source, and resolves its references.
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { checksumsOf } from '../../files/checksums.ts'
import { ifThere } from '../../files/disk.ts'
import { isMinifiable, type Minify } from '../rendering/minify.ts'
import { Renderer } from '../rendering/renderer.ts'
import { assetPath } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Sources } from '../sources/sources.ts'
import type { Assets } from './built.ts'
import { finishAll, MAP, type Drafted, type Node } from './finish-build.ts'
import { byPath, findProblems, listPlaces, type Place, type Problem } from './places.ts'

export interface BuildResult {
  readonly assets: Assets
  /** In the order of paths. */
  readonly problems: readonly Problem[]
}

export interface BuildOptions {
  readonly warn: (message: string) => void
  /** The apps to build. Default: all. */
  readonly only?: (app: AppSettings) => boolean
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((done: number, total: number, path: string) => void) | undefined
  /** Undefined for an app that is not minified. */
  readonly minifierOf?: (app: AppSettings) => Minify | undefined
  readonly drafts?: Drafts
}

/** Keeps drafts between builds. */
export interface Drafts {
  /** The draft of an earlier build, unless any of its inputs has changed. */
  reuse(place: Place): Promise<Drafted | undefined>
  keep(place: Place, drafted: Drafted): void
}

type Read = Place & Drafted

// Enough to keep the disk busy while a compiler works.
const CONCURRENCY = 16
const MAX_ATTEMPTS = 3

/** Builds every asset that can be built; `problems` has the others. */
export function build(
  settings: Settings,
  sources: Sources,
  options: BuildOptions
): Promise<BuildResult> {
  return new Build(settings, sources, options).run()
}

class Build {
  readonly #settings: Settings
  readonly #sources: Sources
  readonly #renderer: Renderer
  readonly #options: BuildOptions
  readonly #problems: Problem[] = []

  constructor(settings: Settings, sources: Sources, options: BuildOptions) {
    this.#settings = settings
    this.#sources = sources
    this.#renderer = new Renderer(settings, sources)
    this.#options = options
  }

  async run(): Promise<BuildResult> {
    const places = await listPlaces(this.#settings, this.#sources, this.#options.only)
    this.#problems.push(...findProblems(this.#settings, places))
    const nodes = new Map<string, Node>()
    for (const [path, read] of await this.#readAll(places)) {
      nodes.set(path, { ...read, links: await this.#link(read) })
    }
    return { assets: finishAll(nodes), problems: this.#problems.toSorted(byPath) }
  }

  async #readAll(places: readonly Place[]): Promise<ReadonlyMap<string, Read>> {
    const { onProgress, signal } = this.#options
    const read = new Map<string, Read>()
    let done = 0
    const readOne = async (place: Place) => {
      const node = await this.#readCurrent(place).catch(this.#asProblem(place))
      onProgress?.(++done, places.length, place.path)
      return node
    }
    for (const node of await inParallel(places, CONCURRENCY, readOne, signal)) {
      if (node) read.set(node.path, node)
    }
    // The map of the minified text replaces the one that the source came with.
    for (const { path, draft } of read.values()) if (draft.map) read.delete(path + MAP)
    return read
  }

  #asProblem({ path }: Place) {
    return (error: unknown): undefined => {
      if (!(error instanceof AssetError)) throw error
      this.#problems.push({ path, error })
    }
  }

  /** Falls back to the next source of the name when this one was removed after it was listed. */
  async #readCurrent(place: Place): Promise<Read | undefined> {
    const { app, name, path } = place
    for (let current: Place | undefined = place, attempt = 0; current; attempt++) {
      // A miss is the source's: a compiler's failure is a CompileError.
      const node = await ifThere(this.#read(current))
      if (node || attempt === MAX_ATTEMPTS - 1) return node
      await this.#sources.of(app).verify()
      const next = (await this.#sources.of(app).list()).find(listed => listed.name === name)
      current = next && { ...next, path }
    }
    return undefined
  }

  async #read(place: Place): Promise<Read | undefined> {
    const { drafts } = this.#options
    const known = await drafts?.reuse(place)
    if (known) return { ...place, ...known }
    const draft = await this.#draft(place)
    if (!draft) return undefined
    const isFinal = !draft.text && !draft.map
    const sums = isFinal ? await checksumsOf(draft.content, place.app.integrity) : undefined
    // An unchanged copy is read from its source again, rather than held in memory.
    const isCopy = isFinal && !place.source.compiler
    const content = isCopy ? { copyOf: place.source.file } : draft.content
    const drafted = { draft: { ...draft, content }, sums }
    drafts?.keep(place, drafted)
    return { ...place, ...drafted }
  }

  async #draft(place: Place) {
    const { minifierOf } = this.#options
    const minify = isMinifiable(place.name) ? minifierOf?.(place.app) : undefined
    const draft = await this.#renderer.draft(place, minify && true)
    return draft && minify ? minify(this.#renderer, place, draft) : draft
  }

  /** The path of each referenced asset; undefined leaves the reference as it is written. */
  async #link(node: Read): Promise<(string | undefined)[]> {
    const fail = (error: AssetError) => void this.#problems.push({ path: node.path, error })
    const { warn } = this.#options
    const found = await this.#renderer.resolveAll(node, node.draft, { warn, fail })
    return found.map(to => to && assetPath(to.app, to.source.name))
  }
}
