// One representation onto the wire: from memory, or through `send`.
import type { ReadStream, Stats } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from 'koa'
import send from 'send'
import { evaluatePreconditions } from '../http/preconditions.ts'
import { chooseRange, type ByteRange } from '../http/ranges.ts'
import { closeDescriptor, openFile, sameMark, type Opened } from './disk.ts'
import { chooseForm, type PublicFile, type Sendable } from './public-files.ts'
import type { Headers } from './representation.ts'
import { said, withVary, writeAnswer, type Answer } from './write-answer.ts'

// RFC 9110 13.1.3 reads If-Modified-Since so, and for a file nothing speaks against it.
const FILE = { ifModifiedSince: 'before' } as const

/**
 * Answers with a file. Koa writes nothing any more afterwards.
 * @returns false when the file has been replaced since it was found: it must be found again
 */
export function serve(ctx: Context, file: PublicFile): boolean | Promise<boolean> {
  const { headers } = ctx.req
  const method = ctx.req.method ?? 'GET'
  const form = chooseForm(file, headers['accept-encoding'])
  const outcome = evaluatePreconditions(method, headers, form, FILE)
  if (outcome === 'not-modified') return answer(ctx, form.notModified)
  if (outcome === 'failed') return answer(ctx, form.failed)
  const range = chooseRange(method, headers, form, form.size)
  if (range === 'unsatisfiable') {
    return answer(ctx, said(416, ['Content-Range', `bytes */${form.size}`, ...form.failed.fields]))
  }
  if (range !== 'whole') return sendRange(ctx, form, range)
  if (method === 'HEAD') return answer(ctx, form.ok)
  return form.body ? answer(ctx, form.ok, form.body) : stream(ctx, form)
}

function sendRange(ctx: Context, form: Sendable, range: ByteRange): boolean | Promise<boolean> {
  if (!form.body) return stream(ctx, form, range)
  const part = form.body.subarray(range.start, range.end + 1)
  const fields = [
    ...withoutLength(form.ok),
    ...['Content-Length', String(part.length)],
    ...['Content-Range', `bytes ${range.start}-${range.end}/${form.size}`]
  ]
  return answer(ctx, said(206, fields), part)
}

function withoutLength({ fields }: Answer): Headers {
  return fields.slice(0, -2)
}

function answer(ctx: Context, given: Answer, body?: Buffer): true {
  takeOver(ctx)
  writeAnswer(ctx.res, given, body)
  return true
}

/** From here on the response is ours. */
function takeOver(ctx: Context): void {
  ctx.respond = false
  // The same function every time: one made for the request keeps the request alive, at V8's whim.
  if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = handleError
}

/** A client that goes away is no error of the application. */
function handleError(this: Context, error: Error): void {
  if (error !== this.req.socket.errored) this.app.context.onerror.call(this, error)
}

/** Through `send`, on one open file: what replaces its name meanwhile does not mix with it. */
async function stream(ctx: Context, form: Sendable, range?: ByteRange): Promise<boolean> {
  const opened = await openFile(form.file)
  if (!opened || !sameMark(opened.stats, form.mark)) {
    if (opened) await closeDescriptor(opened.fd)
    return false
  }
  const { res } = ctx
  takeOver(ctx)
  // Koa starts at 404, and send never resets it.
  res.statusCode = 200
  const headers = withVary(res, withoutLength(form.ok))
  for (let at = 0; at < headers.length; at += 2) {
    res.setHeader(headers[at] as string, headers[at + 1] as string)
  }
  await sendThrough(res, form.file, opened, range)
  return true
}

/**
 * `send` judges conditions and several ranges in ways of its own, so it gets a request that carries
 * one range at most. It hands its options on to `fs.createReadStream`, and so reads the open file.
 */
function sendThrough(
  res: ServerResponse,
  path: string,
  { fd, stats }: Opened,
  range: ByteRange | undefined
): Promise<void> {
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {}
  const length = range ? range.end - range.start + 1 : Number(stats.size)
  const options = { cacheControl: false, etag: false, lastModified: false, fd }
  const sending = send({ method: 'GET', headers } as IncomingMessage, path, options)
  return new Promise(resolve => {
    sending.on('error', () => res.destroy())
    sending.on('stream', (file: ReadStream) => {
      // A file that shrank would leave the client waiting for the rest.
      file.once('end', () => file.bytesRead < length && res.destroy())
      file.once('close', resolve)
    })
    Object.assign(sending, { res })
    sending.send(path, { size: Number(stats.size) } as Stats)
  })
}
