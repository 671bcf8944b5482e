// A client that disconnects is not an error of the application, but Koa reports it as one.
import type { Context } from 'koa'
import { isOfConnection } from '../connection.ts'

/** For a request that is responded to with a file. */
export function suppressDisconnects(ctx: Context): void {
  // Always the same function: one that is made for the request may keep the request in memory.
  if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = handleError
}

/** For one that goes on to the rest of the stack. */
export function reportDisconnects(ctx: Context): void {
  if (ctx.onerror === handleError) Reflect.deleteProperty(ctx, 'onerror')
}

function handleError(this: Context, error: Error | null): void {
  // Koa reports the end of every response, with null where nothing failed.
  if (error && isOfConnection(this.res, error)) return
  this.app.context.onerror.call(this, error as Error)
}
