// Reads the sources of all assets, as far as they have changed: what refers to what, what is wrong, and
// whether the targets are current. Publishes nothing.
import { setTimeout } from 'node:timers/promises'
import { inParallel, oneAtATime } from '../../../concurrency.ts'
import { statOf } from '../../../files/disk.ts'
import { recheck } from '../../../files/observation.ts'
import { secondsLater } from '../../../files/writing/mtime.ts'
import { findProblems, listPlaces, type Place } from '../../building/places.ts'
import type { Pipeline } from '../../pipeline.ts'
import { Renderer } from '../../rendering/renderer.ts'
import { publicFile } from '../../settings/public-directory.ts'
import type { Settings } from '../../settings/settings.ts'
import { encodePath } from '../../urls/encode.ts'
import { asProblem, readSource, type Problem, type Reading } from './read-source.ts'

/**
 * `published`: the target is current. `outdated`, `unpublished`: the next request publishes it.
 * `broken`: it cannot be published.
 */
export type State = 'broken' | 'outdated' | 'unpublished' | 'published'

export interface Surveyed {
  readonly state: State
  readonly problems: readonly Problem[]
  /** Plain URL paths, decoded. */
  readonly refersTo: readonly string[]
}

/** What was read of one source, valid until an input changes. */
interface Known extends Reading {
  readonly file: string
  readonly generation: number
}

// How long a page waits for what it shows.
const PATIENCE_MS = 500
// Leaves threads of Node's pool to requests.
const CONCURRENCY = 2

export class Survey {
  /** By plain URL path, decoded and in their order. */
  places: ReadonlyMap<string, Place> = new Map()
  /** Looks at every asset again; resolves when all have been looked at. */
  readonly refresh = oneAtATime(() => this.#refresh())
  readonly #pipeline: Pipeline
  readonly #renderer: Renderer
  /** By plain URL path. */
  readonly #readings = new Map<string, Known>()
  readonly #surveyed = new Map<string, Surveyed>()
  #common: ReadonlyMap<string, readonly Problem[]> = new Map()
  #generation = -1
  #referring: ReadonlyMap<string, readonly string[]> | undefined

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline
    this.#renderer = new Renderer(pipeline.settings, pipeline.sources)
  }

  get(path: string): Surveyed | undefined {
    return this.#surveyed.get(path)
  }

  /** The assets that refer to this one. */
  referredBy(path: string): readonly string[] {
    this.#referring ??= inverted(this.#surveyed)
    return this.#referring.get(path) ?? []
  }

  /** Brings the list of places up to date. */
  async list(): Promise<void> {
    const { settings, sources } = this.#pipeline
    await Promise.all(settings.apps.map(app => sources.of(app).verify()))
    const generation = this.#generationNow()
    if (generation === this.#generation) return
    const places = await listPlaces(settings, sources)
    const problems = problemsOf(settings, places)
    this.places = new Map(places.map(place => [place.path, place]))
    this.#common = problems
    this.#generation = generation
    for (const path of this.#surveyed.keys()) {
      if (this.places.has(path)) continue
      this.#surveyed.delete(path)
      this.#readings.delete(path)
    }
  }

  #generationNow(): number {
    const { settings, sources } = this.#pipeline
    return settings.apps.reduce((sum, app) => sum + sources.of(app).generation, 0)
  }

  async #refresh(): Promise<void> {
    await this.list()
    await inParallel([...this.places.values()], CONCURRENCY, place => this.#look(place))
  }

  /** Looks again at what has been looked at before, and does not wait for a slow compiler. */
  async current(place: Place): Promise<Surveyed | undefined> {
    const known = this.#surveyed.get(place.path)
    return known && ((await soon(this.#look(place))) ?? known)
  }

  async #look(place: Place): Promise<Surveyed> {
    const reading = await this.#reading(place)
    const { refersTo } = reading
    const problems = [...(this.#common.get(place.path) ?? []), ...reading.problems]
    const surveyed = { state: await this.#stateOf(place, reading), problems, refersTo }
    this.#surveyed.set(place.path, surveyed)
    this.#referring = undefined
    return surveyed
  }

  async #reading(place: Place): Promise<Reading> {
    const { settings } = this.#pipeline
    const { path, source } = place
    const known = this.#readings.get(path)
    const isSame = known?.file === source.file && known.generation === this.#generation
    if (isSame && (await Promise.all(known.inputs.map(recheck))).every(Boolean)) return known
    const generation = this.#generation
    const reading = {
      file: source.file,
      generation,
      ...(await readSource(settings, this.#renderer, place))
    }
    // Without inputs nothing tells when it is outdated.
    if (reading.inputs.length > 0) this.#readings.set(path, reading)
    else this.#readings.delete(path)
    return reading
  }

  async #stateOf({ app, path }: Place, { mtimeNs }: Reading): Promise<State> {
    const { settings } = this.#pipeline
    if (app.fingerprint) {
      const isKnown = this.#pipeline.manifestOf(app)?.at(encodePath(path)) !== undefined
      if (app.compile && mtimeNs === undefined) return 'broken'
      return isKnown ? 'published' : 'unpublished'
    }
    if (mtimeNs === undefined) return 'broken'
    const target = await statOf(publicFile(settings, path))
    if (!target?.isFile()) return 'unpublished'
    return secondsLater(target, mtimeNs) === undefined ? 'outdated' : 'published'
  }
}

/** Undefined if it takes longer than a page waits. */
export function soon<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, setTimeout(PATIENCE_MS, undefined, { ref: false })])
}

function problemsOf(
  settings: Settings,
  places: readonly Place[]
): ReadonlyMap<string, readonly Problem[]> {
  const all = new Map<string, readonly Problem[]>()
  for (const { path, error } of findProblems(settings, places)) {
    all.set(path, [...(all.get(path) ?? []), asProblem(error)])
  }
  return all
}

function inverted(surveyed: ReadonlyMap<string, Surveyed>): ReadonlyMap<string, string[]> {
  const referring = new Map<string, string[]>()
  for (const [path, { refersTo }] of surveyed) {
    for (const to of refersTo) {
      const known = referring.get(to)
      if (known) known.push(path)
      else referring.set(to, [path])
    }
  }
  return referring
}
