import type { Context } from 'koa'

/** Responds to a GET or HEAD request that comes from this machine. */
export type Handler = (ctx: Context) => Promise<void> | void
