// Shows one asset, or a path that is not an asset's.
import { StringDecoder } from 'node:string_decoder'
import { streamOf } from '../../runtime/files/open-file.ts'
import type { ListedAsset } from '../../publishing/building/assets.ts'
import type { ErrorReport } from '../../publishing/error-page.ts'
import { ownPath } from '../telling/own-assets.ts'
import { MAX_BYTES } from '../telling/state.ts'
import { explainBy } from '../telling/explain.ts'
import type { ServedFiles } from '../../runtime/serving/files.ts'
import { wantedAt } from '../../runtime/serving/request.ts'
import { bytes, facts, html, layout, table, type Html, type Value } from './page-html.ts'
import { withoutBase } from '../../runtime/urls/spelling.ts'
import { imageUrl } from './list-page.ts'
import { recordOf, type AssetRecord, type Survey } from './survey.ts'

export type AssetReport = Awaited<ReturnType<typeof reportOn>>

/** @param asked is a path, a URL, or a name as a view writes it */
export async function reportOn(survey: Survey, asked: string) {
  const { pipeline } = survey
  const { settings, directories } = pipeline
  const filesOf = ({ source }: ListedAsset) => directories.rootAt(source.directory)
  const textAt = (files: ServedFiles, path: string, file?: string) =>
    files.open(wantedAt(path, settings), async (_, opened) => {
      const pieces = await streamOf(opened, MAX_BYTES).toArray()
      return shownText(Buffer.concat(pieces as Buffer[]), file)
    })
  const place = survey.places.get((await ownPath(pipeline, asked)) ?? '')
  const seen = place && (await survey.look(place))
  const asset = place && (await recordOf(survey, place, seen))
  const verdict = seen && { state: seen.state, reason: seen.reason }
  const explained = await explainBy(pipeline, asset?.url ?? asked, async () => verdict)
  const { representations, ...explanation } = explained
  return {
    asked,
    /** The asset is undefined for a path that is not an asset's. */
    asset,
    /** The URL that pages ask for is explained. */
    explanation,
    representations: representations.map(({ headers, ...rest }) => {
      const reasoned = Object.entries(headers).map(([name, value]) => {
        return {
          name,
          value,
          reason: REASONS[`${name}: ${value}`] ?? REASONS[name] ?? 'set by the option headers'
        }
      })
      return { ...rest, headers: reasoned }
    }),
    /** A text is undefined for a file that is not text. */
    texts: {
      source: place && (await textAt(filesOf(place), `/${place.source.path}`, asset?.source)),
      compiled: seen?.compiled && shownText(seen.compiled),
      published:
        asset &&
        (await textAt(
          directories.public,
          decodeURIComponent(withoutBase(asset.url, settings.base)),
          asset.target
        ))
    }
  }
}

/**
 * The reasons why fields of a response have their values, by field, or by field with value; sections are of RFC 9110
 * unless another is named.
 */
const REASONS: Readonly<Record<string, string>> = {
  'Cache-Control: public, max-age=31536000, immutable':
    'the name changes with the bytes: its fingerprint is their digest (RFC 8246)',
  'Cache-Control: no-cache': 'stored, but checked each time: the source may be edited (compile)',
  'Cache-Control: public, max-age=0, must-revalidate':
    'stored, but checked each time: the name stays when the bytes change',
  'Cache-Control': 'set by an option: cacheControl of the mount, or headers',
  ETag: 'strong: the digest of the bytes, with the coding; for a file that is too large for memory its size, times and inode (section 8.8.3)',
  'Last-Modified': 'the mtime of the target, in seconds (section 8.8.2)',
  'Content-Type': 'by the extension, or the option headers; text is UTF-8 (section 8.3)',
  'Content-Length': 'the size of this representation in bytes (section 8.6)',
  'Content-Encoding': 'a compressed copy beside the file expands to its bytes (section 8.4)',
  'Accept-Ranges': 'a part can be requested (section 14.3)',
  Vary: 'there are several representations or, with Available-Dictionary, a delta (section 12.5.5, RFC 9842)',
  'Use-As-Dictionary': 'a later version can be sent as a delta of this one (RFC 9842)',
  'X-Content-Type-Options': 'browsers must not guess another type (Fetch Standard)',
  'Access-Control-Allow-Origin': 'the option host is set: pages of another origin load it'
}

/** An inline source map is one line. */
const LONG_LINE = /^(.{500}).+$/gm

interface ShownText {
  /** The path relative to the project root; undefined for a text that is in no file. */
  readonly file: string | undefined
  readonly text: string
  /** Says what was left out. */
  readonly omitted: string | undefined
}

/** Returns undefined for bytes that are not text. */
function shownText(content: Buffer, file?: string): ShownText | undefined {
  const isCut = content.length > MAX_BYTES
  // The decoder drops a character that is cut in two.
  const text = new StringDecoder('utf8').write(content.subarray(0, MAX_BYTES))
  if (text.includes('\0') || text.includes('\ufffd')) return undefined
  const omitted = isCut ? `only the first ${MAX_BYTES / 1024} KiB are shown` : undefined
  return { file, text: text.replace(LONG_LINE, '$1…'), omitted }
}

export function assetPage({ asset, asked, explanation, representations, texts }: AssetReport) {
  const { path, steps, outcome } = explanation
  return layout(
    asset?.path ?? asked,
    `asset?path=${encodeURIComponent(asked)}&json`,
    html`${asset && summary(asset)}
      <h2>How it is resolved</h2>
      ${table(path, steps)}
      <p class="outcome"><strong>GET ${path}</strong> ${outcome}</p>
      ${representations.map(({ coding, size, headers }) => table(`${coding}, ${bytes(size)}`, headers))}
      <div class="texts">${sections(texts)}</div>`
  )
}

function summary(asset: AssetRecord): Html {
  const { path, name: _, isImage, failure, problems, ...rest } = asset
  const others = problems.filter(problem => !failure || !problem.includes(failure.reason))
  return html`${isImage && html`<p class="picture"><img src="${imageUrl(path)}" alt="the image itself" /></p>`}
  ${others.map(problem => html`<p class="problem">${problem}</p>`)} ${failure && failed(failure)}
  ${facts(rest)}`
}

function failed({ title, location, reason, excerpt }: ErrorReport): Html {
  return html`<section class="failure" aria-label="Error">
    <h2>${title}</h2>
    ${facts({ location, reason })}
    ${excerpt !== '' && html`<pre tabindex="0" role="region" aria-label="The place of the error">${excerpt}</pre>`}
  </section>`
}

function sections({ source, compiled, published }: AssetReport['texts']): Value {
  if (source && source.text === published?.text) {
    return section('Source, published unchanged', source)
  }
  return [
    source && section('Source', source),
    compiled && section('Compiled', compiled),
    published && section('Published', published)
  ]
}

/** Lines are numbered; the numbers are not part of the text. */
function section(label: string, { file, text, omitted }: ShownText): Html {
  const lines = text.replace(/\n$/, '').split('\n')
  return html`<section class="code">
    <h3>${label}${file !== undefined && html` <code>${file}</code>`}</h3>
    ${omitted !== undefined && html`<p class="note">${omitted}</p>`}
    <pre tabindex="0" role="region" aria-label="${label}"><code>${lines.map(
      line => html`<span>${`${line}\n`}</span>`
    )}</code></pre>
  </section>`
}
