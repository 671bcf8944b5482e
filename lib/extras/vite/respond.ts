// Asks Vite's dev server in this process for what the rest of the stack leaves as a 404.
import type { Context } from 'koa'
import { rawPath } from '../../runtime/serving/request-path.ts'
import type { ViteServer } from './options.ts'

/**
 * Resolves when Vite has responded, or has passed the request on.
 * @param base was cut off in front of the path, and Vite's own base begins with it
 */
export function respond(
  ctx: Context,
  { middlewares, config }: ViteServer,
  base: string
): Promise<void> {
  const { req, res } = ctx
  const { url = '', headers } = req
  const { accept } = headers
  // Its `index.html` in place of a file that is missing would hide that. `fallback` says where a page belongs.
  if (config.appType === 'spa' && !rawPath(url).endsWith('/'))
    headers.accept = accept?.replaceAll(/text\/html|\*\/\*/g, '-/-') || '-/-'
  return new Promise((resolve, reject) => {
    // Vite has responded, or the client has gone away.
    res.once('close', () => {
      ctx.respond = false
      // Koa's own `ctx.set` does nothing then, either: a session in front would set its cookie now, which is an error
      // in Node.
      res.setHeader = () => res
      resolve()
    })
    req.url = base + url
    middlewares(req, res, (error?: unknown) => {
      // Other middleware sees the URL without Vite's base.
      req.url = url
      headers.accept = accept
      if (error) reject(error)
      else resolve()
    })
  })
}
