/** Vite's development server as middleware of this process. */
import type { Middleware } from 'koa'
import type { Connect } from 'vite'

/** @param middlewares those of a Vite server that was created with `middlewareMode` */
export function viteInKoa(middlewares: Connect.Server): Middleware {
  return async function vite(ctx, next) {
    const isPassedOn = await new Promise<boolean>((resolve, reject) => {
      // Vite has responded, or the client has gone away.
      ctx.res.once('close', () => resolve(false))
      middlewares(ctx.req, ctx.res, (error?: unknown) => (error ? reject(error) : resolve(true)))
    })
    // Vite removes its base from the URL.
    ctx.req.url = ctx.originalUrl
    if (isPassedOn) await next()
    else ctx.respond = false
  }
}
