// The options of `ctx.sendFile`, and what they change in a response.
import { basename } from 'node:path'
import { types } from 'node:util'
import { formatHttpDate } from '../../http/dates.ts'
import { attachment } from '../../http/fields.ts'
import { check, flag, isText, optionError, text, type Expectation } from '../../options.ts'
import { withMore, without, type Fields } from './fields.ts'
import type { Representation } from './files/representation.ts'
import type { ServedFile } from './files/served-file.ts'
import { prepareResponse } from './write-response.ts'

/** The options of `ctx.sendFile`. `undefined` means "not set". */
export interface SendFileOptions {
  /** The directory at which the path starts and which it may not leave, relative to the project's `root`. */
  readonly root: string
  /** The value of Content-Type. Default: the one that was set before, else by the path's extension. */
  readonly type?: string | undefined
  /**
   * Makes the browser save the file instead of showing it (RFC 6266): `true` under its own name, else under
   * the name given. Default: `false`.
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
  root: text,
  type: text,
  download: {
    expected: 'true, false or a file name',
    holds: value => typeof value === 'boolean' || isText(value)
  },
  cacheControl: text,
  immutable: flag,
  lastModified: {
    expected: 'a valid Date or false',
    holds: value => value === false || (types.isDate(value) && !Number.isNaN(Number(value)))
  }
} satisfies Record<keyof SendFileOptions, Expectation>

/** @throws TypeError for an unknown option and for a wrong value */
export function checkSendFile(path: unknown, options: SendFileOptions): void {
  if (typeof path !== 'string') throw optionError('path', text.expected, path, 'sendFile.')
  check(options, OPTIONS, 'sendFile.')
  if (options.root === undefined) throw optionError('root', text.expected, undefined, 'sendFile.')
}

/** The value of Content-Disposition; undefined for none. */
export function dispositionOf(
  path: string,
  { download = false }: SendFileOptions
): string | undefined {
  return download === false ? undefined : attachment(download === true ? basename(path) : download)
}

/** The value of Cache-Control; undefined for the default. */
export function cacheControlOf({ cacheControl, immutable = false }: SendFileOptions) {
  return cacheControl ?? (immutable ? 'private, max-age=31536000, immutable' : undefined)
}

/** The file with the type and the date that the options say. */
export function described(file: ServedFile, options: SendFileOptions): ServedFile {
  const { type, lastModified } = options
  if (type === undefined && lastModified === undefined) return file
  const [identity, ...rest] = file.representations
  const change = (each: Representation) => describedAs(each, type, lastModified)
  return { ...file, representations: [change(identity), ...rest.map(change)] }
}

function describedAs(
  representation: Representation,
  type: string | undefined,
  lastModified: Date | false | undefined
): Representation {
  const { ok, notModified } = representation
  const seconds = lastModified ? Math.floor(lastModified.getTime() / 1000) * 1000 : undefined
  const dated = (fields: Fields): Fields => {
    if (lastModified === undefined) return fields
    if (seconds === undefined) return without(fields, 'Last-Modified')
    return [['Last-Modified', formatHttpDate(seconds)], ...without(fields, 'Last-Modified')]
  }
  const typed = (fields: Fields): Fields =>
    type === undefined ? fields : withMore(fields, [['Content-Type', type]])
  return {
    ...representation,
    ...(lastModified === undefined ? {} : { lastModified: seconds }),
    ok: prepareResponse(200, typed(dated(ok.fields)), ok.said),
    notModified: prepareResponse(304, dated(notModified.fields), notModified.said)
  }
}
