// What is under `<prefix>/-/` in development. This room is loaded with the first request for it.
import type { Pipeline } from '../pipeline.ts'
import { clientScripts } from './client-scripts.ts'
import type { Handler } from './handler.ts'
import type { Inspector } from './inspector/handlers.ts'
import { Channel } from './live/channel.ts'

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export function makeHandlers(pipeline: Pipeline): ReadonlyMap<string, Handler> {
  const channel = new Channel(pipeline)
  return new Map<string, Handler>([
    ...clientScripts,
    ['live', ctx => channel.connect(ctx)],
    ...inspectorPages(pipeline)
  ])
}

/** Loaded with the first page: the live channel does not need them. */
function inspectorPages(pipeline: Pipeline): readonly (readonly [string, Handler])[] {
  let inspector: Promise<Inspector> | undefined
  const page =
    (name: keyof Inspector): Handler =>
    async ctx => {
      inspector ??= import('./inspector/handlers.ts').then(room => room.makeInspector(pipeline))
      await (await inspector)[name](ctx)
    }
  return [
    ['', page('list')],
    ['asset', page('asset')],
    ['image', page('image')],
    ['requests', page('requests')],
    ['inspector.css', page('style')]
  ]
}
