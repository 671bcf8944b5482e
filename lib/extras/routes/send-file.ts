// The method `ctx.sendFile`, with which a route responds with one file.
import { basename } from 'node:path'
import { types } from 'node:util'
import contentDisposition from 'content-disposition'
import type { Context } from 'koa'
import { check, flag, optionError, text, type Expectation } from '../../runtime/check-options.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import type { Variants } from '../../runtime/serving/file.ts'
import type { Variant } from '../../runtime/serving/variant.ts'
import { CACHE_CONTROL } from '../../runtime/http/cache-control.ts'
import { isRetrieval } from '../../runtime/http/preconditions.ts'
import { respondWithFile } from '../../runtime/serving/respond.ts'
import { wantedAt } from '../../runtime/serving/request.ts'
import { isCanonicalBelow } from '../../runtime/urls/spelling.ts'
import { absolutePath } from '../../runtime/files/paths.ts'

export type SendFile = (this: Context, path: string, options: SendFileOptions) => Promise<void>

/** The options of `ctx.sendFile`. `undefined` means "not set". */
export interface SendFileOptions {
  /** The directory, relative to the project's `root`, at which the path starts and which it may not leave. */
  readonly root: string
  /** The value of Content-Type. Default: the one that was set before, else by the path's extension. */
  readonly type?: string | undefined
  /**
   * Makes the browser save the file instead of showing it (RFC 6266): `true` under its own name, else under
   * the name given; an empty one leaves the name to the browser. Default: `false`.
   */
  readonly download?: boolean | string | undefined
  /** The value of Cache-Control, unless one was set before. Default: `private, no-cache`. */
  readonly cacheControl?: string | undefined
  /**
   * The bytes at this URL never change (RFC 8246): the default of Cache-Control is then
   * `private, max-age=31536000, immutable`. Default: `false`.
   */
  readonly immutable?: boolean | undefined
  /** The value of Last-Modified, or `false` for none. Default: the file's mtime. */
  readonly lastModified?: Date | false | undefined
}

const OPTIONS = {
  root: { ...text, isRequired: true },
  type: text,
  download: {
    expected: 'true, false or a file name',
    // Names are data, such as the title of a report: characters that no file name may have are replaced.
    holds: value => typeof value === 'boolean' || typeof value === 'string'
  },
  cacheControl: CACHE_CONTROL,
  immutable: flag,
  lastModified: {
    expected: 'a valid Date or false',
    holds: value => value === false || (types.isDate(value) && !Number.isNaN(Number(value)))
  }
} satisfies Record<keyof SendFileOptions, Expectation>

export function makeSendFile({ settings, directories, watch }: Pipeline): SendFile {
  return async function sendFile(path, options) {
    if (typeof path !== 'string') throw optionError('path', text.expected, path, 'sendFile.')
    check(options ?? {}, OPTIONS, 'sendFile.')
    // One slash in front stands for `root`, as with koa-send.
    const below = path.replace(/^\//, '')
    if (!isCanonicalBelow(below)) this.throw(404)
    const files = directories.rootAt(absolutePath(settings.root, options.root))
    const wanted = wantedAt(`/${below}`, settings)
    // Koa starts at 404, and only this shows whether the route has set a status.
    const isSet = Reflect.get(this.response, '_explicitStatus') === true
    const given = isSet ? this.status : 200
    // The conditions of a PUT apply to a state that the route has changed by now (RFC 9110 section 13.2.1).
    const status = given === 200 && isRetrieval(this.method) ? undefined : given
    const type = options.type ?? (this.response.get('Content-Type') || undefined)
    const { download, immutable, lastModified } = options
    const name = download === true ? basename(path) : download
    const disposition = name === undefined || name === false ? undefined : attachment(name)
    const always = immutable ? 'private, max-age=31536000, immutable' : undefined
    const cacheControl = options.cacheControl ?? always
    const adapt = (variants: Variants) => {
      if (disposition !== undefined) this.set('Content-Disposition', disposition)
      const isOpen = cacheControl !== undefined && !this.res.hasHeader('Cache-Control')
      if (isOpen) this.set('Cache-Control', cacheControl)
      if (type === undefined && lastModified === undefined) return variants
      const date = lastModified && Math.floor(lastModified.getTime() / 1000) * 1000
      const changed = (each: Variant) =>
        each.with({ ...(type !== undefined && { type }), lastModified: date })
      const [identity, ...rest] = variants
      return [changed(identity), ...rest.map(changed)] as const
    }
    const find = () => files.find(wanted)
    if (!(await respondWithFile(this, find, { status, adapt }))) this.throw(404)
    watch?.(this)
  }
}

/** Returns a Content-Disposition (RFC 6266; `filename*`: RFC 8187) for any text, or the last segment of a path. */
function attachment(filename: string): string {
  // A lone surrogate is not a character: RFC 8187 encodes UTF-8.
  const name = filename.replace(/[\u0000-\u001f\u007f-\u009f\p{Surrogate}]/gu, '_')
  // Clients that do not know `filename*` agree only on ASCII.
  const fallback = name.replace(/[^\x20-\x7e]/gu, '_')
  // Without a name browsers take the one in the URL.
  return contentDisposition(name, { fallback }).replace(/; filename\*=UTF-8''$/, '')
}
