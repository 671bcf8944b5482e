// Reads the sources of all assets, as far as they have changed: what refers to what, what is wrong, and
// whether the targets are current. Publishes nothing.
import { setTimeout } from 'node:timers/promises'
import { inParallel, oneAtATime } from '../../../concurrency.ts'
import { AssetError, reasonOf } from '../../../errors.ts'
import { errorCode, statOf } from '../../../files/disk.ts'
import { recheck, type Observation } from '../../../files/observation.ts'
import { secondsLater } from '../../../files/writing/mtime.ts'
import { asPublishError } from '../../../files/writing/publish-error.ts'
import { findProblems, listPlaces, type Place } from '../../building/places.ts'
import { errorReport } from '../../inspecting/error-page.ts'
import type { Pipeline } from '../../pipeline.ts'
import { textType } from '../../rendering/draft.ts'
import { Renderer } from '../../rendering/renderer.ts'
import { assetPath } from '../../settings/app-settings.ts'
import { publicFile } from '../../settings/public-directory.ts'
import { encodePath } from '../../urls/encode.ts'

/**
 * `published`: the target is current. `outdated`, `unpublished`: the next request publishes it.
 * `broken`: it cannot be published.
 */
export type State = 'broken' | 'outdated' | 'unpublished' | 'published'

export interface Problem {
  /** Of an AssetError; undefined for any other failure. */
  readonly code: string | undefined
  readonly message: string
}

export interface Reading {
  readonly problems: readonly Problem[]
  /** Plain URL paths, decoded. */
  readonly refersTo: readonly string[]
  /** Empty if nothing would tell when the reading is outdated. */
  readonly inputs: readonly Observation[]
  /** The mtime that the target gets; undefined for a source that cannot be published. */
  readonly mtimeNs: bigint | undefined
}

/** What is only shown on the page of the asset. */
interface Read {
  readonly reading: Reading
  /** Why it cannot be published. */
  readonly error?: AssetError | undefined
  readonly compiled?: Buffer | undefined
}

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
    const [{ path, source }, { generation }] = [place, this.#pipeline.sources]
    const known = this.#surveyed.get(path)
    const current = known?.file === source.file && known.generation === generation && known
    const reading =
      current && (await isCurrent(current))
        ? current
        : (await readSource(this.#pipeline, place)).reading
    const state = await this.#stateOf(place, reading)
    const surveyed = { ...reading, file: source.file, generation, state }
    if (this.places.has(path)) this.#surveyed.set(path, surveyed)
    return surveyed
  }

  async #stateOf({ app, path }: Place, { mtimeNs }: Reading): Promise<State> {
    if (app.fingerprint) {
      if (app.compile && mtimeNs === undefined) return 'broken'
      const isKnown = this.#pipeline.manifestOf(app)?.entries.get(encodePath(path)) !== undefined
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

/** Reads one source as publishing it would. */
export async function readSource(pipeline: Pipeline, place: Place): Promise<Read> {
  const { settings } = pipeline
  const problems = findProblems(settings, [place]).map(({ error }) => asProblem(error))
  const broken = { problems, refersTo: [], inputs: [], mtimeNs: undefined }
  const { name, source, path } = place
  try {
    const isText = source.compiler !== undefined || textType(name) !== undefined
    const read = isText ? await readText(pipeline, place, problems) : undefined
    if (read) return read
    const stats = isText ? undefined : await statOf(source.file)
    if (stats) return { reading: { ...broken, mtimeNs: stats.mtimeNs } }
    const message = `${source.file} was removed after it was listed, or is no regular file: reload the page`
    problems.push({ code: undefined, message })
    return { reading: broken }
  } catch (caught) {
    const error = asPublishError(settings, path, caught)
    if (!(error instanceof AssetError)) {
      problems.push(asProblem(error))
      return { reading: broken }
    }
    const { location, reason } = await errorReport(error, settings)
    const message = location === '' ? reason : `${location}: ${reason}`
    problems.push({ code: error.code, message })
    return { reading: broken, error }
  }
}

async function readText(
  { settings, sources }: Pipeline,
  place: Place,
  problems: Problem[]
): Promise<Read | undefined> {
  const renderer = new Renderer(settings, sources)
  const draft = await renderer.draft(place)
  if (!draft) return undefined
  let error: AssetError | undefined
  const found = await renderer.resolveAll(place, draft, {
    warn: message => void problems.push({ code: 'reference-missing', message }),
    fail: failure => {
      error ??= failure
      problems.push(asProblem(failure))
    }
  })
  const refersTo = found.flatMap(to => (to ? [assetPath(to.app, to.source.name)] : []))
  const { content, inputs, isSettled, mtimeNs } = draft
  const reading = {
    problems,
    refersTo: [...new Set(refersTo)],
    inputs: isSettled ? inputs : [],
    mtimeNs: error ? undefined : mtimeNs
  }
  const compiled = place.source.compiler && content instanceof Buffer ? content : undefined
  return { reading, error, compiled }
}

function asProblem(error: unknown): Problem {
  return { code: errorCode(error), message: reasonOf(error) }
}
