// Responds with the pages of the inspector below `<prefix>/-/`, as HTML or JSON.
import { subscribe } from 'node:diagnostics_channel'
import { sep } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Context } from 'koa'
import type { Listed } from '../../publishing/sources/snapshot.ts'
import type { Pages } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import type { DiagnosticMessages } from '../../runtime/diagnostics.ts'
import { streamOf } from '../../runtime/files/open-file.ts'
import { wantedAt } from '../../runtime/serving/request.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { explain } from '../telling/explain.ts'
import { ownPath } from '../telling/list.ts'
import {
  bytes,
  each,
  element,
  facts,
  html,
  joined,
  layout,
  note,
  STYLE,
  table,
  type Html
} from './html.ts'
import * as lists from './lists.ts'
import { pathInDirectory, recordOf, soon, Survey, type AssetRecord } from './survey.ts'

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function inspectorPages(pipeline: Pipeline): Pages {
  const { settings } = pipeline
  const survey = new Survey(pipeline)
  const requests = logRequests(settings)
  return {
    async ''(ctx) {
      await lookAround(ctx, survey)
      const model = await lists.pageOfAssets(survey, queryOf(ctx))
      if (model.surveyed < model.total) ctx.set('Refresh', '2')
      respond(ctx, model, lists.listPage)
    },
    async asset(ctx) {
      await lookAround(ctx, survey)
      const model = await reportOn(survey, queryOf(ctx).get('path') ?? '')
      ctx.status = model.asset || model.explanation.isFound ? 200 : 404
      respond(ctx, model, assetPage)
    },
    requests(ctx) {
      respond(ctx, requests, lists.requestsPage)
    },
    'inspector.css'(ctx) {
      protect(ctx)
      ctx.type = 'css'
      ctx.body = STYLE
    }
  }
}

async function lookAround(ctx: Context, survey: Survey): Promise<void> {
  await survey.pipeline.refresh()
  await survey.list()
  await soon(survey.refresh().catch((error: Error) => ctx.app.emit('error', error, ctx)))
}

function respond<T extends object>(ctx: Context, model: T, page: (model: T) => string): void {
  protect(ctx)
  const isJson = queryOf(ctx).has('json')
  ctx.type = isJson ? 'json' : 'html'
  ctx.body = isJson ? model : page(model)
}

function protect(ctx: Context): void {
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin'
  })
}

const queryOf = (ctx: Context) => new URLSearchParams(ctx.querystring)

type Served = DiagnosticMessages['served']

/** A logged request. Bytes and coding are unknown if the route responded. */
export type LoggedRequest = Pick<Served, 'method' | 'path' | 'status' | 'reason'> &
  Partial<Served> & { readonly at: string }

const MAX_REQUESTS = 100

/** Listens to all instances of this process from now on, and returns the requests, the latest first. */
function logRequests({ prefix, root }: Settings): readonly LoggedRequest[] {
  const own = `${encodePath(prefix)}/-/`
  const requests: LoggedRequest[] = []
  const log = (given: unknown) => {
    // A missed request has neither status nor reason.
    const message = Object.assign({ status: 404, reason: 'nothing responded' }, given as Served)
    const { method, path, status, bytes, coding } = message
    if (path.startsWith(own)) return
    const reason = message.reason.replaceAll(`${root}${sep}`, '')
    requests.unshift({ method, path, status, reason, bytes, coding, at: new Date().toISOString() })
    requests.splice(MAX_REQUESTS)
  }
  for (const name of ['served', 'missed', 'halted']) subscribe(`koa-fresh-assets:${name}`, log)
  return requests
}

export type AssetReport = Awaited<ReturnType<typeof reportOn>>

export async function reportOn(survey: Survey, asked: string) {
  const place = survey.places.get((await ownPath(survey.pipeline, asked)) ?? '')
  const seen = place && (await survey.look(place))
  const asset = place && (await recordOf(survey, place, seen))
  const verdict = seen && { state: seen.state, reason: seen.reason }
  const explanation = await explain(survey.pipeline, asset?.url ?? asked, verdict)
  return { asked, asset, explanation, source: place && (await sourceOf(survey, place)) }
}

const MAX_BYTES = 64 * 1024
/** An inline source map is one line. */
const LONG_LINE = /^(.{500}).+$/gm

/** Returns the beginning of a source; undefined for bytes that are not text. */
async function sourceOf({ pipeline }: Survey, { source }: Listed) {
  const { settings, directories } = pipeline
  const wanted = wantedAt(`/${pathInDirectory(source)}`, settings)
  const content = await directories.rootAt(source.directory).open(wanted, async (_, opened) => {
    const pieces = await streamOf(opened, MAX_BYTES).toArray()
    return Buffer.concat(pieces as Buffer[])
  })
  if (!content) return undefined
  // The decoder drops a character that is cut off.
  const text = new StringDecoder('utf8').write(content.subarray(0, MAX_BYTES))
  if (text.includes('\0') || text.includes('\ufffd')) return undefined
  return { text: text.replace(LONG_LINE, '$1…'), isCut: content.length > MAX_BYTES }
}

function assetPage({ asset, asked, explanation, source }: AssetReport) {
  const { path, steps, outcome, representations } = explanation
  return layout(asset?.path ?? asked, `asset?path=${encodeURIComponent(asked)}&json`, [
    asset && summary(asset),
    element('h2', 'How it is resolved'),
    table(path, steps),
    html`<p class="outcome"><strong>GET ${path}</strong> ${outcome}</p>`,
    representations.map(({ coding, size, headers }) => {
      const rows = Object.entries(headers).map(([name, value]) => ({ name, value }))
      return table(`${coding}, ${bytes(size)}`, rows)
    }),
    asset && source && section(asset.source, source)
  ])
}

function summary({ isImage, problems, ...rest }: AssetRecord): Html {
  return joined(
    isImage && html`<p class="picture"><img src="${rest.url}" alt="the image itself" /></p>`,
    each('p', problems, { class: 'problem' }),
    facts({ ...rest, path: undefined, name: undefined })
  )
}

/** Shows a source; its line numbers are not part of the text. A keyboard scrolls only an element with the focus. */
function section(file: string, { text, isCut }: NonNullable<AssetReport['source']>) {
  const lines = each('span', text.replace(/\n$/, '').split(/(?<=\n)/))
  const omitted = isCut && note(`only the first ${MAX_BYTES / 1024} KiB are shown`)
  const heading = element('h3', html`Source <code>${file}</code>`)
  const scrolled = { tabindex: 0, role: 'region', 'aria-label': 'Source' }
  const parts = [heading, omitted, element('pre', element('code', lines), scrolled)]
  return element('section', parts, { class: 'code' })
}
