// Responds with the pages of the inspector, below `<prefix>/-/`, and with the same as JSON.
import { subscribe } from 'node:diagnostics_channel'
import { sep } from 'node:path'
import type { Context } from 'koa'
import type { Pages } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import type { DiagnosticMessages } from '../../runtime/diagnostics.ts'
import { respondWithFile } from '../../runtime/serving/respond.ts'
import { locate, wantedAt } from '../../runtime/serving/request.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { listMounts } from '../telling/list.ts'
import { assetPage, reportOn } from './asset-page.ts'
import { STYLE } from './html.ts'
import * as lists from './lists.ts'
import { isImage, soon, Survey } from './survey.ts'

/** After how many seconds an incomplete page is reloaded. */
const RELOAD_SECONDS = 2

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
// An SVG has styles of its own, and is a document when it is opened by itself.
const IMAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Records requests from now on. */
export function inspectorPages(pipeline: Pipeline): Pages {
  const { settings, directories } = pipeline
  const survey = new Survey(pipeline)
  const requests = logRequests(`${encodePath(settings.prefix)}/-/`, settings.root)
  return {
    async ''(ctx) {
      await lookAround(ctx, survey)
      const model = await lists.pageOfAssets(survey, queryOf(ctx))
      if (model.surveyed < model.total) ctx.set('Refresh', String(RELOAD_SECONDS))
      respond(ctx, model, lists.listPage)
    },
    async asset(ctx) {
      await lookAround(ctx, survey)
      const model = await reportOn(survey, queryOf(ctx).get('path') ?? '')
      ctx.status = model.asset || model.explanation.isFound ? 200 : 404
      respond(ctx, model, assetPage)
    },
    async weight(ctx) {
      await survey.list()
      const model = await lists.weightOf(survey, queryOf(ctx).get('entry') ?? '')
      respond(ctx, model, lists.weightPage)
    },
    async mounts(ctx) {
      respond(ctx, { mounts: await listMounts(settings) }, lists.mountsPage)
    },
    requests(ctx) {
      respond(ctx, requests, lists.requestsPage)
    },
    'inspector.css'(ctx) {
      protect(ctx)
      ctx.type = 'css'
      ctx.body = STYLE
    },
    /** The source of an image is sent, which need not be published. */
    async image(ctx) {
      if (survey.places.size === 0) await survey.list()
      const asked = locate(queryOf(ctx).get('path') ?? '', settings)
      const place = typeof asked === 'object' ? survey.places.get(asked.path) : undefined
      if (!place || !isImage(place)) return
      protect(ctx, IMAGE_POLICY)
      const files = directories.rootAt(place.source.directory)
      await respondWithFile(ctx, () => files.find(wantedAt(`/${place.source.path}`, settings)))
    }
  }
}

/** Waits for a moment until assets are known. */
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

function protect(ctx: Context, policy = POLICY): void {
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin'
  })
}

const queryOf = (ctx: Context) => new URLSearchParams(ctx.querystring)

type Served = DiagnosticMessages['served']

/** The time is in ISO 8601; bytes and coding are unknown where the route decides. */
export type LoggedRequest = Omit<Served, 'bytes' | 'coding'> &
  Partial<Served> & { readonly at: string }

const MAX_REQUESTS = 100

/**
 * Listens from now on to all instances of this process, and returns the requests, the latest first.
 * @param own is the URL path below which requests are those of the inspector
 * @param root makes the paths in reasons relative
 */
function logRequests(own: string, root: string): readonly LoggedRequest[] {
  const requests: LoggedRequest[] = []
  const log = (given: unknown) => {
    // A request that was missed has neither status nor reason.
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
