// Shows one asset, or a path that is not an asset's.
import { StringDecoder } from 'node:string_decoder'
import { streamOf } from '../../runtime/files/open-file.ts'
import type { ServedFiles } from '../../runtime/serving/files.ts'
import { wantedAt } from '../../runtime/serving/request.ts'
import { withoutBase } from '../../runtime/urls/spelling.ts'
import { explain } from '../telling/explain.ts'
import { ownPath } from '../telling/list.ts'
import { MAX_BYTES } from '../telling/state.ts'
import {
  bytes,
  each,
  element,
  facts,
  html,
  image,
  joined,
  layout,
  note,
  table,
  type Html,
  type Value
} from './html.ts'
import { recordOf, type AssetRecord, type Survey } from './survey.ts'

export type AssetReport = Awaited<ReturnType<typeof reportOn>>

/** @param asked is a path, a URL, or a name as a view writes it */
export async function reportOn(survey: Survey, asked: string) {
  const { settings, directories } = survey.pipeline
  const place = survey.places.get((await ownPath(survey.pipeline, asked)) ?? '')
  const seen = place && (await survey.look(place))
  const asset = place && (await recordOf(survey, place, seen))
  const verdict = seen && { state: seen.state, reason: seen.reason }
  const explained = await explain(survey.pipeline, asset?.url ?? asked, verdict)
  const { representations, ...explanation } = explained
  const textAt = (files: ServedFiles, path: string, file?: string) =>
    files.open(wantedAt(path, settings), async (_, opened) => {
      const pieces = await streamOf(opened, MAX_BYTES).toArray()
      return shownText(Buffer.concat(pieces as Buffer[]), file)
    })
  const urlPath = decodeURIComponent(withoutBase(asset?.url ?? '', settings.base))
  const sourceFiles = place && directories.rootAt(place.source.directory)
  return {
    asked,
    /** The asset is undefined for a path that is not an asset's. */
    asset,
    /** The URL that pages ask for is explained. */
    explanation,
    representations: representations.map(({ headers, ...rest }) => {
      const reasoned = Object.entries(headers).map(([name, value]) => {
        const reason = REASONS[`${name}: ${value}`] ?? REASONS[name] ?? 'set by the option headers'
        return { name, value, reason }
      })
      return { ...rest, headers: reasoned }
    }),
    /** A text is undefined for a file that is not text. */
    texts: {
      source: sourceFiles && (await textAt(sourceFiles, `/${place.source.path}`, asset?.source)),
      compiled: seen?.compiled && shownText(seen.compiled),
      published: asset && (await textAt(directories.public, urlPath, asset.target))
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

type ShownText = NonNullable<ReturnType<typeof shownText>>

/** Returns undefined for bytes that are not text. @param file is relative to the project root */
function shownText(content: Buffer, file?: string) {
  // The decoder drops a character that is cut in two.
  const text = new StringDecoder('utf8').write(content.subarray(0, MAX_BYTES))
  if (text.includes('\0') || text.includes('\ufffd')) return undefined
  const isCut = content.length > MAX_BYTES
  const omitted = isCut ? `only the first ${MAX_BYTES / 1024} KiB are shown` : undefined
  return { file, text: text.replace(LONG_LINE, '$1…'), omitted }
}

export function assetPage({ asset, asked, explanation, representations, texts }: AssetReport) {
  const { path, steps, outcome } = explanation
  const { source, compiled, published } = texts
  const isSame = source && published && source.text === published.text
  return layout(asset?.path ?? asked, `asset?path=${encodeURIComponent(asked)}&json`, [
    asset && summary(asset),
    element('h2', 'How it is resolved'),
    table(path, steps),
    html`<p class="outcome"><strong>GET ${path}</strong> ${outcome}</p>`,
    representations.map(({ coding, size, headers }) => table(`${coding}, ${bytes(size)}`, headers)),
    html`<div class="texts">
      ${source && section(isSame ? 'Source, published unchanged' : 'Source', source)}
      ${!isSame && compiled && section('Compiled', compiled)}
      ${!isSame && published && section('Published', published)}
    </div>`
  ])
}

function summary({ isImage, failure, problems, ...rest }: AssetRecord): Html {
  const others = problems.filter(problem => !failure || !problem.includes(failure.reason))
  const { title = '', location, reason, excerpt } = failure ?? {}
  const failed = [
    element('h2', title),
    facts({ location, reason }),
    excerpt && code(PLACE, excerpt)
  ]
  return joined(
    isImage && element('p', image(rest.path, { alt: 'the image itself' }), { class: 'picture' }),
    each('p', others, { class: 'problem' }),
    failure && element('section', failed, { class: 'failure', 'aria-label': 'Error' }),
    facts({ ...rest, path: undefined, name: undefined })
  )
}

const PLACE = 'The place of the error'

/** A keyboard scrolls only what has the focus. */
function code(label: string, content: Value): Html {
  return element('pre', content, { tabindex: 0, role: 'region', 'aria-label': label })
}

/** Lines are numbered; the numbers are not part of the text. */
function section(label: string, { file, text, omitted }: ShownText): Html {
  const lines = each('span', text.replace(/\n$/, '').split(/(?<=\n)/))
  const heading = file === undefined ? label : html`${label} <code>${file}</code>`
  const shown = code(label, element('code', lines))
  const parts = [element('h3', heading), omitted && note(omitted), shown]
  return element('section', parts, { class: 'code' })
}
