// Responds with the pages of the inspector, below `<prefix>/-/`, and with the same as JSON.
import type { Context } from 'koa'
import type { Pages } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { respondWithFile } from '../../runtime/serving/respond.ts'
import { locate, wantedAt } from '../../runtime/serving/request.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { listMounts } from '../telling/listed-mounts.ts'
import { assetPage, reportOn } from './asset-page.ts'
import { STYLE } from './page-html.ts'
import { listPage, logRequests, mountsPage, pageOfAssets, requestsPage } from './list-page.ts'
import { isImage, soon, Survey } from './survey.ts'
import { weightOf, weightPage } from './weight-page.ts'

/** After how many seconds an incomplete page is reloaded. */
const RELOAD_SECONDS = 2

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
// An SVG has styles of its own, and is a document when it is opened by itself.
const IMAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Records requests from now on. */
export function inspectorPages(pipeline: Pipeline): Pages {
  const { settings } = pipeline
  const survey = new Survey(pipeline)
  const requests = logRequests(`${encodePath(settings.prefix)}/-/`, settings.root)
  return {
    async ''(ctx) {
      await lookAround(ctx, survey)
      const model = await pageOfAssets(survey, queryOf(ctx))
      if (model.surveyed < model.total) ctx.set('Refresh', String(RELOAD_SECONDS))
      respond(ctx, model, listPage)
    },
    async asset(ctx) {
      await lookAround(ctx, survey)
      const model = await reportOn(survey, queryOf(ctx).get('path') ?? '')
      ctx.status = model.asset || model.explanation.isFound ? 200 : 404
      respond(ctx, model, assetPage)
    },
    async weight(ctx) {
      await survey.list()
      respond(ctx, await weightOf(survey, queryOf(ctx).get('entry') ?? ''), weightPage)
    },
    async mounts(ctx) {
      respond(ctx, { mounts: await listMounts(settings) }, mountsPage)
    },
    requests(ctx) {
      respond(ctx, requests, requestsPage)
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
      const files = pipeline.directories.rootAt(place.source.directory)
      const find = () => files.find(wantedAt(`/${place.source.path}`, settings))
      await respondWithFile(ctx, find)
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

function queryOf(ctx: Context): URLSearchParams {
  return new URLSearchParams(ctx.querystring)
}
