// Everything about one asset, or about a path that is none.
import { relative } from 'node:path'
import { CompileError, AssetError } from '../../../errors.ts'
import { isFileObservation } from '../../../files/observation.ts'
import { errorReport, type ErrorReport } from '../../inspecting/error-page.ts'
import { explainWith, pathOf } from '../../inspecting/explain.ts'
import type { ExplainedRepresentation, Explanation } from '../../inspecting/explanation.ts'
import type { Place } from '../../building/places.ts'
import type { Pipeline } from '../../pipeline.ts'
import { Renderer } from '../../rendering/renderer.ts'
import { locate, wantedAt } from '../../serving/request-path.ts'
import { assetPath } from '../../settings/app-settings.ts'
import { splitFingerprint } from '../../urls/fingerprint.ts'
import { reasonForHeader } from './header-reasons.ts'
import { rowMaker, type Row } from './overview.ts'
import type { Survey } from './survey.ts'
import { shownText, textOfFile, type ShownText } from './texts.ts'

export interface AssetReport {
  /** As it was asked for. */
  readonly asked: string
  /** Undefined for a path that is no asset's. */
  readonly asset: Row | undefined
  /** Of the URL that pages ask for. */
  readonly explanation: Omit<Explanation, 'representations'>
  readonly representations: readonly ReasonedRepresentation[]
  /** Files that were compiled into it, relative to the project root. */
  readonly dependencies: readonly string[]
  /** Undefined unless it cannot be published. */
  readonly failure: ErrorReport | undefined
  /** How long it took to publish it last, in this process. */
  readonly took: { readonly publish: number; readonly compile: number | undefined } | undefined
  /** Undefined for what is not text. `compiled` is missing where it is the source. */
  readonly texts: Readonly<Partial<Record<'source' | 'compiled' | 'published', ShownText>>>
}

interface ReasonedRepresentation extends Omit<ExplainedRepresentation, 'headers'> {
  readonly headers: readonly {
    readonly name: string
    readonly value: string
    readonly reason: string
  }[]
}

export function assetReporter(pipeline: Pipeline, survey: Survey) {
  const { settings, sources } = pipeline
  const rowOf = rowMaker(pipeline, survey)
  /** @param asked a path, a URL, or a name as a view writes it */
  return async (asked: string): Promise<AssetReport> => {
    const place = await placeOf(pipeline, survey, asked)
    const asset = place && (await rowOf(place))
    const explained = await explainWith(asset?.url ?? asked, settings, sources)
    const { representations, ...explanation } = explained
    const drafted = place && (await draftOf(pipeline, place))
    const publication = place && pipeline.publishedSince(place, 0)
    return {
      asked,
      asset,
      explanation: drafted?.error ? { ...explanation, ...FAILED } : explanation,
      representations: representations.map(withReasons),
      dependencies: (drafted?.dependencies ?? []).map(file => relative(settings.root, file)),
      failure: drafted?.error && (await errorReport(drafted.error, settings)),
      took: publication && { publish: publication.duration, compile: publication.compileDuration },
      texts: asset ? await textsOf(pipeline, place, asset, drafted?.compiled) : {}
    }
  }
}

/** `explain` compiles nothing. */
const FAILED = { outcome: '500, as its source cannot be published', isFound: false }

/** The asset of a name or a tail, with a fingerprint or without. */
async function placeOf(
  { settings, sources }: Pipeline,
  survey: Survey,
  asked: string
): Promise<Place | undefined> {
  const wanted = locate(pathOf(asked, settings), settings)
  if (typeof wanted !== 'object' || wanted.app === settings.publicApp) return undefined
  const { app, name } = wanted
  const all = sources.of(app)
  const plain = splitFingerprint(name)?.name
  const source = (await all.find(name)) ?? (plain === undefined ? undefined : await all.find(plain))
  return source && survey.places.get(assetPath(app, source.name))
}

function withReasons({ headers, ...representation }: ExplainedRepresentation) {
  const all = Object.entries(headers).map(([name, value]) => {
    return { name, value, reason: reasonForHeader(name, value) }
  })
  return { ...representation, headers: all }
}

interface Drafted {
  readonly dependencies: readonly string[]
  readonly compiled?: Buffer
  readonly error?: AssetError
}

/** What the source yields now. */
async function draftOf({ settings, sources }: Pipeline, place: Place): Promise<Drafted> {
  if (!place.source.compiler) return { dependencies: [] }
  try {
    const draft = await new Renderer(settings, sources).draft(place)
    const files = (draft?.inputs ?? []).filter(isFileObservation).map(({ path }) => path)
    const dependencies = files.filter(file => file !== place.source.file)
    return draft?.content instanceof Buffer
      ? { dependencies, compiled: draft.content }
      : { dependencies }
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    const file = error instanceof CompileError ? error.location.file : place.source.file
    return { dependencies: file === place.source.file ? [] : [file], error }
  }
}

async function textsOf(
  { settings, directories }: Pipeline,
  { source }: Place,
  { url, target = '' }: Row,
  compiled: Buffer | undefined
): Promise<AssetReport['texts']> {
  const sources = directories.rootAt(source.directory)
  const written = wantedAt(`/${source.path}`, settings)
  const published = wantedAt(decodeURIComponent(url), settings)
  const texts = {
    source: await textOfFile(sources, written, relative(settings.root, source.file)),
    compiled: compiled && shownText(compiled),
    published: await textOfFile(directories.public, published, target)
  }
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined))
}
