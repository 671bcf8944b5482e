// Everything about one asset, or about a path that is none.
import { isUtf8 } from 'node:buffer'
import { relative } from 'node:path'
import { CompileError } from '../../../errors.ts'
import { streamOf } from '../../../files/file-stream.ts'
import { isFileObservation } from '../../../files/observation.ts'
import { errorReport, type ErrorReport } from '../../inspecting/error-page.ts'
import { explainBy, pathOf, type Explanation } from '../../inspecting/explain.ts'
import type { ExplainedRepresentation } from '../../inspecting/explain-file.ts'
import { sourcedNameIn } from '../../building/on-request/app-files.ts'
import type { Place } from '../../building/places.ts'
import type { Pipeline } from '../../pipeline.ts'
import type { ServedFiles } from '../../serving/files/served-files.ts'
import { locate, wantedAt, type Wanted } from '../../serving/request-path.ts'
import { assetPath } from '../../settings/app-settings.ts'
import { reasonForHeader } from './header-reasons.ts'
import { rowMaker, type Row } from './overview.ts'
import { readSource, type Survey } from './survey.ts'

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

export interface ShownText {
  /** Relative to the project root; undefined for what is in no file. */
  readonly file: string | undefined
  readonly text: string
  /** What was left out, in words. */
  readonly omitted: string | undefined
}

export function assetReporter(pipeline: Pipeline, survey: Survey) {
  const { settings } = pipeline
  const rowOf = rowMaker(pipeline, survey)
  /** @param asked a path, a URL, or a name as a view writes it */
  return async (asked: string): Promise<AssetReport> => {
    const place = await placeOf(pipeline, survey, asked)
    const asset = place && (await rowOf(place))
    const explained = await explainBy(pipeline, asset?.url ?? asked)
    const { representations, ...explanation } = explained
    const read = place && (await readSource(pipeline, place))
    const publication = place && pipeline.publishedSince(place, 0)
    const inputs = read?.reading.inputs.filter(isFileObservation).map(({ path }) => path) ?? []
    const failed = read?.error instanceof CompileError ? [read.error.location.file] : []
    const dependencies = [...inputs, ...failed].filter(file => file !== place?.source.file)
    return {
      asked,
      asset,
      // `explain` compiles nothing.
      explanation: read?.error ? { ...explanation, ...FAILED } : explanation,
      representations: representations.map(({ headers, ...rest }) => {
        const reasoned = Object.entries(headers).map(([name, value]) => {
          return { name, value, reason: reasonForHeader(name, value) }
        })
        return { ...rest, headers: reasoned }
      }),
      dependencies: dependencies.map(file => relative(settings.root, file)),
      failure: read?.error && (await errorReport(read.error, settings)),
      took: publication && { publish: publication.duration, compile: publication.compileDuration },
      texts: asset ? await textsOf(pipeline, place, asset, read?.compiled) : {}
    }
  }
}

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
  const sourced = await sourcedNameIn(sources, app, name)
  const source = sourced === undefined ? undefined : await sources.of(app).find(sourced)
  return source && survey.places.get(assetPath(app, source.name))
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

const MAX_BYTES = 64 * 1024
/** An inline source map is one line. */
const MAX_COLUMNS = 500

/**
 * The beginning of a file; undefined for one that is not served, and for one that is not text.
 * @param file as it is shown
 */
async function textOfFile(
  files: ServedFiles,
  wanted: Wanted,
  file: string
): Promise<ShownText | undefined> {
  const bytes = await files.withOpened(wanted, async (_, opened) => {
    const chunks: Buffer[] = []
    for await (const chunk of streamOf(opened, { start: 0, end: MAX_BYTES })) {
      chunks.push(chunk as Buffer)
    }
    return Buffer.concat(chunks)
  })
  return bytes && shownText(bytes, file)
}

/** Undefined for bytes that are not text. @param file relative to the root */
function shownText(bytes: Buffer, file?: string): ShownText | undefined {
  const isCut = bytes.length > MAX_BYTES
  // A character may be cut in two.
  const start = bytes.subarray(0, MAX_BYTES)
  const whole = isCut ? start.subarray(0, start.lastIndexOf(0x0a) + 1 || MAX_BYTES - 4) : start
  if (!isUtf8(whole) || whole.includes(0)) return undefined
  let shortened = 0
  const lines = whole
    .toString()
    .split('\n')
    .map(line => {
      if (line.length <= MAX_COLUMNS) return line
      shortened++
      return `${line.slice(0, MAX_COLUMNS)}… ${line.length - MAX_COLUMNS} more characters`
    })
  const omitted = [
    ...(isCut ? [`only the first ${MAX_BYTES / 1024} KiB are shown`] : []),
    ...(shortened > 0 ? [`${shortened} long ${shortened === 1 ? 'line is' : 'lines are'} cut`] : [])
  ]
  const text = lines.join('\n')
  return { file, text, omitted: omitted.length > 0 ? omitted.join(', ') : undefined }
}
