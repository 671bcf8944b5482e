// What is under `<prefix>/-/` in development. This room is loaded with the first request for it.
import { readFile } from 'node:fs/promises'
import type { Pipeline } from '../pipeline.ts'
import { makeInspector, type Handler } from './inspector/handlers.ts'
import { Channel } from './live/channel.ts'

/** For browsers; they refer to each other by relative URLs. */
const SCRIPTS = ['live', 'live-channel', 'live-images', 'live-overlay', 'live-stylesheets']

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export function makeHandlers(pipeline: Pipeline): ReadonlyMap<string, Handler> {
  const channel = new Channel(pipeline)
  return new Map<string, Handler>([
    ...SCRIPTS.map(name => [`${name}.js`, sendScript(`${name}.js`)] as const),
    ...Object.entries(makeInspector(pipeline)),
    ['live', ctx => channel.connect(ctx)]
  ])
}

function sendScript(name: string): Handler {
  return async ctx => {
    ctx.type = 'text/javascript'
    ctx.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
    ctx.body = await readFile(new URL(`client/${name}`, import.meta.url))
  }
}
