// Responses that are made when the rest of the stack has left a 404: the pages of `fallback`, and Vite in this
// process.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'koa'
import { ifThere } from '../../files/disk.ts'
import { isBelow, rawPath } from '../serving/request-path.ts'
import type { ViteServer } from '../settings/mount-options.ts'
import type { MountSettings, Settings } from '../settings/settings.ts'

/** @returns false for a mount without such a page, and where its function returns none */
export async function respondWithPage(
  ctx: Context,
  { fallbackPage, fallback, dev }: MountSettings
): Promise<boolean> {
  const vite = typeof dev === 'object' ? dev : undefined
  const html = fallbackPage
    ? await fallbackPage(ctx)
    : vite && (await viteHtml(ctx, vite, fallback))
  if (html === undefined) return false
  ctx.status = 200
  ctx.type = 'html'
  // Like the file of `fallback`: something else may be at this URL tomorrow.
  if (!ctx.res.hasHeader('Cache-Control')) ctx.set('Cache-Control', 'no-cache')
  ctx.body = html
  return true
}

async function viteHtml(ctx: Context, vite: ViteServer, name = ''): Promise<string | undefined> {
  const html = await ifThere(readFile(join(vite.config.root, name), 'utf8'))
  return html === undefined
    ? undefined
    : vite.transformIndexHtml(`${vite.config.base}${name}`, html)
}

/** The dev server in this process for the mount that contains a path. */
export function viteAt(path: string, { mounts }: Settings): ViteServer | undefined {
  const mount = mounts.find(({ dev, urlPath }) => typeof dev === 'object' && isBelow(path, urlPath))
  return typeof mount?.dev === 'object' ? mount.dev : undefined
}

/** Resolves when Vite has responded, or has passed the request on. */
export function respondByVite(ctx: Context, { middlewares, config }: ViteServer): Promise<void> {
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
      // Like Koa's own `ctx.set`: a session in front would set its cookie now, which is an error in Node.
      res.setHeader = () => res
      resolve()
    })
    middlewares(req, res, (error?: unknown) => {
      // Without Vite's base until now.
      req.url = url
      headers.accept = accept
      if (error) reject(error)
      else resolve()
    })
  })
}
