// The page about one asset, or about a path that is not an asset.
import { isUtf8 } from 'node:buffer'
import { relative } from 'node:path'
import { CompileError } from '../../../errors.ts'
import { streamOf } from '../../../files/open-file.ts'
import { isFileObservation } from '../../../files/observation.ts'
import { errorReport } from '../../inspecting/error-page.ts'
import { explainBy, pathOf } from '../../inspecting/explain.ts'
import { sourcedNameIn } from '../../building/on-request/app-files.ts'
import type { Place } from '../../building/places.ts'
import type { ServedFiles } from '../../serving/files/served-files.ts'
import { locate, wantedAt, type Wanted } from '../../serving/request-path.ts'
import { assetPath } from '../../settings/app-settings.ts'
import { reasonForHeader } from './header-reasons.ts'
import { assetLink, bytes, code, html, layout, list, state, table, type Html } from './layout.ts'
import { rowOf, type Row } from './list-page.ts'
import { readSource, type Survey } from './survey.ts'

export type AssetReport = Awaited<ReturnType<typeof reportOn>>

/** @param asked a path, a URL, or a name as a view writes it */
export async function reportOn(survey: Survey, asked: string) {
  const { pipeline } = survey
  const { settings, directories } = pipeline
  const shown = (file: string) => relative(settings.root, file)
  const textAt = (files: ServedFiles, path: string, file?: string) =>
    textOfFile(files, wantedAt(path, settings), file)
  const place = await placeOf(survey, asked)
  const asset = place && (await rowOf(survey, place))
  const read = place && (await readSource(pipeline, place))
  const error = read?.reading.error
  const explained = await explainBy(pipeline, asset?.url ?? asked)
  const { representations, ...explanation } = explained
  const inputs = read?.reading.inputs.filter(isFileObservation).map(({ path }) => path) ?? []
  if (error instanceof CompileError) inputs.push(error.location.file)
  const publication = place && pipeline.publishedSince(place, 0)
  return {
    asked,
    /** Undefined for a path that is not that of an asset. */
    asset,
    /** Of the URL that pages ask for; it compiles nothing. */
    explanation: error ? { ...explanation, ...FAILED } : explanation,
    representations: representations.map(({ headers, ...rest }) => {
      const reasoned = Object.entries(headers).map(([name, value]) => {
        return { name, value, reason: reasonForHeader(name, value) }
      })
      return { ...rest, headers: reasoned }
    }),
    /** Files that were compiled into it, relative to the project root. */
    dependencies: inputs.filter(file => file !== place?.source.file).map(shown),
    /** Undefined unless it cannot be published. */
    failure: error && (await errorReport(error, settings)),
    /** How long its last publication in this process took. */
    took: publication && { publish: publication.duration, compile: publication.compileDuration },
    /** Undefined for what is not text. */
    texts: {
      source:
        place &&
        (await textAt(
          directories.rootAt(place.source.directory),
          `/${place.source.path}`,
          shown(place.source.file)
        )),
      compiled: read?.compiled && shownText(read.compiled),
      published:
        asset && (await textAt(directories.public, decodeURIComponent(asset.url), asset.target))
    }
  }
}

const FAILED = { outcome: '500, as its source cannot be published', isFound: false }

/** The asset of a name or a tail, with a fingerprint or without. */
async function placeOf(survey: Survey, asked: string): Promise<Place | undefined> {
  const { settings, sources } = survey.pipeline
  const wanted = locate(pathOf(asked, settings), settings)
  if (typeof wanted !== 'object' || wanted.app === settings.publicApp) return undefined
  const { app, name } = wanted
  const sourced = await sourcedNameIn(sources, app, name)
  const source = sourced === undefined ? undefined : await sources.of(app).find(sourced)
  return source && survey.places.get(assetPath(app, source.name))
}

const MAX_BYTES = 64 * 1024
/** An inline source map is one line. */
const MAX_COLUMNS = 500

/**
 * The beginning of a file; undefined for one that is not served, and for one that is not text.
 * @param file as it is displayed
 */
async function textOfFile(files: ServedFiles, wanted: Wanted, file?: string) {
  const content = await files.open(wanted, async (_, opened) =>
    Buffer.concat((await streamOf(opened, MAX_BYTES).toArray()) as Buffer[])
  )
  return content && shownText(content, file)
}

/** Undefined for bytes that are not text. @param file relative to the root */
function shownText(content: Buffer, file?: string) {
  const isCut = content.length > MAX_BYTES
  // A character may be cut in two.
  const start = content.subarray(0, MAX_BYTES)
  const whole = isCut ? start.subarray(0, start.lastIndexOf(0x0a) + 1 || MAX_BYTES - 4) : start
  if (!isUtf8(whole) || whole.includes(0)) return undefined
  const lines = whole.toString().split('\n')
  const long = lines.filter(line => line.length > MAX_COLUMNS).length
  const omitted = [
    ...(isCut ? [`only the first ${MAX_BYTES / 1024} KiB are shown`] : []),
    ...(long > 0 ? [`${long} long ${long === 1 ? 'line is' : 'lines are'} cut`] : [])
  ]
  const cut = (line: string) => {
    const rest = line.length - MAX_COLUMNS
    return rest > 0 ? `${line.slice(0, MAX_COLUMNS)}… ${rest} more characters` : line
  }
  return { file, text: lines.map(cut).join('\n'), omitted: omitted.join(', ') || undefined }
}

export function assetPage(report: AssetReport): string {
  const { asset, asked, explanation } = report
  const title = asset?.path ?? asked
  return layout(
    title,
    'asset',
    html`<h1 class="path">${title}</h1>
      <p class="note"><a href="asset?path=${encodeURIComponent(asked)}&amp;json">JSON</a></p>
      ${asset && summary(report, asset)} ${failure(report)}
      <h2>How it is resolved</h2>
      <ol class="steps">
        ${explanation.steps.map(
          ({ subject, finding, details }) =>
            html`<li><strong>${subject}</strong> ${finding}${list(details)}</li> `
        )}
      </ol>
      <p class="outcome"><strong>GET ${explanation.path}</strong> ${explanation.outcome}</p>
      ${representations(report)} ${texts(report)} `
  )
}

function summary({ took, dependencies, failure }: AssetReport, asset: Row): Html {
  const { path, url, state: name, sizes, problems, ambiguous, digest } = asset
  const inCode = (text: string) => html`<code>${text}</code>`
  const codes = (texts: readonly string[]) => list(texts.map(inCode))
  const links = (paths: readonly string[]) => list(paths.map(path => assetLink(path)))
  const isIn = took?.compile === undefined ? '' : `, ${took.compile.toFixed(1)} ms of it compiling`
  const all = Object.entries(sizes).map(([coding, size]) => `${coding} ${bytes(size)}`)
  const facts: Record<string, Html | string | false | undefined> = {
    State: state(name),
    App: asset.app,
    Source: inCode(asset.source),
    'Also made of': codes(dependencies),
    Target: asset.target !== undefined && inCode(asset.target),
    'Pages ask for': html`<a href="${url}">${url}</a>`,
    Digest: digest !== undefined && inCode(digest),
    Size: all.join(', '),
    'Published in': took && `${took.publish.toFixed(1)} ms${isIn}`,
    'Also found as': codes(asset.tails),
    'Ambiguous, so not found as': codes(ambiguous),
    Hides: codes(asset.shadowed),
    'Refers to': links(asset.refersTo),
    'Referred to by': links(asset.referredBy)
  }
  const others = problems.filter(problem => !failure || !problem.includes(failure.reason))
  return html`${asset.isImage && html`<p class="picture"><img src="image?path=${encodeURIComponent(path)}" alt="the image itself" /></p>`}
    ${others.map(problem => html`<p class="problem">${problem}</p>`)}
    <dl class="facts">
      ${Object.entries(facts).map(
        ([name, value]) =>
          value &&
          html`<dt>${name}</dt>
            <dd>${value}</dd> `
      )}
    </dl>`
}

function failure({ failure }: AssetReport): Html | undefined {
  if (!failure) return undefined
  const { title, location, reason, excerpt } = failure
  return html`<section class="failure" aria-label="Error">
    <h2>${title}</h2>
    ${location !== '' && html`<p><code>${location}</code></p>`}
    <p>${reason}</p>
    ${excerpt !== '' && html`<pre tabindex="0" role="region" aria-label="The place of the error">${excerpt}</pre>`}
  </section>`
}

function representations({ representations }: AssetReport): Html | false {
  if (representations.length === 0) return false
  return html`<h2>Representations</h2>
    ${representations.map(({ coding, size, headers }) => {
      const caption = html`<caption>
        ${coding}, ${bytes(size)}
      </caption>`
      const rows = headers.map(({ name, value, reason }) => [
        name,
        html`<code>${value}</code>`,
        reason
      ])
      return table('headers', caption, ['Field', 'Value', 'Why'], rows)
    })}`
}

function texts({ texts: { source, compiled, published } }: AssetReport): Html | false {
  if (!source && !compiled && !published) return false
  if (source && !compiled && source.text === published?.text) {
    return html`<h2>Text</h2>
      ${code('Source, published unchanged', source)}`
  }
  return html`<h2>Texts</h2>
    <div class="texts">
      ${source && code('Source', source)} ${compiled && code('Compiled', compiled)}
      ${published && code('Published', published)}
    </div>`
}
