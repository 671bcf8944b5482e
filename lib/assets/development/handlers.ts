// What is under `<prefix>/-/` in development. This room is loaded with the first request for it.
import type { Context } from 'koa'
import type { Pipeline } from '../pipeline.ts'

/** Responds to a GET or HEAD request that comes from this machine. */
export type Handler = (ctx: Context) => Promise<void> | void

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export function makeHandlers(_pipeline: Pipeline): ReadonlyMap<string, Handler> {
  return new Map()
}
