/** Vite's development server as middleware of this process. */
import type { Context, Middleware } from 'koa'
import type { ViteDevServer } from 'vite'

/** For a server that was created with `middlewareMode`. */
export function viteInKoa({ config, middlewares }: ViteDevServer): Middleware {
  return async function vite(ctx, next) {
    // Vite would also respond to the same paths without its base.
    if (ctx.path.startsWith(config.base) && (await responds(ctx))) ctx.respond = false
    else await next()
  }

  function responds({ req, res }: Context): Promise<boolean> {
    const { url } = req
    return new Promise((resolve, reject) => {
      // Vite has responded, or the client has gone away.
      res.once('close', () => resolve(true))
      middlewares(req, res, (error?: unknown) => {
        // Without Vite's base until now.
        req.url = url
        if (error) reject(error)
        else resolve(false)
      })
    })
  }
}
