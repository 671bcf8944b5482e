// Reads the sources of all assets, as far as they have changed: what refers to what, what is wrong, and
// whether the targets are current. Publishes nothing.
import { setTimeout } from 'node:timers/promises'
import { inParallel, oneAtATime } from '../../../concurrency.ts'
import { AssetError, reasonOf } from '../../../errors.ts'
import { statOf } from '../../../files/disk.ts'
import { secondsLater } from '../../../files/clock.ts'
import { asPublishError } from '../../../files/writing/publish-error.ts'
import { kindOf } from '../../building/on-request/app-files.ts'
import { hasSameInputs, NEVER, type Entry } from '../../building/on-request/mtime-index.ts'
import { findFailures, listPlaces, type Place } from '../../building/places.ts'
import { errorReport } from '../../inspecting/error-page.ts'
import type { Pipeline } from '../../pipeline.ts'
import { Renderer } from '../../rendering/renderer.ts'
import { assetPath } from '../../settings/app-settings.ts'
import { publicFile } from '../../settings/public-directory.ts'
import { encodePath } from '../../urls/encode.ts'

/**
 * `published`: the target is current. `outdated`, `unpublished`: the next request publishes it.
 * `broken`: it cannot be published.
 */
export type State = 'broken' | 'outdated' | 'unpublished' | 'published'

/** What was read of one source. */
export interface Reading extends Pick<Entry, 'source' | 'generation' | 'inputs'> {
  /** In words. */
  readonly problems: readonly string[]
  /** Plain URL paths, decoded. */
  readonly refersTo: readonly string[]
  /** The mtime that the target gets; undefined for a source that cannot be published. */
  readonly mtimeNs?: bigint
  /** Why it cannot be published. */
  readonly error?: AssetError | undefined
}

// How long a page waits for what it shows.
const PATIENCE_MS = 500
// Leaves threads of Node's pool to requests.
const CONCURRENCY = 2

export class Survey {
  readonly pipeline: Pipeline
  /** By plain URL path, decoded and in their order. */
  places: ReadonlyMap<string, Place> = new Map()
  /** Looks at every asset again; resolves when all have been looked at. */
  readonly refresh = oneAtATime(async () => {
    await inParallel([...this.places.values()], CONCURRENCY, place => this.#look(place))
  })
  /** What has been looked at, by plain URL path. */
  readonly surveyed = new Map<string, Reading & { readonly state: State }>()

  constructor(pipeline: Pipeline) {
    this.pipeline = pipeline
  }

  /** The assets that refer to this one. */
  referredBy(path: string): string[] {
    return [...this.surveyed].flatMap(([by, { refersTo }]) => (refersTo.includes(path) ? by : []))
  }

  /** Brings the list of places up to date. */
  async list(): Promise<void> {
    const { settings, sources } = this.pipeline
    const places = await listPlaces(settings, sources)
    this.places = new Map(places.map(place => [place.path, place]))
    for (const path of this.surveyed.keys()) {
      if (!this.places.has(path)) this.surveyed.delete(path)
    }
  }

  /** Looks again at what has been looked at before, and does not wait for a slow compiler. */
  async current(place: Place) {
    const known = this.surveyed.get(place.path)
    return known && ((await soon(this.#look(place))) ?? known)
  }

  async #look(place: Place) {
    const { path, source } = place
    const known = this.surveyed.get(path)
    const isSame =
      known?.source === source.file && known.generation === this.pipeline.sources.generation
    const reading =
      isSame && (await hasSameInputs(known))
        ? known
        : (await readSource(this.pipeline, place)).reading
    const surveyed = { ...reading, state: await this.#stateOf(place, reading) }
    if (this.places.has(path)) this.surveyed.set(path, surveyed)
    return surveyed
  }

  async #stateOf({ app, path }: Place, { mtimeNs }: Reading): Promise<State> {
    const { settings } = this.pipeline
    if (kindOf(app) !== 'precompiled' && mtimeNs === undefined) return 'broken'
    if (app.fingerprint) {
      return this.pipeline.manifestOf(app)?.entries.get(encodePath(path))
        ? 'published'
        : 'unpublished'
    }
    const target = await statOf(publicFile(settings, path))
    if (!target?.isFile()) return 'unpublished'
    return secondsLater(target, mtimeNs ?? 0n) === undefined ? 'outdated' : 'published'
  }
}

/** Undefined if it takes longer than a page waits. */
export function soon<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, setTimeout(PATIENCE_MS, undefined, { ref: false })])
}

/** Reads one source as publishing it would. */
export async function readSource(
  { settings, sources }: Pipeline,
  place: Place
): Promise<{ readonly reading: Reading; readonly compiled?: Buffer | undefined }> {
  const { path, source } = place
  const { generation } = sources
  const problems = findFailures(settings, [place], () => undefined).map(
    ({ error }) => error.message
  )
  const broken = { source: source.file, problems, generation: NEVER, refersTo: [], inputs: [] }
  try {
    const renderer = new Renderer(settings, sources)
    const draft = await renderer.draft(place)
    if (!draft) {
      problems.push(`${source.file} was removed, or is not a regular file: reload the page`)
      return { reading: broken }
    }
    let error: AssetError | undefined
    const found = await renderer.resolveAll(place, draft, {
      warn: message => void problems.push(message),
      fail: failure => {
        error ??= failure
        problems.push(failure.message)
      }
    })
    const paths = found.flatMap(to => (to ? assetPath(to.app, to.source.name) : []))
    const { content, inputs, isSettled, mtimeNs } = draft
    const reading = {
      ...broken,
      generation: isSettled ? generation : NEVER,
      inputs,
      refersTo: [...new Set(paths)],
      ...(error ? { error } : { mtimeNs })
    }
    const isCompiled = source.compiler && content instanceof Buffer
    return { reading, compiled: isCompiled ? content : undefined }
  } catch (caught) {
    const error = asPublishError(settings, path, caught)
    if (!(error instanceof AssetError)) {
      problems.push(reasonOf(error))
      return { reading: broken }
    }
    const { location, reason } = await errorReport(error, settings)
    problems.push(location ? `${location}: ${reason}` : reason)
    return { reading: { ...broken, error } }
  }
}
