// Builds all assets in memory: reads and compiles every source, and resolves its references.
import { inParallel } from '../../concurrency.ts'
import { AssetError } from '../../errors.ts'
import { checksumsOf } from '../../files/checksums.ts'
import { readContent } from '../../files/content.ts'
import { digestOf } from '../../files/digest.ts'
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
  readonly minifierOf?: ((app: AppSettings) => Minify | undefined) | undefined
  readonly drafts?: Drafts
}

/** Keeps drafts between builds. */
export interface Drafts {
  /** The draft of an earlier build, unless any of its inputs has changed. */
  reuse(place: Place): Promise<Drafted | undefined>
  keep(place: Place, drafted: Drafted): void
  /** The result of the last build, if it was made of the same drafts. */
  finishOnce(
    drafted: ReadonlyMap<string, Drafted>,
    finish: () => Promise<BuildResult>
  ): Promise<BuildResult>
}

type DraftedPlace = Place & Drafted

// Enough to keep the disk busy while a compiler works.
const CONCURRENCY = 16
const MAX_ATTEMPTS = 3

/** Builds every asset that can be built; `problems` has the others. */
export function build(settings: Settings, sources: Sources, options: BuildOptions) {
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
    const all = await this.#draftAll(places)
    const finish = () => this.#finish(all)
    return this.#options.drafts?.finishOnce(all, finish) ?? finish()
  }

  async #finish(all: ReadonlyMap<string, DraftedPlace>): Promise<BuildResult> {
    const nodes = new Map<string, Node>()
    for (const [path, drafted] of all) {
      const links = await this.#link(drafted)
      const map = links.includes(path + MAP) ? all.get(path + MAP) : undefined
      const isRewritten = links.some(link => link !== undefined && link !== path + MAP)
      const ownMap = map && isRewritten ? await readAgain(map) : undefined
      nodes.set(path, { ...drafted, links, ownMap })
    }
    const { assets, moduleCycles } = finishAll(nodes)
    for (const cycle of moduleCycles) this.#options.warn(cycleFound(cycle))
    return { assets, problems: this.#problems.toSorted(byPath) }
  }

  async #draftAll(places: readonly Place[]): Promise<ReadonlyMap<string, DraftedPlace>> {
    const { onProgress, signal } = this.#options
    let done = 0
    const found = await inParallel(
      places,
      CONCURRENCY,
      async place => {
        const drafted = await this.#draftCurrent(place).catch(this.#asProblem(place))
        onProgress?.(++done, places.length, place.path)
        return drafted ? [[place.path, drafted] as const] : []
      },
      signal
    )
    const all = new Map(found.flat())
    // The map of the minified text replaces the one that the source came with.
    for (const [path, { draft }] of all) if (draft.map) all.delete(path + MAP)
    return all
  }

  #asProblem({ path }: Place) {
    return (error: unknown): undefined => {
      if (!(error instanceof AssetError)) throw error
      this.#problems.push({ path, error })
    }
  }

  /** Falls back to the next source of the name when this one was removed after it was listed. */
  async #draftCurrent(place: Place): Promise<DraftedPlace | undefined> {
    const { app, name, path } = place
    for (let current: Place | undefined = place, attempt = 0; current; attempt++) {
      // A miss is the source's: a compiler's failure is a CompileError.
      const drafted = await ifThere(this.#draftUnlessKnown(current))
      if (drafted || attempt === MAX_ATTEMPTS - 1) return drafted
      await this.#sources.of(app).verify()
      const next = (await this.#sources.of(app).list()).find(listed => listed.name === name)
      current = next && { ...next, path }
    }
    return undefined
  }

  async #draftUnlessKnown(place: Place): Promise<DraftedPlace | undefined> {
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
    const draft = await this.#renderer.draft(place, minify !== undefined)
    return draft && minify ? minify(this.#renderer, place, draft) : draft
  }

  /** The path of each referenced asset; undefined leaves the reference as it is written. */
  async #link(drafted: DraftedPlace): Promise<(string | undefined)[]> {
    const { path, draft } = drafted
    const fail = (error: AssetError) => void this.#problems.push({ path, error })
    const { warn } = this.#options
    const found = await this.#renderer.resolveAll(drafted, draft, { warn, fail })
    return found.map(to => to && assetPath(to.app, to.source.name))
  }
}

/** Undefined when the source was edited or removed since it was drafted; its publication tells so. */
async function readAgain({ draft, sums }: Drafted): Promise<string | undefined> {
  const bytes = await ifThere(readContent(draft.content))
  return bytes && digestOf(bytes) === sums?.digest ? new TextDecoder().decode(bytes) : undefined
}

function cycleFound(cycle: readonly string[]): string {
  const shown = cycle.length > 10 ? [...cycle.slice(0, 9), '…', ...cycle.slice(-1)] : cycle
  return `modules refer to each other: ${shown.join(' -> ')}; they import each other by plain names, so break the cycle or write importMap() before the first module of a page, which would otherwise load them twice`
}
