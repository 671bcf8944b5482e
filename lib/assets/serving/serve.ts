// One representation onto the wire: from memory, or through `send`.
import type { ReadStream, Stats } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from 'koa'
import send from 'send'
import { evaluatePreconditions } from '../../http/preconditions.ts'
import { chooseRange, type ByteRange } from '../../http/ranges.ts'
import { connected, cut, isOfConnection, isWanted } from './connection.ts'
import { sameStamp, withFile, type OpenFile } from '../../files/disk.ts'
import { BORROWED, readUnchanged } from '../../files/file-stream.ts'
import { chooseForm, type PublicFile, type Sendable } from './public-file.ts'
import type { Headers } from './representation.ts'
import {
  forgetOtherBody,
  prepareResponse,
  withVary,
  writeResponse,
  type PreparedResponse
} from './write-response.ts'

// RFC 9110 13.1.3 reads If-Modified-Since so, and for a file nothing speaks against it.
const FILE = { ifModifiedSince: 'before' } as const

/**
 * Responds with a file. Koa writes nothing any more afterwards.
 * @param opened the file itself, where it was described from what is open
 * @returns false when the file has been replaced since it was found: it must be found again
 */
export function serve(
  ctx: Context,
  file: PublicFile,
  opened?: OpenFile
): boolean | Promise<boolean> {
  const { headers } = ctx.req
  const method = ctx.req.method ?? 'GET'
  const form = chooseForm(file, headers['accept-encoding'])
  const outcome = evaluatePreconditions(method, headers, form, FILE)
  if (outcome === 'not-modified') return respond(ctx, form.notModified)
  if (outcome === 'failed') return respond(ctx, form.failed)
  const range = chooseRange(method, headers, form, form.size)
  if (range === 'unsatisfiable') {
    return respond(
      ctx,
      prepareResponse(416, ['Content-Range', `bytes */${form.size}`, ...form.failed.fields])
    )
  }
  if (range !== 'whole') return sendRange(ctx, form, range, opened)
  if (method === 'HEAD') return respond(ctx, form.ok)
  return form.body ? respond(ctx, form.ok, form.body) : stream(ctx, form, opened)
}

function sendRange(
  ctx: Context,
  form: Sendable,
  range: ByteRange,
  opened: OpenFile | undefined
): boolean | Promise<boolean> {
  if (!form.body) return stream(ctx, form, opened, range)
  const part = form.body.subarray(range.start, range.end + 1)
  const fields = [
    ...withoutLength(form.ok),
    ...['Content-Length', String(part.length)],
    ...['Content-Range', `bytes ${range.start}-${range.end}/${form.size}`]
  ]
  return respond(ctx, prepareResponse(206, fields), part)
}

function withoutLength({ fields }: PreparedResponse): Headers {
  return fields.slice(0, -2)
}

function respond(ctx: Context, given: PreparedResponse, body?: Buffer): true {
  takeOver(ctx)
  // A time limit in front may have answered meanwhile.
  if (!ctx.res.headersSent) writeResponse(ctx.res, given, body)
  return true
}

/** From here on the response is ours. */
function takeOver(ctx: Context): void {
  ctx.respond = false
  ignoreDisconnects(ctx)
}

/** A client that goes away is no error of the application. */
export function ignoreDisconnects(ctx: Context): void {
  // The same function every time: one made for the request keeps the request alive, at V8's whim.
  if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = handleError
}

/** The request goes on to others, whose errors they may want to see. */
export function heedDisconnects(ctx: Context): void {
  if (ctx.onerror === handleError) Reflect.deleteProperty(ctx, 'onerror')
}

function handleError(this: Context, error: Error): void {
  if (!isOfConnection(this.res, error)) this.app.context.onerror.call(this, error)
}

/**
 * Through `send`, on one open file: what replaces its name meanwhile does not mix with it. Nothing is
 * opened before there is somebody to send it to: thousands of responses may wait for one connection.
 */
async function stream(
  ctx: Context,
  form: Sendable,
  given: OpenFile | undefined,
  range?: ByteRange
): Promise<boolean> {
  if (!(await connected(ctx.res))) {
    takeOver(ctx)
    return true
  }
  const send = (opened: OpenFile) => streamOpened(ctx, form, opened, range)
  return given?.path === form.file ? send(given) : ((await withFile(form.file, send)) ?? false)
}

async function streamOpened(
  ctx: Context,
  form: Sendable,
  opened: OpenFile,
  range: ByteRange | undefined
): Promise<boolean> {
  if (!sameStamp(opened.stats, form.stamp)) return false
  const { res } = ctx
  takeOver(ctx)
  if (!isWanted(res)) return true
  forgetOtherBody(res)
  // Koa starts at 404, and send never resets it.
  res.statusCode = 200
  const headers = withVary(res, withoutLength(form.ok))
  for (let at = 0; at < headers.length; at += 2) {
    res.setHeader(headers[at] as string, headers[at + 1] as string)
  }
  await sendThrough(res, opened, form.size, range)
  return true
}

/**
 * `send` judges conditions and several ranges in ways of its own, so it gets a request that carries
 * one range at most. It hands its options on to `fs.createReadStream`, and so reads the open file.
 */
function sendThrough(
  res: ServerResponse,
  opened: OpenFile,
  size: number,
  range: ByteRange | undefined
): Promise<void> {
  const { start, end } = range ?? { start: 0, end: size - 1 }
  const headers = range ? { range: `bytes=${start}-${end}` } : {}
  const fs = { ...BORROWED, read: readUnchanged(opened, { start, end }) }
  const options = { cacheControl: false, etag: false, lastModified: false, fd: opened.fd, fs }
  const sending = send({ method: 'GET', headers } as IncomingMessage, opened.path, options)
  return new Promise(resolve => {
    let isReading = false
    sending.on('error', () => cut(res))
    sending.on('stream', (file: ReadStream) => {
      isReading = true
      // A file that shrank would leave the client waiting for the rest.
      file.once('end', () => file.bytesRead <= end - start && cut(res))
      file.once('close', resolve)
    })
    Object.assign(sending, { res })
    sending.send(opened.path, { size } as Stats)
    if (!isReading) resolve()
  })
}
