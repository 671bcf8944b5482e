// The part of serving that knows Koa: responds with a file.
import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { chooseCoding } from '../../../http/coding/content-coding.ts'
import { offeredDictionary } from '../../../http/coding/dictionaries.ts'
import { evaluatePreconditions } from '../../../http/preconditions.ts'
import { chooseRange, type ByteRange } from '../../../http/ranges.ts'
import { sameStamp, withFile, type OpenFile } from '../../../files/disk.ts'
import { connected, isOfConnection, isAwaited, untilAssigned, pacedBody } from '../connection.ts'
import { removeContentFields, setFields } from '../fields.ts'
import type { ServedFile } from '../files/served-file.ts'
import type { ServedFiles } from '../files/served-files.ts'
import { privately, type Representation } from '../files/representation.ts'
import type { Wanted } from '../request-path.ts'
import { bodyOf, sendFile } from '../send-file.ts'
import { prepareResponse, writeResponse, type PreparedResponse } from '../write-response.ts'
import { reporting, type Sender } from './reports.ts'

// A file's If-Modified-Since is evaluated as RFC 9110 section 13.1.3 defines it.
const PRECONDITIONS = { ifModifiedSince: 'before' } as const

/**
 * As any middleware responds: status, fields and `ctx.body`, which is a Buffer, a stream, or null for a
 * response without content. Middleware in front can still change all of it.
 */
export const TO_KOA: Sender = {
  write: (ctx, response, body) => give(ctx, response, body),
  stream: (ctx, response, part) => give(ctx, response, bodyOf(ctx.res, part))
}

/** Past Koa, for a request that no other middleware has seen. */
export const TO_SOCKET: Sender = {
  write(ctx, response, body) {
    bypassKoa(ctx)
    // Another listener of the server may have responded meanwhile.
    if (!ctx.res.headersSent) writeResponse(ctx.res, response, body)
    return true
  },
  stream(ctx, response, part) {
    bypassKoa(ctx)
    return sendFile(ctx.res, response, part)
  }
}

/**
 * Responds with a file.
 * @param opened the file itself, if it was described while it was open
 * @returns false when the file has been replaced since it was found: `serveFound` describes it anew
 */
export function serve(
  ctx: Context,
  { representations, findDelta }: ServedFile,
  opened?: OpenFile,
  sender = TO_KOA
): boolean | Promise<boolean> {
  const dictionary = findDelta && offeredDictionary(ctx.req.headers)
  const delta = dictionary && findDelta(dictionary)
  if (!delta) return respond(ctx, sender, choose(ctx, representations), opened)
  return Promise.resolve(delta).then(found => {
    const offers = found ? ([...representations, found] as const) : representations
    return respond(ctx, sender, choose(ctx, offers), opened)
  })
}

function respond(
  ctx: Context,
  to: Sender,
  chosen: Representation,
  opened: OpenFile | undefined
): boolean | Promise<boolean> {
  const { headers } = ctx.req
  const method = ctx.req.method ?? 'GET'
  const sender = reporting(to, chosen)
  const { status } = evaluatePreconditions(method, headers, chosen, PRECONDITIONS)
  if (status === 304) return sender.write(ctx, chosen.notModified)
  if (status === 412) return sender.write(ctx, chosen.failed)
  const range = chooseRange(method, headers, chosen, chosen.size)
  if (range === 'unsatisfiable') return sender.write(ctx, rangeNotSatisfiable(chosen))
  if (range === 'whole') return writeWhole(ctx, sender, chosen, opened)
  if (!chosen.body) return stream(ctx, sender, chosen, range, opened)
  return sender.write(ctx, partial(chosen, range), chosen.body.subarray(range.start, range.end + 1))
}

/** Responds with a whole file under another status than 200: preconditions and ranges do not apply then. */
export function serveWhole(
  ctx: Context,
  { representations }: ServedFile,
  status: number,
  opened?: OpenFile
): boolean | Promise<boolean> {
  const chosen = choose(ctx, representations)
  const ok = prepareResponse(status, chosen.ok.fields, chosen.ok.said)
  return writeWhole(ctx, reporting(TO_KOA, chosen), { ...chosen, ok }, opened)
}

function choose(ctx: Context, representations: ServedFile['representations']): Representation {
  const accepted = ctx.req.headers['accept-encoding']
  const chosen = chooseCoding(accepted, representations) ?? representations[0]
  return isForOneVisitor(ctx) ? privately(chosen) : chosen
}

/** A guard may have decided by it; and a shared cache would give a cookie to others. */
function isForOneVisitor({ req, res }: Context): boolean {
  return req.headers.authorization !== undefined || res.hasHeader('Set-Cookie')
}

function writeWhole(
  ctx: Context,
  sender: Sender,
  chosen: Representation,
  opened: OpenFile | undefined
): boolean | Promise<boolean> {
  if (ctx.req.method === 'HEAD') return sender.write(ctx, chosen.ok)
  return chosen.body
    ? sender.write(ctx, chosen.ok, chosen.body)
    : stream(ctx, sender, chosen, undefined, opened)
}

interface Finding {
  readonly files: Pick<ServedFiles, 'forget' | 'withOpened'>
  readonly wanted: Wanted
  readonly find: () => Promise<ServedFile | undefined> | ServedFile | undefined
}

type Serve = (file: ServedFile, opened?: OpenFile) => boolean | Promise<boolean>

/**
 * Finds a file and responds with it. One that was replaced, or written to, before it is opened to be sent
 * is described anew while it is open.
 * @returns false when there is no such file
 */
export async function serveFound(
  { res }: Pick<Context, 'res'>,
  { files, wanted, find }: Finding,
  respondWith: Serve
): Promise<boolean> {
  void untilAssigned(res)
  const file = await find()
  if (!file) return false
  if (await respondWith(file)) return true
  files.forget(wanted)
  // Its source may have to be published again.
  if (!(await find())) return false
  const isSent = await files.withOpened(wanted, async (current, opened) => {
    if (await respondWith(current, opened)) return true
    // The compressed copy that was chosen is gone by now.
    const [identity] = current.representations
    return respondWith({ ...current, representations: [identity], findDelta: undefined }, opened)
  })
  return isSent ?? false
}

function rangeNotSatisfiable({ size, failed }: Representation): PreparedResponse {
  const contentRange = ['Content-Range', `bytes */${size}`]
  return prepareResponse(416, [...contentRange, ...failed.fields], failed.said)
}

function partial({ ok, size }: Representation, { start, end }: ByteRange): PreparedResponse {
  const contentRange = ['Content-Range', `bytes ${start}-${end}/${size}`]
  const length = ['Content-Length', String(end - start + 1)]
  return prepareResponse(206, [...ok.fields.slice(0, -2), ...contentRange, ...length], ok.said)
}

function give(ctx: Context, prepared: PreparedResponse, body?: Buffer | Readable): true {
  const { res, response } = ctx
  suppressDisconnects(ctx)
  // A timeout in front may have responded meanwhile.
  if (res.headersSent) return true
  removeContentFields(res)
  // Koa removes fields together with an earlier body, and makes a response without one a 204.
  if (!body || response.body != null) response.body = null
  response.status = prepared.status
  setFields(res, prepared)
  if (body) response.body = Buffer.isBuffer(body) ? pacedBody(res, body) : body
  return true
}

/** From here on Koa leaves the response to us. */
function bypassKoa(ctx: Context): void {
  ctx.respond = false
  suppressDisconnects(ctx)
}

/** A client that disconnects is not an error of the application. */
export function suppressDisconnects(ctx: Context): void {
  // Always the same function: one that is made for the request may keep the request in memory.
  if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = handleError
}

/** For a request that goes on to the rest of the stack. */
export function reportDisconnects(ctx: Context): void {
  if (ctx.onerror === handleError) Reflect.deleteProperty(ctx, 'onerror')
}

function handleError(this: Context, error: Error): void {
  if (!isOfConnection(this.res, error)) this.app.context.onerror.call(this, error)
}

/**
 * Streams one open file, so bytes of another that takes its name are not mixed in. The file is not opened
 * before the response has its connection: thousands of pipelined responses may wait for one.
 */
async function stream(
  ctx: Context,
  sender: Sender,
  chosen: Representation,
  range: ByteRange | undefined,
  opened: OpenFile | undefined
): Promise<boolean> {
  const response = range ? partial(chosen, range) : chosen.ok
  const streamFrom = async (file: OpenFile): Promise<boolean> => {
    if (!sameStamp(file.stats, chosen.stamp)) return false
    if (!isAwaited(ctx.res)) return sender.write(ctx, response)
    await sender.stream(ctx, response, { file, size: chosen.size, range })
    return true
  }
  // Nobody receives it then; loggers in front read it.
  if (!(await connected(ctx.res))) return sender.write(ctx, response)
  if (opened?.path === chosen.file) return streamFrom(opened)
  return (await withFile(chosen.file, streamFrom)) ?? false
}
