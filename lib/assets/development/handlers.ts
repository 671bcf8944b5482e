// What is under `<prefix>/-/` in development. This room is loaded with the first request for it.
import { readFile } from 'node:fs/promises'
import type { Pipeline } from '../pipeline.ts'
import { makeInspector, type Handler, type Inspector } from './inspector/handlers.ts'
import { Channel } from './live/channel.ts'

/** For browsers; they refer to each other by relative URLs. */
const SCRIPTS = ['live', 'live-channel', 'live-images', 'live-overlay', 'live-stylesheets'].map(
  name => `${name}.js`
)

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export function makeHandlers(pipeline: Pipeline): ReadonlyMap<string, Handler> {
  const channel = new Channel(pipeline)
  // Made with the first page: from then on it records requests.
  let inspector: Inspector | undefined
  const page =
    (name: keyof Inspector): Handler =>
    ctx =>
      (inspector ??= makeInspector(pipeline))[name](ctx)
  return new Map<string, Handler>([
    ...SCRIPTS.map(name => [name, sendScript(name)] as const),
    ['live', ctx => channel.connect(ctx)],
    ['', page('list')],
    ['asset', page('asset')],
    ['image', page('image')],
    ['mounts', page('mounts')],
    ['requests', page('requests')],
    ['inspector.css', page('style')]
  ])
}

function sendScript(name: string): Handler {
  return async ctx => {
    ctx.type = 'text/javascript'
    ctx.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
    ctx.body = await readFile(new URL(`client/${name}`, import.meta.url))
  }
}
