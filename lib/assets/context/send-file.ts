// `ctx.sendFile`: one file from a route.
import { resolve } from 'node:path'
import type { Context } from 'koa'
import type { Pipeline } from '../pipeline.ts'
import {
  checkSendFile,
  cacheControlOf,
  described,
  dispositionOf,
  type SendFileOptions
} from '../serving/send-file-options.ts'
import { wantedAt } from '../serving/request-path.ts'
import { serve, serveFound, serveWhole } from '../serving/koa/serve.ts'
import { isCanonicalBelow } from '../urls/canonical-path.ts'

/**
 * Responds with one file, as files of `public` are responded to: validators, preconditions, ranges,
 * compressed copies. Authorization and the status stay the route's: with another status than 200, set
 * before, the whole file is sent. Fields that were set before stay, Content-Type and Cache-Control included,
 * unless `type` or `download` says otherwise.
 *
 * @param path decoded, relative to `root`: `2024/May report.pdf`; one slash in front makes no difference
 * @example
 * await ctx.sendFile(ctx.params.file, { root: 'data/uploads' })
 * @throws an error with status 404 for a file that does not exist, a directory, a dotfile, and a path or a
 *   symbolic link that leads out of `root`
 * @throws {TypeError} for a wrong option
 */
export type SendFile = (this: Context, path: string, options: SendFileOptions) => Promise<void>

export function makeSendFile({ settings, directories }: Pipeline): SendFile {
  return async function sendFile(path, options) {
    requireContext('sendFile', this)
    checkSendFile(path, options)
    // As with koa-send, one slash in front stands for `root`.
    const below = path.replace(/^\//, '')
    if (!isCanonicalBelow(below)) this.throw(404)
    const files = directories.rootAt(resolve(settings.root, options.root))
    const wanted = wantedAt(`/${below}`, settings)
    // Koa starts at 404, and has no other sign of whether the route has set a status.
    const isSet = Reflect.get(this.response, '_explicitStatus') === true
    const status = isSet ? this.status : 200
    const type = options.type ?? (this.response.get('Content-Type') || undefined)
    const find = () => files.find(wanted)
    const isSent = await serveFound(this, find, (file, opened) => {
      setOptions(this, path, options)
      const own = described(file, { ...options, type })
      return status === 200 ? serve(this, own, opened) : serveWhole(this, own, status, opened)
    })
    if (!isSent) this.throw(404)
  }
}

/** The fields that do not describe the content. A Cache-Control that was set before stays. */
function setOptions(ctx: Context, path: string, options: SendFileOptions): void {
  const [disposition, cacheControl] = [dispositionOf(path, options), cacheControlOf(options)]
  if (disposition !== undefined) ctx.set('Content-Disposition', disposition)
  if (cacheControl !== undefined && !ctx.res.hasHeader('Cache-Control')) {
    ctx.set('Cache-Control', cacheControl)
  }
}

/** @throws TypeError for a method that was taken off its context */
export function requireContext(method: string, ctx: { readonly res?: unknown } | undefined): void {
  if (!ctx?.res) throw new TypeError(`${method}() is a method: call it on Koa's context`)
}
