// What is under `<prefix>/-/` in development. This room is loaded with the first request for it.
import type { Pipeline } from '../pipeline.ts'
import { clientScripts } from './client-scripts.ts'
import type { Handler } from './handler.ts'
import { Channel } from './live/channel.ts'

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export function makeHandlers(pipeline: Pipeline): ReadonlyMap<string, Handler> {
  const channel = new Channel(pipeline)
  return new Map<string, Handler>([...clientScripts, ['live', ctx => channel.connect(ctx)]])
}
