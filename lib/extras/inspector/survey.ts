// What is known of every asset: reads its source, if that has changed, and finds what it refers to, what is wrong,
// and whether its target is current. Publishes nothing.
import { relative } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inParallel, oneAtATime } from '../../concurrency.ts'
import { AssetError, reasonOf } from '../../errors.ts'
import { secondsLater, statOf } from '../../files/disk.ts'
import { DIGEST_PATTERN } from '../../files/digest.ts'
import { isFileObservation } from '../../files/observation.ts'
import { asPublishError } from '../../files/writing/atomic-write.ts'
import { mediaTypeOf } from '../../http/fields.ts'
import { kindOf } from '../../assets/building/on-request/app-files.ts'
import { hasSameInputs, NEVER, type Entry } from '../../assets/building/on-request/mtime-index.ts'
import { findFailures, listPlaces, type Place } from '../../assets/building/places.ts'
import { errorReport, type ErrorReport } from '../../assets/inventory/error-page.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { Renderer } from '../../assets/rendering/renderer.ts'
import { wantedAt } from '../../assets/serving/request-path.ts'
import { assetPath } from '../../assets/settings/app-settings.ts'
import { publicFile } from '../../assets/settings/public-directory.ts'
import { encodePath } from '../../assets/urls/canonical-path.ts'
import { splitFingerprint } from '../../assets/urls/fingerprint.ts'

/**
 * `published`: the target is current. `outdated`, `unpublished`: the next request publishes it.
 * `broken`: it cannot be published.
 */
export type State = 'broken' | 'outdated' | 'unpublished' | 'published'

/** What was read of one source, as publishing it would. */
interface Reading extends Pick<Entry, 'source' | 'generation' | 'inputs'> {
  /** In words. */
  readonly problems: readonly string[]
  /** Plain URL paths, decoded. */
  readonly refersTo: readonly string[]
  /** The beginning of what the compiler made of it; undefined for a source without one. */
  readonly compiled?: Buffer | undefined
  /** The mtime that the target gets; undefined for a source that cannot be published. */
  readonly mtimeNs?: bigint
  /** Why it cannot be published. */
  readonly failure?: ErrorReport | undefined
}

type Seen = Reading & { readonly state: State }

/** Of a text, the page about an asset shows as many. */
export const MAX_BYTES = 64 * 1024
// How long a page waits for what it shows.
const PATIENCE_MS = 500
// Leaves threads of Node's pool to requests.
const CONCURRENCY = 2
const DIGEST = new RegExp(DIGEST_PATTERN)

export class Survey {
  readonly pipeline: Pipeline
  /** By plain URL path, decoded and in their order. */
  places: ReadonlyMap<string, Place> = new Map()
  /** Looks at every asset again; resolves when all have been looked at. */
  readonly refresh = oneAtATime(async () => {
    await inParallel([...this.places.values()], CONCURRENCY, place => this.look(place))
  })
  /** What has been looked at, by plain URL path. */
  readonly seen = new Map<string, Seen>()
  readonly #looks = new Map<string, Promise<Seen>>()

  constructor(pipeline: Pipeline) {
    this.pipeline = pipeline
  }

  /** The assets that refer to this one. */
  referredBy(path: string): string[] {
    return [...this.seen].flatMap(([by, { refersTo }]) => (refersTo.includes(path) ? by : []))
  }

  /** Brings the list of places up to date. */
  async list(): Promise<void> {
    const { settings, sources } = this.pipeline
    const places = await listPlaces(settings, sources)
    this.places = new Map(places.map(place => [place.path, place]))
    for (const path of this.seen.keys()) if (!this.places.has(path)) this.seen.delete(path)
  }

  /** Reads the source unless it is unchanged. Callers share a read that is in progress. */
  look(place: Place): Promise<Seen> {
    const { path } = place
    const look = this.#looks.get(path) ?? this.#look(place).finally(() => this.#looks.delete(path))
    this.#looks.set(path, look)
    return look
  }

  async #look(place: Place): Promise<Seen> {
    const { path, source } = place
    const known = this.seen.get(path)
    const isSame =
      known?.source === source.file && known.generation === this.pipeline.sources.generation
    const reading =
      isSame && (await hasSameInputs(known)) ? known : await readSource(this.pipeline, place)
    const seen = { ...reading, state: await this.#stateOf(place, reading) }
    if (this.places.has(path)) this.seen.set(path, seen)
    return seen
  }

  async #stateOf({ app, path }: Place, { mtimeNs }: Reading): Promise<State> {
    const { settings } = this.pipeline
    if (kindOf(app) !== 'precompiled' && mtimeNs === undefined) return 'broken'
    if (app.fingerprint) {
      const entry = this.pipeline.published.manifestOf(app)?.entries.get(encodePath(path))
      return entry ? 'published' : 'unpublished'
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

async function readSource({ settings, sources }: Pipeline, place: Place): Promise<Reading> {
  const { path, source } = place
  const { generation } = sources
  const failures = findFailures(settings, [place], () => undefined)
  const problems = failures.map(({ error }) => error.message)
  const broken = { source: source.file, generation: NEVER, inputs: [], refersTo: [], problems }
  try {
    const renderer = new Renderer(settings, sources)
    const draft = await renderer.draft(place)
    if (!draft) throw new Error(`${source.file} was removed, or is not a regular file`)
    const errors: AssetError[] = []
    const found = await renderer.resolveAll(place, draft, {
      warn: message => void problems.push(message),
      fail: error => void errors.push(error)
    })
    problems.push(...errors.map(({ message }) => message))
    const paths = found.flatMap(to => (to ? assetPath(to.app, to.source.name) : []))
    const { content, inputs, isSettled, mtimeNs } = draft
    const isCompiled = source.compiler && content instanceof Buffer
    return {
      ...broken,
      generation: isSettled ? generation : NEVER,
      inputs,
      refersTo: [...new Set(paths)],
      compiled: isCompiled ? Buffer.from(content.subarray(0, MAX_BYTES + 1)) : undefined,
      ...(errors[0] ? { failure: await errorReport(errors[0], settings) } : { mtimeNs })
    }
  } catch (caught) {
    const error = asPublishError(settings, path, caught)
    const failure = error instanceof AssetError ? await errorReport(error, settings) : undefined
    const { location = '', reason = reasonOf(error) } = failure ?? {}
    problems.push([location, reason].filter(Boolean).join(': '))
    return { ...broken, failure }
  }
}

export type AssetRecord = Awaited<ReturnType<typeof recordOf>>

/**
 * Paths are plain URL paths, encoded; files are relative to the project root.
 * @param seen undefined until the asset has been looked at
 */
export async function recordOf(survey: Survey, place: Place, seen: Seen | undefined) {
  const { settings, sources, directories } = survey.pipeline
  const shown = (file: string) => relative(settings.root, file)
  const { app, name, path, source } = place
  const url = survey.pipeline.published.addressOf(wantedAt(path, settings))
  const served = await directories.public.find(wantedAt(decodeURIComponent(url), settings))
  const { representations = [] } = served ?? {}
  const [identity] = representations
  const tails = app.tails ? sources.of(app).tailsOf(source) : undefined
  return {
    path: encodePath(path),
    name,
    app: app.name,
    source: shown(source.file),
    state: seen?.state,
    problems: seen?.problems ?? [],
    /** Why it cannot be published. */
    failure: seen?.failure,
    /** What pages ask for. */
    url: settings.base + url,
    target: identity && shown(identity.file),
    /** Undefined for a file that is too large for memory. */
    digest: DIGEST.exec(splitFingerprint(url)?.digest ?? identity?.etag ?? '')?.[0],
    sizes: Object.fromEntries(representations.map(({ coding, size }) => [coding, size])),
    /** What was compiled into it. */
    dependencies: (seen?.inputs ?? [])
      .filter(isFileObservation)
      .slice(1)
      .map(({ path }) => shown(path)),
    refersTo: seen?.refersTo.map(encodePath) ?? [],
    referredBy: survey.referredBy(path).map(encodePath),
    /** Sources of the same name that are not used. */
    shadowed: [...place.rivals, ...place.shadowed].map(({ file }) => shown(file)),
    /** Shorter names that find this asset, and those that find nothing, as several sources have them. */
    tails: tails?.own ?? [],
    ambiguous: tails?.ambiguous ?? [],
    isImage: isImage(place)
  }
}

/** Whether the source itself can be shown. */
export function isImage({ name, source }: Place): boolean {
  return !source.compiler && (mediaTypeOf(name)?.startsWith('image/') ?? false)
}
