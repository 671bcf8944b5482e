// Reads the sources of all assets, as far as they have changed: what refers to what, what is wrong, and
// whether the targets are current. Publishes nothing.
import { setTimeout } from 'node:timers/promises'
import { inParallel, oneAtATime } from '../../../concurrency.ts'
import { statOf } from '../../../files/disk.ts'
import { recheck } from '../../../files/observation.ts'
import { secondsLater } from '../../../files/writing/mtime.ts'
import { listPlaces, type Place } from '../../building/places.ts'
import type { Pipeline } from '../../pipeline.ts'
import { publicFile } from '../../settings/public-directory.ts'
import { encodePath } from '../../urls/encode.ts'
import { readSource, type Reading } from './read-source.ts'

/**
 * `published`: the target is current. `outdated`, `unpublished`: the next request publishes it.
 * `broken`: it cannot be published.
 */
export type State = 'broken' | 'outdated' | 'unpublished' | 'published'

/** What was read of one source, and what its target was then. */
export interface Surveyed extends Reading {
  readonly state: State
  /** The reading holds as long as the source of the asset is this one. */
  readonly file: string
  /** Of the listing. */
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
  readonly refresh = oneAtATime(async () => {
    await inParallel([...this.places.values()], CONCURRENCY, place => this.#look(place))
  })
  readonly #pipeline: Pipeline
  /** By plain URL path. */
  readonly #surveyed = new Map<string, Surveyed>()

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline
  }

  get(path: string): Surveyed | undefined {
    return this.#surveyed.get(path)
  }

  /** The assets that refer to this one. */
  referredBy(path: string): string[] {
    return [...this.#surveyed].flatMap(([by, { refersTo }]) => (refersTo.includes(path) ? by : []))
  }

  /** Brings the list of places up to date. */
  async list(): Promise<void> {
    const { settings, sources } = this.#pipeline
    const places = await listPlaces(settings, sources)
    this.places = new Map(places.map(place => [place.path, place]))
    for (const path of this.#surveyed.keys()) {
      if (!this.places.has(path)) this.#surveyed.delete(path)
    }
  }

  /** Looks again at what has been looked at before, and does not wait for a slow compiler. */
  async current(place: Place): Promise<Surveyed | undefined> {
    const known = this.#surveyed.get(place.path)
    return known && ((await soon(this.#look(place))) ?? known)
  }

  async #look(place: Place): Promise<Surveyed> {
    const { settings, sources } = this.#pipeline
    const [{ path, source }, { generation }] = [place, sources]
    const known = this.#surveyed.get(path)
    const current = known?.file === source.file && known.generation === generation && known
    const reading =
      current && (await isCurrent(current))
        ? current
        : (await readSource(settings, sources, place)).reading
    const state = await this.#stateOf(place, reading)
    const surveyed = { ...reading, file: source.file, generation, state }
    if (this.places.has(path)) this.#surveyed.set(path, surveyed)
    this.#referring = undefined
    return surveyed
  }

  async #stateOf({ app, path }: Place, { mtimeNs }: Reading): Promise<State> {
    if (app.fingerprint) {
      if (app.compile && mtimeNs === undefined) return 'broken'
      const isKnown = this.#pipeline.manifestOf(app)?.at(encodePath(path)) !== undefined
      return isKnown ? 'published' : 'unpublished'
    }
    if (mtimeNs === undefined) return 'broken'
    const target = await statOf(publicFile(this.#pipeline.settings, path))
    if (!target?.isFile()) return 'unpublished'
    return secondsLater(target, mtimeNs) === undefined ? 'outdated' : 'published'
  }
}

/** Without inputs nothing tells when a reading is outdated. */
async function isCurrent({ inputs }: Reading): Promise<boolean> {
  return inputs.length > 0 && (await Promise.all(inputs.map(recheck))).every(Boolean)
}

/** Undefined if it takes longer than a page waits. */
export function soon<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, setTimeout(PATIENCE_MS, undefined, { ref: false })])
}
