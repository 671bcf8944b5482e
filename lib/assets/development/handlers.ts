// What is under `<prefix>/-/` in development. This room is loaded with the first request for it.
import { readFile } from 'node:fs/promises'
import type { Context } from 'koa'
import { listMounts } from '../inspecting/list-mounts.ts'
import type { Pipeline } from '../pipeline.ts'
import { serve, serveFound } from '../serving/koa/serve.ts'
import { locate, wantedAt } from '../serving/request-path.ts'
import { encodePath } from '../urls/canonical-path.ts'
import { assetPage, reportOn } from './inspector/asset-page.ts'
import { STYLE } from './inspector/html.ts'
import {
  listPage,
  logRequests,
  mountsPage,
  pageOfAssets,
  requestsPage
} from './inspector/list-page.ts'
import { isImage, soon, Survey } from './inspector/survey.ts'
import { Channel } from './live/channel.ts'

/** For browsers; they refer to each other by relative URLs. */
const SCRIPTS = ['live', 'live-channel', 'live-images', 'live-overlay', 'live-stylesheets'].map(
  name => `${name}.js`
)

/** After how many seconds an incomplete page is reloaded. */
const RELOAD_SECONDS = 2

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
// An SVG has styles of its own, and is a document when it is opened by itself.
const IMAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Responds to a GET or HEAD request that comes from this machine. */
type Handler = (ctx: Context) => Promise<void> | void

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export function makeHandlers(pipeline: Pipeline): ReadonlyMap<string, Handler> {
  const channel = new Channel(pipeline)
  return new Map<string, Handler>([
    ...SCRIPTS.map(name => [name, (ctx: Context) => sendScript(ctx, name)] as const),
    ...Object.entries(makeInspector(pipeline)),
    ['live', ctx => channel.connect(ctx)]
  ])
}

async function sendScript(ctx: Context, name: string): Promise<void> {
  ctx.type = 'text/javascript'
  ctx.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
  ctx.body = await readFile(new URL(`client/${name}`, import.meta.url))
}

/** The pages of the inspector, and the same as JSON. Records requests from now on. */
function makeInspector(pipeline: Pipeline): Readonly<Record<string, Handler>> {
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
    /** The source of an image, which need not be published. */
    async image(ctx) {
      if (survey.places.size === 0) await survey.list()
      const asked = locate(queryOf(ctx).get('path') ?? '', settings)
      const place = typeof asked === 'object' ? survey.places.get(asked.path) : undefined
      if (!place || !isImage(place)) return
      protect(ctx, IMAGE_POLICY)
      const files = pipeline.directories.rootAt(place.source.directory)
      const find = () => files.find(wantedAt(`/${place.source.path}`, settings))
      await serveFound(ctx, find, (file, opened) => serve(ctx, file, opened))
    }
  }
}

/** Waits for what is known soon. */
async function lookAround(ctx: Context, survey: Survey): Promise<void> {
  await survey.pipeline.beforePage()
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
