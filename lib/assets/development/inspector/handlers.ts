// The pages of the inspector, and the same as JSON.
import type { Context } from 'koa'
import type { Place } from '../../building/places.ts'
import type { Pipeline } from '../../pipeline.ts'
import { listMounts } from '../../inspecting/list-mounts.ts'
import { serve, serveFound } from '../../serving/koa/serve.ts'
import { locate, wantedAt } from '../../serving/request-path.ts'
import { encodePath } from '../../urls/encode.ts'
import { assetPage, reportOn } from './asset-page.ts'
import { POLICY } from './layout.ts'
import { isImage, pageOfAssets, listPage, type Question } from './list-page.ts'
import { mountsPage } from './mounts-page.ts'
import { STYLE } from './style.ts'
import { logRequests, requestsPage } from './requests.ts'
import { soon, Survey } from './survey.ts'

/** After how many seconds an incomplete page is reloaded. */
const RELOAD_SECONDS = 2

// An SVG has styles of its own, and is a document when it is opened by itself.
const IMAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Responds to a GET or HEAD request that comes from this machine. */
export type Handler = (ctx: Context) => Promise<void> | void

export type Inspector = Readonly<
  Record<'list' | 'asset' | 'mounts' | 'requests' | 'style' | 'image', Handler>
>

export function makeInspector(pipeline: Pipeline): Inspector {
  const { settings } = pipeline
  const survey = new Survey(pipeline)
  const requests = logRequests(`${encodePath(settings.prefix)}/-/`, settings.root)
  return {
    async list(ctx) {
      await lookAround(ctx, survey)
      const model = await pageOfAssets(survey, questionOf(ctx))
      if (model.surveyed < model.total) ctx.set('Refresh', String(RELOAD_SECONDS))
      respond(ctx, model, listPage)
    },
    async asset(ctx) {
      await lookAround(ctx, survey)
      const model = await reportOn(survey, parameters(ctx).get('path') ?? '')
      ctx.status = model.asset || model.explanation.isFound ? 200 : 404
      respond(ctx, model, assetPage)
    },
    async mounts(ctx) {
      respond(ctx, { mounts: await listMounts(settings) }, mountsPage)
    },
    requests(ctx) {
      respond(ctx, requests(), requestsPage)
    },
    style(ctx) {
      protect(ctx, POLICY)
      ctx.type = 'css'
      ctx.body = STYLE
    },
    async image(ctx) {
      if (survey.places.size === 0) await survey.list()
      const asked = locate(parameters(ctx).get('path') ?? '', settings)
      const place = typeof asked === 'object' ? survey.places.get(asked.path) : undefined
      if (place && isImage(place)) await sendSource(ctx, pipeline, place)
    }
  }
}

async function sendSource(ctx: Context, pipeline: Pipeline, { source }: Place): Promise<void> {
  protect(ctx, IMAGE_POLICY)
  const files = pipeline.directories.rootAt(source.directory)
  const wanted = wantedAt(`/${source.path}`, pipeline.settings)
  const find = () => files.find(wanted)
  await serveFound(ctx, find, (file, opened) => serve(ctx, file, opened))
}

/** Waits for what is known soon. */
async function lookAround(ctx: Context, survey: Survey): Promise<void> {
  await survey.pipeline.beforePage()
  await survey.list()
  await soon(survey.refresh().catch((error: Error) => ctx.app.emit('error', error, ctx)))
}

function respond<T extends object>(ctx: Context, model: T, page: (model: T) => string): void {
  protect(ctx, POLICY)
  if (parameters(ctx).has('json')) {
    ctx.body = model
    return
  }
  ctx.type = 'html'
  ctx.body = page(model)
}

function protect(ctx: Context, policy: string): void {
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Content-Security-Policy', policy)
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Referrer-Policy', 'same-origin')
}

function questionOf(ctx: Context): Question {
  const given = parameters(ctx)
  const page = Number(given.get('page'))
  return {
    text: given.get('q') ?? '',
    state: given.get('state') ?? '',
    page: Number.isSafeInteger(page) && page > 0 ? page : 1
  }
}

function parameters(ctx: Context): URLSearchParams {
  return new URLSearchParams(ctx.querystring)
}
