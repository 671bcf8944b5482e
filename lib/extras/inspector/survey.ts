// Surveys all assets, without publishing: the references of their sources, problems, and whether targets are current.
import { publishingIn } from '../../publishing/building/on-request.ts'
import { setTimeout } from 'node:timers/promises'
import { findFailures, listAssets } from '../../publishing/building/assets.ts'
import type { Listed, Source } from '../../publishing/sources/snapshot.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { inParallel, oneAtATime } from '../../runtime/concurrency.ts'
import { DIGEST_PATTERN } from '../../runtime/files/digest.ts'
import { hasSameInputs, isFileObservation } from '../../publishing/sources/observation.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { mediaTypeOf } from '../../runtime/http/fields.ts'
import { wantedAt } from '../../runtime/serving/request.ts'
import { encodePath, splitFingerprint } from '../../runtime/urls/spelling.ts'
import { readSource, stateOf, type Reading, type Verdict } from '../telling/list.ts'

type Seen = Reading & Verdict

// More would leave no threads of Node's pool for requests.
const CONCURRENCY = 2
const DIGEST = new RegExp(DIGEST_PATTERN)

export class Survey {
  readonly pipeline: Pipeline
  /** The assets by plain URL path, decoded and in their order. */
  places: ReadonlyMap<string, Listed> = new Map()
  readonly refresh = oneAtATime(async () => {
    await inParallel([...this.places.values()], CONCURRENCY, place => this.look(place))
  })
  readonly seen = new Map<string, Seen>()
  readonly #looks = new Map<string, Promise<Seen>>()

  constructor(pipeline: Pipeline) {
    this.pipeline = pipeline
  }

  async list(): Promise<void> {
    const { settings, sources } = publishingIn(this.pipeline)
    const places = await listAssets(settings, sources)
    this.places = new Map(places.map(place => [place.path, place]))
    for (const path of this.seen.keys()) if (!this.places.has(path)) this.seen.delete(path)
  }

  /** Reads the source unless it is unchanged. Callers share a read that is in progress. */
  look(place: Listed): Promise<Seen> {
    const { path } = place
    const look = this.#looks.get(path) ?? this.#look(place).finally(() => this.#looks.delete(path))
    this.#looks.set(path, look)
    return look
  }

  async #look(place: Listed): Promise<Seen> {
    const { path, source } = place
    const { pipeline } = this
    const known = this.seen.get(path)
    const { generation } = publishingIn(pipeline).sources
    const isSame = known?.source === source.file && known.generation === generation
    const reading =
      isSame && (await hasSameInputs(known)) ? known : await readSource(pipeline, place)
    const failures = findFailures(pipeline.settings, [place], () => undefined)
    const problems = new Set([...failures.map(({ error }) => error.message), ...reading.problems])
    const state = await stateOf(pipeline, place, reading)
    const seen: Seen = { ...reading, problems: [...problems], state }
    if (this.places.has(path)) this.seen.set(path, seen)
    return seen
  }
}

/** Resolves to undefined if the work takes longer than a page of the inspector waits. */
export function soon<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, setTimeout(500, undefined, { ref: false })])
}

export type AssetRecord = Awaited<ReturnType<typeof recordOf>>

export const pathInDirectory = ({ directory, file }: Source) => pathFrom(directory, file)

/** Returns the record of an asset, with encoded plain URL paths, and files relative to the project root. */
export async function recordOf(survey: Survey, place: Listed, seen: Seen | undefined) {
  const { settings, directories } = survey.pipeline
  const shown = (file: string) => pathFrom(settings.root, file)
  const { app, path, source, rivals, shadowed } = place
  const url = survey.pipeline.addressOf(wantedAt(path, settings))
  const served = await directories.public.find(wantedAt(decodeURIComponent(url), settings))
  const { variants = [] } = served ?? {}
  const [identity] = variants
  const { sources } = publishingIn(survey.pipeline)
  const tails = app.tails ? sources.of(app).tailsOf(source) : undefined
  const inputs = (seen?.inputs ?? []).filter(isFileObservation)
  // The path of a file that was built from packages is in a cache, and means nothing to a developer.
  const isBuilt = source.packageName !== undefined && pathInDirectory(source) === source.name
  const referring = [...survey.seen].filter(([, { refersTo }]) => refersTo.includes(path))
  return {
    path: encodePath(path),
    name: source.name,
    app: app.name,
    source: isBuilt
      ? `built from ${source.specifiers?.join(', ') ?? 'packages'}`
      : shown(source.file),
    state: seen?.state,
    problems: seen?.problems ?? [],
    url: settings.base + url,
    target: identity && shown(identity.file),
    /** The digest; undefined for a file that is too large for memory. */
    digest: DIGEST.exec(splitFingerprint(url)?.digest ?? identity?.etag ?? '')?.[0],
    sizes: Object.fromEntries(variants.map(({ coding, size }) => [coding, size])),
    dependencies: inputs.slice(1).map(input => shown(input.path)),
    refersTo: seen?.refersTo.map(encodePath) ?? [],
    referredBy: referring.map(([by]) => encodePath(by)),
    shadowed: [...rivals, ...shadowed].map(({ file }) => shown(file)),
    /** The shorter names that find this asset; `ambiguous` ones find nothing, as several sources have them. */
    tails: tails?.own ?? [],
    ambiguous: tails?.ambiguous ?? [],
    isImage: mediaTypeOf(source.name)?.startsWith('image/') ?? false
  }
}
